"""The formats that Dromos knows, and how the one of a file is found."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dromos.errors import InvalidArgumentError, MissingDependencyError, UnsupportedFormatError
from dromos.graph.formats.base import Format
from dromos.graph.formats.files import strip_compression

__all__ = ["FORMATS", "format_of", "known_options"]

# A module of formats has a tuple FORMATS. They are imported when a format is looked up, not with the package.
_MODULES = (
    "dromos.graph.formats.store",
    "dromos.graph.formats.edge_list",
    "dromos.graph.formats.matrix_market",
    "dromos.graph.formats.metis",
    "dromos.graph.formats.dimacs",
    "dromos.graph.formats.gap",
    "dromos.graph.formats.ldbc",
    "dromos.graph.formats.graph500",
    "dromos.graph.formats.scipy_npz",
    "dromos.graph.formats.tables",
)


class _Formats(Mapping[str, Format]):
    """All formats by name."""

    def __getitem__(self, name: str) -> Format:
        return _all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_all())

    def __len__(self) -> int:
        return len(_all())


FORMATS = _Formats()


def format_of(path: str | os.PathLike[str], name: str | None = None) -> Format:
    """The format called ``name``, or else the one that the file's extension (less its compression) tells.

    >>> format_of("web-Stanford.txt.gz").name
    'edges'
    """
    if name is not None:
        if name not in FORMATS:
            raise UnsupportedFormatError(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
        return _usable(FORMATS[name])
    plain, compression = strip_compression(Path(path))
    for known in _one_by_one():
        if plain.name.lower().endswith(known.extensions):
            if compression and not known.compressed:
                raise UnsupportedFormatError(f"{known.title} files are not read through {compression}", path=path)
            return _usable(known)
    raise UnsupportedFormatError(
        f"the extension {plain.suffix or '(none)'} is not known; pass format= with one of {', '.join(FORMATS)}",
        path=path,
    )


@contextlib.contextmanager
def known_options(chosen: Format, options: Mapping[str, Any]) -> Iterator[None]:
    """Say plainly which of the ``options`` that somebody gave a format does not have."""
    try:
        yield
    except TypeError as error:
        if options and "unexpected keyword argument" in str(error):
            unknown = str(error).rpartition("argument ")[2].partition("'.")[0].strip("'")
            raise InvalidArgumentError(f"the format {chosen.name!r} has no option {unknown!r}") from None
        raise


def _usable(known: Format) -> Format:
    if known.requires is not None and importlib.util.find_spec(known.requires) is None:
        raise MissingDependencyError(
            f"{known.title} files need the package {known.requires}: pip install {known.requires}"
        )
    return known


def _one_by_one() -> Iterator[Format]:
    """All formats; a module is imported when its first one is asked for."""
    for module in _MODULES:
        yield from importlib.import_module(module).FORMATS


@cache
def _all() -> dict[str, Format]:
    return {known.name: known for known in _one_by_one()}
