"""A part that keeps the first pages of a graph on disk in its own memory, as a GPU does; here it is NumPy's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.vectorised import VectorisedLeaf
from dromos.engines.vectorised.part import VectorisedPart
from dromos.errors import CorruptFileError, DromosError
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.slices import PagedSlice
from dromos.places.stream import StreamEngine
from dromos.places.stream.feed import pages_of
from dromos.plan.path import Direction
from dromos.program import GraphTypes, Program
from tests.stream.stores import PAGE, CountingFile, FaultyFile, random_graph, stored, tiny_budget
from tests.stream.test_programs import KINDS, check_kind

_CACHED = 4  # pages


class KeepingLeaf(VectorisedLeaf):
    """Its parts keep ``capacity`` arcs of each direction, and record what happens to them."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.parts = capacity, list[KeepingPart]()

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> KeepingPart:
        made = KeepingPart(program, shape, types, first, last)
        made.capacity = self.capacity
        self.parts.append(made)
        return made


class KeepingPart(VectorisedPart):
    capacity = 0
    ended = False

    def stream_rows(self, offsets: Mapping[Direction, Array], weights: np.dtype[Any] | None) -> int:
        self.offsets, self.kept = offsets, dict[int, list[GraphSlice]]()
        self.sent: list[GraphSlice] = []
        return self.capacity

    def keep_rows(self, piece: PagedSlice, direction: Direction) -> None:
        assert piece.pages.all()
        pieces = self.kept.setdefault(id(self.offsets[direction]), [])
        assert int(piece.offsets[0]) == sum(len(other.targets) for other in pieces)
        weights = None if piece.weights is None else piece.weights.copy()
        pieces.append(GraphSlice(piece.start, piece.stop, piece.offsets, piece.targets.copy(), weights))

    def kept_rows(self, direction: Direction) -> GraphSlice:
        pieces = self.kept[id(self.offsets[direction])]
        targets = np.concatenate([piece.targets for piece in pieces])
        weights = [piece.weights for piece in pieces if piece.weights is not None]
        offsets = self.offsets[direction]
        stop = int(np.searchsorted(offsets, len(targets)))
        own = offsets[: stop + 1].copy()
        own[-1] = len(targets)
        return GraphSlice(0, stop, own, targets, np.concatenate(weights) if weights else None)

    def pages_wanted(self, direction: Direction, page_arcs: int, num_pages: int) -> Array | None:
        vertices = self.frontier if direction == "push" else self.wanting()
        return None if vertices is None else pages_of(vertices, self.offsets[direction], page_arcs, num_pages)

    def end_rows(self) -> None:
        self.ended = True

    def send(self, piece: GraphSlice, path: Any) -> None:
        self.sent.append(piece)
        super().send(piece, path)


@pytest.mark.parametrize("capacity", [0, 3 * PAGE // 4, 1 << 20], ids=["none", "some pages", "all"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program_is_the_program_in_memory(kind: type[Program], capacity: int, tmp_path: Path) -> None:
    check_kind(
        kind, tmp_path,
        lambda program, graph, file: StreamEngine(
            KeepingLeaf(capacity), tiny_budget(program, file, pages=_CACHED), page_bytes=PAGE
        ),
    )  # fmt: skip


def test_kept_pages_are_read_once_and_others_in_every_superstep(tmp_path: Path) -> None:
    graph = random_graph(5, directed=False).with_weights(None)
    file = stored(graph, tmp_path)
    three: dict[str, Any] = {"max_iter": 3, "tol": 0, "on_limit": "return"}
    arcs_of_page, opened = PAGE // 4, list[CountingFile]()

    def opener(origin: Any) -> CountingFile:
        opened.append(CountingFile(origin))
        return opened[-1]

    leaf = KeepingLeaf(6 * arcs_of_page + 5)
    engine = StreamEngine(leaf, page_bytes=PAGE, opener=opener)
    engine.memory = 1 << 30
    found = dr.pagerank(file, device=engine, **three)
    np.testing.assert_allclose(found.rank, dr.pagerank(graph, **three).rank)
    (part,) = leaf.parts
    assert part.ended
    (pieces,) = part.kept.values()
    assert sum(len(piece.targets) for piece in pieces) == 6 * arcs_of_page  # whole pages
    section = file.header.section("targets")
    assert section is not None
    first = [n for at, n in opened[-1].reads if at < section.offset + 6 * PAGE]
    assert sum(first) == 6 * PAGE


def test_a_thin_superstep_keeps_nothing(tmp_path: Path) -> None:
    graph = dr.generators.grid(60, 60)
    leaf = KeepingLeaf(1 << 20)
    engine = StreamEngine(leaf, 1 << 30, page_bytes=PAGE)
    found = dr.bfs(stored(graph, tmp_path), 0, device=engine, depth_limit=3)
    assert int((found.level >= 0).sum()) == 10
    assert not leaf.parts[0].kept


def test_a_damaged_page_is_found_while_it_is_kept(tmp_path: Path) -> None:
    graph = random_graph(6, directed=False)
    file = stored(graph, tmp_path)

    def flip(buffer: Array, position: int) -> None:
        if position >= file.header.section("targets").offset:  # type: ignore[union-attr]
            buffer[5] ^= 16

    engine = StreamEngine(
        KeepingLeaf(1 << 20), 1 << 30, page_bytes=PAGE, opener=lambda origin: FaultyFile(origin, flip)
    )
    with pytest.raises(CorruptFileError, match="checksum"):
        dr.pagerank(file, device=engine)
    assert engine.leaf.parts[0].ended  # type: ignore[attr-defined]


def test_a_slice_tells_which_arcs_it_has() -> None:
    offsets, pages = np.array([3, 5, 30]), np.array([True, True, False, True])
    piece = PagedSlice(7, 9, offsets, np.zeros(27, np.int32), None, first_page=0, pages=pages, page_arcs=8)
    assert piece.runs().tolist() == [[3, 16], [24, 30]]


@pytest.mark.parametrize(
    "given", [{}, {"device": "cpu"}, {"device": "numpy", "memory": "1G"}, {"device": "cpu+cuda"}], ids=str
)
def test_the_memory_of_the_host_is_for_a_gpu(given: dict[str, Any], tmp_path: Path) -> None:
    for graph in (file := stored(random_graph(1), tmp_path), file.load()):
        with pytest.raises(DromosError, match=r"host_memory='1G' is for a graph on disk on a GPU.*dr\.open"):
            dr.bfs(graph, 0, host_memory="1G", **given)
