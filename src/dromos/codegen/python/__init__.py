"""Programs as Python source that Numba compiles. Rendering needs no Numba; only importing what was rendered does."""

from dromos.codegen.python.hooks import hooks_text
from dromos.codegen.python.render import render

__all__ = ["hooks_text", "render"]
