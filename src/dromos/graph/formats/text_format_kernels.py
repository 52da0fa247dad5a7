"""Compiled formatting of rows: ids and weights to text.

Positions are addresses (see :mod:`dromos.graph.formats.text_number_kernels`).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from dromos.compiler.arguments import number_as, pointer_to
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.values import Value
from dromos.compiler.writer import Writer
from dromos.graph.formats.text_number_kernels import address_of
from dromos.jit import kernel

NO_WEIGHT, INTEGER_WEIGHT, DECIMAL_WEIGHT = range(3)
NOT_SHORT = -1
_MOST_PLACES = 17
_TENS = np.array([10.0**k for k in range(23)])
_PAIRS = np.frombuffer(b"".join(b"%02d" % i for i in range(100)), dtype=np.uint8).copy()
_POWERS = np.array([10**k for k in range(20)], dtype=np.uint64)


@intrinsic
def _put(writer: Writer, address: Value, value: Value) -> None:
    """Write a byte to an address."""
    writer.lines.append(f"store i8 {number_as(writer, value, 'u8')}, ptr {pointer_to(writer, address)}")


@kernel
def _digits(value):
    """How many digits a number has."""
    count = 1
    while count < 20 and value >= _POWERS[count]:
        count += 1
    return count


@kernel
def _put_digits(p, value, count):
    """Write ``count`` digits of ``value``, zeros at the front included; returns the position behind."""
    at = p + count
    while at - p >= 2:
        rest = value // np.uint64(100)
        pair = np.int64(value - rest * np.uint64(100)) * 2
        value = rest
        at -= 2
        _put(at, _PAIRS[pair])
        _put(at + 1, _PAIRS[pair + 1])
    if at > p:
        _put(p, np.uint8(48 + value % np.uint64(10)))
    return p + count


@kernel
def put_byte(p, value):
    """Write a byte; returns the position behind it."""
    _put(p, np.uint8(value))
    return p + 1


@kernel
def put_integer(p, value):
    """Write a whole number; returns the position behind it."""
    if value < 0:
        _put(p, np.uint8(45))
        magnitude = np.uint64(-(value + 1)) + np.uint64(1)
        return _put_digits(p + 1, magnitude, _digits(magnitude))
    return _put_digits(p, np.uint64(value), _digits(np.uint64(value)))


@kernel
def shorten(values, mantissas, places):
    """The shortest decimal ``mantissa / 10**places`` that reads back as each value, where doubles can tell.

    Others (very large or small, or with more digits than a double's 53 bits hold) get ``NOT_SHORT`` places.
    """
    single = values.itemsize == 4
    for i in range(values.size):
        value = np.float64(values[i])
        places[i] = NOT_SHORT
        if not (1e-5 <= abs(value) < 1e15):
            if value == 0 and not np.signbit(value):
                mantissas[i] = 0
                places[i] = 0
            continue
        for k in range(_MOST_PLACES + 1):
            mantissa = np.rint(value * _TENS[k])
            if abs(mantissa) > 9007199254740992.0:
                break
            back = mantissa / _TENS[k]
            if back == value or (single and _is_single(back, values[i])):
                mantissas[i] = np.int64(mantissa)
                places[i] = k
                break


@kernel
def _is_single(value, wanted):
    """Whether ``value`` lies safely within what rounds to the single-precision number ``wanted``."""
    return np.float32(value * 1.0000000000000004) == wanted and np.float32(value * 0.9999999999999996) == wanted


@kernel
def format_arcs(
    offsets, targets, first, last, vertex, once, swapped, names, base, lead, separator,
    weight_kind, weights, mantissas, places, others, other_ends, out,
):  # fmt: skip
    """Write a line for each of the arcs ``first..last``, the first of which leaves ``vertex``; returns the length.

    ``once`` leaves out arcs to a smaller id, ``swapped`` puts the target first. ``names`` holds the
    labels, or nothing. Decimal weights come shortened (from arc ``first`` on), or as texts, one after the other in
    ``others``.
    """
    start = address_of(out)
    p = start
    other = 0
    for arc in range(first, last):
        while arc >= offsets[vertex + 1]:
            vertex += 1
        target = np.int64(targets[arc])
        long_text = weight_kind == DECIMAL_WEIGHT and places[arc - first] == NOT_SHORT
        if long_text:
            other += 1
        if once and target < vertex:
            continue
        if lead:
            _put(p, np.uint8(lead))
            _put(p + 1, np.uint8(separator))
            p += 2
        source_name = names[vertex] if names.size else np.int64(vertex) + base
        target_name = names[target] if names.size else target + base
        p = put_integer(p, target_name if swapped else source_name)
        _put(p, np.uint8(separator))
        p = put_integer(p + 1, source_name if swapped else target_name)
        if weight_kind != NO_WEIGHT:
            _put(p, np.uint8(separator))
            p += 1
        if weight_kind == INTEGER_WEIGHT:
            p = put_integer(p, np.int64(weights[arc]))
        elif long_text:
            for i in range(other_ends[other - 1], other_ends[other]):
                _put(p, others[i])
                p += 1
        elif weight_kind == DECIMAL_WEIGHT:
            p = _put_decimal(p, mantissas[arc - first], np.int64(places[arc - first]))
        _put(p, np.uint8(10))
        p += 1
    return p - start


@kernel
def _put_decimal(p, mantissa, places):
    if mantissa < 0:
        _put(p, np.uint8(45))
        p += 1
        mantissa = -mantissa
    scale = _POWERS[places]
    whole = np.uint64(mantissa) // scale
    p = _put_digits(p, whole, _digits(whole))
    _put(p, np.uint8(46))
    p += 1
    if places == 0:
        _put(p, np.uint8(48))
        return p + 1
    return _put_digits(p, np.uint64(mantissa) - whole * scale, places)
