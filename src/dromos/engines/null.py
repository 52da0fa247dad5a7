"""The null engine plans and renders, and runs nothing. It shows what would run, on a machine that cannot run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dromos.codegen.python import render
from dromos.dtypes import Array
from dromos.engines import GraphLike, NativeKernel, caps_for, check_params, graph_types
from dromos.engines.direction import along
from dromos.plan import Caps, Path, Stats, require_legal
from dromos.program import Program, analyse

__all__ = ["NullEngine", "NullExecution"]


class NullEngine:
    """Takes every step instantly and changes nothing."""

    name = "null"

    def prepare(self, program: Program, graph: GraphLike) -> NullExecution:
        """The program, checked and rendered for ``graph``.

        >>> import dromos.program as dr
        >>> from dromos.graph import Graph
        >>> class Degrees(dr.Program):
        ...     count = dr.field(np.int64, init=0)
        ...     combine = dr.SUM
        ...     def compute(self, u, edge, v): return 1
        ...     def update(self, v, message): return v.count + message
        >>> run = NullEngine().prepare(Degrees(), Graph.from_edges([0, 1], [2, 2]))
        >>> "def compute(" in run.source, run.step(Path()).finished
        (True, 'frontier empty')
        """
        return NullExecution(*along(program, graph))

    def native(self, name: str) -> NativeKernel | None:
        """None: this engine shows what programs would do."""
        return None


class NullExecution:
    """A program without effect: full frontier, then an empty one. :attr:`taken` lists the paths of its steps."""

    def __init__(self, program: Program, graph: GraphLike) -> None:
        check_params(program, graph)
        typed = program.typed(graph_types(graph))
        self.name = typed.ir.name
        self.analysis = analyse(typed)
        self.caps: Caps = caps_for(typed.ir, self.analysis, graph)
        self.source = render(typed)
        self.taken: list[Path] = []
        self.state: Mapping[str, Array] = {
            spec.name: np.zeros((0,) if spec.size is None else (0, spec.size), typed.dtype(spec.name))
            for spec in typed.ir.fields
        }
        self.reductions: Mapping[str, Any] = {
            spec.name: spec.monoid.identity(typed.reduction_type(spec.name)) for spec in typed.ir.reductions
        }
        self.stats = Stats(0, graph.num_vertices, graph.num_arcs, graph.num_arcs)

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """Check that ``path`` is legal, and finish."""
        require_legal(path, self.analysis, self.name)
        self.taken.append(path)
        self.stats = replace(
            self.stats,
            superstep=self.stats.superstep + 1,
            frontier=0,
            out_degree=0,
            in_degree=0,
            finished="frontier empty",
        )
        return self.stats

    def result(self) -> Mapping[str, Array]:
        """Empty arrays of the fields' types."""
        return dict(self.state)
