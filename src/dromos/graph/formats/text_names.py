"""Rows whose ids are names: read and written line by line, in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

import numpy as np

from dromos.errors import FormatError, UnsupportedFormatError
from dromos.graph.formats.base import EdgeBlock, Progress
from dromos.graph.formats.text_file import TextFile
from dromos.graph.formats.text_rows import RowShape, shown
from dromos.graph.formats.text_weights import WeightTrouble, exact_float, narrowed
from dromos.graph.label_arrays import objects

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["find_separator", "parse_names", "split_fields", "write_names"]

_EDGES_A_BLOCK = 1 << 16


def find_separator(line: bytes) -> bytes | None:
    """What stands between the fields of a line: a tab, a comma, a semicolon, or (``None``) blanks.

    >>> find_separator(b"New York, Boston")
    b','
    """
    return next((mark for mark in (b"\t", b",", b";") if mark in line), None)


def split_fields(line: bytes, separator: bytes | None) -> list[bytes]:
    """The fields of a line without the blanks around them.

    >>> split_fields(b"New York, Boston", b",")
    [b'New York', b'Boston']
    """
    return line.split() if separator is None else [part.strip(b" \t\r") for part in line.split(separator)]


def parse_names(
    text: TextFile, shape: RowShape, separator: bytes | None, marks: tuple[bytes, ...]
) -> Iterator[EdgeBlock]:
    """The rows that follow in ``text``, with ids that are ``str``."""
    with text:
        number = text.lines_read
        while (block := text.next_block()) is not None:
            src: list[str] = []
            dst: list[str] = []
            weights: list[float] = []
            tokens: list[str] = []
            whole = True
            for line in block.bytes().split(b"\n")[:-1]:
                number += 1
                stripped = line.strip()
                if not stripped or stripped.startswith(marks):
                    continue
                try:
                    fields = [field.decode() for field in split_fields(line.strip(b" \r"), separator)]
                    _check_fields(fields, shape)
                    if shape.columns == 3:
                        value, is_whole = exact_float(fields[2], len(src), rounded=shape.weight_dtype == np.float64)
                        narrowed(np.array([value]), is_whole, shape.weight_dtype, lambda _: fields[2])  # noqa: B023
                        weights.append(value)
                        tokens.append(fields[2])
                        whole &= is_whole
                except UnicodeDecodeError:
                    message = "the line is not UTF-8 text"
                    raise FormatError(f"{message}: {shown(line)!r}", path=text.path, line=number) from None
                except (WeightTrouble, _FieldTrouble) as problem:
                    raise FormatError(f"{problem}: {shown(line)!r}", path=text.path, line=number) from None
                src.append(fields[0])
                dst.append(fields[1])
            text.give_back(block)
            if src:
                values = None
                if shape.columns == 3:
                    values = narrowed(np.array(weights), whole, shape.weight_dtype, tokens.__getitem__)
                yield EdgeBlock(objects(src), objects(dst), values)


def write_names(out: IO[bytes], graph: Graph, progress: Progress) -> None:
    """Write the edges with string labels, fields apart by tabs; an undirected edge once."""
    assert graph.labels is not None
    names = graph.labels.to_numpy().tolist()
    for name in names:
        _check_name(name)
    src, dst, weight = graph.edges()
    for first in range(0, len(src), _EDGES_A_BLOCK):
        part = slice(first, first + _EDGES_A_BLOCK)
        columns: list[list[str]] = [[names[i] for i in column[part].tolist()] for column in (src, dst)]
        if weight is not None:
            columns.append([str(w) for w in weight[part]])
        out.write("".join("\t".join(row) + "\n" for row in zip(*columns, strict=True)).encode())
        progress(min(first + _EDGES_A_BLOCK, len(src)), len(src))


class _FieldTrouble(Exception):
    pass


def _check_fields(fields: list[str], shape: RowShape) -> None:
    expects = "two names and a weight" if shape.columns == 3 else "two names"
    if len(fields) < shape.columns:
        raise _FieldTrouble(f"a column is missing; expected {expects}")
    if len(fields) > shape.columns and not shape.ignore_extra:
        raise _FieldTrouble(f"there are more columns than expected ({expects}){shape.extra_hint}")
    if not all(fields[:2]):
        raise _FieldTrouble("a name is empty")


def _check_name(name: str) -> None:
    if name == "" or name != name.strip() or any(mark in name for mark in "\t\n\r\0"):
        trouble = "is empty, has blanks at its ends, or has a tab or the end of a line in it"
    elif name.startswith(("#", "%", "//")):
        trouble = "begins like a comment"
    else:
        try:
            name.encode()
            return
        except UnicodeEncodeError:
            trouble = "is not valid Unicode"
    raise UnsupportedFormatError(
        f"the label {name!r} {trouble}, which a text list of edges cannot hold; write a .drm store"
    )
