"""The compiler of kernels: from Python's syntax to LLVM's language, in one walk over a function's statements.

Kernels use little of Python: numbers, arrays that somebody else made, tuples, loops over ranges, tuples and arrays, and
the atomics of :mod:`dromos.intrinsics`. What a kernel calls is written in place of the call, so that arguments cost
nothing, and a name that is given one value is a register. Writing takes some hundredths of a second; the rest is LLVM's
time. Types follow the rules of Numba (:mod:`dromos.compiler.scalars`), which many know: whole numbers are computed with
64 bits, an operation of a signed and an unsigned one is signed. What the compiler does not know is an error: arrays
that a kernel makes, lists, exceptions, functions of NumPy on arrays.
"""

from dromos.compiler.intrinsic import Intrinsic, intrinsic
from dromos.compiler.kernels import Kernel
from dromos.compiler.source import Part
from dromos.compiler.values import LoweringError

__all__ = ["Intrinsic", "Kernel", "LoweringError", "Part", "intrinsic"]
