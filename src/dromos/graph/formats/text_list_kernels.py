"""Compiled parsing and formatting of lines that hold a list: adjacency rows, and columns of ids.

Positions are addresses (see :mod:`dromos.graph.formats.text_number_kernels`).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from dromos.graph.formats.text_format_kernels import put_byte, put_integer
from dromos.graph.formats.text_kernels import (
    BAD_ID,
    FINE,
    ID_OVERFLOW,
    ID_RANGE,
    TOO_FEW,
    ends_field,
    is_comment,
    skip_blanks,
    skip_line,
)
from dromos.graph.formats.text_number_kernels import OK, OVERFLOW, address_of, byte, parse_integer
from dromos.jit import kernel

ROWS, VALUES, STATUS, PLACE, REPORT_SIZE = range(5)
_NEWLINE = 10


@kernel
def parse_adjacency(text, begin, end, comments, skip, weighted, high, degrees, targets, weights, report):
    """Parse lines of neighbors in ``1..high``, each followed by its weight where ``weighted``; a blank line is a row.

    The first ``skip`` numbers of a row (sizes and weights of the vertex) are checked to be numbers and passed over.
    """
    start = address_of(text)
    p = start + begin
    stop = start + end
    row = 0
    count = 0
    status = FINE
    while p < stop and status == FINE:
        p = skip_blanks(p)
        if is_comment(p, comments):
            p = skip_line(p)
            continue
        first = count
        field = 0
        while byte(p) != _NEWLINE:
            value, q, outcome = parse_integer(p)
            if outcome != OK or not ends_field(byte(q)):
                status = ID_OVERFLOW if outcome == OVERFLOW else BAD_ID
                break
            if field >= skip:
                if weighted and (field - skip) & 1:
                    weights[count] = value
                    count += 1
                elif not 1 <= value <= high:
                    status = ID_RANGE
                    break
                else:
                    targets[count] = value - 1
                    if not weighted:
                        count += 1
            field += 1
            p = skip_blanks(q)
        if status == FINE and (field < skip or (weighted and (field - skip) & 1)):
            status = TOO_FEW
        if status == FINE:
            degrees[row] = count - first
            row += 1
            p += 1
    report[ROWS] = row
    report[VALUES] = count
    report[STATUS] = status
    report[PLACE] = p - start


@kernel
def parse_column(text, begin, end, comments, ids, report):
    """Parse the whole number at the front of each line; the rest of the line is passed over."""
    start = address_of(text)
    p = start + begin
    stop = start + end
    row = 0
    status = FINE
    while p < stop:
        p = skip_blanks(p)
        if byte(p) != _NEWLINE and not is_comment(p, comments):
            value, q, outcome = parse_integer(p)
            if outcome != OK or not ends_field(byte(q)):
                status = ID_OVERFLOW if outcome == OVERFLOW else BAD_ID
                break
            ids[row] = value
            row += 1
        p = skip_line(p)
    report[ROWS] = row
    report[VALUES] = row
    report[STATUS] = status
    report[PLACE] = p - start


@kernel
def format_adjacency(offsets, targets, weights, weighted, first, last, out):
    """Write a line of neighbors, counted from 1, for each of the vertices ``first..last``; returns the length."""
    start = address_of(out)
    p = start
    for vertex in range(first, last):
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            if arc > offsets[vertex]:
                p = put_byte(p, 32)
            p = put_integer(p, np.int64(targets[arc]) + 1)
            if weighted:
                p = put_integer(put_byte(p, 32), np.int64(weights[arc]))
        p = put_byte(p, 10)
    return p - start


@kernel
def format_column(ids, first, last, out):
    """Write the numbers ``first..last`` of a column, one a line; returns the length."""
    start = address_of(out)
    p = start
    for i in range(first, last):
        p = put_byte(put_integer(p, np.int64(ids[i])), 10)
    return p - start
