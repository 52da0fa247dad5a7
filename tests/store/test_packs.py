"""Packed targets: what goes in comes out, and damaged packs are typed errors, also behind checksums that are right."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.dtypes import Array
from dromos.errors import CorruptFileError, InvalidArgumentError, ResourceError, UnsupportedFormatError
from dromos.graph.graph import Flags
from dromos.graph.store import convert, load, read_header, verify, write
from dromos.graph.store.header_page import pack_header
from dromos.graph.store.layout import ALIGNMENT, CHECKSUM, Header, Section
from dromos.graph.store.packs import PackIndex, PackWriter, unpack
from dromos.graph.store.writer import SectionWriter
from tests.files import overwrite
from tests.sizes import examples
from tests.store.graphs import graphs, sample

PACK = 256
SIZES = (1, 2, 3, 256, 257, 1 << 20, (1 << 20) + 1, 1 << 31)
WIDE_SIZES = (*SIZES, (1 << 31) + 1, 1 << 40, (1 << 63) - 1)


def packed(targets: Array, num_vertices: int, pack_arcs: int = PACK) -> tuple[Array, PackIndex, Section]:
    writer = PackWriter(num_vertices, pack_arcs)
    parts = list(writer.packed([targets] if len(targets) else []))
    data = np.concatenate(parts).view(np.uint8) if parts else np.empty(0, dtype=np.uint8)
    section = Section("targets", targets.dtype, 8192, data.size, packed=True)
    return data, PackIndex.of(writer.index, section, pack_arcs, Path("some.drm")), section


def unpacked(data: Array, index: PackIndex, section: Section, count: int, num_vertices: int) -> Array:
    out = np.full(count + 64, -7, dtype=section.dtype)
    unpack(
        data, index, 0, len(index.sums), out[:count],
        section=section, num_vertices=num_vertices, path=Path("some.drm"), threads=2,
    )  # fmt: skip
    assert (out[count:] == -7).all()
    return out[:count]


@st.composite
def many_targets(draw: st.DrawFn) -> tuple[Array, int]:
    """Targets of every size of graph, in sorted rows or in any order, of 4 or 8 bytes."""
    wide = draw(st.booleans())
    num_vertices = draw(st.sampled_from(WIDE_SIZES if wide else SIZES))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    count = draw(st.sampled_from([0, 1, 31, 32, 33, 255, 256, 257, 1000]))
    spread = draw(st.sampled_from([num_vertices, min(num_vertices, 9), max(1, num_vertices // 1000)]))
    targets = rng.integers(num_vertices - spread, num_vertices, count)
    if draw(st.booleans()):
        targets = np.concatenate([np.sort(row) for row in np.split(targets, [count // 3, count // 2])])
    return targets.astype(np.int64 if wide else np.int32), num_vertices


@examples(60)
@given(drawn=many_targets())
def test_what_is_packed_comes_out_again(drawn: tuple[Array, int]) -> None:
    targets, num_vertices = drawn
    data, index, section = packed(targets, num_vertices)
    np.testing.assert_array_equal(unpacked(data, index, section, len(targets), num_vertices), targets)
    np.testing.assert_array_equal(by_the_description(data, index, len(targets), num_vertices, targets.dtype), targets)


def by_the_description(data: Array, index: PackIndex, count: int, num_vertices: int, dtype: Any) -> Array:
    """The text of ``packs.py``, bit by bit."""
    found: list[int] = []
    bits = (num_vertices - 1).bit_length()
    for number in range(len(index.sums)):
        pack = data[4 * index.starts[number] : 4 * index.starts[number + 1]].tobytes()
        arcs = min(count - number * index.pack_arcs, index.pack_arcs)
        head, groups = 8 + np.dtype(dtype).itemsize, -(-arcs // 256)
        at, value = head * groups, 0
        for first in range(0, arcs, 32):
            group = head * (first // 256)
            if first % 256 == 0:
                value = int.from_bytes(pack[group + 8 : group + head], "little")
            width = pack[group + first % 256 // 32]
            block = int.from_bytes(pack[at : at + 4 * width], "little")
            at += 4 * width
            for i in range(min(32, arcs - first)):
                value = (value + (block >> (i * width) & ((1 << width) - 1))) % (1 << bits)
                found.append(value)
        assert pack[at:] == bytes(8)
    return np.array(found, dtype=dtype)


@examples(300)
@given(seed=st.integers(0, 1 << 30), wide=st.booleans())
def test_packs_of_any_bytes_are_vertices_or_an_error(seed: int, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    num_vertices = int(rng.choice([3, 1000, 1 << 20]))
    dtype = np.int64 if wide else np.int32
    targets = np.sort(rng.integers(0, num_vertices, 700)).astype(dtype)
    data, index, section = packed(targets, num_vertices)
    data, starts = data.copy(), index.starts.copy()
    for _ in range(int(rng.integers(1, 4))):
        begin = int(4 * starts[rng.integers(3)])
        head = int(rng.integers(12)) if rng.random() < 0.6 else int(rng.integers(data.size))
        data[min(begin + head, data.size - 1)] ^= 1 << int(rng.integers(8))
    if rng.random() < 0.3:  # the index tells other lengths
        starts[1:3] = np.sort(rng.integers(0, starts[-1] + 1, 2))
    try:
        found = unpacked(data, replace(index, starts=starts), section, len(targets), num_vertices)
    except CorruptFileError as error:
        text = str(error)
    else:
        text = "section targets, pack 0, byte 0: nothing is wrong"
        assert ((found >= 0) & (found < num_vertices)).all()
    assert re.search(r"section targets, pack \d, byte [\d,]+: ", text)


@examples(40)
@given(graph=graphs(), transpose=st.booleans())
def test_a_graph_comes_back_exactly(graph: dr.Graph, transpose: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("packed")
    write(graph, folder / "packed.drm", transpose=transpose, compress=True, pack_arcs=PACK)
    write(graph, folder / "plain.drm", transpose=transpose)
    found, plain = load(folder / "packed.drm"), load(folder / "plain.drm")
    assert found == plain == graph
    assert found.targets.dtype == plain.targets.dtype
    if graph.weights is not None:
        assert found.weights is not None
        assert found.weights.tobytes() == graph.weights.tobytes()
    assert found.transpose == graph.transpose
    assert (read_header(folder / "plain.drm").version, read_header(folder / "packed.drm").version) == (1, 2)
    assert any("packs of targets" in check for check in verify(folder / "packed.drm").checks)
    again = folder / "again.drm"
    write(found, again, transpose=transpose)
    assert again.read_bytes() == (folder / "plain.drm").read_bytes()


def test_wide_ids_of_a_small_graph_stay_wide(tmp_path: Path) -> None:
    targets = np.array([1, 2, 0], dtype=np.int64)
    with open(tmp_path / "wide.drm", "wb") as out:
        writer = SectionWriter(out, 3, pack_arcs=PACK)
        writer.add("offsets", np.dtype(np.int64), [np.array([0, 2, 3, 3])])
        writer.add("targets", targets.dtype, [targets])
        writer.finish(num_arcs=3, num_edges=3, flags=Flags(directed=True))
    for found in (load(tmp_path / "wide.drm"), load(tmp_path / "wide.drm", mmap=False)):
        assert found.targets.dtype == np.int64
        assert found.targets.tolist() == [1, 2, 0]
    assert dr.bfs(dr.open(tmp_path / "wide.drm"), 0, memory="64M", device="numpy").level.tolist() == [0, 1, 1]


def test_a_conversion_within_memory_gives_the_same_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    edges = rng.integers(0, 400, (20_000, 2))
    np.savetxt(tmp_path / "some.el", edges, fmt="%d")
    convert(tmp_path / "some.el", tmp_path / "small.drm", memory=4 << 20, transpose=True, compress=True)
    write(dr.read(tmp_path / "some.el"), tmp_path / "large.drm", transpose=True, compress=True)
    assert (tmp_path / "small.drm").read_bytes() == (tmp_path / "large.drm").read_bytes()


def test_a_version_without_packs_refuses_them_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(sample(), tmp_path / "g.drm", compress=True)
    monkeypatch.setattr("dromos.graph.store.header_page.VERSION", 1)
    for read in (load, dr.open, verify):
        with pytest.raises(UnsupportedFormatError, match="version 2, and this Dromos reads up to 1"):
            read(tmp_path / "g.drm")


def test_a_size_of_packs_that_there_is_not_is_refused(tmp_path: Path) -> None:
    for size in (0, 128, 1000, 1 << 17):
        with pytest.raises(InvalidArgumentError, match=f"pack_arcs={size}"):
            write(sample(), tmp_path / "g.drm", compress=True, pack_arcs=size)
    assert not list(tmp_path.iterdir())


def test_what_is_read_into_memory_does_not_hold_the_file(tmp_path: Path) -> None:
    write(sample(), tmp_path / "g.drm", transpose=True, compress=True)
    graph = load(tmp_path / "g.drm", mmap=False)
    assert graph == sample()
    for rows in (graph, graph.transpose):
        for array in (rows.offsets, rows.targets, rows.weights):
            assert array is not None
            holder: Any = array
            while holder.base is not None:
                holder = holder.base
            assert holder.nbytes <= array.nbytes


def test_what_does_not_fit_memory_is_told_to_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(sample(), tmp_path / "g.drm", compress=True)
    monkeypatch.setattr("dromos.graph.store.sections.available_memory", lambda: 100)
    with pytest.raises(ResourceError, match=r"dr\.open"):
        load(tmp_path / "g.drm")


# ---- damage --------------------------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    write(sample(), tmp_path / "g.drm", transpose=True, compress=True, pack_arcs=PACK)
    return tmp_path / "g.drm"


def test_flipped_bytes_anywhere_are_found(stored: Path) -> None:
    whole = stored.read_bytes()
    rng = np.random.default_rng(11)
    for at in [*range(0, 800, 3), *rng.choice(len(whole), 400, replace=False).tolist()]:
        damaged = bytearray(whole)
        damaged[at] ^= int(rng.integers(1, 256))
        overwrite(stored, damaged)
        with pytest.raises((CorruptFileError, UnsupportedFormatError)):
            load(stored)


def sealed(data: bytearray, header: Header) -> bytes:
    """The file with all its checksums made right: those of packs and chunks, of the table, and of the header."""
    for name in ("targets", "transpose_targets"):
        targets, packs = header.section(name), header.section(name.replace("targets", "packs"))
        if targets is None or packs is None:
            continue
        entries = np.frombuffer(data, dtype=np.int32, count=packs.items, offset=packs.offset)
        at = targets.offset
        for number, length in enumerate(entries[::2].tolist()):
            sum_ = zlib.crc32(data[at : at + 4 * max(length, 0)])
            struct.pack_into("=I", data, packs.offset + 8 * number + 4, sum_)
            at += 4 * max(length, 0)
    sums = [
        zlib.crc32(data[section.offset + at : min(section.offset + at + header.chunk_bytes, section.end)])
        for section in header.sections
        for at in range(0, section.nbytes, header.chunk_bytes)
    ]
    table = np.array(sums, dtype=CHECKSUM).tobytes()
    header = replace(header, checksums_crc=zlib.crc32(table))
    header = replace(header, identity=header.computed_identity(table))
    return pack_header(header) + bytes(data[ALIGNMENT : header.checksums_offset]) + table


def test_checksums_that_are_right_do_not_make_packs_right(stored: Path) -> None:
    whole, header, right = stored.read_bytes(), read_header(stored), load(stored)
    assert sealed(bytearray(whole), header) == whole
    rng = np.random.default_rng(12)
    places = [header.section(name) for name in ("targets", "packs", "transpose_targets", "transpose_packs")]
    errors = 0
    for _ in range(300):
        damaged = bytearray(whole)
        section = places[int(rng.integers(4))]
        assert section is not None
        damaged[int(rng.integers(section.offset, section.end))] ^= 1 << int(rng.integers(8))
        overwrite(stored, sealed(damaged, header))
        try:
            for found in (load(stored), load(stored).transpose):
                assert ((found.targets >= 0) & (found.targets < right.num_vertices)).all()
        except CorruptFileError:
            errors += 1
    assert errors > 50


def test_a_damaged_pack_is_named(stored: Path) -> None:
    header = read_header(stored)
    section = header.section("targets")
    assert section is not None
    data = bytearray(stored.read_bytes())
    data[section.offset] += 1  # the width of the first block
    stored.write_bytes(sealed(data, header))
    for read in (load, verify):
        with pytest.raises(CorruptFileError, match=rf"section targets, pack 0, byte {section.offset:,}: the widths"):
            read(stored)


def test_a_header_that_forgets_its_packs_is_refused(stored: Path) -> None:
    data, header = bytearray(stored.read_bytes()), read_header(stored)
    for wrong in (replace(header, pack_arcs=0), replace(header, pack_arcs=1 << 20), replace(header, pack_arcs=512)):
        stored.write_bytes(sealed(bytearray(data), wrong))
        with pytest.raises(CorruptFileError):
            load(stored)
