"""How long a run takes on a split graph by the model, and the sizes of parts that it goes by."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.graph.parting import SPLITS, Split
from dromos.places.hybrid import rates, split_graph
from dromos.places.hybrid.model import predicted_run
from dromos.places.hybrid.part_sizes import PartSize, part_sizes
from dromos.places.hybrid.rates import Rates
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


def test_who_waits_for_rates_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(rates, "_measured", {})
    monkeypatch.setattr(rates, "_PART_SCALE", 14)
    monkeypatch.setattr(rates, "_THIN_SCALE", 16)
    monkeypatch.setattr(rates, "_TURNS", 1)
    monkeypatch.setattr(rates, "_SECONDS", 0.001)
    with caplog.at_level(logging.INFO, logger="dromos"):
        found = rates.measured(CpuLeaf(1))
        monkeypatch.setattr(rates, "_measured", {})
        assert rates.measured(CpuLeaf(1)) == found  # from the disk
    assert [record.getMessage() for record in caplog.records if record.name == "dromos.rates"] == [
        "measuring how fast 'cpu' is, for some seconds, once: it is kept for the next time"
    ]
    assert min(found.arcs, found.vertices, found.long_arcs, found.step) > 0
