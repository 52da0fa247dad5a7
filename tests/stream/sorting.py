"""A program whose rows are sorted after some supersteps, and shared helpers of its tests."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos import program as pr
from dromos.engines.cpu import arc_blocks, sorted_slice, source_order
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import ResourceError
from dromos.places.stream import StreamEngine, budget, scratch_file, sorted_rows
from dromos.plan import Path as Plan
from tests.stream.stores import PAGE

PULL = Plan.parse("sync-pull-td")


class Mixing(pr.Program):
    """Whole numbers, so that sums are exact in any order: the sum over all in-neighbors, and their maximum."""

    heard = pr.field(np.int64)
    rounds = pr.field(np.int64)
    combine = pr.SUM, pr.MAX
    update_on = "all"

    @pr.reduction(pr.SUM)
    def loud(self, v):
        return v.heard % 2

    def init(self, v):
        return {"heard": v.id % 7, "rounds": 0}

    def compute(self, u, edge, v):
        return u.heard % 1_000 + u.id % 5, u.heard

    def update(self, v, message):
        total, greatest = message
        return {"heard": v.heard + total - greatest % 3, "rounds": v.rounds + 1}

    def active(self, old, new):
        return True


def graph_of_two_tiles() -> dr.Graph:
    """Two tiles of sources; hubs, a row longer than a page, vertices without arcs in between and at the end."""
    draw = np.random.default_rng(3)
    src, dst = draw.integers(0, 36_000, (2, 60_000))
    src[:9_000], dst[9_000:15_000] = 17, 33_000
    dst[20_000:30_000] %= 900
    src[src % 11 == 0] += 1
    dst[dst % 11 == 0] += 1
    return dr.Graph.from_edges(src, dst, num_vertices=36_010, directed=True)


def sort_any_graph(monkeypatch: pytest.MonkeyPatch, *, spill: bool) -> None:
    """Sort the rows of graphs of any size, with hubs first in tiles; ``spill``: also in a file."""
    put_hubs_first(monkeypatch)
    for name in ("LEAST_VALUES", "LEAST_ARCS", "LEAST_DEGREE"):
        monkeypatch.setattr(arc_blocks, name, 0)
    monkeypatch.setattr(arc_blocks, "_PIECE", 64)  # several in a row, and little memory
    monkeypatch.setattr(sorted_slice, "LEAST_ARCS", 0)
    for name in ("MOST_ROWS", "PLACE_BYTES"):
        monkeypatch.setattr(sorted_rows, name, 0)  # its memory counts, and is much for a graph of some pages
    monkeypatch.setattr(budget, "LEAST_BUFFER_SHARE", 1 << 40)
    monkeypatch.setattr(sorted_rows, "LEAST_SPILLED", 0 if spill else 1 << 40)
    monkeypatch.setattr(scratch_file, "lies_in_memory", lambda folder: False)  # where tests keep their files


def put_hubs_first(monkeypatch: pytest.MonkeyPatch, *, always: bool = True) -> None:
    """Put sources of many arcs first in tiles, on all graphs, or on none."""
    monkeypatch.setattr(source_order, "LEAST_GAIN", -9.0 if always else 9.0)


def least_memory(file: dr.StoredGraph) -> int:
    try:
        StreamEngine(CpuLeaf(2), 1, page_bytes=PAGE).prepare(Mixing(), file)
    except ResourceError as error:
        return error.needed or 0
    raise AssertionError("one byte is not enough for anything")
