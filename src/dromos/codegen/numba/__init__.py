"""Programs as Python source that Numba compiles. Rendering needs no Numba; only importing what was rendered does."""

from dromos.codegen.numba.hooks import hooks_text
from dromos.codegen.numba.render import render

__all__ = ["hooks_text", "render"]
