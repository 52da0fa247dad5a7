"""The compiler of team kernels: from Python's syntax to LLVM's language, with the meaning that Numba gives it.

Numba infers types for all of Python and NumPy, and generates code for each function by itself; a kernel takes it
seconds. Kernels of Dromos use little of that: numbers, arrays that somebody else made, tuples, loops over ranges, and
the atomics of :mod:`dromos.intrinsics`. Such a kernel is written in LLVM's language in one walk over its statements, in
some hundredths of a second: what it calls is written in place of the call, so that arguments cost nothing, and a name
that is given one value is a register. What is left is LLVM's own time.

Types follow Numba's rules (:mod:`dromos.compiler.scalars`). What is not known here is refused, and Numba compiles
the kernel: arrays that are made, lists, exceptions, functions of NumPy on arrays. ``DROMOS_COMPILER=numba`` has Numba
compile all kernels.
"""

from dromos.compiler.kept import compiled_call, is_call_kept

__all__ = ["compiled_call", "is_call_kept"]
