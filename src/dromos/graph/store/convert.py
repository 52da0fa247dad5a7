"""Convert files of edges to stores within a memory budget; called by ``dromos convert --memory``."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from dromos.errors import InvalidArgumentError
from dromos.graph.build import MergeRule
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.formats.both_directions import tell_merged
from dromos.graph.formats.files import data_errors, file_errors
from dromos.graph.formats.reading import open_edges
from dromos.graph.formats.registry import format_of
from dromos.graph.store.external import Conversion, convert_external
from dromos.graph.store.stored_edges import stored_edges

__all__ = ["convert"]

_ONE_READER_BELOW = 256 << 20  # with less memory, one thread parses the file, since it holds fewer blocks


def convert(
    path_in: str | os.PathLike[str],
    path_out: str | os.PathLike[str],
    *,
    memory: int,
    format: str | None = None,
    directed: bool | None = None,
    symmetrize: bool | None = None,
    dedupe: bool = False,
    drop_self_loops: bool = False,
    merge_weights: MergeRule = "first",
    weighted: bool | None = None,
    keep_parallel: bool = False,
    transpose: bool = False,
    compress: bool = False,
    order: str = "input",
    threads: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> Conversion:
    """Convert a file of edges, or a store, of any size to a store within ``memory`` bytes: :func:`convert_external`.

    If the process is killed after the file was ingested, the same call continues from there, provided that the file and
    the arguments are the same; otherwise leftovers are removed first. ``options`` are those of the file's format.

    >>> import tempfile, pathlib
    >>> from dromos.graph.store import load
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "tiny.el").write_text("0 1\\n1 2\\n")
    >>> _ = convert(folder / "tiny.el", folder / "tiny.drm", memory=32 << 20)
    >>> load(folder / "tiny.drm").num_edges
    2
    """
    path_in, path_out = Path(path_in), Path(path_out)
    arguments = {
        "directed": directed, "symmetrize": symmetrize, "dedupe": dedupe, "drop_self_loops": drop_self_loops,
        "merge_weights": merge_weights, "weighted": weighted, "transpose": transpose,
        "keep_parallel": keep_parallel, "compress": compress, "order": order,
    }  # fmt: skip
    with file_errors(path_in), data_errors(path_in):
        task = {
            "input": _look_of(path_in, path_out), "format": format, "memory": memory,
            "options": {name: repr(value) for name, value in {**arguments, **options}.items()},
        }  # fmt: skip
        readers = 1 if memory < _ONE_READER_BELOW else threads
        halves = _Halves(progress, path_in.stat().st_size)
        chosen = format_of(path_in, format)
        if chosen.name == "drm":
            for name in options:  # those of edge lists and tables
                raise InvalidArgumentError(f"the format 'drm' has no option {name!r}")
            source = stored_edges(path_in, memory, both_directions=bool(directed), progress=halves.reading)
        else:
            source = open_edges(path_in, format=format, progress=halves.reading, threads=readers, **options)
        done = convert_external(
            source, path_out, memory=memory, threads=threads, tmp_dir=tmp_dir, task=task, progress=halves.sorting,
            **arguments,  # type: ignore[arg-type]
        )  # fmt: skip
    if done.merged:
        tell_merged(path_in)
    return done


class _Halves:
    """Reports progress in bytes of the file: reading is the first half, sorting the second."""

    def __init__(self, progress: Progress, size: int) -> None:
        self._progress, self._size = progress, size

    def reading(self, done: int, total: int) -> None:
        self._progress(self._size * done // total if total else min(done, self._size), 2 * self._size)

    def sorting(self, done: int, total: int) -> None:
        self._progress(self._size + (self._size * done // total if total else self._size), 2 * self._size)


def _look_of(path_in: Path, path_out: Path) -> list[list[Any]]:
    """Name, size and time of the input and of files beside it that share its name (a graph may be in several)."""
    pattern = f"{glob.escape(path_in.name.split('.')[0])}.*"
    files = {path_in, *path_in.parent.glob(pattern)} - {path_out}
    looks = []
    for path in sorted(files):
        status = path.stat()
        looks.append([str(path.absolute()), status.st_size, status.st_mtime_ns])
    return looks
