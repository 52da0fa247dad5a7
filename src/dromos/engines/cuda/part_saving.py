"""A part of a graph on a GPU as named arrays, for checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dromos.dtypes import Array
from dromos.engines.cuda.transfers import to_host
from dromos.engines.saving import Saved, pack, reductions_of

if TYPE_CHECKING:
    from dromos.engines.cuda.part import CudaPart

__all__ = ["restore", "save"]


def save(part: CudaPart) -> dict[str, Array]:
    """The part's own rows, its frontier, the reductions, and the others' vertices that need no message any more."""
    own = {name: part.own_rows(name) for name in part.memory.fields}
    frontier = None if part.always else to_host(part.kernels.queue())
    told = to_host(part.kernels.received) if part.kernels.once else None
    return pack(own, part.edge_state, part.reductions, frontier=frontier, told=told)


def restore(part: CudaPart, saved: Saved, superstep: int) -> None:
    """Continue after ``superstep`` supersteps, in a part that has just started; others' rows follow."""
    import cupy

    memory, kernels, own = part.memory, part.kernels, slice(part.first, part.last)
    for name, array in memory.fields.items():
        array[own] = cupy.asarray(saved[f"field.{name}"])
    for name, array in memory.edge_fields.items():
        array[...] = cupy.asarray(saved[f"edge.{name}"])
    if kernels.once:
        kernels.received[...] = cupy.asarray(saved["told"])
    frontier: Any = None if part.always else cupy.asarray(saved["frontier"], dtype=part.typed.types.id)
    part.resume_at(superstep, reductions_of(saved), 0 if frontier is None else len(frontier))
    if frontier is not None:
        kernels.make_frontier(frontier)
        cupy.cuda.get_current_stream().synchronize()  # the list is released when this returns
