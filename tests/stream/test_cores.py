"""Core numbers of graphs on disk by the CPU's kernel, whose bounds fall until they are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import CorruptFileError, ResourceError
from dromos.places.stream import StreamEngine
from tests.algorithms.support import graphs
from tests.sizes import examples
from tests.stream.stores import PAGE, FaultyFile, flip_in_page, no_thread_stays, simple, stored

pytestmark = pytest.mark.usefixtures("way_to_read")


def least_budget(file: dr.StoredGraph, threads: int) -> int:
    """The least bytes that the call takes, with the smallest windows."""
    with pytest.raises(ResourceError, match="is too little") as caught:
        dr.core_numbers(file, device=StreamEngine(CpuLeaf(threads), 1000, page_bytes=PAGE))
    assert caught.value.needed is not None
    return caught.value.needed


@examples(60)
@given(graph=graphs(directed=False), threads=st.sampled_from([1, 3]))
def test_core_numbers_are_those_of_the_reference(graph, threads, tmp_path_factory) -> None:
    graph = simple(graph.edges().src, graph.edges().dst, graph.num_vertices)
    file = stored(graph, tmp_path_factory.mktemp("store"))
    found = dr.core_numbers(file, device=StreamEngine(CpuLeaf(threads), 4 << 20, page_bytes=PAGE))
    np.testing.assert_array_equal(found.core, dr.core_numbers(graph, device="reference").core)


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("shape", ["hubs", "dense", "tail"])
def test_rows_that_several_slices_share_and_races_between_neighbors(shape: str, threads: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(8)
    src, dst = draw.integers(0, 6_000, (2, 60_000))
    if shape == "hubs":  # rows of many pages, one after the other and apart
        for hub in (0, 1, 2_900, 5_999):
            src, dst = np.append(src, np.full(5_999, hub)), np.append(dst, draw.permutation(6_000)[:5_999])
    elif shape == "dense":  # clusters in which all bounds fall together
        src, dst = draw.integers(0, 40, (2, 60_000)) + 40 * draw.integers(0, 150, 60_000)
    else:  # bounds fall from the ends of a path on, whose vertices lie anywhere
        path = draw.permutation(600)
        src, dst = path[:-1], path[1:]
    graph = simple(src, dst, 6_000)
    file = stored(graph, tmp_path)
    expected = dr.core_numbers(graph, device="cpu").core
    for memory in (least_budget(file, threads), 16 << 20):
        with no_thread_stays():
            found = dr.core_numbers(file, device=StreamEngine(CpuLeaf(threads), memory, page_bytes=PAGE))
        np.testing.assert_array_equal(found.core, expected)
    assert found.degeneracy == expected.max()
    assert found.device == "cpu, streamed"
    assert set(found.trace.paths) == {"native"}


@pytest.mark.parametrize("pages", [8, 24, 40])
def test_a_row_of_which_a_slot_has_a_part_is_not_taken_for_whole(pages: int, tmp_path: Path) -> None:
    """A vertex may be marked while its slice is processed, although nobody wanted its row before."""
    graph = dr.generators.rmat(12, seed=17, dedupe=True, drop_self_loops=True)
    file = stored(graph, tmp_path)
    engine = StreamEngine(CpuLeaf(2), least_budget(file, 2) + pages * PAGE, page_bytes=PAGE)
    found = dr.core_numbers(file, device=engine)
    np.testing.assert_array_equal(found.core, dr.core_numbers(graph, device="cpu").core)


def test_only_rows_whose_bounds_may_be_too_high_are_read_again(tmp_path: Path) -> None:
    """A clique, whose bounds are right from the start, and a path to it whose bounds fall one by one from its end."""
    path = np.append(np.arange(40)[::-1], 40)
    clique = np.stack(np.triu_indices(300, 1))
    src, dst = np.append(path[1:], clique[0] + 40), np.append(path[:-1], clique[1] + 40)
    file = stored(simple(src, dst, 340), tmp_path)
    told: list[int] = []
    memory = least_budget(file, 1)
    found = dr.core_numbers(
        file, device=StreamEngine(CpuLeaf(1), memory, page_bytes=PAGE), progress=lambda done, total: told.append(done)
    )
    np.testing.assert_array_equal(found.core, [1] * 40 + [299] * 300)
    assert told == [*range(1, found.trace.supersteps + 1)]
    assert found.trace.supersteps == 39
    assert all(row.read <= PAGE and row.frontier == 1 for row in list(found.trace)[1:])
    assert found.trace[0].frontier == 340


def test_a_fixed_path_runs_the_program(tmp_path: Path) -> None:
    graph = simple(*np.random.default_rng(1).integers(0, 200, (2, 2_000)), 200)
    found = dr.core_numbers(stored(graph, tmp_path), path="sync-push-dd", device="cpu", memory="8M")
    np.testing.assert_array_equal(found.core, dr.core_numbers(graph, device="cpu").core)
    assert set(found.trace.paths) == {"sync-push-dd"}


def test_a_damaged_page_is_told_and_ends_all_threads(tmp_path: Path) -> None:
    graph = simple(*np.random.default_rng(1).integers(0, 900, (2, 40_000)), 900)
    file = stored(graph, tmp_path)
    flip = flip_in_page(file, 5)
    engine = StreamEngine(CpuLeaf(2), 4 << 20, page_bytes=PAGE, opener=lambda origin: FaultyFile(origin, flip))
    with no_thread_stays(), pytest.raises(CorruptFileError, match=r"graph\.drm"):
        dr.core_numbers(file, device=engine)
