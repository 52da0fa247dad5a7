"""Sizes and ranges as people type them."""

from __future__ import annotations

import re

import typer

__all__ = ["parse_range", "parse_size"]

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_size(text: str) -> int:
    """Bytes from text such as ``512M``, ``2GB`` or ``1.5GiB`` (units of 1024).

    >>> parse_size("2G")
    2147483648
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text.lower())
    if match is None or float(match[1]) == 0:
        raise typer.BadParameter(f"{text!r} is not a size; write it like 512M or 2G")
    return int(float(match[1]) * _UNITS[match[2]])


def parse_range(text: str) -> tuple[float, float, bool]:
    """Low, high and whether both are whole, from text such as ``1..255`` or ``0.0..1.0``.

    >>> parse_range("1..255")
    (1.0, 255.0, True)
    """
    low, dots, high = text.partition("..")
    try:
        bounds = float(low), float(high)
    except ValueError:
        bounds = None
    if not dots or bounds is None or not bounds[0] <= bounds[1]:
        raise typer.BadParameter(f"{text!r} is not a range; write it like 1..255 (whole) or 0.0..1.0 (real)")
    return (*bounds, re.fullmatch(r"\s*-?\d+\.\.-?\d+\s*", text) is not None)
