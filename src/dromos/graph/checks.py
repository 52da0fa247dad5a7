"""The checks before a kernel may follow rows: offsets rise to the number of arcs, and targets are vertices.

Kernels index memory by these numbers without checks, and a NaN weight once made a kernel run forever (``NaN < 0`` is
false, so that no negative cycle was looked for). Arrays that Dromos has built are valid; those from elsewhere (a mapped
file, a pickle, memory that a caller can still write to) are checked here first. It is one pass at memory speed on all
threads, by NumPy alone, so that a small graph does not wait for the compiler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError
from dromos.parallel import in_blocks

__all__ = ["Fault", "check_rows", "find_fault", "is_shared", "offsets_fault", "weights_fault"]

_BLOCK = 1 << 17  # entries that stay in a core's cache: half a megabyte, or one


class Fault(NamedTuple):
    """The first invalid entry: in ``"offsets"``, ``"targets"`` or ``"weights"``, its position there, the reason."""

    array: str
    item: int
    reason: str


def find_fault(offsets: Array, targets: Array, weights: Array | None = None) -> Fault | None:
    """Why arrays are not the rows of a graph; ``None`` if they are.

    >>> find_fault(np.array([0, 1, 2]), np.array([1, 0])) is None
    True
    >>> find_fault(np.array([0, 1, 2]), np.array([1, 7]))
    Fault(array='targets', item=1, reason='arc 1 leads to 7, and there are 2 vertices')
    """
    fault = offsets_fault(offsets, len(targets)) or _targets_fault(targets, len(offsets) - 1)
    return fault if fault is not None or weights is None else weights_fault(weights)


def check_rows(offsets: Array, targets: Array, weights: Array | None = None) -> None:
    """Raise :class:`~dromos.errors.GraphDataError` if arrays are not the rows of a graph.

    >>> check_rows(np.array([0, 1, 2]), np.array([1, 0]))
    """
    fault = find_fault(offsets, targets, weights)
    if fault is not None:
        raise GraphDataError(f"{fault.array}[{fault.item}]: {fault.reason}")


def offsets_fault(offsets: Array, last: int) -> Fault | None:
    """The first place where offsets do not rise from 0 to ``last``."""
    if len(offsets) == 0:
        return Fault("offsets", 0, "there are none; rows need at least the offset 0")
    for item, expected in ((0, 0), (len(offsets) - 1, last)):
        if int(offsets[item]) != expected:
            return Fault("offsets", item, f"is {offsets[item]:,}; offsets must rise from 0 to {last:,}")
    descents: list[int] = []

    def look(begin: int, end: int) -> None:
        falls = offsets[begin + 1 : end + 1] < offsets[begin:end]
        if falls.any():
            descents.append(begin + 1 + int(np.argmax(falls)))

    in_blocks(look, len(offsets) - 1, _BLOCK)
    if not descents:
        return None
    at = min(descents)
    return Fault("offsets", at, f"row {at - 1:,} ends at {offsets[at]:,}, before it begins at {offsets[at - 1]:,}")


def _targets_fault(targets: Array, num_vertices: int) -> Fault | None:
    """The first target that is not one of the vertices ``0..num_vertices - 1``."""
    ids = targets.view(np.dtype(f"u{targets.itemsize}"))  # negative values become large: one comparison is enough
    outside: list[int] = []

    def look(begin: int, end: int) -> None:
        if int(ids[begin:end].max()) >= num_vertices:
            outside.append(begin + int(np.argmax(ids[begin:end] >= num_vertices)))

    in_blocks(look, len(ids), _BLOCK)
    if not outside:
        return None
    at = min(outside)
    return Fault("targets", at, f"arc {at:,} leads to {targets[at]:,}, and there are {num_vertices:,} vertices")


def weights_fault(weights: Array, first: int = 0) -> Fault | None:
    """The first weight that is NaN; ``first`` is the number of the first arc."""
    missing: list[int] = []

    def look(begin: int, end: int) -> None:
        if np.isnan(weights[begin:end].min()):  # the minimum is NaN if any value is
            missing.append(first + begin + int(np.argmax(np.isnan(weights[begin:end]))))

    if weights.dtype.kind == "f":
        in_blocks(look, len(weights), _BLOCK)
    if not missing:
        return None
    return Fault("weights", min(missing), f"the weight of arc {min(missing):,} is not a number (NaN)")


def is_shared(array: Array) -> bool:
    """Whether others may write to the memory of an array: whether it is a view of a writable array.

    >>> own = np.zeros(3)
    >>> is_shared(own[:2]), is_shared(np.frombuffer(b"abc", np.uint8))
    (True, False)
    """
    holder: object = array
    while holder is not None:
        if isinstance(holder, np.ndarray):
            if holder.flags.writeable:
                return True
            holder = holder.base
        elif isinstance(holder, memoryview):
            return not holder.readonly
        else:
            return False
    return False
