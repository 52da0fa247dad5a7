"""Kernel skeletons: how a superstep walks the graph, for any program.

They are real Python; what a program brings is imported from ``hooks`` (an example, so that editors and linters see
whole modules), and :mod:`dromos.engines.cpu.emit` puts a program's own hooks in that place: everything above the line
``HOOKS_END`` is replaced.
"""

from pathlib import Path
from typing import Final

__all__ = ["FOLDER", "HOOKS_END"]

FOLDER: Final = Path(__file__).parent
HOOKS_END: Final = "# ---- everything above is replaced by a program's own hooks"
