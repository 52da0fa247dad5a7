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
from dromos.errors import CorruptFileError, FileError, ResourceError
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.formats.files import file_errors
from dromos.graph.graph import Graph
from dromos.graph.store.checked import check_stored_rows
from dromos.graph.store.checksums import chunk_checksums
from dromos.graph.store.header_page import checked_table, unpack_header
from dromos.graph.store.label_sections import labels_of
from dromos.graph.store.layout import ALIGNMENT, CHECKSUM, Header, Section
from dromos.graph.store.origin import Origin, remember
from dromos.graph.store.packs import PackedTargets, PackIndex
from dromos.graph.summary import human_bytes
from dromos.sizes import available_memory

__all__ = ["VERIFIED_ON_OPEN", "OpenStore", "load", "read_header"]

VERIFIED_ON_OPEN = 64 << 20
"""A store smaller than this is checked in full whenever it is opened, which takes some 20 ms at most."""

_STEP_CHUNKS = 1024


class OpenStore:
    """A store with a verified header and checksum table; its data is verified only by :meth:`check_data`."""

    def __init__(self, path: str | os.PathLike[str], *, mmap: bool = True) -> None:
        self.path = Path(path)
        with file_errors(self.path):
            if self.path.is_dir():
                raise FileError("is a directory; give the file in it", path=self.path)
            with open(self.path, "rb") as file:
                self.status = os.fstat(file.fileno())
                size = self.status.st_size
                self.header = unpack_header(file.read(ALIGNMENT), size, self.path)
                if mmap:
                    self._bytes: Array = np.memmap(file, dtype=np.uint8, mode="r").view(np.ndarray)
                else:
                    self._bytes = _read_all(file, size)
        # data that is read into memory and packed is copied, so that the bytes of the file can be released
        self._copies = self.header.packed and not mmap
        self._own: dict[str, Array] = {}
        table = self._bytes[self.header.checksums_offset :].tobytes()
        self._checksums = checked_table(self.header, table, self.path)

    def array(self, name: str) -> Array | None:
        """The array of a section, without a copy unless it is packed; ``None`` if the store has no such section."""
        section = self.header.section(name)
        if section is None:
            return None
        if not section.packed and not self._copies:
            return self._view(section)
        if name not in self._own:
            self._own[name] = self._unpack(section) if section.packed else self._view(section).copy()
            self._own[name].flags.writeable = False
        return self._own[name]

    def targets(self, prefix: str) -> Array | PackedTargets:
        """The targets, for access by slices: packed targets are unpacked slice by slice."""
        section = self.header.section(f"{prefix}targets")
        assert section is not None
        return self._packs(section) if section.packed else self._view(section)

    def required(self, name: str) -> Array:
        """The array of a section that must exist."""
        array = self.array(name)
        if array is None:
            raise CorruptFileError(f"the store has no section {name}", path=self.path)
        return array

    def check_data(self, progress: Progress = no_progress, threads: int | None = None) -> None:
        """Compare every chunk with its checksum, and check that the gaps between sections hold zeros."""
        header, first, end = self.header, 0, ALIGNMENT
        for section in (*header.sections, Section("checksums", CHECKSUM, header.checksums_offset, 0)):
            gap = self._bytes[end : section.offset]
            if gap.any():
                at = end + int(np.argmax(gap != 0))
                raise CorruptFileError(f"byte {at:,}, before section {section.name}, should be zero", path=self.path)
            end = section.end
            self._check_chunks(section, first, progress, threads)
            first += header.chunks_of(section)
        progress(header.file_bytes, header.file_bytes)

    def check_ends(self) -> None:
        """Check that row offsets begin with 0 and end with the number of arcs: the cheap half of the bounds checks."""
        for name, last in self._row_sections():
            offsets = self.required(name)
            if int(offsets[0]) != 0 or int(offsets[-1]) != last:
                raise CorruptFileError(
                    f"section {name} runs from {offsets[0]:,} to {offsets[-1]:,}; expected 0 to {last:,}",
                    path=self.path,
                )

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

    def _row_sections(self) -> list[tuple[str, int]]:
        header = self.header
        ends = [("offsets", header.num_arcs)]
        if header.section("transpose_offsets") is not None:
            ends.append(("transpose_offsets", header.num_arcs))
        text = header.section("labels_utf8")
        if text is not None:
            ends.append(("labels_offsets", text.items))
        return ends

    def _packs(self, section: Section) -> PackedTargets:
        header = self.header
        entries = self.required(section.name.replace("targets", "packs"))
        index = PackIndex.of(entries, section, header.pack_arcs, self.path)
        data = self._bytes[section.offset : section.end]
        return PackedTargets(data, index, section, header.num_arcs, header.num_vertices, self.path)

    def _unpack(self, section: Section) -> Array:
        size = self.header.num_arcs * section.dtype.itemsize
        if size > (free := available_memory()):
            raise ResourceError(
                f"the targets of {self.path} take {human_bytes(size)} when they are unpacked, and {human_bytes(free)} "
                "are free; use dr.open(path), which unpacks them in pages",
                needed=size,
            )
        targets: Array = self._packs(section)[:]
        return targets

    def _view(self, section: Section) -> Array:
        return self._bytes[section.offset : section.end].view(section.dtype)

    def _check_chunks(self, section: Section, first: int, progress: Progress, threads: int | None) -> None:
        size = self.header.chunk_bytes
        for chunk in range(0, self.header.chunks_of(section), _STEP_CHUNKS):
            begin = section.offset + chunk * size
            data = self._bytes[begin : min(section.end, begin + _STEP_CHUNKS * size)]
            found = chunk_checksums(data, size, threads)
            bad = np.flatnonzero(found != self._checksums[first + chunk : first + chunk + len(found)])
            if bad.size:
                at = begin + int(bad[0]) * size
                end, number = min(at + size, section.end), chunk + int(bad[0])
                raise CorruptFileError(
                    f"section {section.name}, chunk {number:,} (bytes {at:,}..{end:,}) fails its checksum: "
                    "the file is damaged; write or copy it again",
                    path=self.path,
                )
            progress(begin + data.size, self.header.file_bytes)


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


def _read_all(file: Any, size: int) -> Array:
    """The whole file in memory, at an address that is a multiple of every entry's size."""
    data = np.empty(size, dtype=np.uint8)
    file.seek(0)
    if file.readinto(data.data) != size:
        raise CorruptFileError("the file was cut short while it was read", path=file.name)
    return data
