"""Checkpoints: a run that was killed goes on to the same bytes, and what belongs to another run is refused."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.joint_groups import group_bytes
from dromos.errors import CheckpointError, CorruptFileError, InvalidArgumentError
from tests.program.programs import SSSP, PageRank, examples


class Killed(Exception):
    pass


def killed_at(superstep: int) -> Callable[[int, int], None]:
    """A progress that ends the run as a kill would: nothing is saved or cleared after it."""

    def progress(done: int, total: int) -> None:
        if done >= superstep:
            raise Killed

    return progress


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: no test here cuts the power, and processes that are killed are started anew."""
    monkeypatch.setattr(os, "fsync", os.fstat)  # which still refuses what is no open file


def graph(n: int = 60, m: int = 200) -> dr.Graph:
    """A path through two thirds of the vertices, and edges at random."""
    draw = np.random.default_rng(4)
    path = np.arange(2 * n // 3)
    src, dst = np.concatenate((draw.integers(0, n, m), path)), draw.integers(0, n, m)
    dst = np.concatenate((dst, path + 1))
    weights = draw.integers(1, 9, len(src)).astype(np.float64)
    return dr.Graph.from_edges(src, dst, weights, num_vertices=n)


PLACES: dict[str, dict[str, Any]] = {
    "reference": {"device": "reference"},
    "numpy": {"device": "numpy"},
    "parts": {"device": "numpy", "slices": 2, "parts": 3},
    "hybrid": {"device": "numpy+numpy+numpy", "share": 0.4, "split": "high"},
    "cpu": {"device": "cpu", "threads": 1},
    "cpu parts": {"device": "cpu", "threads": 1, "slices": 1, "parts": 2},
    "cpu hybrid": {"device": "cpu+cpu", "threads": 1, "share": 0.3, "split": "random"},
}


@pytest.mark.parametrize("place", ["reference", "numpy", "parts", "hybrid"])
def test_every_program_goes_on_from_every_superstep(tmp_path: Path, place: str) -> None:
    on = graph(24, 50) if place == "reference" else graph()  # which goes from arc to arc in Python
    for number, program in enumerate(examples(on.num_vertices)):
        # the planner goes by measured times, and sums come out otherwise on another path
        how = {**PLACES[place], "max_iter": 6, "path": "sync-push-dd"}
        whole = dr.run(program, on, **how)
        for at in (1, 2, 4):
            saved = tmp_path / f"{number}-{at}"
            how |= {"checkpoint": saved, "checkpoint_every": 0}
            with contextlib.suppress(Killed):  # a program may end before
                dr.run(program, on, progress=killed_at(at), **how)
            again = dr.run(program, on, **how)
            assert again.trace.supersteps == whole.trace.supersteps, program
            for name in whole:
                assert np.asarray(again[name]).tobytes() == np.asarray(whole[name]).tobytes(), (program, at, name)


@pytest.mark.parametrize("place", ["cpu", "cpu parts", "cpu hybrid"])
@pytest.mark.parametrize("kind", ["bfs", "sssp", "pagerank"])
def test_on_the_cpu(tmp_path: Path, place: str, kind: str) -> None:
    on = graph()
    call: Callable[..., Any] = {
        "bfs": lambda **how: dr.bfs(on, 0, **how),
        "sssp": lambda **how: dr.sssp(on, 0, **how),
        "pagerank": lambda **how: dr.pagerank(on, **how),
    }[kind]
    whole = call(**PLACES[place])
    for at in (1, 3):
        how = {**PLACES[place], "checkpoint": tmp_path / f"{at}", "checkpoint_every": 0}
        with pytest.raises(Killed):
            call(progress=killed_at(at + 1), **how)
        again = call(**how)
        assert again.trace[0].path == "checkpoint"
        for name in whole:
            assert again[name].tobytes() == whole[name].tobytes(), (at, name)


def test_a_call_of_several_programs(tmp_path: Path) -> None:
    """Those that are done are not run again, and the one that was cut off goes on."""
    on = graph()
    whole = dr.hits(on, device="numpy")
    steps = []

    def third(done: int, total: int) -> None:
        steps.append(done)
        if len(steps) == 3:
            raise Killed

    how: dict[str, Any] = {"device": "numpy", "checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    with pytest.raises(Killed):
        dr.hits(on, progress=third, **how)
    again = dr.hits(on, **how)
    assert [row.path for row in again.trace][:3] == ["checkpoint", "checkpoint", whole.trace[2].path]
    assert again.hub.tobytes() == whole.hub.tobytes()


@pytest.mark.parametrize("place", ["numpy", "parts"])
def test_a_joint_search(tmp_path: Path, place: str) -> None:
    """What is counted between supersteps is saved with the run, and so is a group that is done."""
    on = dr.generators.grid(10, 9)
    one_group = group_bytes(on.num_vertices, 1, np.int32)  # of 64 sources
    rows: list[bytes] = []

    def search(**more: Any) -> Any:
        rows.clear()
        how = {**PLACES[place], "path": "sync-push-dd", "memory": one_group, **more}
        return dr.multi_source_bfs(on, range(90), consume=lambda found: rows.append(found.distance.tobytes()), **how)

    whole, expected = search(), list(rows)
    assert len(expected) == 2
    steps = whole.trace.supersteps
    for at in (2, steps // 2 + 2):  # in the first group and in the second one
        seen = itertools.count(1)

        def progress(done: int, total: int, seen: Any = seen, at: int = at) -> None:
            if next(seen) == at:
                raise Killed

        saved = {"checkpoint": tmp_path / f"{at}", "checkpoint_every": 0}
        with pytest.raises(Killed):
            search(progress=progress, **saved)
        for _ in range(2):  # the second call finds both groups done
            again = search(**saved)
            assert again.trace[0].path == "checkpoint"
            assert rows == expected
            for name in whole:
                assert again[name].tobytes() == whole[name].tobytes()


def test_a_graph_that_is_split_otherwise_is_refused(tmp_path: Path) -> None:
    on = graph()
    how: dict[str, Any] = {"device": "numpy+numpy", "checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    with pytest.raises(Killed):
        dr.pagerank(on, share=0.3, split="high", progress=killed_at(3), **how)
    for share, split in ((0.3, "low"), (0.6, "high")):
        with pytest.raises(InvalidArgumentError, match=r"split='high' with .* give the same share= and split="):
            dr.pagerank(on, share=share, split=split, **how)
    again = dr.pagerank(on, share=0.3, split="high", **how)
    assert again.rank.tobytes() == dr.pagerank(on, device="numpy+numpy", share=0.3, split="high").rank.tobytes()


def test_a_stream(tmp_path: Path) -> None:
    dr.write(graph(), tmp_path / "g.drm", transpose=True)
    on = dr.open(tmp_path / "g.drm")
    whole = dr.pagerank(on, device="numpy", memory="64M")
    how: dict[str, Any] = {"device": "numpy", "memory": "64M", "checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    with pytest.raises(Killed):
        dr.pagerank(on, progress=killed_at(5), **how)
    again = dr.pagerank(on, **how)
    assert again.trace[0].supersteps == 4
    assert again.rank.tobytes() == whole.rank.tobytes()


SCRIPT = """
import os, signal, sys
import numpy as np
import dromos as dr
folder, at = sys.argv[1], int(sys.argv[2])
def progress(done, total):
    if done == at:
        os.kill(os.getpid(), signal.SIGKILL)
found = dr.bfs(dr.generators.path(200), 0, device="numpy", progress=progress, checkpoint=folder, checkpoint_every=0)
sys.stdout.write(found.level.tobytes().hex())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 on this system")
def test_kill_9_at_a_random_superstep(tmp_path: Path) -> None:
    at = int(np.random.default_rng().integers(2, 199))
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def run(at: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / "saved"), str(at)]
        return subprocess.run(command, capture_output=True, text=True, env=settings, timeout=600, check=False)

    assert run(at).returncode == -signal.SIGKILL, at
    done = run(-1)
    assert done.returncode == 0, done.stderr
    assert np.frombuffer(bytes.fromhex(done.stdout), np.int32).tolist() == list(range(200)), at


def _saved(folder: Path, program: dr.Program, on: dr.Graph, **how: Any) -> None:
    with pytest.raises(Killed):
        dr.run(program, on, progress=killed_at(2), checkpoint=folder, checkpoint_every=0, **how)


def test_another_run_is_refused(tmp_path: Path) -> None:
    on, folder = graph(), tmp_path / "saved"
    _saved(folder, SSSP(source=0), on, device="numpy")
    other = dr.Graph.from_edges(np.repeat(np.arange(60), np.diff(on.offsets)), on.targets[::-1], num_vertices=60)
    calls: list[tuple[str, Callable[..., Any]]] = [
        ("another graph", lambda **how: dr.run(SSSP(source=0), other, device="numpy", **how)),
        (
            "another number of vertices",
            lambda **how: dr.run(SSSP(source=0), dr.generators.path(9), device="numpy", **how),
        ),
        ("other parameters of the program", lambda **how: dr.run(SSSP(source=1), on, device="numpy", **how)),
        ("another algorithm", lambda **how: dr.run(PageRank(), on, device="numpy", **how)),
        ("another engine", lambda **how: dr.run(SSSP(source=0), on, device="reference", **how)),
        ("another limit", lambda **how: dr.run(SSSP(source=0), on, device="numpy", max_iter=3, **how)),
    ]
    for expected, call in calls:
        with pytest.raises(CheckpointError, match=expected):
            call(checkpoint=folder)
    manifest = folder / "checkpoint.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "words": {**told["words"], "version of Dromos": "0.0.1"}}))
    with pytest.raises(CheckpointError, match=r"another version of Dromos: '0\.0\.1' when it was saved"):
        dr.run(SSSP(source=0), on, device="numpy", checkpoint=folder)
    manifest.write_text(json.dumps({**told, "format": 99}))
    with pytest.raises(CheckpointError, match="has format 99"):
        dr.run(SSSP(source=0), on, device="numpy", checkpoint=folder)


def test_damage_is_found(tmp_path: Path) -> None:
    on, folder = graph(), tmp_path / "saved"
    _saved(folder, SSSP(source=0), on, device="numpy")
    (state,) = folder.glob("state-*.npz")
    whole = state.read_bytes()
    state.write_bytes(whole[:-1])
    with pytest.raises(CorruptFileError, match="bytes instead of"):
        dr.run(SSSP(source=0), on, device="numpy", checkpoint=folder)
    flipped = bytearray(whole)
    flipped[200] ^= 1  # within the first array
    state.write_bytes(flipped)
    with pytest.raises(CorruptFileError, match="is damaged"):
        dr.run(SSSP(source=0), on, device="numpy", checkpoint=folder)


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    on = graph()
    how: dict[str, Any] = {"device": "numpy", "checkpoint": tmp_path / "saved"}
    with pytest.raises(InvalidArgumentError, match="runs as one kernel"):
        dr.triangles(on.symmetrized(), **how)
    with pytest.raises(InvalidArgumentError, match="checkpoint_every=-1"):
        dr.bfs(on, 0, checkpoint_every=-1, **how)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(CheckpointError, match="other files"):
        dr.bfs(on, 0, device="numpy", checkpoint=tmp_path / "mine")
    with pytest.raises(CheckpointError, match="is a file"):
        dr.bfs(on, 0, device="numpy", checkpoint=tmp_path / "mine" / "notes.txt")
    with pytest.raises(CheckpointError, match=r"cannot be created, because .*notes\.txt is a file"):
        dr.bfs(on, 0, device="numpy", checkpoint=tmp_path / "mine" / "notes.txt" / "saved")
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine"]


def test_a_short_run_saves_nothing(tmp_path: Path) -> None:
    dr.bfs(graph(), 0, device="numpy", checkpoint=tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
