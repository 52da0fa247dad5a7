"""Verifying a store: all checksums, and the invariants that the header states about the graph.

The arrays are read slice by slice, through the map or from the stripes, so memory does not grow with the number of
edges. Only labels that are not in ascending order need extra memory (16 bytes per vertex), and those of a striped store
are read as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError
from dromos.graph.checks import Fault, weights_fault
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.slices import row_ranges
from dromos.graph.store.labels_check import check_labels
from dromos.graph.store.layout import Header
from dromos.graph.store.packs import PackedTargets
from dromos.graph.store.reader import OpenStore
from dromos.graph.store.rows import RowFacts, scan
from dromos.graph.store.sections import Sliced, StoreSections
from dromos.graph.store.striped import is_striped_file
from dromos.graph.store.striped_sections import StripedSections
from dromos.parallel import num_threads, run_team

__all__ = ["Report", "verify"]

_SLICE_ARCS = 1 << 23
_SLICE_ROWS = 1 << 22


@dataclass(frozen=True)
class Report:
    """What :func:`verify` checked; everything was found correct."""

    path: str
    header: Header
    checks: tuple[str, ...]

    @property
    def identity(self) -> str:
        """The digest of the graph."""
        return self.header.identity.hex()


def verify(path: str | os.PathLike[str], *, progress: Progress = no_progress, threads: int | None = None) -> Report:
    """Check a store, striped or not: every checksum, and that the graph is what the header says it is.

    The first fault raises :class:`~dromos.errors.CorruptFileError`, with the section and the position. A file that is
    no store, has a newer version or the other byte order raises :class:`~dromos.errors.UnsupportedFormatError`.

    >>> import dromos as dr, tempfile, pathlib
    >>> from dromos.graph.store import write
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
    >>> write(dr.Graph.from_edges([0, 1], [1, 2]), file)
    >>> verify(file).checks[0]
    'header and checksum table'
    """
    if is_striped_file(Path(path)):
        with StripedSections(path) as striped:
            return _Verifier(striped, progress, threads).run()
    return _Verifier(OpenStore(path), progress, threads).run()


class _Verifier:
    def __init__(self, store: StoreSections, progress: Progress, threads: int | None) -> None:
        self.store, self.header, self.threads = store, store.header, threads
        self.checks = ["header and checksum table"]
        self._report = progress
        passes = 1 if store.header.section("transpose_offsets") is None else 2
        self._total = self.header.file_bytes + passes * self.header.num_arcs
        self._scanned = 0

    def run(self) -> Report:
        header = self.header
        self.store.check_data(lambda done, _: self._report(done, self._total), self.threads)
        self.checks.append(f"{header.num_chunks:,} chunk checksums")
        self.store.check_ends()
        self._check_offsets("offsets")
        facts = self._scan_rows("")
        self._check_flags(facts)
        if self.header.section("transpose_offsets") is not None:
            self._check_transpose(facts)
        done = check_labels(self.store, self.threads)
        if done:
            self.checks.append(done)
        self._report(self._total, self._total)
        return Report(os.fspath(self.store.path), header, tuple(self.checks))

    def _check_offsets(self, name: str) -> None:
        from dromos.graph.store import row_kernels as kernels

        for first, offsets in self._offsets(name):
            team = num_threads(self.threads)
            found = np.empty(team, dtype=np.int64)
            run_team(kernels.first_descent, offsets, found, threads=team)
            at = int(found.min())
            if at != kernels.NOWHERE:
                row = first + at - 1
                ends = f"row {row:,} ends at {offsets[at]:,}, before it begins at {offsets[at - 1]:,}"
                self._fail(name, row + 1, ends)
        self.checks.append(f"{name} rise from 0 to {self.header.num_arcs:,}")

    def _offsets(self, name: str) -> Iterator[tuple[int, Array]]:
        """The offsets of consecutive rows, a limited number at a time, each with its first row."""
        offsets = self.store.sliced(name)
        assert offsets is not None
        for first in range(0, self.header.num_vertices, _SLICE_ROWS):
            yield first, offsets[first : min(first + _SLICE_ROWS, self.header.num_vertices) + 1]

    def _scan_rows(self, prefix: str) -> RowFacts:
        """Scan the rows once; targets outside the graph and weights that are no numbers raise an error."""
        n = self.header.num_vertices
        targets, weights = self.store.targets(prefix), self.store.sliced(f"{prefix}weights")
        if isinstance(targets, PackedTargets):
            targets.check()
        facts, fault = RowFacts(), None
        for first, offsets in self._offsets(f"{prefix}offsets"):
            for start, stop in row_ranges(offsets, _SLICE_ARCS, _SLICE_ROWS):
                own = offsets[start : stop + 1]
                found, unfit = self._scan_slice(first + start, own, targets, weights)
                facts, fault = facts.joined(found), fault or unfit
                self._scanned += int(own[-1] - own[0])
                self._report(self.header.file_bytes + self._scanned, self._total)
        if facts.outside_at is not None:
            at = facts.outside_at
            self._fail(f"{prefix}targets", at, f"arc {at:,} leads to {targets[at]:,}, and there are {n:,} vertices")
        if fault is not None:
            self._fail(f"{prefix}weights", fault.item, fault.reason)
        if isinstance(targets, PackedTargets):
            self.checks.append(f"{targets.num_packs:,} packs of {prefix}targets and their checksums")
        self.checks.append(f"{prefix}targets are vertices")
        if weights is not None:
            self.checks.append(f"{prefix}weights are numbers")
        return facts

    def _scan_slice(
        self, first: int, offsets: Array, targets: Sliced | PackedTargets, weights: Sliced | None
    ) -> tuple[RowFacts, Fault | None]:
        """Scan some rows; also returns the first of their weights that is no number."""
        begin, end = int(offsets[0]), int(offsets[-1])
        ids, own = targets[begin:end], None if weights is None else weights[begin:end]
        found = scan(first, self.header.num_vertices, offsets, ids, own, self.threads)
        if found.unsorted_at is not None and found.parallel_at is None:
            found = found._replace(parallel_at=_hidden_parallel(offsets, ids))
        return found, None if own is None else weights_fault(own, begin)

    def _check_flags(self, facts: RowFacts) -> None:
        flags, header = self.header.flags, self.header
        if flags.sorted and facts.unsorted_at is not None:
            self._fail("targets", facts.unsorted_at, "a row is not sorted, and the header says that all are")
        found = {
            "symmetric": (flags.symmetric, facts.symmetric),
            "sorted": (flags.sorted, facts.unsorted_at is None),
            "parallel edges": (flags.parallel_edges, facts.parallel_at is not None),
            "self-loops": (flags.self_loops, facts.loops > 0),
        }
        for name, (said, true) in found.items():
            if said is not None and said != true:
                self._refuse(f"the header says {name}: {_yes(said)}, and the arcs say {_yes(true)}")
        if not flags.directed and not facts.symmetric:
            self._refuse("the graph is undirected, and not every arc has its reverse with the same weight")
        edges = header.num_arcs if flags.directed else (header.num_arcs + facts.loops) // 2
        if edges != header.num_edges:
            self._refuse(f"the header promises {header.num_edges:,} edges, and there are {edges:,}")
        self.checks.append("flags match the arcs")

    def _check_transpose(self, forward: RowFacts) -> None:
        self._check_offsets("transpose_offsets")
        facts = self._scan_rows("transpose_")
        if facts.unsorted_at is not None:
            self._fail("transpose_targets", facts.unsorted_at, "a row of the transpose is not sorted")
        if (facts.forward, facts.backward) != (forward.backward, forward.forward):
            self._refuse("the transpose does not hold the reversed arcs of the graph")
        self.checks.append("transpose holds the reversed arcs")

    def _fail(self, name: str, item: int, reason: str) -> None:
        section = self.header.section(name)
        assert section is not None
        if section.packed:
            number = item // self.header.pack_arcs
            raise CorruptFileError(f"section {name}, pack {number:,}, arc {item:,}: {reason}", path=self.store.path)
        byte = section.offset + item * section.dtype.itemsize
        raise CorruptFileError(f"section {name}, byte {byte:,}: {reason}", path=self.store.path)

    def _refuse(self, reason: str) -> None:
        raise CorruptFileError(reason, path=self.store.path)


def _hidden_parallel(offsets: Array, targets: Array) -> int | None:
    """The position of two arcs with the same ends, in rows that are not sorted."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((targets, rows))
    same = (targets[order][1:] == targets[order][:-1]) & (rows[order][1:] == rows[order][:-1])
    return int(offsets[0] + order[1:][same].min()) if same.any() else None


def _yes(state: bool) -> str:
    return "yes" if state else "no"
