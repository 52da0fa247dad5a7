"""The functions of a module of kernels as Numba compiles them.

Numba runs the same text with its own decorators. What only our compiler knows, the intrinsics, is said here in Python:
what they mean on one thread.
"""

# mypy: ignore-errors
from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
from numba import njit

from dromos import intrinsics


def _load(array, index):
    return array[index]


def _store(array, index, value):
    array[index] = value


def _atomic_add(array, index, value):
    old = array[index]
    array[index] = old + array.dtype.type(value)
    return old


def _atomic_or(array, index, value):
    old = array[index]
    array[index] = old | array.dtype.type(value)
    return old


def _atomic_and(array, index, value):
    old = array[index]
    array[index] = old & array.dtype.type(value)
    return old


def _atomic_min(array, index, value):
    old = array[index]
    array[index] = min(old, array.dtype.type(value))
    return old


def _atomic_max(array, index, value):
    old = array[index]
    array[index] = max(old, array.dtype.type(value))
    return old


def _atomic_swap(array, index, value):
    old = array[index]
    array[index] = value
    return old


def _compare_and_swap(array, index, expected, wanted):
    if array[index] != expected:
        return False
    array[index] = wanted
    return True


def _count_bits(value):
    bits, count = np.uint64(value), np.uint64(0)
    for place in range(64):
        count += (bits >> np.uint64(place)) & np.uint64(1)
    return count


def _trailing_zeros(value):
    bits = np.uint64(value)
    for place in range(64):
        if (bits >> np.uint64(place)) & np.uint64(1):
            return np.uint64(place)
    return np.uint64(64)


def _load_unaligned(array, index):
    word = np.uint64(0)
    for place in range(8):
        word |= np.uint64(array[index + place]) << np.uint64(8 * place)
    return word


def _nothing(array, index):
    pass


_MEANING = {
    "atomic_add": _atomic_add, "atomic_and": _atomic_and, "atomic_max": _atomic_max, "atomic_min": _atomic_min,
    "atomic_or": _atomic_or, "atomic_swap": _atomic_swap, "atomic_swap_acq_rel": _atomic_swap,
    "compare_and_swap": _compare_and_swap, "compare_and_swap_relaxed": _compare_and_swap, "count_bits": _count_bits,
    "load": _load, "load_acquire": _load, "load_relaxed": _load, "load_unaligned": _load_unaligned,
    "load_unordered": _load, "prefetch": _nothing, "prefetch_to_write": _nothing, "store": _store,
    "store_relaxed": _store, "store_release": _store, "trailing_zeros": _trailing_zeros,
}  # fmt: skip
assert set(_MEANING) <= set(intrinsics.__all__)


@cache
def compiled_by_numba(module: ModuleType) -> SimpleNamespace:
    """The functions of ``module``, with Numba's decorator in place of ours."""
    compile_it = njit(error_model="numpy")
    names = {name: compile_it(function) for name, function in _MEANING.items()}
    names |= dict.fromkeys(("inline", "kernel", "kernel"), compile_it)
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not _is_of_dromos(node)]
    exec(compile(tree, module.__file__, "exec"), names)
    return SimpleNamespace(**names)


def _is_of_dromos(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "dromos"
