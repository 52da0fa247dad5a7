"""A run on the GPU that was killed goes on from its checkpoint to the same answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from tests.cluster.jobs import run_job
from tests.program.programs import SSSP, Hebb, KCore, PageRank, examples
from tests.runner.test_checkpoint import Killed, graph, killed_at

pytestmark = pytest.mark.gpu


def same(ours: Any, theirs: Any) -> bool:
    a, b = np.asarray(ours), np.asarray(theirs)
    return bool(np.allclose(a, b, rtol=1e-5, equal_nan=True) if a.dtype.kind == "f" else np.array_equal(a, b))


@pytest.mark.parametrize("parts", [None, 3])
def test_programs_go_on_from_a_superstep(tmp_path: Path, parts: int | None) -> None:
    on = graph()
    few = [program for program in examples(on.num_vertices) if isinstance(program, SSSP | PageRank | KCore | Hebb)]
    assert len(few) >= 4
    for number, program in enumerate(few):
        how: dict[str, Any] = {"device": "cuda", "max_iter": 6, "path": "sync-push-dd", "parts": parts}
        whole = dr.run(program, on, **how)
        for at in (1, 3):
            saving = {"checkpoint": tmp_path / f"{number}-{at}", "checkpoint_every": 0}
            with contextlib.suppress(Killed):  # a program may end before
                dr.run(program, on, progress=killed_at(at), **how, **saving)
            again = dr.run(program, on, **how, **saving)
            assert again.trace.supersteps == whole.trace.supersteps, program
            for name in whole:
                assert name == "parent" or same(again[name], whole[name]), (program, at, name)


@pytest.mark.parametrize("parts", [None, 3])
@pytest.mark.parametrize("kind", ["bfs", "sssp", "pagerank"])
def test_algorithms_as_they_are_planned(tmp_path: Path, kind: str, parts: int | None) -> None:
    on = dr.generators.with_random_weights(dr.generators.grid(40, 40), 1, 9)
    calls: dict[str, Callable[..., Any]] = {
        "bfs": lambda **how: dr.bfs(on, 0, **how),
        "sssp": lambda **how: dr.sssp(on, 0, **how),
        "pagerank": lambda **how: dr.pagerank(on, tol=1e-6, **how),
    }
    how: dict[str, Any] = {"device": "cuda", "parts": parts}
    whole = calls[kind](**how)
    how |= {"checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    with contextlib.suppress(Killed):
        calls[kind](progress=killed_at(3), **how)
    assert (tmp_path / "saved").exists()
    again = calls[kind](**how)
    assert again.trace[0].path == "checkpoint"
    again.verify()
    field = {"bfs": "level", "sssp": "distance", "pagerank": "rank"}[kind]
    assert same(again[field], whole[field])


RANKS = """
import os, signal, sys
import dromos as dr
from dromos.places.cluster import world
rank, at = world().Get_rank(), int(sys.argv[2])
def progress(done, total):
    if rank == 1 and done == at:
        os.kill(os.getpid(), signal.SIGKILL)
how = dict(device="mpi:cuda", progress=progress, checkpoint=sys.argv[1], checkpoint_every=0)
graph = dr.generators.grid(30, 30)
found = dr.bfs(graph, 0, **how)
found.verify()
assert (dr.bfs(graph, 0, device="mpi:cuda", gather=False).gather().level == found.level).all()
if rank == 0:
    print(found.trace[0].path, found.level.sum())
"""


def test_gpu_ranks_go_on_after_a_kill(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(RANKS)
    killed = run_job(str(script), str(tmp_path / "saved"), "9", ranks=2)
    assert killed.returncode != 0
    again = run_job(str(script), str(tmp_path / "saved"), "-1", ranks=2)
    assert again.returncode == 0, again.stderr[-3000:]
    assert again.stdout.split()[:2] == ["checkpoint", str(30 * 29 * 30)]  # a launcher may add colours
