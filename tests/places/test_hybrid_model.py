"""The model's run time on a split graph, and the sizes of parts that it uses."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.graph.parting import SPLITS, Split
from dromos.places.hybrid import rate_runs, rates, split_graph
from dromos.places.hybrid.model import predicted_run
from dromos.places.hybrid.part_sizes import PartSize, part_sizes
from dromos.places.hybrid.rates import Rates, Timings
from dromos.plan.cost import SplitCost

HOST, DEVICE = Rates(1e9, 1e8, math.inf, step=1e-4), Rates(9e9, 9e8, 1e10, step=1e-3)
SIZES = [PartSize(4e6, 2e4, 1e4, 1e4, 5e3, hubs=False), PartSize(1.2e7, 9e5, 6e5, 4e5, 5e5, hubs=False)]
WORK = SplitCost(arcs=2, vertices=3, steps=5)


def seconds(work: SplitCost, sizes: list[PartSize] = SIZES) -> float:
    return predicted_run(work, sizes, [HOST, DEVICE])


def test_vertices_without_arcs_take_no_time() -> None:
    bare = [replace(size, vertices=size.joined) for size in SIZES]
    assert seconds(WORK, bare) == seconds(WORK)


def test_processors_in_turn_take_the_sum_of_what_each_takes() -> None:
    alone = [
        predicted_run(replace(WORK, steps=0), [size, replace(size, arcs=0, joined=0)], [rate, rate])
        for size, rate in zip(SIZES, (HOST, DEVICE), strict=True)
    ]
    idle = WORK.steps * min(HOST.step, DEVICE.step)
    assert seconds(WORK) == pytest.approx(max(alone) + idle)
    assert seconds(replace(WORK, in_turn=True)) == pytest.approx(sum(alone) + idle)


def test_a_search_ends_on_the_device_alone_where_the_host_has_hubs() -> None:
    search = replace(WORK, arcs=0, search=True, shared=4)
    with_hubs = [replace(SIZES[0], hubs=True), SIZES[1]]
    assert seconds(search) - seconds(search, with_hubs) == pytest.approx(4 * min(HOST.step, DEVICE.step))
    two_devices = [DEVICE, DEVICE]
    assert predicted_run(search, with_hubs, two_devices) == predicted_run(search, SIZES, two_devices)


def test_a_search_looks_at_vertices_for_messages_and_to_pull() -> None:
    search = SplitCost(arcs=0, vertices=100, steps=0, search=True, on_device=0)
    looked_at = SIZES[0].across + SIZES[0].within
    assert seconds(search) == pytest.approx(100 * looked_at / HOST.vertices)
    assert seconds(replace(search, search=False)) == pytest.approx(100 * SIZES[0].joined / HOST.vertices)


def test_what_crosses_the_cut_takes_the_link() -> None:
    told = SplitCost(arcs=0, vertices=0, steps=0, crossing=8)
    assert seconds(told) == pytest.approx(8 * SIZES[1].joined / DEVICE.bytes)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_guesses_from_degrees_are_near_what_is_counted(split: Split, share: float) -> None:
    graph = dr.generators.rmat(12, 8, seed=3, symmetrize=True)
    made = split_graph(graph, (share, 1 - share), split)
    size, _ = part_sizes(np.diff(made.graph.offsets), made.bounds)
    first, offsets = made.bounds[1], made.graph.offsets
    inside = made.graph.targets[: offsets[first]] < first
    owner = np.repeat(np.arange(first), np.diff(offsets[: first + 1]))
    assert size.arcs == len(inside)
    assert size.joined == len(np.unique(owner))
    assert size.across == pytest.approx(len(np.unique(owner[~inside])), rel=0.15)
    assert size.within == pytest.approx(len(np.unique(owner[inside])), rel=0.35)


def test_a_part_of_hubs_has_no_short_row() -> None:
    degree = np.array([9, 8, 2, 1, 0])
    assert [size.hubs for size in part_sizes(degree, (0, 2, 5))] == [True, False]
    assert not part_sizes(degree, (0, 3, 5))[0].hubs


def test_empty_parts_and_graphs_have_sizes() -> None:
    assert part_sizes(np.zeros(0, np.int64), (0, 0, 0)) == [PartSize(0, 0, 0, 0, 0, hubs=False)] * 2
    assert part_sizes(np.array([1, 1]), (0, 0, 2))[1].across == 0


@pytest.fixture
def quick_rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Start without kept rates, and measure on small graphs."""
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(rates, "_measured", {})
    monkeypatch.setattr(rate_runs, "_PART_SCALE", 14)
    monkeypatch.setattr(rate_runs, "_THIN_SCALE", 16)
    monkeypatch.setattr(rate_runs, "_TURNS", 1)
    monkeypatch.setattr(rate_runs, "_SECONDS", 0.001)
    with caplog.at_level(logging.INFO, logger="dromos"):
        yield


def _told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "dromos.rates"]


@pytest.mark.usefixtures("quick_rates")
def test_who_waits_for_rates_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    found = rates.measured(CpuLeaf(1))
    monkeypatch.setattr(rates, "_measured", {})
    assert rates.measured(CpuLeaf(1)) == found  # from the disk
    assert _told(caplog) == ["measuring the speed of 'cpu' for some seconds; the best of 3 runs is kept"]
    assert min(found.arcs, found.vertices, found.long_arcs, found.step) > 0


def _as_fast(factor: float) -> Timings:
    sizes = (8e8, 1e8), (8e8, 4e8), (2e8, 4e8)
    return Timings(sizes, (0.35 / factor, 1.25 / factor, 0.65 / factor), 0.05 / factor, 0.1 / factor, 1e10 * factor)


@pytest.mark.usefixtures("quick_rates")
def test_rates_are_measured_again_at_other_times_and_the_best_count(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    speeds, clock, found = iter([1, 0.5, 2, 9]), [0.0], []
    monkeypatch.setattr(rate_runs, "timings_of", lambda leaf: _as_fast(next(speeds)))
    monkeypatch.setattr("dromos.places.hybrid.rates.time.time", lambda: clock[0])
    for clock[0] in (0.0, 1.0, 1000.0, 1001.0, 2000.0, 9000.0):
        monkeypatch.setattr(rates, "_measured", {})  # another process
        found.append(rates.measured(CpuLeaf(1)).arcs / 1e9)
    assert found == pytest.approx([1, 1, 1, 1, 2, 2])
    assert len(_told(caplog)) == 3


@pytest.mark.usefixtures("quick_rates")
def test_times_on_other_graphs_are_not_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = replace(_as_fast(100), sizes=((1e8, 1e7), (1e8, 2e7), (1e7, 4e7)))
    given = iter([kept, _as_fast(1)])
    monkeypatch.setattr(rate_runs, "timings_of", lambda leaf: next(given))
    rates.measured(CpuLeaf(1))
    assert rates.measured_again(CpuLeaf(1)).arcs == pytest.approx(1e9)
