"""What of the table of betweenness by blocks runs without a device: which rows there are, and how they are timed."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import dromos as dr
from benchmarks.gpu import betweenness_blocks, graphs
from benchmarks.gpu.command import BENCHMARKS
from benchmarks.gpu.resident import Resident


class Device:
    """Stands for a device on which a source takes ``ms_a_source`` by blocks and 6 ms with all of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, vertices: int, *, ms_a_source: float = 0.5) -> None:
        self.calls: list[tuple[str, int]] = []
        self.released = 0
        csr = graphs.DeviceCsr("path", np.zeros(vertices + 1, np.int64), np.zeros(0, np.int32))
        case = Resident(csr, [0])
        case.graph = dr.generators.path(vertices)
        monkeypatch.setattr(case, "device_graph", lambda: None)
        monkeypatch.setattr(case, "release", self.release)
        for name, stand_in in {
            "resident": lambda name: case,
            "milliseconds": lambda work: (work(), None),
            "_differs": lambda case, sources: False,
            "_one_after_the_other": lambda graph, sources: self.called("whole", sources, 6.0),
            "_by_blocks": lambda graph, sources, blocks: self.called("blocks", sources, ms_a_source),
        }.items():
            monkeypatch.setattr(betweenness_blocks, name, stand_in)
        monkeypatch.setattr(betweenness_blocks.brandes, "blocks_that_fit", lambda graph, count: min(count, 100))
        monkeypatch.setattr(betweenness_blocks.brandes, "blocks_for", lambda graph, count: count if count > 60 else 0)

    def called(self, way: str, sources: list[int], ms: float) -> float:
        self.calls.append((way, len(sources)))
        return ms * len(sources)

    def release(self) -> None:
        self.released += 1


def test_the_command_knows_the_table_and_its_options() -> None:
    benchmark = BENCHMARKS["betweenness_blocks"]
    assert benchmark.key == ("graph", "row")
    assert set(inspect.signature(benchmark.run).parameters) == {"quick", "graphs", "rows"}


def test_a_row_says_both_times_a_source_and_what_the_engine_would_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(monkeypatch, 300)
    found = list(betweenness_blocks.run(graphs=["path"]))
    assert [(row["row"], row["blocks"], row["chosen"]) for row in found] == [
        ("16 sources", 16, False), ("64 sources", 64, True), ("256 sources", 100, True),
    ]  # fmt: skip
    for row in found:
        assert (row["graph"], row["peer"], row["differs"]) == ("path", "one after the other", False)
        assert (row["ms"], row["peer_ms"], row["ratio"]) == (0.5, 6.0, 0.5 / 6.0)
    # what is timed, three times, comes after a call that is not
    assert device.calls[:4] == [("whole", 2), *[("whole", 12)] * 3]
    assert device.calls[-4:] == [("blocks", 100), *[("blocks", 256)] * 3]
    assert device.released == 1


def test_rows_are_chosen_by_the_beginnings_of_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(monkeypatch, 2000)
    assert [row["row"] for row in betweenness_blocks.run(quick=True, graphs=["path"], rows=["1"])] == [
        "16 sources", "1024 sources",
    ]  # fmt: skip
    device.calls.clear()
    assert list(betweenness_blocks.run(graphs=["path"], rows=["7"])) == []
    assert device.calls == []


def test_a_long_call_is_not_repeated_and_a_longer_one_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(monkeypatch, 2000, ms_a_source=20.0)
    found = list(betweenness_blocks.run(graphs=["path"]))
    assert [row["row"] for row in found] == ["16 sources", "64 sources", "256 sources"]
    assert [count for way, count in device.calls if way == "blocks"] == [16, 16, 16, 16, 64, 64, 100, 256]
    assert device.released == 1


@pytest.mark.parametrize(("off", "differs"), [(0.0, False), (3e-9, False), (5e-9, True), (np.nan, True)])
def test_sums_differ_beyond_a_billionth_of_the_largest(
    monkeypatch: pytest.MonkeyPatch, off: float, differs: bool
) -> None:
    asked: list[tuple[list[int], int]] = []

    class InOtherOrder:
        def to_given_order(self, values: Any) -> Any:
            return values[::-1]

    def by_blocks(graph: Any, sources: list[int], blocks: int) -> Any:
        asked.append((sources, blocks))
        return np.array([0.0, 1.0 + off, 4.0])

    held: list[tuple[int, float]] = []

    def hold(csr: Any, source: int, sums: Any) -> None:
        held.append((source, float(sums[0])))

    monkeypatch.setattr(betweenness_blocks.checks, "betweenness", hold)
    monkeypatch.setattr(betweenness_blocks, "_by_blocks", by_blocks)
    monkeypatch.setattr(betweenness_blocks, "_one_after_the_other", lambda *_: np.array([0.0, 1.0, 4.0]))
    case = Resident(graphs.DeviceCsr("path", np.zeros(4, np.int64), np.zeros(0, np.int32)), [2])
    monkeypatch.setattr(case, "device_graph", InOtherOrder)
    assert betweenness_blocks._differs(case, [0, 1, 2, 0, 1, 2]) is differs
    assert asked == [([2], 1), ([0, 1, 2, 0, 1, 2], 4)]
    assert held == [(2, 4.0)]


def test_random_sources_have_edges_and_are_no_more_than_there_are() -> None:
    case = Resident(graphs.DeviceCsr("some", np.zeros(101, np.int64), np.zeros(0, np.int32)), [])
    case.graph = dr.Graph.from_edges([3, 50, 7], [50, 3, 90], num_vertices=100)
    assert sorted(case.random_sources(16, seed=1).tolist()) == [3, 7, 50]
    drawn = case.random_sources(2, seed=1)
    assert (len(set(drawn.tolist())), drawn.dtype) == (2, np.int64)
