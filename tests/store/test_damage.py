"""A damaged store gives a typed error or the right graph: never another graph, a crash or a hang."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.errors import CorruptFileError, DromosError, FileError, UnsupportedFormatError
from dromos.graph.graph import Flags
from dromos.graph.labels import Labels
from dromos.graph.store import load, read_header, stripe_store, verify, write
from dromos.graph.store.header_page import pack_header, unpack_header
from dromos.graph.store.layout import ALIGNMENT, MAGIC, Header
from dromos.graph.store.reader import OpenStore
from dromos.graph.store.writer import SectionWriter
from tests.files import overwrite
from tests.store.graphs import sample


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    write(sample(), tmp_path / "g.drm", transpose=True)
    return tmp_path / "g.drm"


def _outcome(file: Path) -> str:
    """``error`` or ``same``; anything else fails the test."""
    try:
        graph = load(file)
    except (CorruptFileError, UnsupportedFormatError):
        return "error"
    assert graph == sample()
    assert graph.transpose == sample().transpose
    return "same"


def test_flipped_bytes_anywhere_are_found(stored: Path) -> None:
    whole = stored.read_bytes()
    rng = np.random.default_rng(11)
    header_bytes = list(range(700))
    anywhere = rng.choice(len(whole), 2500, replace=False).tolist()
    for at in header_bytes + anywhere:
        damaged = bytearray(whole)
        damaged[at] ^= int(rng.integers(1, 256))
        overwrite(stored, damaged)
        assert _outcome(stored) == "error", f"byte {at}"


def test_cuts_anywhere_are_found(stored: Path) -> None:
    whole = stored.read_bytes()
    cuts = np.random.default_rng(12).choice(len(whole), 400, replace=False).tolist()
    for length in [0, 1, 7, 8, 9, 31, ALIGNMENT - 1, ALIGNMENT, ALIGNMENT + 1, len(whole) - 1, *cuts]:
        overwrite(stored, whole[:length])
        assert _outcome(stored) == "error", f"length {length}"


def test_pieces_swapped_doubled_zeroed_or_lost_are_found(stored: Path) -> None:
    whole = stored.read_bytes()
    rng = np.random.default_rng(13)
    for _ in range(600):
        a, b = sorted(int(x) for x in rng.integers(0, len(whole), 2))
        size = int(rng.integers(1, 600))
        mutant = [
            whole[:a] + whole[b : b + size] + whole[a + size :],
            whole[:a] + bytes(size) + whole[a + size :],
            whole[:a] + whole[a + size :],
            whole[:a] + whole[a : a + size] + whole[a:],
        ][int(rng.integers(0, 4))]
        overwrite(stored, mutant)
        assert _outcome(stored) == ("same" if mutant == whole else "error")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda b: b"", CorruptFileError, "empty"),
        (lambda b: b[:100], CorruptFileError, "cut short"),
        (lambda b: b[:-1], CorruptFileError, "cut short"),
        (lambda b: b + b"x", CorruptFileError, "1 bytes after the end"),
        (lambda b: b"0 1\n1 2\n", UnsupportedFormatError, "not a Dromos store"),
        (lambda b: b[:8] + b[11:7:-1] + b[12:], UnsupportedFormatError, "byte order"),
        (lambda b: _resealed(b[:12] + struct.pack("=I", 9) + b[16:]), UnsupportedFormatError, "version 9"),
        (lambda b: b[:12] + struct.pack("=I", 9) + b[16:], CorruptFileError, "header page"),
        (lambda b: b.replace(b"\r\n", b"\n", 1), UnsupportedFormatError, "not a Dromos store"),
        (lambda b: _resealed(b[:32] + struct.pack("=q", 61) + b[40:]), CorruptFileError, "does not fit"),
        (lambda b: _resealed(b[:32] + struct.pack("=q", -1) + b[40:]), CorruptFileError, "impossible counts"),
    ],
)
def test_each_kind_of_bad_file_says_what_it_is(
    stored: Path, change: Callable[[bytes], bytes], error: type[FileError], message: str
) -> None:
    stored.write_bytes(change(stored.read_bytes()))
    for read in (load, verify, read_header):
        with pytest.raises(error, match=message) as caught:
            read(stored)
        assert caught.value.path == str(stored)


def _resealed(data: bytes) -> bytes:
    page = data[:20] + bytes(4) + data[24:ALIGNMENT]
    return data[:20] + struct.pack("=I", zlib.crc32(page)) + data[24:]


def test_a_damaged_chunk_is_named(stored: Path) -> None:
    section = read_header(stored).section("weights")
    assert section is not None
    data = bytearray(stored.read_bytes())
    data[section.offset + 3] ^= 1
    stored.write_bytes(data)
    with pytest.raises(CorruptFileError, match=rf"section weights, chunk 0 \(bytes {section.offset:,}\.\."):
        verify(stored)


def test_large_files_open_without_a_look_at_their_data(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = read_header(stored).section("targets")
    assert section is not None
    data = bytearray(stored.read_bytes())
    data[section.offset] ^= 1
    stored.write_bytes(data)
    monkeypatch.setattr("dromos.graph.store.reader.VERIFIED_ON_OPEN", 100)
    assert load(stored).num_vertices == 60
    for options in ({"verify": True}, {"mmap": False}):
        with pytest.raises(CorruptFileError):
            load(stored, **options)


def test_damaged_ends_of_the_offsets_are_always_found(stored: Path) -> None:
    section = read_header(stored).section("offsets")
    assert section is not None
    data = bytearray(stored.read_bytes())
    data[section.end - 8] ^= 1
    stored.write_bytes(data)
    with pytest.raises(CorruptFileError, match="section offsets runs from"):
        load(stored, verify=False)


def test_missing_files_and_directories(tmp_path: Path) -> None:
    for read in (load, verify, read_header):
        with pytest.raises(FileError, match="No such file"):
            read(tmp_path / "none.drm")
        with pytest.raises(FileError, match="directory"):
            read(tmp_path)


# ---- stores whose checksums are right and whose promises are not --------------------------------------------------


def _forge(file: Path, flags: Flags | None = None, num_edges: int | None = None, **arrays: np.ndarray) -> None:
    """Write sections as given, with true checksums."""
    base = {"offsets": np.array([0, 1, 2, 2]), "targets": np.array([1, 2], dtype=np.int32)}
    sections = {**base, **arrays}
    true = Flags(directed=True, symmetric=False, sorted=True, parallel_edges=False, self_loops=False)
    with open(file, "wb") as out:
        writer = SectionWriter(out, len(sections["offsets"]) - 1)
        for name, array in sections.items():
            writer.add(name, array.dtype, [array] if array.size else [])
        m = len(sections["targets"])
        writer.finish(num_arcs=m, num_edges=m if num_edges is None else num_edges, flags=flags or true)


_TRUE = Flags(directed=True, symmetric=False, sorted=True, parallel_edges=False, self_loops=False)
_ONE = np.ones(2, dtype=np.float32)


@pytest.mark.parametrize(
    ("forgery", "message"),
    [
        ({"offsets": np.array([0, 2, 1, 2])}, "section offsets, byte .* row 1 ends at 1, before it begins at 2"),
        ({"offsets": np.array([0, 1, 1, 1])}, "section offsets runs from 0 to 1"),
        ({"targets": np.array([1, 3], dtype=np.int32)}, "section targets, byte .* arc 1 leads to 3"),
        ({"targets": np.array([-1, 2], dtype=np.int32)}, "arc 0 leads to -1"),
        ({"offsets": np.array([0, 2, 2, 2]), "targets": np.array([2, 1], dtype=np.int32)}, "row is not sorted"),
        ({"flags": replace(_TRUE, sorted=False)}, "sorted: no, and the arcs say yes"),
        ({"flags": replace(_TRUE, symmetric=True)}, "symmetric: yes, and the arcs say no"),
        ({"flags": replace(_TRUE, self_loops=True)}, "self-loops: yes, and the arcs say no"),
        ({"flags": replace(_TRUE, parallel_edges=True)}, "parallel edges: yes"),
        ({"flags": replace(_TRUE, directed=False)}, "not every arc has its reverse"),
        ({"num_edges": 1}, "promises 1 edges, and there are 2"),
        ({"weights": np.array([1, np.nan], dtype=np.float32)}, "arc 1 is not a number"),
        (
            {"transpose_offsets": np.array([0, 0, 1, 2]), "transpose_targets": np.array([0, 2], dtype=np.int32)},
            "transpose does not hold",
        ),
        (
            {
                "weights": np.array([1, 2], dtype=np.float32),
                "transpose_offsets": np.array([0, 0, 1, 2]),
                "transpose_targets": np.array([0, 1], dtype=np.int32),
                "transpose_weights": np.array([2, 1], dtype=np.float32),
            },
            "transpose does not hold",
        ),
        ({"labels": np.array([5, 3, 5])}, "5 is the label of more than one vertex"),
        (
            {"labels_utf8": np.frombuffer(b"abab", np.uint8), "labels_offsets": np.array([0, 1, 2, 3])},
            "labels_offsets runs from 0 to 3",
        ),
        (
            {"labels_utf8": np.frombuffer(b"aba", np.uint8), "labels_offsets": np.array([0, 1, 2, 3])},
            "'a' is the label of the vertices 0 and 2",
        ),
        (
            {"labels_utf8": np.frombuffer(b"a\xffc", np.uint8), "labels_offsets": np.array([0, 1, 2, 3])},
            "byte 1 is not UTF-8",
        ),
        (
            {"labels_utf8": np.frombuffer("aé".encode(), np.uint8), "labels_offsets": np.array([0, 1, 2, 3])},
            "splits a character",
        ),
        (
            {"labels_utf8": np.frombuffer(b"abc", np.uint8), "labels_offsets": np.array([0, 2, 1, 3])},
            "label 1 ends before it begins",
        ),
    ],
)
def test_a_broken_promise_is_found(tmp_path: Path, forgery: dict, message: str) -> None:
    _forge(tmp_path / "g.drm", **forgery)
    with pytest.raises(CorruptFileError, match=message) as whole:
        verify(tmp_path / "g.drm")
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    stripe_store(tmp_path / "g.drm", tmp_path / "striped.drm", folders, stripe_bytes=ALIGNMENT)
    with pytest.raises(CorruptFileError, match=message) as striped:
        verify(tmp_path / "striped.drm")
    assert striped.value.message == whole.value.message


def test_an_unsorted_row_may_hide_parallel_edges(tmp_path: Path) -> None:
    rows = {"offsets": np.array([0, 3, 3, 3]), "targets": np.array([2, 1, 2], dtype=np.int32)}
    _forge(tmp_path / "g.drm", flags=replace(_TRUE, sorted=False), **rows)
    with pytest.raises(CorruptFileError, match="parallel edges: no, and the arcs say yes"):
        verify(tmp_path / "g.drm")


def test_lone_surrogates_in_labels_are_text_to_python(tmp_path: Path) -> None:
    graph = dr.Graph.from_edges([0], [1])
    graph._labels = Labels.from_values(["\udce9", "b"])
    write(graph, tmp_path / "g.drm")
    assert "labels are valid text and unique" in verify(tmp_path / "g.drm").checks


@pytest.mark.parametrize(
    "change",
    [
        {"sections": ()},
        {"checksums_offset": 8192},
        {"num_edges": 10**9},
        {"num_arcs": 2**62},
        {"num_vertices": 2**62},
        {"chunk_bytes": 256},
    ],
)
def test_a_sealed_header_that_does_not_fit_the_file_is_refused(stored: Path, change: dict) -> None:
    data = stored.read_bytes()
    header = replace(unpack_header(data[:ALIGNMENT], len(data), stored), **change)
    stored.write_bytes(pack_header(header) + data[ALIGNMENT:])
    with pytest.raises(CorruptFileError):
        load(stored)


def test_sections_may_not_overlap_or_lie_outside(stored: Path) -> None:
    data = stored.read_bytes()
    header = unpack_header(data[:ALIGNMENT], len(data), stored)

    def with_first(**change: object) -> Header:
        return replace(header, sections=(replace(header.sections[0], **change), *header.sections[1:]))

    for forged in (
        with_first(offset=0),
        with_first(offset=2**60),
        with_first(nbytes=2**60),
        with_first(name="targets"),
    ):
        stored.write_bytes(pack_header(forged) + data[ALIGNMENT:])
        with pytest.raises(CorruptFileError):
            load(stored)


def test_a_file_with_a_signature_and_noise_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for size in (100, 4096, 20_000):
        (tmp_path / "g.drm").write_bytes(MAGIC + rng.bytes(size))
        with pytest.raises(DromosError):
            OpenStore(tmp_path / "g.drm")
