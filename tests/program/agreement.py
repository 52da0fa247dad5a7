"""Check whether an engine agrees with the reference engine on a program."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dromos.codegen.facts import is_always_active
from dromos.engines import Engine
from dromos.engines.reference import ReferenceEngine
from dromos.errors import FieldOverflowError, ProgramError
from dromos.graph import Graph
from dromos.plan import Decision, History, Path, Row, choose
from dromos.program import SUM, GraphTypes, Program, analyse
from tests.program.random_programs import random_graph

__all__ = ["disagreements", "given", "runs_at_once"]

_TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))


def disagreements(
    kind: type[Program], seed: int, *engines: Engine, graphs: int = 4, only: str = "", paths: int | None = None
) -> Iterator[str]:
    """Differences on random graphs: on each legal path, on the planner's paths, and with a limit.

    ``only``: for engines that support only some paths, the word that these begin with, such as "sync". ``paths``: at
    most this many of the legal paths, drawn by ``seed``; the planner's and the limit are always run.
    """
    types = _types(kind, seed)
    draw, facts = random.Random(seed), analyse(kind.typed(types))
    legal = [path for path in facts.legal_paths if path.startswith(only)]
    if paths is not None and paths < len(legal):
        legal = random.Random(f"paths of {seed}").sample(legal, paths)
    keyed = facts.monotone if kind.ir().combine.keyed else None  # of equal keys any may win, if there is no order
    for number in range(graphs):
        graph = random_graph(draw, heavy=getattr(kind, "_heavy", False), weighted=types.weight is not None)
        limit, cut = 60 if number == graphs - 1 else 12, draw.randrange(1, 5)
        with np.errstate(all="ignore"):
            expected = _outcome(given(kind, graph), graph, "sync-push-dd", ReferenceEngine(), limit)
            cut_off = _outcome(given(kind, graph), graph, "sync-push-dd", ReferenceEngine(), cut)
        for engine in engines:
            where = f"{kind.__name__}, graph {number} of seed {seed}, {engine.name} on"
            for path in (None, *legal):
                found = _outcome(given(kind, graph), graph, path, engine, limit)
                in_steps = not (path or only or "async").startswith("async") or facts.legal["async-push-dd"] is not None
                compared = None if in_steps else keyed
                if why := _difference(expected, found, in_steps, facts.deterministic, compared):
                    yield f"{where} {path or 'auto'}: {why}"
            found = _outcome(given(kind, graph), graph, None, engine, cut, in_supersteps=True)
            if why := _difference(cut_off, found, True, facts.deterministic, None):
                yield f"{where} auto, {cut} supersteps: {why}"


def runs_at_once(kind: type[Program], types: GraphTypes) -> bool:
    """Whether slices on the CPU have asynchronous paths for a program."""
    typed = kind.typed(types)
    facts = analyse(typed)
    return facts.legal["async-push-dd"] is None and not typed.ir.sent and not is_always_active(typed.ir, facts)


def _types(kind: type[Program], seed: int) -> GraphTypes:
    """The types of a graph: every third program runs without weights, if it obeys the type rules there."""
    unweighted = replace(_TYPES, weight=None)
    try:
        kind.typed(unweighted)
    except ProgramError:
        return _TYPES
    return unweighted if seed % 3 == 2 else _TYPES


def given(kind: type[Program], graph: Graph) -> Program:
    """The program with values for its edge parameters; no two arcs of a row have the same, if it is short."""
    declared = {"h": np.arange(graph.num_arcs) % 11}
    return kind(**{name: values for name, values in declared.items() if hasattr(kind, name)})


def _outcome(
    program: Program, graph: Graph, path: str | None, engine: Engine, limit: int, *, in_supersteps: bool = False
) -> Any:
    """Fields, the number of supersteps and why they ended; or None if a value did not fit."""
    try:
        execution: Any = engine.prepare(program, graph)
        history, stats = History(), execution.stats
        caps = execution.caps.in_supersteps() if in_supersteps else execution.caps
        while not stats.finished and stats.superstep < limit:
            fixed = None if path is None else Decision(Path.parse(path), "fixed", horizon=None)
            decision = choose(stats, history, caps) if fixed is None else fixed
            horizon = min(decision.horizon or limit, limit - stats.superstep)
            after = execution.step_switching(horizon) if decision.switching else execution.step(decision.path, horizon)
            history.append(Row(stats, decision, after))
            stats = after
        fields = {name: np.asarray(values) for name, values in execution.result().items()}
        for spec in program.ir().reductions:  # sums of floats may cancel: no tolerance suits all of them
            value = np.atleast_1d(execution.reductions[spec.name])
            if spec.monoid is not SUM or value.dtype.kind != "f":
                fields[f"the reduction {spec.name}"] = value
    except FieldOverflowError:
        return None
    return fields, stats.superstep, stats.finished


def _difference(expected: Any, found: Any, in_steps: bool, deterministic: bool, only: str | None) -> str:
    """The difference; empty if there is none. If paths may be asynchronous, only the ends of runs can be compared.

    ``only``: the one field that is compared.
    """
    if expected is None or found is None:
        return "" if (expected is None) == (found is None) or not in_steps else f"overflow: {expected} {found}"
    if not in_steps and not (expected[2] and found[2]):
        return ""
    if not deterministic:
        return ""
    if in_steps and expected[1:] != found[1:]:
        return f"{found[1:]} instead of {expected[1:]}"
    for name, wanted in expected[0].items():
        if only not in (None, name):
            continue
        values = found[0][name]
        same = (
            np.isclose(values, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
            if wanted.dtype.kind == "f"
            else values == wanted
        )
        if not np.all(same):
            at = np.argwhere(~same)[:9, 0]
            return f"{name} is {values[at]} instead of {wanted[at]} at {at}"
    return ""
