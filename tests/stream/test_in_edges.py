"""A directed store without in-edges gets them from a second store, which is written beside it when they are needed."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import dromos as dr
from dromos.errors import InvalidArgumentError
from dromos.graph.store import beside, write
from tests.program.small_graphs import graphs
from tests.sizes import examples


@pytest.fixture
def graph() -> dr.Graph:
    draw = np.random.default_rng(3)
    src, dst = draw.integers(0, 500, (2, 10_000))
    names = np.array([f"v{number}" for number in range(500)], dtype=object)
    return dr.Graph.from_edges(names[src], names[dst], draw.integers(1, 9, 10_000), directed=True)


def files_beside(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.transpose-*"))


@pytest.mark.parametrize(("compress", "chunk_bytes"), [(False, 16384), (True, 16384), (True, 4096)])
def test_the_store_beside_is_the_one_that_write_makes(
    graph: dr.Graph, compress: bool, chunk_bytes: int, tmp_path: Path
) -> None:
    """A pack has as many arcs as a chunk of 16 KiB has ids, or four times as many."""
    write(graph, tmp_path / "g.drm", compress=compress, chunk_bytes=chunk_bytes)
    write(graph, tmp_path / "both.drm", transpose=True, compress=compress, chunk_bytes=chunk_bytes)
    stored = dr.open(tmp_path / "g.drm")
    unweighted = stored.with_weights(None)
    assert unweighted.in_degree.tolist() == graph.in_degree.tolist()
    (made,) = files_beside(tmp_path / "g.drm")
    assert made.read_bytes() == (tmp_path / "both.drm").read_bytes()
    assert stored.transpose.in_degree.tolist() == graph.out_degree.tolist()
    assert {file.name for file in tmp_path.iterdir()} == {"g.drm", "both.drm", made.name}


def test_any_graph_is_reversed(tmp_path: Path) -> None:
    @examples(15)
    @given(graph=graphs(max_vertices=9))
    def on_small_graphs(graph: dr.Graph) -> None:
        shutil.rmtree(tmp_path / "one", ignore_errors=True)
        (tmp_path / "one").mkdir()
        write(graph, tmp_path / "one" / "g.drm")
        dr.write(graph, tmp_path / "one" / "both.drm", transpose=True)
        stored = dr.open(tmp_path / "one" / "g.drm")
        assert stored.in_degree.tolist() == graph.in_degree.tolist()
        for made in files_beside(tmp_path / "one" / "g.drm"):
            assert made.read_bytes() == (tmp_path / "one" / "both.drm").read_bytes()

    on_small_graphs()


def test_little_memory_sorts_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = dr.generators.uniform(3000, 200_000, seed=1, directed=True)
    write(made, tmp_path / "g.drm")
    write(made, tmp_path / "both.drm", transpose=True)
    monkeypatch.setattr(beside, "LEAST_MEMORY", 0)
    monkeypatch.setattr("dromos.graph.store.budget.LEAST_MEMORY", 0)
    found = beside.store_with_transpose(dr.open(tmp_path / "g.drm"), 1 << 18)
    assert found.read_bytes() == (tmp_path / "both.drm").read_bytes()


def test_what_needs_in_edges_makes_them_once(graph: dr.Graph, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(graph, tmp_path / "g.drm")
    expected = dr.bfs(graph, "v7").level
    how: dict[str, Any] = {"memory": "64M", "device": "numpy"}
    with caplog.at_level(logging.INFO, logger="dromos"):
        assert (dr.bfs(dr.open(tmp_path / "g.drm"), "v7", **how).level == expected).all()
        assert files_beside(tmp_path / "g.drm") == []  # pushes need none
        for _ in range(2):
            found = dr.bfs(dr.open(tmp_path / "g.drm"), "v7", path="sync-pull-td", **how)
            assert (found.level == expected).all()
            assert {row.path for row in found.trace} == {"sync-pull-td"}
    assert sum("are written to" in record.getMessage() for record in caplog.records) == 1
    (made,) = files_beside(tmp_path / "g.drm")
    stamp = made.stat().st_mtime_ns
    labels = dr.label_propagation(dr.open(tmp_path / "g.drm"), max_iter=3, **how).label
    assert (labels == dr.label_propagation(graph, max_iter=3, device="numpy").label).all()
    assert made.stat().st_mtime_ns == stamp


def test_threads_that_need_in_edges_at_once_make_them_once(graph: dr.Graph, tmp_path: Path) -> None:
    write(graph, tmp_path / "g.drm")
    begin, found, errors = threading.Barrier(3), list[Any](), list[BaseException]()

    def count() -> None:
        stored = dr.open(tmp_path / "g.drm")
        begin.wait()
        try:
            found.append(stored.in_degree.tolist())
        except BaseException as error:
            errors.append(error)

    team = [threading.Thread(target=count) for _ in range(3)]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    assert not errors
    assert found == [graph.in_degree.tolist()] * 3
    assert len(files_beside(tmp_path / "g.drm")) == 1


def test_a_store_that_was_replaced_gets_another_one(graph: dr.Graph, tmp_path: Path) -> None:
    write(graph, tmp_path / "g.drm")
    dr.open(tmp_path / "g.drm").transpose  # noqa: B018
    (first,) = files_beside(tmp_path / "g.drm")
    write(dr.Graph.from_edges([0, 1, 1], [1, 2, 0], directed=True), tmp_path / "g.drm")
    assert dr.open(tmp_path / "g.drm").in_degree.tolist() == [1, 1, 1]
    (second,) = files_beside(tmp_path / "g.drm")
    assert second != first


def test_no_room_and_a_folder_that_cannot_be_written(
    graph: dr.Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(graph, tmp_path / "g.drm")
    stored = dr.open(tmp_path / "g.drm")
    usage = shutil.disk_usage(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=1000))
        with pytest.raises(InvalidArgumentError, match=r"dromos convert --transpose.*the disk has 1000 B free"):
            stored.transpose  # noqa: B018

    def full(*args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(beside.SectionWriter, "finish", full)
        with pytest.raises(InvalidArgumentError, match=r"could not be written beside it: .*No space left"):
            stored.transpose  # noqa: B018
    assert [file.name for file in tmp_path.iterdir()] == ["g.drm"]
    assert stored.in_degree.tolist() == graph.in_degree.tolist()
