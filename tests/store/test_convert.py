"""Files to stores within a budget, as ``dromos convert --memory`` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.errors import FileError, FormatError, GraphDataError, InvalidArgumentError, ResourceError
from dromos.graph.store import convert, load, stripe_store, verify
from dromos.sizes import as_bytes

MEMORY = 64 << 20


def _edges(count: int = 20_000, n: int = 3000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    return rng.integers(0, n, count), rng.integers(0, n, count) ** 2 // n, rng.integers(1, 100, count)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    src, dst, weight = _edges()
    lines = "".join(f"{u}\t{v}\t{w}\n" for u, v, w in zip(src * 7, dst * 7, weight, strict=True))
    (tmp_path / "edges.txt").write_text(f"# a list of edges\n{lines}")
    return tmp_path / "edges.txt"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"symmetrize": True, "dedupe": True, "merge_weights": "sum"},
        {"directed": False, "drop_self_loops": True},
        {"weighted": False},
    ],
)
def test_text_gives_the_store_that_reading_gives(text: Path, options: dict[str, Any]) -> None:
    out, expected = text.with_name("disk.drm"), text.with_name("memory.drm")
    done = convert(text, out, memory=MEMORY, transpose=True, **options)
    dr.read(text, **options).write(expected, transpose=True)
    assert out.read_bytes() == expected.read_bytes()
    assert not done.resumed
    assert done.header.num_edges == verify(out).header.num_edges


def test_parquet_gives_the_store_that_reading_gives(tmp_path: Path) -> None:
    graph = dr.Graph.from_edges(*_edges())
    graph.write(tmp_path / "edges.parquet")
    convert(tmp_path / "edges.parquet", tmp_path / "disk.drm", memory=MEMORY)
    dr.read(tmp_path / "edges.parquet").write(tmp_path / "memory.drm")
    assert (tmp_path / "disk.drm").read_bytes() == (tmp_path / "memory.drm").read_bytes()


def test_strings_in_text(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("eve,bob\nada,eve\nbob,zoe\n")
    convert(tmp_path / "names.csv", tmp_path / "g.drm", memory=MEMORY)
    assert load(tmp_path / "g.drm") == dr.read(tmp_path / "names.csv")


def test_progress_rises_over_the_whole_file(text: Path) -> None:
    seen: list[tuple[int, int]] = []
    convert(text, text.with_name("g.drm"), memory=MEMORY, transpose=True, progress=lambda *step: seen.append(step))
    assert {total for _, total in seen} == {2 * text.stat().st_size}
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]


def test_errors_name_the_input_and_leave_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "g.drm"
    with pytest.raises(FileError, match=r"none\.el"):
        convert(tmp_path / "none.el", out, memory=MEMORY)
    bad = tmp_path / "bad.el"
    bad.write_text("0 1\n1 x\n")
    with pytest.raises(FormatError, match=r"bad\.el: line 2"):
        convert(bad, out, memory=MEMORY)
    bad.write_text("0 1\n-1 2\n")
    with pytest.raises((FormatError, GraphDataError), match=r"bad\.el"):
        convert(bad, out, memory=MEMORY)
    bad.write_text("0 1\n")
    with pytest.raises(FileError, match=r"missing/g\.drm"):
        convert(bad, tmp_path / "missing" / "g.drm", memory=MEMORY)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.el"]


@pytest.mark.parametrize("labels", [None, "integers", "texts"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"symmetrize": True, "dedupe": True, "merge_weights": "sum"},
        {"dedupe": True, "drop_self_loops": True},
        {"directed": True},
        {"directed": False, "keep_parallel": True},
        {"directed": True, "symmetrize": True},
        {"weighted": False},
    ],
)
def test_a_store_gives_the_store_that_reading_it_gives(
    options: dict[str, Any], directed: bool, labels: str | None, tmp_path: Path
) -> None:
    src, dst, weight = _edges()
    numbers = np.arange(3100)[::-1] * 3
    names = {None: None, "integers": numbers, "texts": [f"é{number}" for number in numbers]}[labels]
    graph = dr.Graph.from_edges(src, dst, weight, num_vertices=3100, labels=names, directed=directed)
    given, out, expected = (tmp_path / f"{name}.drm" for name in ("given", "disk", "memory"))
    graph.write(given)
    convert(given, out, memory=8 << 20, transpose=True, compress=True, **options)
    dr.read(given, **options).write(expected, transpose=True, compress=True)
    assert out.read_bytes() == expected.read_bytes()


def test_a_graph_without_edges_keeps_its_weights(tmp_path: Path) -> None:
    none = np.empty(0, np.int64)
    dr.Graph.from_edges(none, none, np.empty(0, np.float64), num_vertices=5).write(tmp_path / "given.drm")
    (tmp_path / "given.mtx").write_text("%%MatrixMarket matrix coordinate real general\n5 5 0\n")
    for given in (tmp_path / "given.drm", tmp_path / "given.mtx"):
        convert(given, tmp_path / "disk.drm", memory=MEMORY, weighted=True)
        dr.read(given).write(tmp_path / "memory.drm")
        assert (tmp_path / "disk.drm").read_bytes() == (tmp_path / "memory.drm").read_bytes()
        assert load(tmp_path / "disk.drm").weights is not None


def test_an_undirected_graph_read_as_directed_and_symmetrized_is_itself(tmp_path: Path) -> None:
    graph = dr.Graph.from_edges(*_edges(), directed=False)
    graph.write(tmp_path / "given.drm")
    assert dr.read(tmp_path / "given.drm", directed=True, symmetrize=True) == graph
    twice = dr.read(tmp_path / "given.drm", directed=True, symmetrize=True, keep_parallel=True)
    assert twice.num_arcs == 2 * graph.num_arcs - graph.num_self_loops


def test_a_striped_store_becomes_one_file(tmp_path: Path) -> None:
    graph = dr.Graph.from_edges(*_edges())
    graph.write(tmp_path / "whole.drm")
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    stripe_store(tmp_path / "whole.drm", tmp_path / "striped.drm", folders)
    convert(tmp_path / "striped.drm", tmp_path / "back.drm", memory=MEMORY)
    assert (tmp_path / "back.drm").read_bytes() == (tmp_path / "whole.drm").read_bytes()


def test_the_row_offsets_of_a_store_have_to_fit(tmp_path: Path) -> None:
    dr.Graph.from_edges([0], [1], num_vertices=300_000).write(tmp_path / "wide.drm")
    with pytest.raises(ResourceError, match=r"the row offsets of .*wide\.drm take 1\.1 MiB.*give at least 4\.6 MiB"):
        convert(tmp_path / "wide.drm", tmp_path / "out.drm", memory=4 << 20)
    convert(tmp_path / "wide.drm", tmp_path / "out.drm", memory=as_bytes("4.6 MiB"))
    assert load(tmp_path / "out.drm").num_vertices == 300_000


def test_a_file_that_holds_a_whole_graph_is_not_streamed(tmp_path: Path) -> None:
    dr.Graph.from_edges([0], [1]).write(tmp_path / "a.npz")
    with pytest.raises(InvalidArgumentError, match="whole graph"):
        convert(tmp_path / "a.npz", tmp_path / "b.drm", memory=MEMORY)
