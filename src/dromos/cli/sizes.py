"""Sizes and ranges as people type them."""

from __future__ import annotations

import re

import typer

from dromos.errors import InvalidArgumentError
from dromos.sizes import as_bytes

__all__ = ["parse_range", "parse_size"]


def parse_size(text: str, option: str = "--memory") -> int:
    """Bytes from text such as ``512M``, ``2GB`` or ``1.5GiB`` (units of 1024), the value of ``option``.

    >>> parse_size("2G")
    2147483648
    """
    try:
        return as_bytes(text)
    except InvalidArgumentError:
        raise typer.BadParameter(f"{text!r} is not a size; write it like 512M or 2G", param_hint=option) from None


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
