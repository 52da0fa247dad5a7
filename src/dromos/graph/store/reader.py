"""Opening a store: mapped in milliseconds whatever its size; damaged files are refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError, FileError
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.formats.files import file_errors
from dromos.graph.graph import Graph
from dromos.graph.store.checked import check_stored_rows
from dromos.graph.store.header_page import checked_table, unpack_header
from dromos.graph.store.label_sections import labels_of
from dromos.graph.store.layout import ALIGNMENT, Header
from dromos.graph.store.origin import Origin, remember
from dromos.graph.store.sections import StoreSections

__all__ = ["VERIFIED_ON_OPEN", "OpenStore", "load", "read_header"]

VERIFIED_ON_OPEN = 64 << 20
"""A store smaller than this is checked in full whenever it is opened, which takes some 20 ms at most."""


class OpenStore(StoreSections):
    """A store in one file, mapped or in memory."""

    def __init__(self, path: str | os.PathLike[str], *, mmap: bool = True) -> None:
        path = Path(path)
        with file_errors(path):
            if path.is_dir():
                raise FileError("is a directory; give the file in it", path=path)
            with open(path, "rb") as file:
                self.status = os.fstat(file.fileno())
                size = self.status.st_size
                header = unpack_header(file.read(ALIGNMENT), size, path)
                data = _mapped(file) if mmap else _read_all(file, size)
        # data that is read into memory and packed is copied, so that the bytes of the file can be released
        self._copies = header.packed and not mmap
        self._own: dict[str, Array] = {}
        table = data[header.checksums_offset :].tobytes()
        super().__init__(path, header, checked_table(header, table, path), data)

    def array(self, name: str) -> Array | None:
        """The array of a section, without a copy unless it is packed; ``None`` if the store has no such section."""
        section = self.header.section(name)
        if section is None or not (section.packed or self._copies):
            return super().array(name)
        if name not in self._own:
            self._own[name] = self._unpack(section) if section.packed else self._view(section).copy()
            self._own[name].flags.writeable = False
        return self._own[name]

    def graph(self) -> Graph:
        """The graph, around the mapped arrays."""
        flags = self.header.flags
        labels = labels_of(self.array)
        graph = Graph._make(
            self.required("offsets"), self.required("targets"), self.array("weights"),
            labels=labels, flags=flags, source_file=os.fspath(self.path), check=self._row_check(""),
        )  # fmt: skip
        offsets = self.array("transpose_offsets")
        if offsets is not None:
            reverse = Graph._make(
                offsets, self.required("transpose_targets"), self.array("transpose_weights"),
                labels=labels, flags=replace(flags, sorted=True), source_file=graph.source_file,
                check=self._row_check("transpose_"),
            )  # fmt: skip
            graph._keep_transpose(reverse)
        remember(graph, Origin.of(os.fspath(self.path.absolute()), self.status, header=self.header))
        return graph

    def _row_check(self, prefix: str) -> Callable[[], None]:
        """The check to run before a graph exposes its rows; it references the arrays, but neither store nor graph."""
        offsets, targets = self.required(f"{prefix}offsets"), self.required(f"{prefix}targets")
        weights = self.array(f"{prefix}weights")
        return partial(
            check_stored_rows, self.path.absolute(), self.header, self.status, prefix, offsets, targets, weights
        )  # fmt: skip


def load(
    path: str | os.PathLike[str],
    *,
    mmap: bool = True,
    verify: bool | None = None,
    progress: Progress = no_progress,
) -> Graph:
    """Open a store.

    Args:
        path: the file.
        mmap: map the arrays (nothing is read until it is used); ``False`` reads them into memory, free of the file.
        verify: compare all data with its checksums. By default, this is done for files under 64 MiB, where it takes
            milliseconds, and whenever all bytes are read anyway (``mmap=False`` or packed targets). For a larger mapped
            file, the header, the structure and the checksum table are checked here, and the rows before their first
            use: a damaged file raises an error and cannot crash the process. Only checksums show whether every arc and
            weight is the one that was written: pass ``True`` (or run ``dromos verify``) for a file that you do not
            trust.
        progress: called with the bytes checked and the bytes in all.

    >>> import dromos as dr, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
    >>> from dromos.graph.store import write
    >>> write(dr.Graph.from_edges(["ada"], ["bob"]), file)
    >>> load(file, verify=True)
    <Graph: 2 vertices, 1 edge, directed, str labels>
    """
    store = OpenStore(path, mmap=mmap)
    if verify is None:
        verify = not mmap or store.header.packed or store.header.file_bytes < VERIFIED_ON_OPEN
    if verify:
        store.check_data(progress)
    store.check_ends()
    return store.graph()


def read_header(path: str | os.PathLike[str]) -> Header:
    """The header of a store: counts, flags and sections, without touching the data."""
    path = Path(path)
    with file_errors(path), open(path, "rb") as file:
        return unpack_header(file.read(ALIGNMENT), os.fstat(file.fileno()).st_size, path)


def _mapped(file: Any) -> Array:
    return np.memmap(file, dtype=np.uint8, mode="r").view(np.ndarray)


def _read_all(file: Any, size: int) -> Array:
    """The whole file in memory, at an address that is a multiple of every entry's size."""
    data = np.empty(size, dtype=np.uint8)
    file.seek(0)
    if file.readinto(data.data) != size:
        raise CorruptFileError("the file was cut short while it was read", path=file.name)
    return data
