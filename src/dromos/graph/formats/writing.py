"""From a graph to a file, whatever its format."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dromos.errors import InvalidArgumentError, UnsupportedFormatError
from dromos.file_names import file_name
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.formats.files import file_errors
from dromos.graph.formats.registry import format_of, known_options

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["write"]


def write(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    allow_loss: bool = False,
    progress: Progress = no_progress,
    **options: Any,
) -> None:
    """Write a graph to a file, in the format named or that of the extension.

    If the format cannot hold everything in the graph (direction, labels, vertices without edges), an error is raised;
    ``allow_loss=True`` writes what the format can hold.

    The file is written under a temporary name and renamed when it is complete, so a failure leaves no partial file and
    does not touch an older file of that name.

    >>> import dromos as dr, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.mtx"
    >>> dr.write(dr.Graph.from_edges([0, 1], [1, 2]), file)
    >>> dr.read(file)
    <Graph: 3 vertices, 2 edges, directed>
    """
    if not hasattr(graph, "require_in_memory"):
        raise InvalidArgumentError(f"{type(graph).__name__} is not a graph; call dromos.write(graph, path)")
    graph.require_in_memory()
    path = file_name(path, "graph.drm")
    chosen = format_of(path, format)
    if chosen.write is None:
        raise UnsupportedFormatError(
            f"{chosen.title} files are only read, not written; choose another format", path=path
        )
    if allow_loss and _may_lose(chosen.write):
        options["allow_loss"] = True
    with file_errors(path, "write"), known_options(chosen, options):
        chosen.write(graph, path, progress=progress, **options)


def _may_lose(write: Callable[..., None]) -> bool:
    """Whether a format's writer has the option; one that has not keeps everything or refuses for another reason."""
    parameters = inspect.signature(write).parameters.values()
    return any(p.name == "allow_loss" or p.kind is p.VAR_KEYWORD for p in parameters)
