"""Programs that no user would write: fields, functions and properties drawn at random from what the model allows.

The reference engine defines the meaning of such a program; every other engine must agree on every path that the
analysis finds legal. This tests the analysis, the code generators and the engines in cases that hand-written tests
miss.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import dromos.program as dr
from dromos.errors import ProgramError
from dromos.graph import Graph
from dromos.program.values import lift

__all__ = ["random_graph", "random_program"]

Symbols = Mapping[str, Any]
Formula = Callable[[Symbols], Any]

_TYPES = (np.int8, np.int16, np.int32, np.int64, np.uint32, np.float32, np.float64, dr.ID, bool)
_COMBINES = (dr.SUM, dr.MIN, dr.MAX, dr.ANY, dr.OR, dr.ARGMIN)
_KEYED = (dr.ARGMIN, dr.ARGMAX)
_PRODUCTS = ((dr.SUM, dr.MAX), (dr.MIN, dr.SUM), (dr.MAX, dr.MIN))
_SHAPES = (*("any",) * 4, *("improving",) * 2, "claiming", "sending once", "keyed", "vector", "levels")
_ARITHMETIC: tuple[Callable[[Any, Any], Any], ...] = (
    operator.add, operator.sub, operator.mul, dr.minimum, dr.maximum,
)  # fmt: skip
_IMPROVING: tuple[Formula, ...] = (
    lambda at: at["u.f0"],
    lambda at: at["u.f0"] + 1,
    lambda at: at["u.f0"] + at["weight"],
    lambda at: dr.minimum(at["u.f0"], at["weight"]),
    lambda at: dr.maximum(at["u.f0"], at["u.id"]),
)
_SCALED: tuple[Formula, ...] = (lambda at: at["u.f0"] * at["weight"], lambda at: at["u.f0"] / at["weight"])
_LEVELS: tuple[Formula, ...] = (
    lambda at: at["u.f0"] + 1,
    lambda at: at["u.f0"] + 1,
    lambda at: 2 + at["u.f0"],
    lambda at: at["u.f0"],
    lambda at: at["u.f0"] + 0.5,
    lambda at: at["u.f0"] - 1,
    lambda at: at["u.f0"] + at["weight"],
    lambda at: at["u.f0"] + at["superstep"],
)
_SOURCES: tuple[Callable[[Any], Any], ...] = (
    lambda v: v.id == 0,
    lambda v: v.id % 4 == 1,
    lambda v: (v.id == 0) | (v.id == 2),
)
_VECTORS: tuple[Formula, ...] = (lambda at: at["u.f0"], lambda at: at["u.f0"] + 1, lambda at: at["u.f0"] + at["weight"])
_SOME_EDGES: tuple[Callable[..., Any], ...] = (
    lambda program, u, edge, v: dr.random(u.id, v.id) < 0.6,
    lambda program, u, edge, v: dr.random(v.id, program.superstep) < 0.6,
)
_COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt)


def random_program(seed: int) -> type[dr.Program]:
    """The first draw from ``seed`` that is a valid program; most are, others break a type rule."""
    draw = random.Random(seed)
    while True:
        program = _Draw(draw).program(f"Random{seed}")
        try:
            program.typed(dr.GraphTypes(np.dtype(np.int32), np.dtype(np.float32)))
        except ProgramError:
            continue
        return program


def random_graph(draw: random.Random, *, heavy: bool = False, weighted: bool = True) -> Graph:
    """Loops, parallel edges, isolated vertices; perhaps a hub, a long path, or (``heavy``) a few large weights."""
    n = draw.choice((1, 2, 5, 9, 30, 80))
    edges = [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.choice((0, n, 2 * n, 4 * n)))]
    if draw.random() < 0.3:
        edges += [(0, v) for v in range(1, n)]
    if draw.random() < 0.3:
        edges += [(v, v + 1) for v in range(n - 1)]
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    most = draw.choice((9, 1000, 10**5, 10**7)) if heavy else 9
    weights = np.array(
        [draw.randrange(1, most if draw.random() < 0.1 else 9) for _ in edges], dtype=np.float32
    )  # fmt: skip
    return Graph.from_edges(
        ends[:, 0], ends[:, 1], weights if weighted else None, num_vertices=n, directed=draw.random() < 0.5, threads=1
    )  # fmt: skip


class _Draw:
    """The parts of one program."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        # more than half of the programs have a shape that the analysis looks for, except for what else is drawn
        self.shape = draw.choice(_SHAPES)
        self.fields = {f"f{i}": draw.choice(_TYPES) for i in range(draw.choice((1, 1, 2)))}
        if self.shape == "sending once":
            self.fields = {"f0": np.float64, "f1": np.float64}
        if self.shape == "improving" and self.chance(0.7):
            self.fields = {"f0": draw.choice((np.int32, np.int64, np.float32, np.float64))}
        if self.shape == "keyed":
            self.fields = {"f0": draw.choice((np.int32, np.int64, np.float32, np.float64)), "f1": dr.ID}
        if self.shape == "vector":
            self.fields = {"f0": draw.choice((np.int8, np.int32, np.int64, np.uint32, np.float64))}
        if self.shape == "levels":
            self.fields = {"f0": draw.choice((np.int32, np.int32, np.int64, np.float32, np.float64, np.int8))}
        self.size = draw.choice((1, 2, 3)) if self.shape == "vector" else None
        self.names = tuple(self.fields)
        self.combine = {
            "any": draw.choice(_COMBINES),
            "improving": draw.choice((dr.MIN, dr.MAX)),
            "claiming": dr.ANY,
            "levels": dr.MIN,
            "sending once": dr.SUM,
            "keyed": draw.choice(_KEYED),
            "vector": draw.choice((dr.MIN, dr.MAX, dr.MIN, dr.SUM)),
        }[self.shape]
        common = self.shape == "any"
        if common and self.chance(0.15):
            self.combine = draw.choice(_PRODUCTS)
        self.is_pair = self.combine in _KEYED or self.combine in _PRODUCTS
        self.has_edge_field = self.chance(0.15 if common else 0.05)
        self.has_edge_param = self.chance(0.15)
        self.looks_up = self.chance(0.12) and self.shape in ("any", "improving", "claiming")
        self.direction = self.draw.choice(("in", "both")) if self.chance(0.2) and not self.has_edge_field else "out"
        self.has_reduction = self.chance(0.2 if common else 0.05)
        self.reduced = self.draw.choice(("scalar", "vector", "keyed"))
        self.has_converged = self.chance(0.15 if common else 0.1)
        # drawn separately, so that all other programs stay the same
        apart = random.Random(f"weights of {draw.getstate()}")
        is_scaled = self.shape == "improving" and apart.random() < 0.3
        self.scaled = apart.choice(_SCALED) if is_scaled else None
        self.promise = apart.choice(("any", "nonnegative", "positive", "positive"))

    def chance(self, share: float) -> bool:
        """True with probability ``share``."""
        return self.draw.random() < share

    # ---- formulas --------------------------------------------------------------------------------------------------

    def number(self, symbols: tuple[str, ...], depth: int) -> Formula:
        """A formula of some of ``symbols``, at most ``depth`` deep."""
        if depth == 0 or self.chance(0.25):
            if self.chance(0.25):
                constant = self.draw.choice((0, 1, 2, 3, -1, 5, 0, 1, 0.5, -1.0))
                return lambda at: constant
            symbol = self.draw.choice(symbols)
            return lambda at: at[symbol]
        one, other = self.number(symbols, depth - 1), self.number(symbols, depth - 1)
        if self.chance(0.25):
            test = self.truth(symbols, depth - 1)
            return lambda at: dr.where(test(at), one(at), other(at))
        operation = self.draw.choice(_ARITHMETIC)
        return lambda at: operation(one(at), other(at))

    def truth(self, symbols: tuple[str, ...], depth: int) -> Formula:
        """A comparison of two formulas, perhaps negated, perhaps combined with another one."""
        one, other = self.number(symbols, max(depth - 1, 0)), self.number(symbols, max(depth - 1, 0))
        compare = self.draw.choice(_COMPARISONS)
        if self.chance(0.15):
            more = self.truth(symbols, 0)
            return lambda at: compare(one(at), other(at)) & more(at)
        if self.chance(0.1):
            return lambda at: ~lift(compare(one(at), other(at)))  # for two constants it is a Python bool
        return lambda at: compare(one(at), other(at))

    def new_value(self, name: str) -> Formula:
        """The new value of a field in ``update``: often one of the shapes that the analysis recognizes."""
        mine, kind = f"v.{name}", self.draw.random()
        if self.shape in ("improving", "vector", "levels"):
            best = {dr.MIN: dr.minimum, dr.MAX: dr.maximum}.get(self.combine, operator.add)
            return lambda at: best(at[mine], at["message"])
        if self.shape == "keyed":
            better = operator.lt if self.combine is dr.ARGMIN else operator.gt
            part = self.names.index(name)
            return lambda at: dr.where(better(at["parts"][0], at["v.f0"]), at["parts"][part], at[mine])
        if self.shape == "claiming":
            found = self.number(("message", "superstep"), self.draw.choice((0, 1)))
            return lambda at: dr.where(at["v.f0"] < 0, found(at), at[mine])
        if self.shape == "sending once":
            return lambda at: at[mine] + at["message"]
        if self.looks_up and self.chance(0.6):
            near = self.draw.choice((dr.minimum, dr.maximum))
            return lambda at: near(at["before"], at["message"])
        if kind < 0.3:
            choose = self.draw.choice((dr.minimum, dr.maximum))
            return lambda at: choose(at[mine], at["message"])
        if kind < 0.4:
            return lambda at: at[mine] + at["message"]
        if kind < 0.65:
            first = self.number(("message", "superstep"), 1)
            return lambda at: dr.where(at[mine] < 0, first(at), at[mine])
        if kind < 0.75:
            return lambda at: at[mine]
        more: tuple[str, ...] = ("total",) if self.has_reduction else ()
        more += ("before", "before") if self.looks_up else ()
        return self.number((*(f"v.{n}" for n in self.names), "message", "message", "superstep", "v.id", *more), 2)

    # ---- the program -----------------------------------------------------------------------------------------------

    def program(self, name: str) -> type[dr.Program]:
        """A class with the drawn members."""
        members: dict[str, Any] = {field: dr.field(dtype, size=self.size) for field, dtype in self.fields.items()}
        # sums of large and small numbers depend on their order
        members["_heavy"] = self.shape in ("improving", "keyed") or (
            self.shape == "vector" and self.combine is not dr.SUM
        )  # fmt: skip
        members["direction"] = self.direction
        if self.scaled is not None:
            members["edge_weights"] = self.promise
        members |= {"combine": self.combine, "init": self.init(), "compute": self.compute(), "update": self.update()}
        if self.shape == "any" and self.chance(0.25):
            members |= {"phases": ("a", "b"), "compute_b": self.compute(), "update_b": self.update()}
        if self.shape == "levels":
            members |= self.search()
        elif self.chance(0.6):
            members["start"] = lambda self, v: v.id == 0
        if self.chance(0.2 if self.shape == "any" else 0.05):
            members["sends"] = self.along(self.truth(self.arc_symbols(), 1))
        if self.chance({"claiming": 0.9, "sending once": 0.9, "levels": 0.3}.get(self.shape, 0.6)):
            members["active"] = self.active()
        if self.has_edge_field:
            members["g"] = dr.edge_field(np.float64, init=1.0)
            members["edge_update"] = self.along(
                self.number(("weight", "g", "u.id", "v.id", *(["h"] if self.has_edge_param else [])), 1)
            )
        if self.has_edge_param:
            members["h"] = dr.edge_param(self.draw.choice((np.int32, np.float32)))
        if self.has_reduction:
            field = self.draw.choice(self.names)
            one = (lambda value: value) if self.size is None else (lambda value: value[0])
            if self.reduced == "scalar":
                function = lambda self, v: one(getattr(v, field))  # noqa: E731
            else:
                function = lambda self, v: (one(getattr(v, field)), v.id)  # noqa: E731
            whole = self.fields[field] not in (np.float32, np.float64)  # of sums of floats any may be the greatest
            monoids = (dr.ARGMIN, dr.ARGMAX) if self.reduced == "keyed" and whole else (dr.SUM, dr.MIN, dr.MAX)
            members["total"] = dr.reduction(self.draw.choice(monoids))(function)
        if self.has_converged:
            members["converged"] = self.converged()
        if self.shape == "sending once":
            members["sent"] = lambda self, u: {"f0": u.f0 + u.f1, "f1": 0.0}
        if self.chance(0.15 if self.shape == "any" else 0.03):
            members["update_on"] = "all"
        if self.combine is dr.MIN and self.size is None and self.chance(0.7):
            members["priority"] = self.draw.choice(self.names)
        if "sends" not in members and self.chance(0.1):  # along some edges only; all engines draw the same ones
            members["sends"] = self.draw.choice(_SOME_EDGES)
        if "sent" not in members and self.size is None and self.chance(0.1):  # senders change before their update
            members["sent"] = self.sent()
        return type(name, (dr.Program,), members)

    def arc_symbols(self) -> tuple[str, ...]:
        """The symbols that functions along an edge may use: mostly of its source."""
        symbols = [f"u.{name}" for name in self.names] * 2 + ["weight", "u.id", "superstep", "u.out_degree"]
        symbols += [f"v.{name}" for name in self.names] if self.chance(0.2) else []
        symbols += ["g"] if self.has_edge_field else []
        symbols += ["before"] * 3 if self.looks_up else []
        symbols += ["forward"] if self.direction == "both" else []
        symbols += ["h", "h"] if self.has_edge_param else []
        return tuple(symbols)

    def along(self, formula: Formula) -> Callable[..., Any]:
        """A function of a program, source, edge and target."""

        def function(program: Any, u: Any, edge: Any, v: Any) -> Any:
            at: dict[str, Any] = {"weight": edge.weight, "superstep": program.superstep}
            at |= {"u.id": u.id, "v.id": v.id, "u.out_degree": u.out_degree}
            at |= {f"{side}.{n}": getattr(end, n) for n in self.names for side, end in (("u", u), ("v", v))}
            at |= {"before": program.at(u.id - 1).f0} if self.looks_up else {}
            at |= {"forward": dr.cast(edge.forward, np.int8)} if self.direction == "both" else {}
            at |= {"g": edge.g} if self.has_edge_field else {}
            return formula(at | ({"h": edge.h} if self.has_edge_param else {}))

        return function

    def init(self) -> Callable[..., Any]:
        values = {name: self.draw.choice((0, 1, -1, 3)) for name in self.names}
        formulas = {name: self.number(("v.id",), 1) for name in self.names}
        by_source = self.chance(0.5)

        def init(program: Any, v: Any) -> Any:
            start = {}
            for name, dtype in self.fields.items():
                if self.size is not None:
                    start[name] = [dr.where(v.id == i, 0, 3 * i + abs(values[name])) for i in range(self.size)]
                elif dtype is bool:
                    start[name] = v.id == 0
                elif dtype is dr.ID:
                    start[name] = dr.where(v.id == 0, v.id, -1)
                elif self.shape == "sending once":
                    start[name] = dr.where(
                        v.id == 0, 0, abs(values[name])
                    )  # below zero, which vertices send depends on the order
                elif by_source:
                    start[name] = dr.where(v.id == 0, 0, abs(values[name]) if dtype is np.uint32 else values[name])
                else:
                    value = formulas[name]({"v.id": v.id})
                    start[name] = dr.cast(dr.maximum(value, 0) if dtype is np.uint32 else value, dtype)
            return start

        return init

    def search(self) -> dict[str, Any]:
        """The start of a search by levels: usually one value there, and one elsewhere that may not be large enough."""
        dtype = self.fields["f0"]
        first = self.draw.choice((0, 0, 0, 1, -3))
        greatest = np.inf if dtype in (np.float32, np.float64) else int(np.iinfo(dtype).max)
        unreached = self.draw.choice((3, 3, 100, greatest, greatest, -1))
        here = self.draw.choice(_SOURCES)
        elsewhere = here if self.chance(0.85) else self.draw.choice(_SOURCES)
        uneven = self.chance(0.1)

        def init(program: Any, v: Any) -> Any:
            return dr.cast(dr.where(here(v), v.id % 3 if uneven else first, unreached), dtype)

        def plain_init(program: Any, v: Any) -> Any:
            return dr.where(here(v), first, unreached)

        plain = not uneven and self.chance(0.8)
        return {"init": plain_init if plain else init, "start": lambda program, v: elsewhere(v)}

    def compute(self) -> Callable[..., Any]:
        if self.shape == "levels":
            return self.along(self.draw.choice(_LEVELS))
        if self.shape in ("improving", "keyed"):
            by_edge = (lambda at: at["u.f0"] + at["h"],) * 5 if self.has_edge_param else ()
            value = self.along(self.draw.choice((*_IMPROVING, *by_edge)))
            if self.scaled is not None:
                value = self.along(self.scaled)
            if self.chance(0.2):  # wraps around, unless there is room
                narrow, wide = self.draw.choice((np.int8, np.int16, np.int64)), self.fields["f0"]
                whole = value
                value = lambda program, u, edge, v: dr.cast(dr.cast(whole(program, u, edge, v), narrow), wide)  # noqa: E731
        elif self.shape == "vector":
            value = self.along(self.draw.choice(_VECTORS))
        elif self.shape == "claiming" and self.chance(0.7):
            value = self.along(self.draw.choice((lambda at: at["u.id"], lambda at: at["superstep"] + 1)))
        elif self.shape == "sending once":
            value = self.along(lambda at: 0.3 * at["u.f1"] / (at["u.out_degree"] * at["weight"]))
        else:
            value = self.along(self.number(self.arc_symbols(), self.draw.choice((0, 1, 2))))
        if not self.is_pair:
            return value
        if self.shape == "keyed" and self.chance(0.4):
            return lambda program, u, edge, v: (value(program, u, edge, v), u.f1)
        return lambda program, u, edge, v: (value(program, u, edge, v), u.id)

    def sent(self) -> Callable[..., Any]:
        name = self.draw.choice(self.names)
        value = {bool: False, dr.ID: -1}.get(self.fields[name], self.draw.choice((0, 1, 3)))
        if self.fields[name] not in (bool, dr.ID, np.uint32) and self.chance(0.5):
            value = -1
        return lambda program, u: {name: value}

    def update(self) -> Callable[..., Any]:
        written = self.names[1:] if self.shape == "sending once" else self.names
        formulas = {name: self.new_value(name) for name in written}
        cast = self.chance(0.5) and self.shape == "any"
        argument = self.draw.choice((0, 1))

        def update(program: Any, v: Any, message: Any) -> Any:
            at = {f"v.{name}": getattr(v, name) for name in self.names}
            at |= {"v.id": v.id, "superstep": program.superstep}
            at["message"] = message[argument] if self.is_pair else message
            at["parts"] = message
            at |= {"before": program.at(v.id - 1).f0} if self.looks_up else {}
            if self.has_reduction:
                at["total"] = self.total(program)
            new = {name: formula(at) for name, formula in formulas.items()}
            narrow = [name for name in new if cast and self.fields[name] not in (dr.ID, bool)]
            return new | {name: dr.cast(new[name], self.fields[name]) for name in narrow}

        return update

    def active(self) -> Callable[..., Any]:
        if self.shape == "sending once" and self.chance(0.8):
            return lambda program, old, new: new.f1 > 1e-6
        if self.shape == "claiming" and self.chance(0.8):
            return lambda program, old, new: new.f0 != old.f0
        if self.shape in ("improving", "keyed", "levels") and self.chance(0.4):
            improves = operator.lt if self.combine in (dr.MIN, dr.ARGMIN) else operator.gt
            return lambda program, old, new: improves(new.f0, old.f0)
        if self.chance(0.2):
            return lambda program, old, new: True
        name = self.draw.choice(self.names)
        compare = self.draw.choice((operator.ne, operator.ne, operator.lt, operator.gt))
        part = (lambda value: value) if self.size is None else (lambda value: value[self.size - 1])

        def ends(old: Any, new: Any) -> tuple[Any, Any]:
            return part(getattr(new, name)), part(getattr(old, name))

        holes: tuple[Callable[..., Any], ...] = (
            lambda new, now, before: abs(now - before) >= 2,
            lambda new, now, before: compare(now, before) & (now < 5),
            lambda new, now, before: compare(now, before) & (new.id % 3 != 1),
            lambda new, now, before: compare(now, before) | (new.id == 2),
        )
        if self.chance(0.3):
            hole = self.draw.choice(holes)
            return lambda program, old, new: hole(new, *ends(old, new))
        return lambda program, old, new: compare(*ends(old, new))

    def converged(self) -> Callable[..., Any]:
        last, kind = self.draw.choice((1, 2, 5)), self.draw.random()
        if kind < 0.1:
            return lambda program: True
        if kind < 0.6 or not self.has_reduction:
            return lambda program: program.superstep + 1 >= last
        return lambda program: (self.total(program) < 2) & (program.superstep > 0)

    def total(self, program: Any) -> Any:
        """The reduction, or its first component."""
        return program.total if self.reduced == "scalar" else program.total[0]
