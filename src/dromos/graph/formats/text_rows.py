"""Rows of two ids and perhaps a weight, parsed from a text file by several threads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.errors import FormatError, InvalidArgumentError
from dromos.graph.formats.base import EdgeBlock
from dromos.graph.formats.text_file import TextBlock, TextFile
from dromos.graph.formats.text_pipeline import in_order
from dromos.graph.formats.text_weights import WeightTrouble, exact_float, narrowed
from dromos.parallel import num_threads

__all__ = [
    "EXTRA_HINT", "Parsed", "RowError", "RowShape", "Rows", "Trouble", "check_count", "edge_blocks", "parse_blocks",
    "parse_rows", "shown", "weight_dtype_option",
]  # fmt: skip

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
EXTRA_HINT = "; pass extra_columns='ignore' to skip the others"
_SMALL_FILE = 1 << 20  # a smaller file is parsed by one thread
_NO_WEIGHTS = np.empty(0, dtype=np.float64)


@dataclass(frozen=True)
class RowShape:
    """How the rows of a file look."""

    columns: int
    """2, or 3 with a weight."""
    comments: bytes = b"#%/"
    """The bytes that begin a comment; a slash stands for two of them."""
    lead: bytes = b""
    """A letter that every row begins with."""
    base: int = 0
    """The first id; it is taken from all."""
    low: int = INT64_MIN
    high: int = INT64_MAX
    """What ids may be, as written in the file."""
    ignore_extra: bool = False
    """Whether further columns are passed over."""
    whole_weights: bool = False
    """Whether weights must be whole numbers."""
    weight_dtype: np.dtype[Any] | None = None
    """The type of the weights; unless given, ``int32`` for blocks of whole numbers that fit and else ``float64``."""
    id_hint: str = field(default="", compare=False)
    """What to do about ids that are no numbers, for messages."""
    extra_hint: str = field(default="", compare=False)
    """What to do about further columns, for messages."""
    expects: str = field(default="", compare=False)
    """What a row holds, in words, for messages."""


class Rows(NamedTuple):
    """The rows of a block; ids are ``int32`` where all of the block fit."""

    src: Array
    dst: Array
    weight: Array | None
    lowest: int
    highest: int
    """The smallest and the largest id as written."""


class RowError(FormatError):
    """A row that breaks its shape; ``status`` tells how (see the kernels), ``text`` is the line."""

    status: int = 0
    text: str = ""


class Trouble(NamedTuple):
    """What is wrong with a block: how, on which line of it (from 0), in words, and the line."""

    status: int
    line: int
    message: str
    text: str = ""


class Parsed(NamedTuple):
    """What a block holds, if anything, and how many lines it has."""

    rows: Any
    lines: int
    trouble: Trouble | None


def parse_rows(text: TextFile, shape: RowShape, threads: int | None = None) -> Iterator[Rows]:
    """The rows that follow in ``text``, block by block; the file is closed behind the last."""
    return parse_blocks(text, _Parser(text, shape).parse, threads)


def parse_blocks(text: TextFile, parse: Callable[[TextBlock], Parsed], threads: int | None) -> Iterator[Any]:
    """What ``parse`` finds in the blocks that follow in ``text``; an error tells the line in the file."""
    team = 1 if 0 < text.size < _SMALL_FILE else num_threads(threads)
    with text:
        line = text.lines_read
        for parsed in in_order(text.next_block, parse, team):
            if (trouble := parsed.trouble) is not None:
                shown_line = f": {trouble.text!r}" if trouble.text else ""
                error = RowError(trouble.message + shown_line, path=text.path, line=line + trouble.line + 1)
                error.status, error.text = trouble.status, trouble.text
                raise error
            line += parsed.lines
            if parsed.rows is not None:
                yield parsed.rows


def edge_blocks(
    text: TextFile, shape: RowShape, threads: int | None, num_edges: int | None = None, line: int | None = None
) -> Iterator[EdgeBlock]:
    """The rows that follow in ``text`` as edges; ``num_edges`` is what line ``line`` promised."""
    held = 0
    for rows in parse_rows(text, shape, threads):
        held += len(rows.src)
        yield EdgeBlock(rows.src, rows.dst, rows.weight)
    if held == 0 and shape.columns == 3:  # no edge, but weights still have a type
        ids = np.empty(0, np.int32)
        yield EdgeBlock(ids, ids, np.empty(0, shape.weight_dtype or np.int32))
    if num_edges is not None:
        check_count(held, num_edges, text.path, line)


def check_count(held: int, promised: int, path: Path, line: int | None = None) -> None:
    """Refuse a file that holds more or fewer edges than its header promises."""
    if held != promised:
        raise FormatError(f"the header promises {promised:,} edges, and the file has {held:,}", path=path, line=line)


def weight_dtype_option(given: Any) -> np.dtype[Any] | None:
    """The type that a reader's option ``weight_dtype`` asks for.

    >>> weight_dtype_option("float32")
    dtype('float32')
    """
    if given is None:
        return None
    try:
        dtype: np.dtype[Any] = np.dtype(given)
    except TypeError:
        dtype = np.dtype(object)
    if dtype not in (np.float32, np.float64, np.int32):
        raise InvalidArgumentError(f"weight_dtype={given!r} is not one of float32, float64, int32")
    return dtype


def shown(line: bytes, limit: int = 60) -> str:
    """A line as a message shows it.

    >>> shown(b"1 2 x")
    '1 2 x'
    """
    text = line[: 4 * limit].decode("utf-8", "replace").strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


class _Parser:
    """Parses blocks; used by several threads at once."""

    def __init__(self, text: TextFile, shape: RowShape) -> None:
        from dromos.graph.formats import text_kernels

        self._kernels: Any = text_kernels
        self._text, self._shape = text, shape
        self._comments = text_kernels.packed_comments(shape.comments)
        self._wide = False  # whether an id beyond int32 was seen; then int64 is tried first

    def parse(self, block: TextBlock) -> Parsed:
        kernels, shape = self._kernels, self._shape
        data = block.array
        lines = int(kernels.count_lines(data, block.begin, block.end))
        weighted = shape.columns == 3
        weight = np.empty(lines, np.float64) if weighted else _NO_WEIGHTS
        slow = np.empty((lines if weighted else 0, 2), np.int64)
        report = np.zeros(kernels.REPORT_SIZE, np.int64)
        for dtype in (np.int64,) if self._wide else (np.int32, np.int64):
            src, dst = np.empty(lines, dtype), np.empty(lines, dtype)
            kernels.parse_rows(
                data, block.begin, block.end, ord(shape.lead or b"\0"), shape.columns, shape.ignore_extra,
                shape.weight_dtype == np.float64, self._comments, shape.base, shape.low, shape.high, src, dst, weight,
                slow, report,
            )  # fmt: skip
            low, high = int(report[kernels.LOWEST]) - shape.base, int(report[kernels.HIGHEST]) - shape.base
            fits = high < 2**31 and low >= -(2**31)
            if fits:
                break
            self._wide = True
        count = int(report[kernels.ROWS])
        trouble = self._trouble(block, report)
        rows = None
        if count and trouble is None:
            src, dst = _trimmed(src, count, fits), _trimmed(dst, count, fits)
            try:
                values = self._weights(block, weight[:count], slow, report) if weighted else None
                rows = Rows(src, dst, values, int(report[kernels.LOWEST]), int(report[kernels.HIGHEST]))
            except WeightTrouble as problem:
                trouble = self._weight_trouble(block, problem)
        del data
        self._text.give_back(block)
        return Parsed(rows, lines, trouble)

    def _weights(self, block: TextBlock, weight: Array, slow: Array, report: Array) -> Array:
        kernels = self._kernels
        decimals = int(report[kernels.DECIMALS])
        for row, place in slow[: report[kernels.SLOW_WEIGHTS]].tolist():
            token = _token(block, place)
            weight[row], whole = exact_float(token, row, rounded=self._shape.weight_dtype == np.float64)
            decimals += not whole
        if self._shape.whole_weights and (broken := weight != np.trunc(weight)).any():
            row = int(np.argmax(broken))
            raise WeightTrouble(row, f"the weight {weight[row]!r} is not a whole number, as weights are here")
        return narrowed(weight, decimals == 0, self._shape.weight_dtype, lambda row: self._weight_token(block, row))

    def _weight_token(self, block: TextBlock, row: int) -> str:
        line = self._line(block, int(self._kernels.line_of_row(block.array, block.begin, self._comments, row)))
        at = 2 + bool(self._shape.lead)
        return re.split(rb"[\s,;]+", line.strip())[at].decode("ascii")

    def _weight_trouble(self, block: TextBlock, problem: WeightTrouble) -> Trouble:
        line = int(self._kernels.line_of_row(block.array, block.begin, self._comments, problem.row))
        return Trouble(self._kernels.BAD_WEIGHT, line, str(problem), shown(self._line(block, line)))

    def _trouble(self, block: TextBlock, report: Array) -> Trouble | None:
        kernels, shape = self._kernels, self._shape
        status, place = int(report[kernels.STATUS]), int(report[kernels.PLACE])
        if status == kernels.FINE:
            return None
        line = int(kernels.count_lines(block.array, block.begin, place))
        expects = shape.expects or ("two ids and a weight" if shape.columns == 3 else "two ids")
        if status == kernels.ID_RANGE:
            message = f"the id {_token(block, place)} is outside {shape.low}..{shape.high}"
            if shape.high == INT64_MAX:
                message = f"the id {_token(block, place)} is below {shape.low}; ids are {shape.low} and more"
        else:
            message = {
                kernels.BAD_ID: f"{_token(block, place)!r} is not a whole number, as ids are here{shape.id_hint}",
                kernels.ID_OVERFLOW: f"the id {_token(block, place)} overflows 64 bits",
                kernels.TOO_FEW: f"a column is missing; expected {expects}",
                kernels.TOO_MANY: f"there are more columns than expected ({expects}){shape.extra_hint}",
                kernels.INEXACT_WEIGHT: f"the weight {_token(block, place)} is not exact in float64; "
                "pass weight_dtype='float64' to accept the rounding",
                kernels.BAD_LEAD: f"the row does not begin with {shape.lead.decode()!r}; expected {expects}",
            }[status]
        return Trouble(status, line, message, shown(self._line(block, line)))

    @staticmethod
    def _line(block: TextBlock, number: int) -> bytes:
        return block.bytes().split(b"\n", number + 1)[number]


def _token(block: TextBlock, place: int) -> str:
    stop = block.data.index(b"\n", place)
    begin = place
    while begin > block.begin and block.data[begin - 1] not in b" \t,;\n":
        begin -= 1
    return shown(re.split(rb"[\s,;]", bytes(block.data[begin : min(stop, begin + 400)]), maxsplit=1)[0])


def _trimmed(ids: Array, count: int, narrow: bool) -> Array:
    """The first ``count`` ids; without the memory of the lines that were none, where these are many."""
    ids = ids[:count]
    if narrow and ids.dtype != np.int32:
        return ids.astype(np.int32)
    return ids.copy() if ids.base is not None and count < 0.9 * len(ids.base) else ids
