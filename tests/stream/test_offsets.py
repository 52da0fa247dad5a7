"""Row offsets read by compiled code: the same numbers and the same errors as with Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.dtypes import OFFSET
from dromos.errors import CorruptFileError, FileError
from dromos.graph.records import Flags
from dromos.graph.store import write
from dromos.graph.store.paged import offsets
from dromos.graph.store.paged.rows import checksums_of
from dromos.graph.store.paged.ways import READS
from dromos.graph.store.writer import SectionWriter
from tests.stream.stores import PAGE, no_thread_stays, random_graph

_PIECE = 8 << 10  # a chunk of the default size, 2,048 offsets, is larger


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets, "_THREAD_BYTES", _PIECE)


def _graph(num_vertices: int) -> dr.Graph:
    return dr.generators.uniform(num_vertices, 3 * num_vertices, seed=num_vertices)


@pytest.mark.parametrize("num_vertices", [1, 1023, 1024, 5000])
@pytest.mark.parametrize("chunk", [512, PAGE, 16 * PAGE])
def test_compiled_code_reads_what_python_reads(
    num_vertices: int, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = _graph(num_vertices)
    write(graph, tmp_path / "graph.drm", chunk_bytes=chunk)
    monkeypatch.setenv(READS, "threads")
    assert (dr.open(tmp_path / "graph.drm").row_offsets("") == graph.offsets).all()
    monkeypatch.setenv(READS, "compiled")
    monkeypatch.setattr(offsets, "read_section", None)  # which is not needed
    with no_thread_stays():
        found = dr.open(tmp_path / "graph.drm").row_offsets("")
    assert found.dtype == np.uint32
    np.testing.assert_array_equal(found, graph.offsets)


def test_offsets_of_more_than_four_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(READS, "compiled")
    graph = _graph(3000)
    write(graph, tmp_path / "graph.drm")
    file = dr.open(tmp_path / "graph.drm")
    section, found = file.header.section("offsets"), np.zeros(3001, OFFSET)
    assert section is not None
    with file.reading() as source:
        sums = checksums_of(file.header, file._checksums, section)
        assert offsets._read_by_threads(source, file.header, sums, section, found)
    np.testing.assert_array_equal(found, graph.offsets)


def _told(file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The error of both ways to read, which is the same."""
    texts = []
    for way in ("compiled", "threads"):
        monkeypatch.setenv(READS, way)
        with no_thread_stays(), pytest.raises(CorruptFileError) as caught:
            dr.open(file).row_offsets("")
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    return texts[0]


@pytest.mark.parametrize("at", [0, 3, 8191, 8192, 40_000])
def test_a_changed_byte(at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(_graph(5000), tmp_path / "graph.drm")
    section = dr.open(tmp_path / "graph.drm").header.section("offsets")
    assert section is not None
    data = bytearray((tmp_path / "graph.drm").read_bytes())
    data[section.offset + at] ^= 4
    (tmp_path / "graph.drm").write_bytes(data)
    assert f"section offsets, chunk {at // (16 << 10)} " in _told(tmp_path / "graph.drm", monkeypatch)


@pytest.mark.parametrize(
    ("row", "value", "message"),
    [
        (0, 1, "row 0 is below"),
        (10, 19, "row 10 is below"),
        (2048, 4093, "row 2,048 is below"),  # the first of a piece
        (2047, 10**12, "row 2,048 is below"),
        (3000, 6001, "ends with 6,001; expected 6,000 arcs"),
        (3000, -(10**12), "row 3,000 is below"),
    ],
)
def test_offsets_that_cannot_be_right(
    row: int, value: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = 2 * np.arange(3001)
    wrong[row] = value
    if row == 10:
        wrong[9] = 20
    with open(tmp_path / "graph.drm", "wb") as out:
        writer = SectionWriter(out, 3000)
        writer.add("offsets", wrong.dtype, [wrong])
        writer.add("targets", np.dtype(np.int32), [np.zeros(6000, np.int32)])
        flags = Flags(directed=True, symmetric=False, sorted=True, parallel_edges=True, self_loops=True)
        writer.finish(num_arcs=6000, num_edges=6000, flags=flags)
    assert message in _told(tmp_path / "graph.drm", monkeypatch)


def test_a_file_that_is_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(READS, "compiled")
    write(random_graph(3), tmp_path / "graph.drm")
    file = dr.open(tmp_path / "graph.drm")
    with open(tmp_path / "graph.drm", "r+b") as out:
        out.truncate(5000)
    with no_thread_stays(), pytest.raises(FileError, match="changed, replaced or removed"):
        file.row_offsets("")
