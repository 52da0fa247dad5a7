"""File names as callers give them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dromos.errors import InvalidArgumentError

__all__ = ["file_name"]


def file_name(given: Any, example: str) -> Path:
    """The given file name as a path; anything but text and paths is refused.

    >>> file_name("graph.drm", "graph.drm").name
    'graph.drm'
    >>> file_name(5, "graph.drm")
    Traceback (most recent call last):
        ...
    dromos.errors.InvalidArgumentError: 5 is not the name of a file; give text such as 'graph.drm', or a pathlib.Path
    """
    name = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(name, str):
        raise InvalidArgumentError(
            f"{given!r} is not the name of a file; give text such as {example!r}, or a pathlib.Path"
        )
    return Path(name)
