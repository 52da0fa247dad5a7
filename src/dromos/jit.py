"""What compiled kernels are made with: the decorator, and atomics as LLVM intrinsics.

Importing this module imports Numba, so only modules of kernels import it, and those are imported when first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["atomic_add", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a kernel: no GIL, no bounds checks, NumPy's division, machine code cached on disk."""
    compiled: F = numba.njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")(function)
    return compiled


@intrinsic
def atomic_add(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """``old = array[index]; array[index] += value; return old``, as one step for all threads (integers)."""
    if not (isinstance(array, types.Array) and isinstance(array.dtype, types.Integer) and array.ndim == 1):
        return None
    signature = array.dtype(array, types.intp, array.dtype)

    def generate(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
        pointer = _element_pointer(context, builder, sig, args)
        return builder.atomic_rmw("add", pointer, args[2], ordering="monotonic")

    return signature, generate


def _element_pointer(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> Any:
    array_type = sig.args[0]
    array = context.make_array(array_type)(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, array_type, array, [args[1]], wraparound=False)
