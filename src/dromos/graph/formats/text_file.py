"""Text files in blocks of whole lines, through their compression."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.errors import FormatError
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.formats.files import file_errors, open_input, strip_compression

__all__ = ["BLOCK_BYTES", "TextBlock", "TextFile"]

BLOCK_BYTES = 4 << 20  # several of them stay in the last cache together
_LONGEST_LINE = 1 << 26
_PADDING = 16  # bytes behind the text, which a parser may read ahead
_ROOM = 1 << 12  # behind a block: mostly enough for the rest of its last line, and the padding
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # before UTF-8 text of programs on Windows; no part of the first line


class TextBlock(NamedTuple):
    """Whole lines: the bytes ``begin..end`` of ``data``, the last of which is a newline."""

    data: bytearray
    begin: int
    end: int

    @property
    def array(self) -> Array:
        """The bytes as an array; use it before the block is given back."""
        return np.frombuffer(self.data, dtype=np.uint8)

    def bytes(self) -> bytes:
        """A copy of the lines."""
        return bytes(memoryview(self.data)[self.begin : self.end])


class TextFile:
    """A text file, read in blocks that end at the end of a line; a newline that lacks at the end is added.

    Lines at the front (headers) are read one by one with :meth:`next_line`; :meth:`next_block` goes on behind them. The
    memory of a block is used again once it is given back.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        progress: Progress = no_progress,
        longest_line: int | None = _LONGEST_LINE,
        block_bytes: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.lines_read = 0
        """How many lines :meth:`next_line` has given."""
        self._progress = progress
        self._longest_line = longest_line
        self._block_bytes = block_bytes or BLOCK_BYTES
        self._stream = open_input(self.path)
        self.compressed = strip_compression(self.path)[1] is not None
        self.size = 0 if self.compressed else self.path.stat().st_size
        """The bytes in the file, or 0 where compression hides it."""
        self._done = 0
        self._front: TextBlock | None = None
        self._spare: list[bytearray] = []
        self._lock = threading.Lock()

    def __enter__(self) -> TextFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_spare"):
            self.close()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._spare.clear()

    def next_line(self) -> bytes | None:
        """The next line, without its end, or ``None`` at the end of the file."""
        front = self._front_block()
        if front is None:
            return None
        stop = front.data.index(b"\n", front.begin)
        self._front = TextBlock(front.data, stop + 1, front.end)
        self.lines_read += 1
        return bytes(front.data[front.begin : stop]).removesuffix(b"\r")

    def peek_lines(self, count: int) -> list[bytes]:
        """The next lines, without going on: ``count``, or fewer where the block at hand or the file ends."""
        front = self._front_block()
        lines: list[bytes] = []
        begin = front.begin if front is not None else 0
        while front is not None and begin < front.end and len(lines) < count:
            stop = front.data.index(b"\n", begin)
            lines.append(bytes(front.data[begin:stop]).removesuffix(b"\r"))
            begin = stop + 1
        return lines

    def _front_block(self) -> TextBlock | None:
        if self._front is None or self._front.begin == self._front.end:
            self._front = self.next_block()
        return self._front

    def next_block(self) -> TextBlock | None:
        """The lines that follow, or ``None`` at the end of the file."""
        if self._front is not None:
            front, self._front = self._front, None
            if front.begin < front.end:
                return front
        data = self._buffer()
        at_start = self._done == 0
        with file_errors(self.path):
            held = self._fill(data)
            if held and data[held - 1] != 10:
                held = self._end_line(data, held)
        self._progress(self._done, self.size)
        begin = len(_BYTE_ORDER_MARK) if at_start and data.startswith(_BYTE_ORDER_MARK, 0, held) else 0
        return TextBlock(data, begin, held) if held else None

    def give_back(self, block: TextBlock) -> None:
        """Let the memory of a block be used again."""
        if len(block.data) == self._block_bytes + _ROOM:
            with self._lock:
                self._spare.append(block.data)

    def _buffer(self) -> bytearray:
        with self._lock:
            if self._spare:
                return self._spare.pop()
        return bytearray(self._block_bytes + _ROOM)

    def _fill(self, data: bytearray) -> int:
        """Read a block, or what is left of the file; returns how much that is."""
        stream: Any = self._stream
        held = 0
        with memoryview(data)[: self._block_bytes] as view:
            while held < len(view) and (count := stream.readinto(view[held:])):
                held += count
        self._done += held
        return held

    def _end_line(self, data: bytearray, held: int) -> int:
        """Bring in the rest of a line that was cut, with its newline if that lacks; returns how much there is then."""
        rest = self._stream.readline(-1 if self._longest_line is None else self._longest_line)
        self._done += len(rest)
        if len(rest) == self._longest_line and not rest.endswith(b"\n"):
            begin = self._done - len(rest) - (held - data.rfind(b"\n", 0, held) - 1)
            raise FormatError(
                f"a line of more than {self._longest_line >> 20} MiB begins {begin:,} bytes into the file; this does "
                "not look like such a text",
                path=self.path,
            )
        rest = rest.removesuffix(b"\n") + b"\n" + bytes(_PADDING)
        data[held : held + len(rest)] = rest
        return held + len(rest) - _PADDING
