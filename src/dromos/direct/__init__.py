"""Kernels that are compiled in a few hundredths of a second, without Numba.

Numba infers types by a general method, for all of Python and NumPy: importing it and compiling a first kernel with it
takes seconds. A kernel that only loops over arrays needs none of that: it is translated to LLVM's language as it is,
and LLVM, which Numba brings along, makes machine code of it. So a first call waits for no compiler, and nothing is kept
on disk. Such a kernel is one thread's; it runs without the GIL.

Whole numbers are 64 bits wide and others are doubles, whatever the arrays hold; a variable has the type of the first
value that it is given. There are

- ``for`` over ``range(end)`` or ``range(begin, end)``, ``while``, ``if``, ``return``, ``continue``, ``break``;
- assignments to variables and elements, several at once, and ``+=`` and its kin;
- arithmetic without ``//``, ``%`` and ``**``; comparisons of two values, ``and``, ``or``, ``not``, ``x if c else y``;
- ``array[index]`` for arrays with one axis, with an index from zero on; ``array.size``;
- ``np.int64(x)`` of whole numbers, :func:`load_relaxed`, numbers of the module, and calls of its functions that return
  a number.

Anything else is refused. Nothing checks indices or overflows.
"""

from dromos.direct.machine import DirectKernel, direct_kernel
from dromos.direct.values import LoweringError, load_relaxed

__all__ = ["DirectKernel", "LoweringError", "direct_kernel", "load_relaxed"]
