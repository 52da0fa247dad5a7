"""What a run on a GPU needs to know of a program whatever the graph's arrays are: found once, not at every call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.codegen.cuda.structures import shared_type
from dromos.codegen.facts import is_always_active
from dromos.engines import GraphLike
from dromos.engines.cuda.layout import arguments_type, control_type, reduced_type
from dromos.identity_cache import IdentityCache
from dromos.plan import PATHS, Path
from dromos.program import Analysis, Program, TypedProgram, analyse
from dromos.program.forms import is_ordered

__all__ = ["BITMAPS", "Prepared", "prepared"]

BITMAPS: Final = ("member0", "member1", "got", "visited", "far", "locks")
"""The bitmaps of a run, one bit per vertex each."""
_QUEUES: Final = 4
_FIXED: Final = 16 << 20  # the trace, partial sums and what the allocator rounds up
_kept: Final = IdentityCache()


@dataclass(frozen=True, eq=False)
class Prepared:
    """What follows from a program with its types; one object for each of them, so that it is told by identity."""

    analysis: Analysis
    always: bool
    """All vertices are active in every superstep."""
    ordered: bool
    """Vertices are settled in the order of a field."""
    weights: bool
    """The weights of the graph are read."""
    in_given_order: bool
    """Vertices and arcs have to lie in the given order: values by edge are in that of the arcs, those that are read by
    id in that of the vertices."""
    dominated: tuple[Path, ...]
    """Paths that always lose here."""
    arguments: np.dtype[Any]
    control: np.dtype[Any]
    reduced_bytes: int
    vertex_bytes: int
    """What a run takes per vertex beside the graph: fields with copies, accumulators, queues, bitmaps, a result."""
    arc_bytes: int
    """What it takes per arc: the edge fields."""

    def state_bytes(self, program: Program, graph: GraphLike) -> int:
        """What the state, the buffers, the parameters and the results of a run take beside the graph."""
        arrays = (values for values in program.params.values() if np.ndim(values))
        given = sum(int(values.nbytes) for values in arrays if all(values.strides))
        return graph.num_vertices * self.vertex_bytes + graph.num_arcs * self.arc_bytes + 2 * given + _FIXED


def prepared(typed: TypedProgram) -> Prepared:
    """What is known of ``typed``, from the second call on without looking.

    >>> import dromos.program as dr
    >>> from dromos.algorithms.bfs import BFS
    >>> known = prepared(BFS.typed(dr.GraphTypes()))
    >>> known.weights, known.always, known is prepared(BFS.typed(dr.GraphTypes()))
    (False, False, True)
    """
    return _kept.once(typed, "prepared", lambda: _prepare(typed))


def _prepare(typed: TypedProgram) -> Prepared:
    ir, analysis = typed.ir, analyse(typed)
    always = is_always_active(ir, analysis)
    sizes = {spec.name: typed.dtype(spec.name).itemsize * (spec.size or 1) for spec in (*ir.fields, *ir.edge_fields)}
    fields = {spec.name: sizes[spec.name] for spec in ir.fields}
    copies = sum(fields[name] for name in ir.written if name in fields)
    merged = sum(shared_type(dtype).itemsize for dtype in typed.accumulators)
    vertex = sum(fields.values()) + copies * (2 if ir.sent else 1) + 2 * merged
    vertex += _QUEUES * typed.types.id.itemsize + len(BITMAPS) // 8 + 1 + max(fields.values(), default=0)
    return Prepared(
        analysis,
        always,
        is_ordered(typed, analysis),
        weights="weight" in ir.operations,
        in_given_order=bool(ir.edge_fields or ir.edge_params or ir.reads_by_id),
        dominated=tuple(path for path in PATHS if path.direction == "push") if always else (),
        arguments=arguments_type(typed),
        control=control_type(typed),
        reduced_bytes=reduced_type(typed).itemsize,
        vertex_bytes=vertex,
        arc_bytes=sum(sizes[spec.name] for spec in ir.edge_fields),
    )
