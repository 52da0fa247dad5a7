"""No kernel indexes by what nobody has checked: whatever a file or an array holds, a run is right or refused."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.errors import CorruptFileError, FileError, GraphDataError
from dromos.graph.store import checked, load, read_header, write

WRONG = {
    "targets": [-1, 60, 2**31 - 1],
    "offsets": [-1, 10**12],
    "weights": [np.nan],
    "transpose_targets": [-(2**31)],
    "transpose_offsets": [-5, 10**15],
}
USES: dict[str, Callable[[dr.Graph], Any]] = {
    "bfs": lambda g: dr.bfs(g, 0),
    "sssp": lambda g: dr.sssp(g, 0),
    "pagerank": dr.pagerank,
    "connected_components": dr.connected_components,
    "reference engine": lambda g: dr.bfs(g, 0, device="reference"),
    "a transformation": lambda g: g.symmetrized(),
    "a subgraph": lambda g: g.subgraph([1, 2]),
    "edges": lambda g: g.edges(),
    "slices": lambda g: g.slices(2),
    "other weights": lambda g: g.with_weights(np.ones(g.num_arcs)),
}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 60, (2, 300))
    path = tmp_path / "g.drm"
    write(dr.Graph.from_edges(src, dst, rng.random(300), num_vertices=60), path, transpose=True)
    return path


@pytest.fixture(autouse=True)
def nothing_is_verified_on_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with files of more than 64 MiB."""
    monkeypatch.setattr("dromos.graph.store.reader.VERIFIED_ON_OPEN", 0)


def damage(path: Path, name: str, value: float, item: int = 30) -> None:
    section = read_header(path).section(name)
    assert section is not None
    with open(path, "r+b") as file:
        file.seek(section.offset + item * section.dtype.itemsize)
        file.write(np.array(value, dtype=section.dtype).tobytes())


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("name", ["targets", "offsets", "weights"])
def test_every_use_of_damaged_rows_is_refused(stored: Path, name: str, use: Callable[[dr.Graph], Any]) -> None:
    damage(stored, name, WRONG[name][0])
    graph = load(stored)
    for _ in range(2):  # an error is no reason to believe the file the next time
        with pytest.raises(CorruptFileError, match=f"section {name}, byte .* damaged: write or copy it again"):
            use(graph)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_the_place_is_told(stored: Path, name: str, value: float) -> None:
    damage(stored, name, value)
    graph = load(stored)
    section = read_header(stored).section(name)
    assert section is not None
    # An offset that is too large is noticed where the next row ends before it begins.
    item = 31 if value in (10**12, 10**15) else 30
    byte = section.offset + item * section.dtype.itemsize
    with pytest.raises(CorruptFileError, match=f"section {name}, byte {byte:,}:"):
        _ = (graph.transpose if name.startswith("transpose") else graph).targets


def test_a_pull_along_a_damaged_transpose_is_refused(stored: Path) -> None:
    damage(stored, "transpose_targets", 10**9)
    with pytest.raises(CorruptFileError, match="section transpose_targets"):
        dr.pagerank(load(stored), path="sync-pull-td", device="cpu")


def test_opening_and_looking_at_a_row_do_not_read_the_rest(stored: Path) -> None:
    damage(stored, "targets", -1)
    graph = load(stored)
    wrong = int(np.searchsorted(graph._offsets, 30, side="right")) - 1
    assert "60 vertices, 300 edges" in repr(graph)
    assert all(len(graph.neighbors(v)) for v in range(60) if v != wrong and graph._offsets[v] < graph._offsets[v + 1])
    with pytest.raises(CorruptFileError, match="section targets"):
        graph.neighbors(wrong)


def test_checksums_that_are_right_do_not_make_rows_right(stored: Path) -> None:
    """A small file is compared with its checksums, which somebody may have computed over wrong rows."""
    graph = load(stored)
    targets = graph.targets.copy()
    targets[7] = 10**6
    wrong = dr.Graph._make(graph.offsets, targets, flags=graph.flags)
    write(wrong, stored)
    with pytest.raises(CorruptFileError, match="arc 7 leads to 1,000,000"):
        dr.bfs(load(stored, verify=True), 0)
    with pytest.raises(CorruptFileError, match="arc 7 leads to 1,000,000"):
        dr.bfs(load(stored, mmap=False), 0)


def test_a_file_is_looked_at_once(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(checked, "find_fault", lambda offsets, *_: looks.append(len(offsets)))
    monkeypatch.setattr(checked, "QUIET_SECONDS", -1.0)
    for _ in range(2):
        _ = load(stored).targets
    assert len(looks) == 1
    damage(stored, "targets", 5)
    os.utime(stored, ns=(1, 1))
    _ = load(stored).targets
    assert len(looks) == 2


def test_the_next_process_believes_a_note_about_the_file_as_it_is(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    monkeypatch.setattr(checked, "find_fault", lambda offsets, *_: looks.append(len(offsets)))
    monkeypatch.setattr(checked, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(checked, "NOTED_BYTES", 0)
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path / "cache"))

    def another_process() -> int:
        monkeypatch.setattr(checked, "_known", set())
        looks.clear()
        _ = load(stored).targets
        return len(looks)

    assert [another_process() for _ in range(3)] == [1, 0, 0]
    stored.chmod(0o640)  # the time of the status change tells of every write, and of this too
    os.utime(stored, ns=(stored.stat().st_atime_ns, stored.stat().st_mtime_ns + 1))
    assert [another_process() for _ in range(2)] == [1, 0]
    for note in (tmp_path / "cache" / "checked").iterdir():
        note.write_bytes(b"something else")
    assert [another_process() for _ in range(2)] == [1, 0]
    (tmp_path / "cache").chmod(0o777)  # notes that anybody could have written
    assert [another_process() for _ in range(2)] == [1, 1]


def test_a_file_that_was_just_written_is_looked_at_again(stored: Path) -> None:
    """Its time stamps may not tell what is written to it within their resolution."""
    status = stored.stat()
    _ = load(stored).targets
    damage(stored, "targets", -1)
    os.utime(stored, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(CorruptFileError):
        _ = load(stored).targets


def test_a_file_that_was_cut_short_is_refused_before_it_is_touched(stored: Path) -> None:
    graph = load(stored)
    os.truncate(stored, 4096)
    with pytest.raises(FileError, match="cut short after the graph was opened"):
        graph.symmetrized()


def test_offsets_of_labels_are_checked_before_arrow_follows_them(tmp_path: Path) -> None:
    names = [f"vertex {i}" for i in range(3000)]
    path = tmp_path / "named.drm"
    write(dr.Graph.from_edges([0], [1], labels=names), path)
    damage(path, "labels_offsets", 10**14, item=1500)
    graph = load(path)
    for use in (lambda: graph.labels.ids_of(names), lambda: graph.labels.to_arrow(), lambda: graph.labels.to_numpy()):
        with pytest.raises(GraphDataError, match="offsets of the labels are damaged"):
            use()


# ---- arrays that a caller hands over -------------------------------------------------------------------------------


def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array([0, 2, 3, 3]), np.array([1, 2, 0], np.int32), np.array([1.0, 2.0, 3.0])


def test_a_graph_does_not_see_what_is_written_to_the_arrays_it_was_made_from() -> None:
    offsets, targets, weights = rows()
    graph = dr.Graph.from_csr(offsets, targets, weights)
    other = graph.with_weights(weights)
    offsets[1], targets[:], weights[:] = -7, 10**9, np.nan
    assert graph.targets.tolist() == [1, 2, 0]
    assert dr.sssp(graph, 0, device="reference").distance.tolist() == [0, 1, 2]
    assert other.weights is not None
    assert other.weights.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("which", "value"), [(0, -7), (1, 10**9), (2, np.nan)])
def test_shared_arrays_are_checked_before_every_run(which: int, value: float) -> None:
    arrays = rows()
    graph = dr.Graph.from_csr(*arrays, copy=False)
    for array, shown in zip(arrays, (graph.offsets, graph.targets, graph.weights), strict=True):
        assert shown is not None
        assert np.shares_memory(array, shown)
    assert dr.bfs(graph, 0, device="reference").level.tolist() == [0, 1, 1]
    kept = arrays[which][1]
    arrays[which][1] = value
    for run in (dr.bfs, dr.sssp):
        with pytest.raises(GraphDataError, match=r"before it begins|leads to|not a number"):
            run(graph, 0)
    arrays[which][1] = kept
    assert dr.bfs(graph, 0, device="reference").level.tolist() == [0, 1, 1]


def test_memory_that_nobody_can_write_to_is_not_copied() -> None:
    offsets, targets, _ = rows()
    read_only = np.frombuffer(targets.tobytes(), np.int32)
    assert np.shares_memory(dr.Graph.from_csr(offsets, read_only).targets, read_only)


def test_a_damaged_pickle_is_refused() -> None:
    data = pickle.dumps(dr.Graph.from_csr(*rows()))
    targets = np.array([1, 2, 0], np.int32).tobytes()
    assert data.count(targets) == 1
    graph = pickle.loads(data.replace(targets, np.array([1, 2, 10**9], np.int32).tobytes()))
    with pytest.raises(GraphDataError, match="arc 2 leads to 1,000,000,000"):
        dr.bfs(graph, 0)
