"""The state of a function while it is inlined into a kernel."""

from __future__ import annotations

from typing import Any

from dromos.compiler.source import Source
from dromos.compiler.values import Shape, Value

__all__ = ["Frame", "NeedsSlot", "Widened"]


class Widened(Exception):
    """A variable turned out to have a wider type than assumed."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame


class NeedsSlot(Exception):
    """A name that is assigned once, but read where that assignment does not reach."""

    def __init__(self, frame: Frame, name: str) -> None:
        super().__init__(name)
        self.frame, self.name = frame, name


class Frame:
    """A function being inlined into a kernel: its variables, and the targets of its loops and its end."""

    def __init__(self, source: Source, shapes: dict[str, Shape]) -> None:
        self.source, self.shapes = source, shapes
        self.variables: dict[str, Any] = {}
        self.seen: dict[str, Shape] = {}
        self.returns_nothing = False
        self.scopes: list[list[str]] = [[]]
        self.loops: list[tuple[str, str]] = []
        self.end = ""
        self.returned: Value = None
