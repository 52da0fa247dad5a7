"""Where a call runs that names no device, on a machine with a GPU that has no kernel for it: a stand-in is the GPU."""

from __future__ import annotations

from typing import Any

import pytest

import dromos as dr
from dromos.errors import DeviceError
from dromos.runner import Session, devices

DAG = dr.Graph.from_edges([0, 0, 2], [1, 2, 1], [5.0, 1.0, 2.0])


class StandIn:
    """Runs programs as the engine of NumPy does, by the name of the GPU's, and has kernels of these names."""

    name = "cuda"

    def __init__(self, *kernels: str) -> None:
        self._engine, self._kernels = devices.engine_for("numpy"), kernels

    def prepare(self, program: Any, graph: Any) -> Any:
        return self._engine.prepare(program, graph)

    def native(self, name: str) -> Any:
        return (lambda graph, **options: {}) if name in self._kernels else None


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where every graph is worth the copy to a GPU."""
    monkeypatch.setitem(devices.DEVICES, "cuda", lambda threads: StandIn())  # type: ignore[index]
    monkeypatch.setattr(devices, "_best", lambda graph: ("cuda", ""))
    monkeypatch.delenv("DROMOS_DEVICE", raising=False)


def test_the_kernel_of_the_cpu_answers_where_the_gpu_has_none(gpu: None) -> None:
    result = dr.topological_levels(DAG)
    assert (result.device, result.level.tolist()) == ("cpu", [0, 2, 1])
    assert [row.path for row in result.trace] == ["native"]
    longest = dr.longest_paths(DAG)
    assert (longest.device, longest.distance.tolist()) == ("cpu", [0, 5, 1])
    assert dr.strongly_connected_components(DAG).device == "cpu"


def test_what_was_asked_for_runs_where_it_was_asked_for(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = [{"device": "cuda"}, {"path": "sync-push-dd"}, {"keep_on_device": True}]
    for how in asked:
        result = dr.topological_levels(DAG, **how)
        assert (result.device, result.level.tolist()) == ("cuda", [0, 2, 1])
        assert {row.phase for row in result.trace} == {"Levels"}
        longest = dr.longest_paths(DAG, **how)
        assert (longest.device, longest.distance.tolist()) == ("cuda", [0, 5, 1])
        assert dr.strongly_connected_components(DAG, **how).device == "cuda"
    monkeypatch.setenv("DROMOS_DEVICE", "cuda")
    assert dr.topological_levels(DAG).device == "cuda"


def test_programs_and_kernels_of_the_gpu_stay_there(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dr.bfs(DAG, 0).device == "cuda"
    both = dr.Graph.from_edges([0, 1], [1, 2], directed=False)
    assert dr.eigenvector(both).device == "cuda"  # its program is faster there than products on the CPU
    monkeypatch.setitem(devices.DEVICES, "cuda", lambda threads: StandIn("topological"))  # type: ignore[index]
    session = Session("levels", DAG)
    session.follow_kernel("topological")
    assert session.engine.name == "cuda"


def test_a_result_tells_of_the_cpu_where_only_that_has_a_kernel(gpu: None) -> None:
    both = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    asked: list[dict[str, Any]] = [{}, {"device": "cuda"}]
    for how in asked:
        result = dr.articulation_points(both, **how)
        assert (result.device, result.count) == ("cpu", 0)


def test_the_reason_of_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DROMOS_DEVICE", raising=False)
    monkeypatch.setattr(devices, "_WORTH_COPYING", 0)
    missing, room = "there is no GPU", False
    monkeypatch.setattr("dromos.engines.cuda.availability.why_unavailable", lambda: missing)
    monkeypatch.setattr("dromos.engines.cuda.availability.fits", lambda graph: room)
    assert devices.why_chosen("auto", DAG) == "there is no GPU"
    missing = ""
    assert "do not fit the GPU" in devices.why_chosen("auto", DAG)
    room = True
    assert devices.why_chosen("auto", DAG) == "there is a GPU, and room for a run"
    assert devices.why_chosen("cuda", DAG) == 'device="cuda" is asked for'
    assert "memory is given" in devices.why_chosen("auto", DAG, 1 << 30)
    monkeypatch.setenv("DROMOS_DEVICE", "cuda")
    assert devices.why_chosen("auto", DAG, 1 << 30) == "DROMOS_DEVICE=cuda"
    room = False
    monkeypatch.setenv("DROMOS_DEVICE", "")
    monkeypatch.setattr(devices, "_is_larger_than_memory", lambda graph: True)
    assert devices.why_chosen("auto", DAG) == "the file is larger than the free memory"


def test_the_cpu_answers_where_a_gpu_that_nobody_asked_for_has_no_room(
    gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(graph: Any, **options: Any) -> Any:
        raise DeviceError("no room")

    stand_in = StandIn()
    monkeypatch.setattr(stand_in, "native", lambda name: full)
    monkeypatch.setitem(devices.DEVICES, "cuda", lambda threads: stand_in)  # type: ignore[index]
    result = dr.truss_numbers(dr.generators.complete(4))
    assert (result.device, result.truss.tolist()) == ("cpu", [4] * 6)
    with pytest.raises(DeviceError, match="no room"):
        dr.truss_numbers(dr.generators.complete(4), device="cuda")


def test_what_several_processors_leave_to_one_says_so() -> None:
    ring = dr.generators.cycle(6)
    assert dr.truss_numbers(ring, device="cpu+cpu").device == "cpu"
    assert dr.bfs(ring, 0, device="cpu+cpu").device == "cpu+cpu"
