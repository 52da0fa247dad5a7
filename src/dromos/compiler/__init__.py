"""The compiler of kernels: translates Python's syntax to LLVM's language, in one walk over a function's statements.

Kernels use a small subset of Python: numbers, arrays that are passed in, tuples, loops over ranges, tuples and arrays,
and the atomics of :mod:`dromos.intrinsics`. Called functions are inlined, so that arguments cost nothing, and a name
that is assigned once is a register. This translation takes some hundredths of a second; the rest is LLVM's time. Types
follow the widely known rules of Numba (:mod:`dromos.compiler.scalars`): whole numbers are computed with 64 bits, and an
operation on a signed and an unsigned number is signed. Everything else is an error: arrays made by a kernel, lists,
exceptions, functions of NumPy on arrays.
"""

from dromos.compiler.intrinsic import Intrinsic, intrinsic
from dromos.compiler.kernels import Kernel
from dromos.compiler.source import Part
from dromos.compiler.values import LoweringError

__all__ = ["Intrinsic", "Kernel", "LoweringError", "Part", "intrinsic"]
