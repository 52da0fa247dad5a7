"""Verifying a store: all checksums, and the invariants that the header states about the graph.

The arrays are read through the map, slice by slice, so memory does not grow with the number of edges. Only labels that
are not in ascending order need extra memory (16 bytes per vertex).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError
from dromos.graph.checks import weights_fault
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.slices import row_ranges
from dromos.graph.store.labels_check import check_labels
from dromos.graph.store.layout import Header
from dromos.graph.store.packs import PackedTargets
from dromos.graph.store.reader import OpenStore
from dromos.graph.store.rows import RowFacts, scan
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
    """Check a store: every checksum, and that the graph is what the header says it is.

    The first fault raises :class:`~dromos.errors.CorruptFileError`, with the section and the position. A file that is
    no store, has a newer version or the other byte order raises :class:`~dromos.errors.UnsupportedFormatError`.

    >>> import dromos as dr, tempfile, pathlib
    >>> from dromos.graph.store import write
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
    >>> write(dr.Graph.from_edges([0, 1], [1, 2]), file)
    >>> verify(file).checks[0]
    'header and checksum table'
    """
    store = OpenStore(path)
    return _Verifier(store, progress, threads).run()


class _Verifier:
    def __init__(self, store: OpenStore, progress: Progress, threads: int | None) -> None:
        self.store, self.header, self.threads = store, store.header, threads
        self.checks = ["header and checksum table"]
        self._report = progress
        passes = 1 if store.array("transpose_offsets") is None else 2
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
        self._check_weights("weights")
        if self.store.array("transpose_offsets") is not None:
            self._check_transpose(facts)
        done = check_labels(self.store, self.threads)
        if done:
            self.checks.append(done)
        self._report(self._total, self._total)
        return Report(os.fspath(self.store.path), header, tuple(self.checks))

    def _check_offsets(self, name: str) -> None:
        from dromos.graph.store import row_kernels as kernels

        offsets = self.store.required(name)
        team = num_threads(self.threads)
        found = np.empty(team, dtype=np.int64)
        run_team(kernels.first_descent, offsets, found, threads=team)
        at = int(found.min())
        if at != kernels.NOWHERE:
            self._fail(name, at, f"row {at - 1:,} ends at {offsets[at]:,}, before it begins at {offsets[at - 1]:,}")
        self.checks.append(f"{name} rise from 0 to {self.header.num_arcs:,}")

    def _scan_rows(self, prefix: str) -> RowFacts:
        """Scan the rows once; targets outside the graph raise an error at once."""
        n = self.header.num_vertices
        offsets, targets = self.store.required(f"{prefix}offsets"), self.store.targets(prefix)
        weights = self.store.array(f"{prefix}weights")
        if isinstance(targets, PackedTargets):
            targets.check()
        facts = RowFacts()
        for first, last in row_ranges(offsets, _SLICE_ARCS, _SLICE_ROWS):
            begin, end = int(offsets[first]), int(offsets[last])
            part = None if weights is None else weights[begin:end]
            found = scan(first, n, offsets[first : last + 1], targets[begin:end], part, self.threads)
            if found.unsorted_at is not None and found.parallel_at is None:
                found = found._replace(parallel_at=_hidden_parallel(offsets[first : last + 1], targets[begin:end]))
            facts = facts.joined(found)
            self._scanned += end - begin
            self._report(self.header.file_bytes + self._scanned, self._total)
        if facts.outside_at is not None:
            at = facts.outside_at
            self._fail(f"{prefix}targets", at, f"arc {at:,} leads to {targets[at]:,}, and there are {n:,} vertices")
        if isinstance(targets, PackedTargets):
            self.checks.append(f"{targets.num_packs:,} packs of {prefix}targets and their checksums")
        self.checks.append(f"{prefix}targets are vertices")
        return facts

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

    def _check_weights(self, name: str) -> None:
        weights = self.store.array(name)
        if weights is None:
            return
        if (fault := weights_fault(weights)) is not None:
            self._fail(name, fault.item, fault.reason)
        self.checks.append(f"{name} are numbers")

    def _check_transpose(self, forward: RowFacts) -> None:
        self._check_offsets("transpose_offsets")
        facts = self._scan_rows("transpose_")
        if facts.unsorted_at is not None:
            self._fail("transpose_targets", facts.unsorted_at, "a row of the transpose is not sorted")
        self._check_weights("transpose_weights")
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
