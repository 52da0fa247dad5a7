"""Compiled parsing of lines of numbers: the inner loop of every text format.

A text is a block of whole lines, ended by a newline, so that each loop stops there without looking for the end.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

# ruff: noqa: SIM109  (comparisons compile to better code than a search in a tuple)
from __future__ import annotations

import numpy as np

from dromos.graph.formats.text_number_kernels import (
    INEXACT,
    INTEGER,
    OK,
    OVERFLOW,
    SLOW,
    address_of,
    byte,
    parse_decimal,
    parse_integer,
    word,
)
from dromos.intrinsics import count_bits
from dromos.jit import kernel

FINE, BAD_ID, ID_OVERFLOW, ID_RANGE, TOO_FEW, TOO_MANY, BAD_WEIGHT, INEXACT_WEIGHT, BAD_LEAD = range(9)
"""What can be wrong with a line."""
ROWS, STATUS, PLACE, LOWEST, HIGHEST, SLOW_WEIGHTS, DECIMALS, REPORT_SIZE = range(8)
"""The entries of a report."""

_TAB, _NEWLINE, _RETURN, _SPACE, _COMMA, _SLASH, _SEMICOLON = 9, 10, 13, 32, 44, 47, 59
_LOWEST, _HIGHEST = np.int64(-(2**63)), np.int64(2**63 - 1)


def packed_comments(marks: bytes) -> int:
    """What begins a comment, as one number: at most two bytes, and a slash that stands for two slashes."""
    single = [mark for mark in marks if mark != _SLASH] or [_NEWLINE]
    return single[0] | single[-1] << 8 | (_SLASH in marks) << 16


@kernel
def count_lines(text, begin, end):
    """How many newlines there are."""
    lines = 0
    low_bits = np.uint64(0x7F7F7F7F7F7F7F7F)
    p = address_of(text) + begin
    stop = address_of(text) + end
    while p + 8 <= stop:
        differs = word(p) ^ np.uint64(0x0A0A0A0A0A0A0A0A)
        lines += np.int64(count_bits(~(((differs & low_bits) + low_bits) | differs | low_bits)))  # a bit a zero byte
        p += 8
    while p < stop:
        lines += byte(p) == _NEWLINE
        p += 1
    return lines


@kernel
def line_of_row(text, begin, comments, row):
    """The number of the line, from 0, on which data row ``row`` of this text stands."""
    p = address_of(text) + begin
    line = 0
    while True:
        p = skip_blanks(p)
        if byte(p) != _NEWLINE and not is_comment(p, comments):
            if row == 0:
                return line
            row -= 1
        p = skip_line(p)
        line += 1


@kernel
def parse_rows(
    text, begin, end, lead, columns, ignore_extra, inexact_weights, comments, base, low, high, src, dst, weight,
    slow, report,
):  # fmt: skip
    """Parse lines of two ids and, with three ``columns``, a weight.

    ``lead`` is a letter that every row starts with, or 0. ``comments`` tells what begins a comment (see
    :func:`packed_comments`). Ids must lie in ``low..high``; ``base`` is taken from them. Weights that are to be parsed
    again by slower means are listed in ``slow`` as (row, place). The parsing ends at the first wrong line, with its
    place.
    """
    start = address_of(text)
    p = start + begin
    stop = start + end
    row = 0
    status = FINE
    lowest = _HIGHEST
    highest = _LOWEST
    slow_count = 0
    decimals = 0
    weighted = columns == 3
    while p < stop:
        c = byte(p)
        if np.uint8(c - 48) > 9:
            p = skip_blanks(p)
            if byte(p) == _NEWLINE:
                p += 1
                continue
            if is_comment(p, comments):
                p = skip_line(p)
                continue
            if lead:
                if byte(p) != lead or (byte(p + 1) != _SPACE and byte(p + 1) != _TAB):
                    status = BAD_LEAD
                    break
                p = skip_blanks(p + 1)
        elif lead:
            status = BAD_LEAD
            break

        u, q, outcome = parse_integer(p)
        if outcome != OK or not low <= u <= high:
            status = _id_trouble(p, outcome)
            break
        p = _next_field(q)
        if p == q:
            status = TOO_FEW if byte(p) == _NEWLINE else BAD_ID
            break
        v, q, outcome = parse_integer(p)
        if outcome != OK or not low <= v <= high:
            status = _id_trouble(p, outcome)
            break
        src[row] = u - base
        dst[row] = v - base
        lowest = min(lowest, min(u, v))
        highest = max(highest, max(u, v))

        p = q
        if weighted:
            p = _next_field(q)
            if byte(p) == _NEWLINE or is_comment(p, comments):
                status = TOO_FEW
                break
            if p == q:
                status = BAD_ID
                break
            value, q, kind = parse_decimal(p)
            if kind == SLOW or not ends_field(byte(q)):
                slow[slow_count, 0] = row
                slow[slow_count, 1] = p - start
                slow_count += 1
                while not ends_field(byte(q)):
                    q += 1
            elif kind == INEXACT and not inexact_weights:
                status = INEXACT_WEIGHT
                break
            elif kind != INTEGER:
                decimals += 1
            weight[row] = value
            p = q
        row += 1

        c = byte(p)
        if c == _NEWLINE:
            p += 1
            continue
        q = skip_blanks(p)
        if byte(q) == _NEWLINE:
            p = q + 1
            continue
        if not weighted and not ends_field(c):
            status = BAD_ID
            row -= 1
            break
        if ignore_extra or (q > p and is_comment(q, comments)):
            p = skip_line(p)
            continue
        p = q
        status = TOO_MANY
        row -= 1
        break
    report[ROWS] = row
    report[STATUS] = status
    report[PLACE] = p - start
    report[LOWEST] = lowest
    report[HIGHEST] = highest
    report[SLOW_WEIGHTS] = slow_count
    report[DECIMALS] = decimals


@kernel
def skip_blanks(p):
    while byte(p) == _SPACE or byte(p) == _TAB or byte(p) == _RETURN:
        p += 1
    return p


@kernel
def skip_line(p):
    while byte(p) != _NEWLINE:
        p += 1
    return p + 1


@kernel
def _next_field(p):
    """Behind blanks and at most one comma or semicolon; ``p`` itself where no separator follows."""
    c = byte(p)
    if c == _SPACE or c == _TAB:
        p += 1
        c = byte(p)
        if c != _SPACE and c != _TAB and c != _COMMA and c != _SEMICOLON and c != _RETURN:
            return p
        p = skip_blanks(p)
        c = byte(p)
    elif c == _RETURN:
        return skip_blanks(p)
    if c == _COMMA or c == _SEMICOLON:
        p = skip_blanks(p + 1)
    return p


@kernel
def ends_field(c):
    return c == _NEWLINE or c == _SPACE or c == _TAB or c == _RETURN or c == _COMMA or c == _SEMICOLON


@kernel
def is_comment(p, comments):
    c = byte(p)
    if c == comments & 0xFF or c == (comments >> 8) & 0xFF:
        return True
    return c == _SLASH and comments >> 16 != 0 and byte(p + 1) == _SLASH


@kernel
def _id_trouble(p, outcome):
    if outcome == OVERFLOW:
        return ID_OVERFLOW
    if outcome == OK:
        return ID_RANGE
    if byte(p) == _NEWLINE:
        return TOO_FEW
    return BAD_ID
