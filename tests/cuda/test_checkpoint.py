"""A run on the GPU that was killed goes on from its checkpoint to the same answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from tests.program.programs import SSSP, Hebb, KCore, PageRank, examples
from tests.runner.test_checkpoint import Killed, graph, killed_at

pytestmark = pytest.mark.gpu


def same(ours: Any, theirs: Any) -> bool:
    a, b = np.asarray(ours), np.asarray(theirs)
    return bool(np.allclose(a, b, rtol=1e-5, equal_nan=True) if a.dtype.kind == "f" else np.array_equal(a, b))


def test_programs_go_on_from_a_superstep(tmp_path: Path) -> None:
    on = graph()
    few = [program for program in examples(on.num_vertices) if isinstance(program, SSSP | PageRank | KCore | Hebb)]
    assert len(few) >= 4
    for number, program in enumerate(few):
        how: dict[str, Any] = {"device": "cuda", "max_iter": 6, "path": "sync-push-dd"}
        whole = dr.run(program, on, **how)
        for at in (1, 3):
            saving = {"checkpoint": tmp_path / f"{number}-{at}", "checkpoint_every": 0}
            with contextlib.suppress(Killed):  # a program may end before
                dr.run(program, on, progress=killed_at(at), **how, **saving)
            again = dr.run(program, on, **how, **saving)
            assert again.trace.supersteps == whole.trace.supersteps, program
            for name in whole:
                assert name == "parent" or same(again[name], whole[name]), (program, at, name)


@pytest.mark.parametrize("kind", ["bfs", "sssp", "pagerank"])
def test_algorithms_as_they_are_planned(tmp_path: Path, kind: str) -> None:
    on = dr.generators.with_random_weights(dr.generators.grid(40, 40), 1, 9)
    calls: dict[str, Callable[..., Any]] = {
        "bfs": lambda **how: dr.bfs(on, 0, **how),
        "sssp": lambda **how: dr.sssp(on, 0, **how),
        "pagerank": lambda **how: dr.pagerank(on, tol=1e-6, **how),
    }
    whole = calls[kind](device="cuda")
    saving = {"checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    with contextlib.suppress(Killed):
        calls[kind](device="cuda", progress=killed_at(3), **saving)
    assert (tmp_path / "saved").exists()
    again = calls[kind](device="cuda", **saving)
    assert again.trace[0].path == "checkpoint"
    again.verify()
    field = {"bfs": "level", "sssp": "distance", "pagerank": "rank"}[kind]
    assert same(again[field], whole[field])
