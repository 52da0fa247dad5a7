"""Programs as Python source that is compiled for the CPU; rendering it loads no compiler."""

from dromos.codegen.python.hooks import hooks_text
from dromos.codegen.python.render import render

__all__ = ["hooks_text", "render"]
