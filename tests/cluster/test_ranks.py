"""Programs and algorithms over MPI ranks; what goes wrong on one rank ends the job with one readable error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dromos.engines.parts import Copies, Messages
from dromos.errors import InvalidArgumentError
from dromos.places.cluster.packing import pack_copies, pack_messages, unpack_copies, unpack_messages
from dromos.runner.devices import engine_for
from tests.cluster.jobs import ROOT, run_job


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("answers")


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_program_on_ranks(ranks: int, answers: Path) -> None:
    done = run_job("-m", "tests.cluster.worker", "mpi:numpy", str(answers), ranks=ranks)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "runs agree" in done.stdout


@pytest.mark.parametrize(("gap", "width"), [(200, 1), (60_000, 2), (70_000, 4)])
def test_lists_are_told_by_their_gaps(gap: int, width: int) -> None:
    ids = np.arange(40, dtype=np.int32) * gap + 1_000_000
    sent = Messages(1_000_000, 5_000_000, ids, (np.arange(40, dtype=np.int8),))
    data = pack_messages(sent)
    got = unpack_messages(data, sent.first, sent.last, np.dtype(np.int32), sent.values)
    assert got.ids is not None
    assert got.ids.dtype == np.int32
    assert got.ids.tolist() == ids.tolist()
    assert len(data) == 24 + 40 * width + 40
    copies = Copies(sent.first, sent.last, ids, {}, active=True)
    again = unpack_copies(pack_copies(copies, ids.dtype), sent.first, sent.last, ids.dtype, {}, active=True)
    assert again.ids is not None
    assert again.ids.tolist() == ids.tolist()


def test_a_list_in_any_order_survives_the_wire() -> None:
    ids = np.array([7, 30, 12, 3, 25], np.int32)
    sent = Messages(3, 900, ids, (np.arange(5.0),))
    got = unpack_messages(pack_messages(sent), sent.first, sent.last, np.dtype(np.int32), sent.values)
    assert got.ids is not None
    assert got.ids.tolist() == ids.tolist()
    assert got.values[0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dense", [False, True])
def test_messages_survive_the_wire(dense: bool) -> None:
    ids = np.delete(np.arange(3, 33), 4).astype(np.int32) if dense else np.array([3], np.int32)
    values = (np.arange(len(ids), dtype=np.float64), np.arange(len(ids)).astype(np.uint8))
    sent = Messages.packed(3, 33 if dense else 900, ids, values)
    assert (sent.ids is None) == dense
    got = unpack_messages(pack_messages(sent), sent.first, sent.last, np.dtype(np.int32), sent.values)
    assert [part.tolist() for part in got.unpacked()[1]] == [part.tolist() for part in values]
    assert got.unpacked()[0].tolist() == ids.tolist()


@pytest.mark.parametrize("ids", [None, [], [5], list(range(2, 90, 3))])
def test_copies_survive_the_wire(ids: list[int] | None) -> None:
    rows = 98 if ids is None else len(ids)
    fields = {"a": np.arange(rows, dtype=np.int16), "b": np.random.default_rng(1).random((rows, 3))}
    sent = Copies(2, 100, None if ids is None else np.array(ids, np.int32), fields, active=True)
    got = unpack_copies(pack_copies(sent, np.dtype(np.int32)), 2, 100, np.dtype(np.int32), fields, active=True)
    assert (None if got.ids is None else got.ids.tolist()) == ids
    for name, values in fields.items():
        assert np.array_equal(got.fields[name], values)


FAILING = """
import sys
import dromos as dr
from dromos.places.cluster import world
rank = world().Get_rank()
graph = dr.generators.path(20 + (rank == 1) * {other})
def watch(done, total):
    if rank == 1 and done == 3:
        {fault}
dr.bfs(graph, 0, device="mpi:numpy", progress=watch)
print("finished", flush=True)
"""


@pytest.mark.parametrize(
    ("fault", "other", "expected"),
    [
        ("raise ZeroDivisionError('a fault of the test')", 0, "rank 1 of 3: Traceback"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 0, "rank 1"),
        ("import os; os._exit(7)", 0, "7"),
        ("pass", 1, "rank 1 differs from rank 0 in the number of vertices"),
    ],
)
def test_a_fault_on_one_rank_ends_all(tmp_path: Path, fault: str, other: int, expected: str) -> None:
    script = tmp_path / "job.py"
    script.write_text(FAILING.format(fault=fault, other=other))
    done = run_job(str(script), ranks=3, timeout=300)
    assert done.returncode != 0
    assert "finished" not in done.stdout
    assert expected in done.stderr


def test_an_unknown_leaf_is_refused() -> None:
    pytest.importorskip("mpi4py", exc_type=ImportError)
    with pytest.raises(InvalidArgumentError, match="cannot run on 'abacus'"):
        engine_for("mpi:abacus")


SAVED = """
import os, signal, sys
import dromos as dr
from dromos.places.cluster import world
rank, at = world().Get_rank(), int(sys.argv[2])
def progress(done, total):
    if rank == 1 and done == at:
        os.kill(os.getpid(), signal.SIGKILL)
how = dict(device="mpi:numpy", progress=progress, checkpoint=sys.argv[1], checkpoint_every=0)
graph = dr.generators.rmat(6, 4, seed=3)
found = dr.pagerank(graph, tol=1e-12, **how)
if rank == 0:
    print(found.trace[0].path, found.rank.tobytes().hex())
"""


def test_a_killed_job_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(SAVED)
    whole = run_job(str(script), str(tmp_path / "whole"), "-1", ranks=2)
    assert whole.returncode == 0, whole.stderr[-3000:]
    at = int(np.random.default_rng().integers(2, 20))
    killed = run_job(str(script), str(tmp_path / "saved"), str(at), ranks=2)
    assert killed.returncode != 0, at
    other = run_job(str(script), str(tmp_path / "saved"), "-1", ranks=3)
    assert "CheckpointError" in other.stderr, other.stderr[-3000:]
    assert "another engine: 'numpy on 2 ranks' when it was saved, 'numpy on 3 ranks' now" in other.stderr
    again = run_job(str(script), str(tmp_path / "saved"), "-1", ranks=2)
    assert again.returncode == 0, again.stderr[-3000:]
    assert again.stdout.split()[0] == "checkpoint", at
    assert again.stdout.split()[1] == whole.stdout.split()[1], at


def test_the_example_runs_on_two_ranks() -> None:
    done = run_job("-m", "mpi4py", str(ROOT / "examples" / "ranks.py"), "mpi:numpy", ranks=2)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "2 ranks: 788 vertices reached in 5 supersteps" in done.stdout


@pytest.mark.parametrize(
    ("device", "reason"), [("mpi:2x2", "has 4 parts, not 1"), ("mpi:numpy:2d:3", "cannot run on .numpy:3")]
)
def test_a_grid_that_does_not_fit_the_ranks_is_refused(device: str, reason: str) -> None:
    pytest.importorskip("mpi4py", exc_type=ImportError)
    with pytest.raises(InvalidArgumentError, match=reason):
        engine_for(device)
