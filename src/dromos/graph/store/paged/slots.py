"""Memory for pages that only pass through: read, computed on once, and not kept.

A page has a place of its own in an address range as large as its section. The system has to clear memory for that place
when the page is read, and takes it back when the page is dropped, which costs a quarter of the processor time of a
pass over a graph. Pages that will not stay are read to a slot instead: memory that one window after the other uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph.store.paged.memory import SparseMemory
from dromos.graph.store.paged.section import Request
from dromos.parallel import run_team

if TYPE_CHECKING:
    from dromos.graph.store.paged.rows import PagedRows

__all__ = ["Slot", "Slots"]


class Slot:
    """Memory for ``pages`` consecutive pages of some rows."""

    def __init__(self, rows: PagedRows, pages: int) -> None:
        self.pages, self.nbytes = pages, pages * rows.page_bytes
        self.window = Request(0, 0)
        self.parts: list[Array] = []
        """The bytes of each section."""
        for section in rows.sections:
            memory = SparseMemory(pages * section.page_bytes)
            memory.expect(0, len(memory.bytes))
            self.parts.append(memory.bytes)

    @classmethod
    def prepare(cls, rows: PagedRows) -> None:
        """Compile what slots of ``rows`` need now, not later."""
        cls(rows, 0).copy(rows, np.empty((0, 2), dtype=np.int64))

    def columns(self, rows: PagedRows, begin: int, end: int) -> list[Array]:
        """The targets, and the weights if there are any, of the arcs ``begin..end``, all of them on pages in here."""
        first = self.window.first * rows.page_arcs
        return [
            part.view(section.array.dtype)[begin - first : end - first]
            for section, part in zip(rows.sections, self.parts, strict=True)
        ]

    def copy(self, rows: PagedRows, runs: Array) -> None:
        """Copy runs of pages, each given as its first page and the one after its last, from their places."""
        from dromos.graph.store.paged.read_kernels import copy_pages

        firsts, lasts = (read_only(np.ascontiguousarray(edges)) for edges in runs.T)
        for section, part in zip(rows.sections, self.parts, strict=True):
            run_team(
                copy_pages, read_only(section.memory.bytes.view(np.uint64)), part.view(np.uint64), firsts, lasts,
                self.window.first, section.page_bytes, threads=1,
            )  # fmt: skip


class Slots:
    """The slots of a pager, for the rows that it reads at the moment."""

    def __init__(self) -> None:
        self._rows: PagedRows | None = None
        self._idle: list[Slot] = []

    def take(self, rows: PagedRows, window: Request, pages: int) -> Slot:
        """A slot of ``pages`` pages for those of ``window``: an idle one, or a new one."""
        if self._rows is not rows or any(slot.pages != pages for slot in self._idle):
            self.release()
            self._rows = rows
        slot = self._idle.pop() if self._idle else Slot(rows, pages)
        slot.window = window
        return slot

    def put(self, slot: Slot) -> None:
        """Return a slot that is no longer used."""
        self._idle.append(slot)

    def release(self, most: int = 0) -> None:
        """Release idle slots until they have at most ``most`` bytes."""
        while sum(slot.nbytes for slot in self._idle) > max(most, 0):
            self._idle.pop()
