"""Compiled parsing of numbers: whole numbers with overflow found out, decimals rounded exactly.

A decimal is a mantissa ``w`` and a power of ten ``q``. Where ``w`` has at most 53 bits and ``|q| <= 22`` both are exact
doubles and one multiplication or division rounds rightly (Clinger 1990). Otherwise the 128-bit product of ``w`` and a
truncated power of five decides (Lemire, "Number parsing at a gigabyte per second", 2021). What neither decides
(more than 19 digits, subnormals, ``inf``) is left to the caller: that is the kind ``SLOW``.

Every text ends in a newline, so that no loop here has to look for the end, and eight bytes behind it may be read: ids
are parsed eight characters at a time, without a branch a digit. Positions are addresses, not indices: one number
says where a text goes on.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from dromos.compiler.arguments import column, element_address, number_as, pointer_to
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.values import Value, constant
from dromos.compiler.writer import Writer
from dromos.graph.wide_product import high_product
from dromos.intrinsics import trailing_zeros
from dromos.jit import kernel

INTEGER, DECIMAL, INEXACT, SLOW = range(4)
"""What a weight is: a whole number kept exactly, a decimal, a whole number that a double cannot hold, not decided."""
OK, NOT_A_NUMBER, OVERFLOW = range(3)

_LOWEST_POWER, _HIGHEST_POWER = -342, 308


def _powers_of_five():
    """The top 128 bits of 5^q for every q that matters, as two columns of words."""
    words = np.empty((_HIGHEST_POWER - _LOWEST_POWER + 1, 2), dtype=np.uint64)
    for q in range(_LOWEST_POWER, _HIGHEST_POWER + 1):
        if q >= 0:
            value = 5**q
            bits = value.bit_length()
            value = value << (128 - bits) if bits <= 128 else value >> (bits - 128)
        else:  # the reciprocal, rounded up
            power = 5**-q
            value = (1 << (power.bit_length() + 127 if q >= -27 else 2 * power.bit_length() + 128)) // power + 1
            value >>= max(0, value.bit_length() - 128)
        words[q - _LOWEST_POWER] = (value >> 64, value & (2**64 - 1))
    return words


_FIVES = _powers_of_five()
_TENS = np.array([10.0**k for k in range(23)])
_SIGN = np.uint64(2**63)
_ALL_BITS = np.uint64(2**64 - 1)
_MOST_EXACT = np.uint64(2**53)  # doubles hold all whole numbers up to this one
_LOWEST_NORMAL = np.uint64(2**52)  # the lowest mantissa, with the bit that is not stored


@intrinsic
def address_of(writer: Writer, array: Value) -> Value:
    """Where the first element of an array lies. The caller sees to it that the array lives on."""
    first = element_address(writer, column(array), constant("i64", 0))
    return writer.new("i64", f"ptrtoint ptr {first} to i64")


@intrinsic
def byte(writer: Writer, address: Value) -> Value:
    """The byte at an address."""
    return writer.load("u8", pointer_to(writer, address))


@intrinsic
def word(writer: Writer, address: Value) -> Value:
    """The eight bytes from an address on as one number, the first of them lowest, as on all processors of kernels."""
    return writer.new("u64", f"load i64, ptr {pointer_to(writer, address)}, align 1")


@intrinsic
def _leading_zeros(writer: Writer, a: Value) -> Value:
    """How many high bits of a word are zero; the word itself is not."""
    function = writer.declare("llvm.ctlz.i64", "i64", "i64", "i1")
    return writer.new("u64", f"call i64 {function}(i64 {number_as(writer, a, 'u64')}, i1 true)")


@intrinsic
def _as_double(writer: Writer, bits: Value) -> Value:
    """The double that has these bits."""
    return writer.new("f64", f"bitcast i64 {number_as(writer, bits, 'u64')} to double")


@kernel
def parse_integer(p):
    """The whole number at ``p``: ``(value, position behind it, status)``."""
    c = byte(p)
    negative = c == 45
    if negative or c == 43:
        p += 1
        c = byte(p)
    digits = word(p) ^ np.uint64(0x3030303030303030)
    others = ((digits + np.uint64(0x7676767676767676)) | digits) & np.uint64(0x8080808080808080)
    count = np.int64(trailing_zeros(others) >> np.uint64(3))  # characters before the first that is no digit
    if count == 0:
        return np.int64(0), p, NOT_A_NUMBER
    digits <<= np.uint64(64 - 8 * count)
    digits = digits * np.uint64(10) + (digits >> np.uint64(8))  # then pairs, then fours, then all eight
    pairs = np.uint64(0x000000FF000000FF)
    value = np.int64(
        (
            (digits & pairs) * np.uint64(0x000F424000000064)
            + ((digits >> np.uint64(16)) & pairs) * np.uint64(0x0000271000000001)
        )
        >> np.uint64(32)
    )
    start = p
    p += count
    if count == 8:
        digit = np.uint8(byte(p) - 48)
        while digit <= 9:
            value = value * 10 + np.int64(digit)
            p += 1
            digit = np.uint8(byte(p) - 48)
        if p - start > 18:
            value, overflow = _long_integer(start, p, negative)
            return value, p, OVERFLOW if overflow else OK
    return -value if negative else value, p, OK


@kernel
def _long_integer(start, stop, negative):
    """A number of 19 digits or more, zeros at the front included."""
    while start < stop and byte(start) == 48:
        start += 1
    if stop - start > 19:
        return np.int64(0), True
    value = np.uint64(0)
    for i in range(start, stop):
        value = value * np.uint64(10) + np.uint64(byte(i) - 48)
    limit = _SIGN if negative else ~_SIGN
    signed = np.int64(value)
    return -signed if negative else signed, value > limit


@kernel
def parse_decimal(p):
    """The number at ``p``: ``(value, position behind it, kind)``; with ``SLOW`` the position means nothing."""
    c = byte(p)
    negative = c == 45
    if negative or c == 43:
        p += 1
    start = p
    mantissa = np.uint64(0)
    digit = np.uint8(byte(p) - 48)
    while digit <= 9:
        mantissa = mantissa * np.uint64(10) + np.uint64(digit)
        p += 1
        digit = np.uint8(byte(p) - 48)
    digits = p - start
    exponent = 0
    whole = True
    if byte(p) == 46:
        whole = False
        p += 1
        point = p
        digit = np.uint8(byte(p) - 48)
        while digit <= 9:
            mantissa = mantissa * np.uint64(10) + np.uint64(digit)
            p += 1
            digit = np.uint8(byte(p) - 48)
        exponent = point - p
        digits += p - point
    if digits == 0:
        return 0.0, p, SLOW
    if byte(p) == 101 or byte(p) == 69:
        whole = False
        p += 1
        minus = byte(p) == 45
        if minus or byte(p) == 43:
            p += 1
        first = p
        power = 0
        digit = np.uint8(byte(p) - 48)
        while digit <= 9:
            if power < 100000:
                power = power * 10 + np.int64(digit)
            p += 1
            digit = np.uint8(byte(p) - 48)
        if p == first:
            return 0.0, p, SLOW
        exponent += -power if minus else power
    if digits > 19:
        i = start
        while byte(i) == 48 or byte(i) == 46:  # zeros at the front do not count
            if byte(i) == 48:
                digits -= 1
            i += 1
        if digits > 19:
            return 0.0, p, SLOW
    value, decided = _scaled(mantissa, exponent)
    if not decided:
        return 0.0, p, SLOW
    if negative:
        value = -value
    if whole:
        return value, p, INTEGER if mantissa <= _MOST_EXACT or np.uint64(abs(value)) == mantissa else INEXACT
    return value, p, DECIMAL


@kernel
def _scaled(w, q):
    """``w * 10**q`` rounded to the nearest double, and whether it could be decided here."""
    if w <= _MOST_EXACT:
        value = np.float64(w)
        if q == 0 or w == 0:
            return value, True
        if 0 < q <= 22:
            return value * _TENS[q], True
        if -22 <= q < 0:
            return value / _TENS[-q], True
    if w == 0:
        return 0.0, True
    if q < _LOWEST_POWER or q > _HIGHEST_POWER:
        return 0.0, False
    shift = _leading_zeros(w)
    w <<= shift
    row = q - _LOWEST_POWER
    high = high_product(w, _FIVES[row, 0])
    low = w * _FIVES[row, 0]
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):  # the product is too near to a tie: take the lower half in
        carry = high_product(w, _FIVES[row, 1])
        low += carry
        if carry > low:
            high += np.uint64(1)
        if low == _ALL_BITS and (q < -27 or q > 55):
            return 0.0, False
    top = high >> np.uint64(63)
    cut = top + np.uint64(9)
    mantissa = high >> cut
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - np.int64(shift) + 1023
    if exponent <= 0 or exponent >= 2046:
        return 0.0, False
    if low <= np.uint64(1) and -4 <= q <= 23 and mantissa & np.uint64(3) == np.uint64(1) and mantissa << cut == high:
        mantissa &= ~np.uint64(1)  # an exact tie goes to the even neighbor
    mantissa += mantissa & np.uint64(1)
    mantissa >>= np.uint64(1)
    if mantissa >= _MOST_EXACT:
        mantissa = _LOWEST_NORMAL
        exponent += 1
    bits = (mantissa & (_LOWEST_NORMAL - np.uint64(1))) | (np.uint64(exponent) << np.uint64(52))
    return _as_double(bits), True
