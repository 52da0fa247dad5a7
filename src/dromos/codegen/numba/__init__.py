"""Programs as Python source that Numba compiles. Rendering needs no Numba; only importing what was rendered does."""

from dromos.codegen.numba.functions import Argument, Function, argument_name, functions
from dromos.codegen.numba.render import CONTEXT, look_up, render, returned

__all__ = ["CONTEXT", "Argument", "Function", "argument_name", "functions", "look_up", "render", "returned"]
