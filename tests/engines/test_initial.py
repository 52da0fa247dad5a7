"""The first state of a program by NumPy and by a kernel: the same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines import graph_types
from dromos.engines.cpu import CpuEngine, initial
from dromos.engines.cpu.general_part import CpuPart
from dromos.engines.parts import Partial
from dromos.errors import FieldOverflowError
from dromos.plan import Path


class Everything(dr.Program):
    """Fields of several kinds, a frontier of some, and reductions that depend on the order of their sums."""

    source = dr.param(int)
    given = dr.vertex_param(np.float64)
    share = dr.field(np.float64)
    small = dr.field(np.float32)
    label = dr.field(dr.ID)
    mask = dr.field(np.int16, size=2)
    combine = dr.MIN

    @dr.reduction(dr.SUM)
    def total(self, v: Any) -> Any:
        return v.share

    @dr.reduction(dr.SUM)
    def narrow(self, v: Any) -> Any:
        return v.small

    @dr.reduction(dr.ARGMIN)
    def least(self, v: Any) -> Any:
        return v.share, v.id

    def init(self, v: Any) -> Any:
        share = v.given / (1 + dr.cast(v.out_degree, np.float64)) - self.source
        return {
            "share": share,
            "small": dr.cast(share, np.float32) / 3,
            "label": dr.where(v.in_degree > 2, v.id, -1),
            "mask": (v.id % 7, dr.where(v.id == self.source, 255, 1)),
        }

    def start(self, v: Any) -> Any:
        return (v.label >= 0) & (v.id % 3 != 1)

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.share

    def update(self, v: Any, message: Any) -> Any:
        return {"share": dr.minimum(v.share, message)}


class Narrow(dr.Program):
    level = dr.field(np.int8)
    combine = dr.MIN

    def init(self, v: Any) -> Any:
        return v.id * 2

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.level

    def update(self, v: Any, message: Any) -> Any:
        return dr.minimum(v.level, message)


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program was initialised before, and no kernel is on disk."""
    monkeypatch.setattr(initial, "_spent", {})
    monkeypatch.setattr(initial, "_is_kept", lambda run: False)
    monkeypatch.setattr(initial, "is_compiled", lambda kernel, *args: False)


def _program(n: int) -> dr.Program:
    return Everything(source=3, given=np.random.default_rng(1).random(n) * 10.0 ** np.arange(n).clip(0, 9))


@pytest.mark.usefixtures("unseen")
def test_numpy_and_the_kernel_give_the_same_bytes() -> None:
    graph = dr.generators.rmat(9, 4, seed=2, symmetrize=False)
    assert graph.transpose.num_arcs == graph.num_arcs  # it is there for both, and so are the in-degrees of frontiers
    engine = CpuEngine(threads=2)
    by_arrays = engine.prepare(_program(512), graph)
    assert [spent > 0 for spent in initial._spent.values()] == [True]
    with initial.only_compiled():
        by_kernel = engine.prepare(_program(512), graph)
    for name, values in by_kernel.state.items():
        np.testing.assert_array_equal(by_arrays.state[name], values)
    assert by_arrays.reductions == by_kernel.reductions
    fronts = [np.sort(run.frontier.queue[: run.frontier.size]).tolist() for run in (by_arrays, by_kernel)]
    assert fronts[0] == fronts[1]
    assert 0 < len(fronts[0]) < 512
    assert by_arrays.stats == by_kernel.stats
    # so are all later supersteps
    for run in (by_arrays, by_kernel):
        run.step(Path("sync", "push", "dd"))
    assert by_arrays.reductions == by_kernel.reductions
    np.testing.assert_array_equal(by_arrays.state["share"], by_kernel.state["share"])


@pytest.mark.usefixtures("unseen")
def test_parts_start_with_the_same_bytes() -> None:
    graph, program = dr.generators.rmat(9, 4, seed=2, symmetrize=False), _program(512)
    types = graph_types(graph)

    def started() -> tuple[CpuPart, Partial]:
        part = CpuPart(program, graph, types, 100, 500, 2)
        return part, part.start()

    by_arrays, told = started()
    assert [spent > 0 for spent in initial._spent.values()] == [True]
    with initial.only_compiled():
        by_kernel, expected = started()
    assert told == expected
    np.testing.assert_array_equal(by_arrays.frontier, by_kernel.frontier)
    assert by_arrays.frontier.dtype == by_kernel.frontier.dtype
    for name, values in by_kernel.state.items():
        np.testing.assert_array_equal(by_arrays.state[name], values)


@pytest.mark.usefixtures("unseen")
def test_values_that_do_not_fit_their_field() -> None:
    graph = dr.generators.path(100)
    for threads in (1, 2):
        with pytest.raises(FieldOverflowError, match=r"Narrow\.init"):
            CpuEngine(threads=threads).prepare(Narrow(), graph)
    with initial.only_compiled(), pytest.raises(FieldOverflowError, match=r"Narrow\.init"):
        CpuEngine(threads=2).prepare(Narrow(), graph)


def test_when_the_kernel_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where it is on disk, where NumPy has been at it for long, and where there are too many vertices."""
    taken: list[str] = []
    for name in ("_by_kernel", "_by_arrays"):
        by = getattr(initial, name)
        monkeypatch.setattr(initial, name, lambda run, by=by, name=name: (taken.append(name), by(run))[1])
    monkeypatch.setattr(initial, "_spent", {})
    kept = [False]
    monkeypatch.setattr(initial, "_is_kept", lambda run: kept[0])
    graph, engine = dr.generators.rmat(9, 4, seed=2, symmetrize=False), CpuEngine(threads=2)

    def run() -> str:
        engine.prepare(_program(512), graph)
        return taken[-1]

    assert run() == "_by_arrays"
    (key,) = initial._spent
    initial._spent[key] = initial._ENOUGH
    assert run() == "_by_kernel"
    initial._spent.clear()
    kept[0] = True
    assert run() == "_by_kernel"
    initial._spent[key] = 0.0
    assert run() == "_by_arrays"
    monkeypatch.setattr(initial, "_LARGE", 511)
    assert run() == "_by_kernel"


def test_a_kernel_on_disk_is_found() -> None:
    graph, engine = dr.generators.rmat(9, 4, seed=2, symmetrize=False), CpuEngine(threads=2)
    with initial.only_compiled():
        run = engine.prepare(_program(512), graph)
    assert initial._is_kept(run)
