"""What is refused: options, programs, overflows, and stores that changed."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.errors import (
    FieldOverflowError,
    FileError,
    InvalidArgumentError,
    UntraceableError,
)
from tests.runner.hops import Hops

DEVICES = pytest.mark.parametrize("device", ["reference", "cpu"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threads": 0}, InvalidArgumentError, "threads=0 is outside"),
        ({"threads": 1000}, InvalidArgumentError, "threads=1000 is outside"),
        ({"device": "abacus"}, InvalidArgumentError, "choose one of 'auto', 'cpu', 'cuda', 'numpy', 'reference'"),
        ({"max_iter": -1}, InvalidArgumentError, "max_iter=-1"),
        ({"max_iter": 1.5}, InvalidArgumentError, "max_iter=1.5"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        dr.run(BFS(source=0), dr.generators.path(3), **options)


def test_what_is_no_program_and_what_is_no_graph():
    import networkx as nx

    with pytest.raises(InvalidArgumentError, match="BFS is a class; give an instance"):
        dr.run(BFS, dr.generators.path(3))
    with pytest.raises(InvalidArgumentError, match=r"not a dromos\.Program"):
        dr.run("BFS", dr.generators.path(3))
    with pytest.raises(InvalidArgumentError, match=r"graph is a networkx\.Graph; make .*from_networkx"):
        dr.bfs(nx.path_graph(3), 0)


def test_programs_that_are_not_well_formed():
    class Branching(Hops):
        def update(self, v, message):
            if message < v.hops:
                return message
            return v.hops

    with pytest.raises(UntraceableError, match=r"Branching\.update .*dr\.where"):
        dr.run(Branching(source=0), dr.generators.path(3))
    with pytest.raises(dr.DromosError, match="combine = 'median' is not a monoid"):
        type("Median", (Hops,), {"combine": "median"})(source=0)
    with pytest.raises(dr.DromosError, match="field 'extra' is never initialized"):
        type("Bare", (Hops,), {"extra": dr.field(np.int32), "init": lambda self, v: {"hops": 0}})(source=0)


@DEVICES
def test_an_integer_that_outgrows_its_field_is_an_error(device):
    class Walks(dr.Program):
        count = dr.field(np.int32, init=1)
        combine = dr.SUM

        def compute(self, u, edge, v):
            return u.count

        def update(self, v, message):
            return v.count + message

        def active(self, old, new):
            return self.superstep < 40

    with pytest.raises(FieldOverflowError, match=r"does not fit|outgrew|overflow"):
        dr.run(Walks(), dr.generators.complete(4), device=device)


def test_a_store_that_changed_underneath_is_refused(tmp_path):
    file = tmp_path / "g.drm"
    dr.generators.path(5).write(file)
    graph = dr.read(file)
    assert dr.bfs(graph, 0, device="reference").level.max() == 4
    dr.generators.path(9).write(file)
    with pytest.raises(FileError, match=r"g\.drm: the file was changed, replaced or removed .* read it again"):
        dr.bfs(graph, 0, device="reference")
    graph = dr.read(file)
    file.unlink()
    with pytest.raises(FileError, match="changed"):
        dr.pagerank(graph, device="reference")


@pytest.mark.parametrize("part", ["transpose", "without weights", "in memory"])
def test_what_lies_on_a_changed_store_is_refused_and_nothing_else(tmp_path, part):
    file = tmp_path / "g.drm"
    dr.generators.with_random_weights(dr.generators.rmat(4, symmetrize=False), 1, 9).write(file, transpose=True)
    graph = dr.read(file, mmap=part != "in memory")
    if part == "transpose":
        graph = graph.transpose
    elif part == "without weights":
        graph = graph.with_weights(None)
    before = dr.bfs(graph, 1, device="reference").level
    with open(file, "r+b") as store:  # in place: the map sees it
        store.seek(4096 + 8)
        store.write(b"\xff" * 64)
    if part == "in memory":
        assert np.array_equal(dr.bfs(graph, 1, device="reference").level, before)
    else:
        with pytest.raises(FileError, match=r"g\.drm: the file was changed"):
            dr.bfs(graph, 1, device="reference")
