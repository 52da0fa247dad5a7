"""Conversion on disk: the same store, byte for byte, as the one made in memory, whatever the budget."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import CorruptFileError, FileError, FormatError, GraphDataError, InvalidArgumentError, ResourceError
from dromos.graph.formats.base import EdgeBlock, EdgeSource
from dromos.graph.formats.reading import _collected
from dromos.graph.labels import Labels
from dromos.graph.store import budget as budgets
from dromos.graph.store import convert_external, load, verify, write
from dromos.graph.store.budget import LEAST_MEMORY
from dromos.graph.store.spill import SpillFile

_NEW_IDS = 1 << 10  # bytes that the new ids of vertices take at most here


def _cut(src: Any, dst: Any, weight: Any = None, size: int = 7) -> list[EdgeBlock]:
    src, dst = np.asarray(src), np.asarray(dst)
    weight = None if weight is None else np.asarray(weight)
    return [
        EdgeBlock(src[i : i + size], dst[i : i + size], None if weight is None else weight[i : i + size])
        for i in range(0, len(src), size)
    ]


def _in_memory(blocks: list[EdgeBlock], about: dict[str, Any], options: dict[str, Any], file: Path) -> None:
    build = {"symmetrize": None, "dedupe": False, "drop_self_loops": False, "merge_weights": "first", "threads": 1}
    directed, transpose = options.pop("directed", None), options.pop("transpose", False)
    keep_parallel, by_degree = options.pop("keep_parallel", False), options.pop("order", "input") == "degree"
    graph, _ = _collected(EdgeSource(iter(blocks), **about), directed, None, keep_parallel, {**build, **options})
    write(graph.relabel_by_degree(named=True).graph if by_degree else graph, file, transpose=transpose)


def _same(tmp_path: Path, blocks: list[EdgeBlock], about: dict[str, Any] | None = None, **options: Any) -> dr.Graph:
    """Convert both ways and compare; returns the graph."""
    about = about or {}
    memory = LEAST_MEMORY + (_NEW_IDS if options.get("order") == "degree" else 0)
    convert_external(EdgeSource(iter(blocks), **about), tmp_path / "disk.drm", memory=memory, **options)
    _in_memory(blocks, about, dict(options), tmp_path / "memory.drm")
    assert (tmp_path / "disk.drm").read_bytes() == (tmp_path / "memory.drm").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk.drm", "memory.drm"]
    return load(tmp_path / "disk.drm")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget so narrow that a handful of arcs has to be sorted on disk, over several levels."""
    monkeypatch.setattr(budgets, "_BYTES_A_FRAME_EDGE", LEAST_MEMORY // 5)
    monkeypatch.setattr(budgets, "_BYTES_A_ROW", LEAST_MEMORY // 4)
    monkeypatch.setattr(budgets, "_BUILD_FACTOR", LEAST_MEMORY // 60)
    assert budgets.Budget(LEAST_MEMORY).arcs_at_once(8) < 8


on_disk = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
choices = st.fixed_dictionaries(
    {
        "directed": st.sampled_from([None, True, False]),
        "symmetrize": st.sampled_from([None, True]),
        "dedupe": st.booleans(),
        "drop_self_loops": st.booleans(),
        "merge_weights": st.sampled_from(["first", "min", "max", "sum"]),
        "transpose": st.booleans(),
        "order": st.sampled_from(["input", "degree"]),
    }
)


@st.composite
def columns(draw: st.DrawFn, ids: st.SearchStrategy[Any]) -> tuple[list[Any], list[Any], np.ndarray | None]:
    m = draw(st.integers(0, 60))
    few = draw(st.booleans())  # many edges between few vertices: hubs and repeated edges
    pool = draw(st.lists(ids, min_size=1, max_size=2 if few else 30))
    ends = st.lists(st.sampled_from(pool), min_size=m, max_size=m)
    dtype = draw(st.sampled_from([None, np.int32, np.int64, np.float32, np.float64]))
    weights = st.lists(st.integers(-9, 9), min_size=m, max_size=m)
    scale = 0.1 if dtype in (np.float32, np.float64) else 1
    weight = None if dtype is None else (np.array(draw(weights)) * scale).astype(dtype)
    return draw(ends), draw(ends), weight


@on_disk
@given(edges=columns(st.integers(0, 40)), options=choices, size=st.integers(1, 20))
@pytest.mark.usefixtures("narrow")
def test_plain_ids(tmp_path: Path, edges: Any, options: dict[str, Any], size: int) -> None:
    src, dst, weight = edges
    _same(tmp_path, _cut(np.array(src, np.int32), np.array(dst, np.int32), weight, size), **options)


@on_disk
@given(edges=columns(st.integers(-(2**62), 2**62)), options=choices, size=st.integers(1, 20))
@pytest.mark.usefixtures("narrow")
def test_sparse_ids_become_labels(tmp_path: Path, edges: Any, options: dict[str, Any], size: int) -> None:
    src, dst, weight = edges
    blocks = _cut(np.array(src, np.int64), np.array(dst, np.int64), weight, size)
    _same(tmp_path, blocks, {"sparse_ids": True}, **options)


@on_disk
@given(edges=columns(st.integers(0, 12)), size=st.integers(1, 20))
@pytest.mark.usefixtures("narrow")
def test_nearly_dense_ids(tmp_path: Path, edges: Any, size: int) -> None:
    """Ids that a table can hold; where none is missing they are no labels."""
    src, dst, weight = edges
    graph = _same(tmp_path, _cut(np.array(src, np.int64), np.array(dst, np.int64), weight, size), {"sparse_ids": True})
    dense = set(src) | set(dst) == set(range(graph.num_vertices))
    assert (graph.labels is None) == dense


@on_disk
@given(edges=columns(st.text(max_size=3)), options=choices, size=st.integers(1, 20))
@pytest.mark.usefixtures("narrow")
def test_strings_become_labels(tmp_path: Path, edges: Any, options: dict[str, Any], size: int) -> None:
    src, dst, weight = edges
    _same(tmp_path, _cut(np.array(src, object), np.array(dst, object), weight, size), **options)


@pytest.mark.usefixtures("narrow")
def test_labels_that_the_file_lists(tmp_path: Path) -> None:
    about = {"labels": Labels.from_values([50, 10, 30, 7]), "num_vertices": 4}
    assert _same(tmp_path, _cut([10, 50, 10], [50, 30, 30]), about).num_vertices == 4
    names = {"labels": Labels.from_values(["d", "a", "c"])}
    _same(tmp_path, _cut(np.array(["a", "c"], object), np.array(["d", "d"], object)), names)
    with pytest.raises(FormatError, match="'x', which is not listed"):
        convert_external(
            EdgeSource(iter(_cut(np.array(["a"], object), np.array(["x"], object))), **names),
            tmp_path / "g.drm", memory=LEAST_MEMORY,
        )  # fmt: skip
    with pytest.raises(FormatError, match=r"line 3: .* 99, which"):
        convert_external(
            EdgeSource(iter(_cut([10], [99])), find_line=lambda name: 3, **about),
            tmp_path / "g.drm",
            memory=LEAST_MEMORY,
        )


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("merge", ["first", "min", "max", "sum"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("dedupe", [False, True])
def test_one_edge_repeated_beyond_the_budget(tmp_path: Path, merge: str, dtype: type, dedupe: bool) -> None:
    weight = (np.random.default_rng(1).random(200) * 100).astype(dtype)
    blocks = _cut(np.full(200, 3), np.full(200, 1), weight)
    graph = _same(tmp_path, blocks, {"num_vertices": 9}, dedupe=dedupe, merge_weights=merge, transpose=True)
    assert graph.has_parallel_edges != dedupe


@pytest.mark.usefixtures("narrow")
def test_a_hub_beyond_the_budget(tmp_path: Path) -> None:
    targets = np.random.default_rng(2).permutation(500)
    graph = _same(tmp_path, _cut(np.full(500, 4), targets), transpose=True)
    assert graph.out_degree[4] == 500
    _same(tmp_path, _cut(np.full(500, 4), targets), symmetrize=True)


@pytest.mark.usefixtures("narrow")
def test_long_runs_of_isolated_vertices(tmp_path: Path) -> None:
    graph = _same(tmp_path, _cut([0, 70_000], [50_000, 70_000]), {"num_vertices": 100_000}, transpose=True)
    assert graph.num_vertices == 100_000
    assert _same(tmp_path, [], {"num_vertices": 5}).num_vertices == 5
    assert _same(tmp_path, []).num_vertices == 0
    assert _same(tmp_path, [], {"sparse_ids": True}).num_vertices == 0


@pytest.mark.usefixtures("narrow")
def test_a_file_that_lists_both_directions(tmp_path: Path) -> None:
    about = {"directed": False, "both_directions": True}
    assert _same(tmp_path, _cut([0, 1, 1, 2], [1, 0, 2, 1]), about).num_edges == 2
    with pytest.raises(GraphDataError, match="some are not"):
        convert_external(EdgeSource(iter(_cut([0, 1], [1, 2])), **about), tmp_path / "g.drm", memory=LEAST_MEMORY)


def test_blocks_of_different_types_are_one_column(tmp_path: Path) -> None:
    blocks = [
        EdgeBlock(np.array([0], np.int32), np.array([1], np.int32), np.array([1], np.int32)),
        EdgeBlock(np.array([1], np.int64), np.array([2**20], np.int64), np.array([0.5])),
    ]
    graph = _same(tmp_path, blocks)
    assert graph.weights is not None
    assert graph.weights.dtype == np.float64
    wide = [EdgeBlock(np.array([0]), np.array([1]), np.array([2**40]))]
    wide_graph = _same(tmp_path, wide)
    assert wide_graph.weights is not None
    assert wide_graph.weights.dtype == np.float64


@pytest.mark.parametrize(
    ("blocks", "about", "options", "message"),
    [
        (_cut([0, -1], [1, 2]), {}, {}, "-1 is negative"),
        (_cut([0, 9], [1, 2]), {"num_vertices": 5}, {}, "9 is outside"),
        (_cut([0, 2**40], [1, 2]), {}, {}, "largest id"),
        (_cut([0.5], [1.0]), {}, {}, "must be integers"),
        (_cut([0, 1], [1, 2], [1.0, np.nan]), {}, {}, "edge 1 is not a number"),
        (_cut(np.array(["a"], object), [1]), {}, {}, "all be of one kind"),
        ([*_cut([0], [1], [1.0]), *_cut([0], [1])], {}, {}, "some have none"),
        (_cut([0], [1], [2**60 + 1]), {}, {}, "holds exactly"),
        (_cut([0], [1]), {"labels": Labels.from_values([0, 1]), "num_vertices": 3}, {}, "2 labels for 3"),
        (
            _cut([0, 0], [1, 1], np.full(2, 2**31 - 1, np.int32)),
            {},
            {"dedupe": True, "merge_weights": "sum"},
            "overflows",
        ),
    ],
)
def test_bad_edges_leave_nothing_behind(
    tmp_path: Path, blocks: list[EdgeBlock], about: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(GraphDataError, match=message):
        convert_external(EdgeSource(iter(blocks), **about), tmp_path / "g.drm", memory=LEAST_MEMORY, **options)
    assert list(tmp_path.iterdir()) == []


def test_wrong_counts_missing_weights_and_bad_arguments(tmp_path: Path) -> None:
    out = tmp_path / "g.drm"
    with pytest.raises(FormatError, match="promises 5 edges, and the file has 1"):
        convert_external(EdgeSource(iter(_cut([0], [1])), num_edges=5), out, memory=LEAST_MEMORY)
    with pytest.raises(FormatError, match="no weights"):
        convert_external(EdgeSource(iter(_cut([0], [1]))), out, memory=LEAST_MEMORY, weighted=True)
    with pytest.raises(InvalidArgumentError, match="merge_weights"):
        convert_external(EdgeSource(iter([])), out, memory=LEAST_MEMORY, merge_weights="mean")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="order='size' is neither input nor degree"):
        convert_external(EdgeSource(iter([])), out, memory=LEAST_MEMORY, order="size")
    with pytest.raises(FileError, match="directory"):
        convert_external(EdgeSource(iter([])), tmp_path, memory=LEAST_MEMORY)
    assert list(tmp_path.iterdir()) == []
    convert_external(EdgeSource(iter(_cut([0], [1], [2.0]))), out, memory=LEAST_MEMORY, weighted=False)
    assert load(out).weights is None


def test_too_little_memory_is_said_with_what_would_do(tmp_path: Path) -> None:
    out = tmp_path / "g.drm"
    with pytest.raises(ResourceError, match=r"at least 4\.0 MiB"):
        convert_external(EdgeSource(iter([])), out, memory=1000)
    big = np.zeros(100_000, dtype=np.int64)
    with pytest.raises(ResourceError, match=r"blocks of 1\.5 MiB.*at least 6\.2 MiB"):
        convert_external(EdgeSource(iter([EdgeBlock(big, big, None)])), out, memory=LEAST_MEMORY)
    names = np.array([f"vertex number {i}" for i in range(8000)], dtype=object)
    with pytest.raises(ResourceError, match="ids are strings"):
        convert_external(EdgeSource(iter(_cut(names, names, size=1000))), out, memory=LEAST_MEMORY)
    for about in ({"num_vertices": 10**6}, {}):  # refused before or after the edges are read
        edges = EdgeSource(iter(_cut([0], [999_999])), **about)
        with pytest.raises(ResourceError, match=r"order 1,000,000 vertices by degree; give at least 11\.5 MiB"):
            convert_external(edges, out, memory=8 << 20, order="degree")
    assert list(tmp_path.iterdir()) == []


def _random_blocks(blocks: int, size: int, n: int, *, weighted: bool) -> Iterator[EdgeBlock]:
    rng = np.random.default_rng(7)
    for _ in range(blocks):
        src = np.minimum(rng.integers(0, n, size), rng.integers(0, n, size))
        src[: size // 20] = 5  # a hub
        dst = rng.integers(0, n, size)
        yield EdgeBlock(src, dst, rng.random(size).astype(np.float32) if weighted else None)


@pytest.mark.parametrize(("memory", "blocks"), [(4 << 20, 30), (8 << 20, 60)])
@pytest.mark.parametrize(("sparse", "order"), [(False, "input"), (True, "input"), (False, "degree"), (True, "degree")])
def test_the_memory_taken_stays_within_the_budget(
    tmp_path: Path, memory: int, blocks: int, sparse: bool, order: str
) -> None:
    memory += 4 * 60_000 if order == "degree" else 0

    def source(count: int) -> EdgeSource:
        drawn = _random_blocks(count, 10_000, 60_000, weighted=True)
        spread = 10**12 if sparse else 1
        return EdgeSource(
            (EdgeBlock(b.src * spread, b.dst * spread, b.weight) for b in drawn), sparse_ids=sparse, num_vertices=None
        )

    options: dict[str, Any] = {"memory": memory, "symmetrize": True, "dedupe": True, "threads": 1, "order": order}
    convert_external(source(1), tmp_path / "warm.drm", **options)  # compile, import
    tracemalloc.start()
    try:
        convert_external(source(blocks), tmp_path / "g.drm", **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= memory + (256 << 10)  # and the input takes more, as 20 bytes an edge
    verify(tmp_path / "g.drm")
    _in_memory(
        list(source(blocks).blocks), {"sparse_ids": sparse}, {"symmetrize": True, "dedupe": True, "order": order},
        tmp_path / "m.drm",
    )  # fmt: skip
    assert (tmp_path / "g.drm").read_bytes() == (tmp_path / "m.drm").read_bytes()


@pytest.mark.parametrize("order", ["input", "degree"])
def test_progress_never_goes_back(tmp_path: Path, order: str) -> None:
    seen: list[tuple[int, int]] = []
    source = EdgeSource(_random_blocks(3, 1000, 100, weighted=False))
    options: dict[str, Any] = {"memory": 2 * LEAST_MEMORY, "transpose": True, "order": order}
    convert_external(source, tmp_path / "g.drm", progress=lambda *step: seen.append(step), **options)
    done = [at / total for at, total in seen]
    assert done == sorted(done)
    assert 0 < done[0] < 0.5
    assert seen[-1][0] == seen[-1][1]


def test_temporary_files_go_where_they_are_told(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    during: list[list[str]] = []

    def blocks() -> Iterator[EdgeBlock]:
        yield from _cut([0], [1])
        during.append([path.name for path in (tmp_path / "tmp").iterdir()])

    convert_external(EdgeSource(blocks()), tmp_path / "g.drm", memory=LEAST_MEMORY, tmp_dir=tmp_path / "tmp")
    assert during[0][0].startswith(".g.drm.spill-")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["g.drm", "tmp"]


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "g.drm").write_bytes(b"old")

    def interrupted() -> Iterator[EdgeBlock]:
        yield from _cut([0, 1], [1, 2])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_external(EdgeSource(interrupted()), tmp_path / "g.drm", memory=LEAST_MEMORY)

    def later(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_external(EdgeSource(iter(_cut([0], [1]))), tmp_path / "g.drm", memory=LEAST_MEMORY, progress=later)
    assert [path.name for path in tmp_path.iterdir()] == ["g.drm"]
    assert (tmp_path / "g.drm").read_bytes() == b"old"


_SCRIPT = textwrap.dedent(
    """
    import os, resource, sys, time
    import numpy as np
    from dromos.errors import DromosError
    from dromos.graph.formats.base import EdgeBlock, EdgeSource
    from dromos.graph.store import convert_external
    out, mode = sys.argv[1:]

    def blocks():
        if mode == "drawn twice":
            raise SystemExit("the input was read again")
        rng = np.random.default_rng(3)
        for number in range(20):
            if mode == "hang in input" and number == 10:
                print("ready", flush=True)
                time.sleep(60)
            yield EdgeBlock(rng.integers(0, 5000, 5000), rng.integers(0, 5000, 5000), None)

    def progress(done, total):
        if mode == "hang in sort" and done > total // 3:
            print("ready", flush=True)
            time.sleep(60)

    if mode == "full disk":
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    task = {"input": "other" if mode == "other" else "same"}
    try:
        done = convert_external(EdgeSource(blocks()), out, memory=4 << 20, task=task, progress=progress)
        print("resumed" if done.resumed else "anew")
    except DromosError as error:
        print(type(error).__name__, error)
    """
)


def _start(out: Path, mode: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _SCRIPT, str(out), mode]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _run(out: Path, mode: str) -> str:
    process = _start(out, mode)
    text, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return text.strip()


def _killed(out: Path, mode: str) -> None:
    process = _start(out, mode)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    second = _run(out, "plain")  # two at once: the second is refused
    assert second.startswith("FileError")
    assert f"process {process.pid} is making this file already" in second
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert not out.exists()
    assert len(list(out.parent.glob(".g.drm.spill-*"))) == 1


def test_after_a_kill_the_input_is_not_read_again(tmp_path: Path) -> None:
    out = tmp_path / "g.drm"
    _killed(out, "hang in sort")
    assert _run(out, "drawn twice") == "resumed"
    assert [path.name for path in tmp_path.iterdir()] == ["g.drm"]
    resumed = out.read_bytes()
    assert _run(out, "plain") == "anew"
    assert out.read_bytes() == resumed


def test_after_a_kill_while_reading_or_with_another_task_all_begins_anew(tmp_path: Path) -> None:
    out = tmp_path / "g.drm"
    _killed(out, "hang in input")
    assert _run(out, "plain") == "anew"
    assert [path.name for path in tmp_path.iterdir()] == ["g.drm"]
    expected = out.read_bytes()
    out.unlink()
    _killed(out, "hang in sort")
    assert _run(out, "other") == "anew"
    assert [path.name for path in tmp_path.iterdir()] == ["g.drm"]
    assert out.read_bytes() == expected


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    assert "File too large" in _run(tmp_path / "g.drm", "full disk")
    assert list(tmp_path.iterdir()) == []


def test_damaged_temporary_files_are_noticed(tmp_path: Path) -> None:
    file = SpillFile(tmp_path / "a.edges")
    file.append(np.arange(5), np.arange(5), np.ones(5))
    file.append(np.arange(3), np.arange(3), np.ones(3))
    whole = file.path.read_bytes()
    assert [len(frame.src) for frame in file.frames()] == [5, 3]
    for at in range(len(whole)):
        mutant = bytearray(whole)
        mutant[at] ^= 0xFF
        file.path.write_bytes(mutant)
        with pytest.raises(CorruptFileError):
            list(file.frames())
    file.path.write_bytes(whole[:-1])
    with pytest.raises(CorruptFileError):
        list(file.frames())
