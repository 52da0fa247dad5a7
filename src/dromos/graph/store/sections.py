"""The sections of an open store, whether its bytes are mapped, in memory, or distributed over several files."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError, ResourceError
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.store.checksums import chunk_checksums
from dromos.graph.store.layout import ALIGNMENT, CHECKSUM, Header, Section
from dromos.graph.store.packs import PackedTargets, PackIndex
from dromos.graph.summary import human_bytes
from dromos.sizes import available_memory

__all__ = ["Sliced", "StoreBytes", "StoreSections"]

_STEP_CHUNKS = 1024


class StoreBytes(Protocol):
    """The bytes of a store; an array of bytes is one."""

    def __getitem__(self, place: slice, /) -> Array: ...


class Sliced:
    """An array of a store for access by slices and single entries: only these are read."""

    def __init__(self, data: StoreBytes, section: Section) -> None:
        self._data, self._section = data, section

    def __len__(self) -> int:
        return self._section.items

    def __getitem__(self, place: slice | int) -> Array:
        first, last, _ = (place if isinstance(place, slice) else slice(place, place + 1)).indices(len(self))
        start, size = self._section.offset, self._section.dtype.itemsize
        found: Array = self._data[start + first * size : start + last * size].view(self._section.dtype)
        return found if isinstance(place, slice) else found[0]


class StoreSections:
    """A store with a verified header and checksum table; its data is verified only by :meth:`check_data`."""

    def __init__(self, path: Path, header: Header, checksums: Array, data: StoreBytes) -> None:
        self.path, self.header = path, header
        self._checksums, self._bytes = checksums, data

    def array(self, name: str) -> Array | None:
        """The array of a section, all of it; ``None`` if the store has no such section."""
        section = self.header.section(name)
        if section is None:
            return None
        return self._unpack(section) if section.packed else self._view(section)

    def required(self, name: str) -> Array:
        """The array of a section that must exist."""
        array = self.array(name)
        if array is None:
            raise CorruptFileError(f"the store has no section {name}", path=self.path)
        return array

    def sliced(self, name: str) -> Sliced | None:
        """The array of a section that is not packed, for access by slices."""
        section = self.header.section(name)
        return None if section is None else Sliced(self._bytes, section)

    def targets(self, prefix: str) -> Sliced | PackedTargets:
        """The targets, for access by slices: packed targets are unpacked slice by slice."""
        section = self.header.section(f"{prefix}targets")
        assert section is not None
        return self._packs(section) if section.packed else Sliced(self._bytes, section)

    def check_data(self, progress: Progress = no_progress, threads: int | None = None) -> None:
        """Compare every chunk with its checksum, and check that the gaps between sections hold zeros."""
        header, first, end = self.header, 0, ALIGNMENT
        for section in (*header.sections, Section("checksums", CHECKSUM, header.checksums_offset, 0)):
            gap = self._bytes[end : section.offset]
            if gap.any():
                at = end + int(np.argmax(gap != 0))
                raise CorruptFileError(
                    f"byte {at:,}, before section {section.name}, should be zero{self._place_of(at, at + 1)}",
                    path=self.path,
                )
            end = section.end
            self._check_chunks(section, first, progress, threads)
            first += header.chunks_of(section)
        progress(header.file_bytes, header.file_bytes)

    def check_ends(self) -> None:
        """Check that row offsets begin with 0 and end with the number of arcs: the cheap half of the bounds checks."""
        for name, last in self._row_sections():
            offsets = self.sliced(name)
            if offsets is None:
                raise CorruptFileError(f"the store has no section {name}", path=self.path)
            begin, end = int(offsets[0]), int(offsets[len(offsets) - 1])
            if begin != 0 or end != last:
                raise CorruptFileError(
                    f"section {name} runs from {begin:,} to {end:,}; expected 0 to {last:,}", path=self.path
                )

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
        return PackedTargets(self._bytes, index, section, header.num_arcs, header.num_vertices, self.path)

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
                    f"section {section.name}, chunk {number:,} (bytes {at:,}..{end:,}{self._place_of(at, end)}) fails "
                    "its checksum: the file is damaged; write or copy it again",
                    path=self.path,
                )
            progress(begin + data.size, self.header.file_bytes)

    def _place_of(self, begin: int, end: int) -> str:
        """Where these bytes lie, for a message about a store of several files."""
        return ""
