"""Threads that come to one vertex at the same time: nothing is torn, nothing is lost."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import dromos.program as dr
from dromos.engines.cpu import CpuEngine, emit
from dromos.graph import Graph
from dromos.program import GraphTypes, Program, analyse
from tests.program import programs
from tests.program.running import run

TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))


class Pairs(Program):
    """A claim with a message of two parts, which belong together: ``second`` is ``2 * first + 1``."""

    first = dr.field(dr.ID)
    second = dr.field(np.int64)
    sources = dr.param(int)
    combine = dr.ANY

    def init(self, v: Any) -> Any:
        return {
            "first": dr.where(v.id < self.sources, v.id, -1),
            "second": dr.where(v.id < self.sources, 2 * v.id + 1, -1),
        }

    def start(self, v: Any) -> Any:
        return v.id < self.sources

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.id, 2 * u.id + 1

    def update(self, v: Any, message: Any) -> Any:
        first, second = message
        free = v.first < 0
        return {"first": dr.where(free, first, v.first), "second": dr.where(free, second, v.second)}

    def active(self, old: Any, new: Any) -> Any:
        return new.first != old.first


def everyone_wants_everyone(sources: int, targets: int) -> Graph:
    """Each of the sources has an edge to each of the targets, so that all threads come to the same targets."""
    src = np.repeat(np.arange(sources), targets)
    dst = np.tile(np.arange(sources, sources + targets), sources)
    return Graph.from_edges(src, dst, np.ones(len(src), np.float32), num_vertices=sources + targets)


@pytest.mark.parametrize("targets", [9, 3000])  # rows that are claimed arc by arc, and through the filter
def test_a_message_of_two_parts_is_taken_whole(targets: int) -> None:
    assert analyse(Pairs.typed(TYPES)).claimed == "first"
    graph = everyone_wants_everyone(130, targets)
    for _ in range(20):
        found, history = run(Pairs(sources=130), graph, "sync-push-dd", engine=CpuEngine(threads=4))
        assert (found["first"] >= 0).all()
        np.testing.assert_array_equal(found["second"], 2 * found["first"].astype(np.int64) + 1)
        assert history[0].after.frontier == targets  # each in one queue


def test_a_claim_reads_its_guard_once_and_swaps_before_it_writes() -> None:
    text = emit.module_text(Pairs.typed(TYPES), analyse(Pairs.typed(TYPES)), "claiming")
    body = text[text.index("def claim_store(") :].split("\n\n")[0]
    slot = [spec.name for spec in Pairs.typed(TYPES).ir.fields].index("first")
    assert body.count(f"load_relaxed(S[{slot}], v)") == 1
    assert body.index("compare_and_swap_relaxed(") < body.rindex("store_relaxed(")


@pytest.mark.parametrize("skeleton", ["asynchronous", "claiming"])
@pytest.mark.parametrize("kind", [Pairs, programs.SSSPWithParents, programs.ReachSets])
def test_fields_that_others_write_are_read_and_written_by_atomics(kind: type[Program], skeleton: str) -> None:
    text = emit.module_text(kind.typed(TYPES), analyse(kind.typed(TYPES)), skeleton)
    for name in ("compute_at", "wants_at", "update_at", "update_store", "changes", "claim_store"):
        body = text[text.index(f"def {name}(") :].split("\n\n")[0]
        assert not re.search(r"\b[SD]\[\d+\]\[", body), f"a plain access in {name}:\n{body}"
