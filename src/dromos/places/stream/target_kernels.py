"""Compiled kernels over the targets of a graph on disk: how each divides the budget, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dromos.dtypes import Array
from dromos.engines import graph_types
from dromos.graph.store.origin import Origin
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.pager import Pager, Room
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.stored import StoredGraph
from dromos.places.stream.budget import MemoryPlan, plan_memory
from dromos.places.stream.compiler_pages import release_compiler_pages
from dromos.places.stream.components import BYTES_PER_VERTEX, components
from dromos.places.stream.cores import core_bytes, cores
from dromos.places.stream.feed import PageFeed
from dromos.places.stream.triangles import triangle_room, triangles
from dromos.sizes import available_memory

__all__ = ["TARGET_KERNELS", "TargetReader", "is_simple", "triangles_of"]


@dataclass(frozen=True)
class TargetReader:
    """The targets of a graph, and the budget for reading them."""

    graph: StoredGraph
    threads: int | None
    memory: int | None
    page_bytes: int | None
    opener: Callable[[Origin], ByteSource]
    beside: int
    """Bytes that the caller of kernels holds."""
    answer: int
    """Bytes of a result with one row per edge."""
    rows: PagedRows = field(init=False)
    offsets: Array = field(init=False)

    def __post_init__(self) -> None:
        prefix = self.graph._prefix
        rows = self.graph.paged_rows(prefix, weights=False, page_bytes=self.page_bytes)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "offsets", self.graph.row_offsets(prefix))

    @property
    def budget(self) -> int:
        """The bytes for everything: those that were given, or half of the free ones."""
        return available_memory() // 2 if self.memory is None else self.memory

    def plan(self, needed: int) -> MemoryPlan:
        """The division of the budget if a kernel holds ``needed`` bytes; raises an error if it is too small."""
        return plan_memory(self.budget, needed + self.beside, self.graph.held_bytes(), [self.rows], answer=self.answer)

    @contextmanager
    def feed(self, plan: MemoryPlan) -> Iterator[PageFeed]:
        """Open the file for passes over its pages."""
        self.graph.make_room()
        pager = Pager(self.opener(self.graph.origin), plan.room)
        try:
            feed = PageFeed(pager, {"push": self.rows}, {"push": self.offsets})
            release_compiler_pages()
            yield feed
        finally:
            pager.close()
            release_compiler_pages()


def components_of(reader: TargetReader) -> Mapping[str, Any]:
    """See :func:`dromos.places.stream.components.components`."""
    graph = reader.graph
    plan = reader.plan(BYTES_PER_VERTEX * graph.num_vertices)
    read_once = replace(plan, room=Room(plan.room.buffers, cache=0))
    with reader.feed(read_once) as feed:
        label, steps = components(
            feed, reader.offsets, graph_types(graph).id, symmetric=graph.symmetric, threads=reader.threads
        )
    return {"label": label, "steps": steps}


def cores_of(reader: TargetReader, progress: Callable[[int, int], None] | None = None) -> Mapping[str, Any]:
    """See :func:`dromos.places.stream.cores.cores`."""
    plan = reader.plan(core_bytes(reader.offsets, graph_types(reader.graph).id.itemsize, reader.threads))
    with reader.feed(plan) as feed:
        core, steps = cores(feed, reader.offsets, threads=reader.threads, progress=progress)
    return {"core": core, "steps": steps}


def is_simple(graph: StoredGraph) -> bool:
    """Whether the graph is known to be symmetric, without self-loops and parallel edges."""
    flags = graph.known_flags
    return graph.symmetric and flags.self_loops is False and flags.parallel_edges is False


def triangles_of(reader: TargetReader, progress: Callable[[int, int], None] | None = None) -> Mapping[str, Any]:
    """See :func:`dromos.places.stream.triangles.triangles`, of a graph that :func:`is_simple`."""
    dtype = graph_types(reader.graph).id
    least = triangle_room(0, reader.offsets, dtype.itemsize, reader.threads).bytes
    more = reader.plan(least).room.cache // 4 * 3
    room = triangle_room(least + more, reader.offsets, dtype.itemsize, reader.threads)
    plan = reader.plan(room.bytes)
    with reader.feed(plan) as feed:
        return triangles(feed, reader.offsets, dtype, room, progress=progress)


TARGET_KERNELS: Final[Mapping[str, Callable[..., Mapping[str, Any]]]] = {
    "components": components_of,
    "cores": cores_of,
}
"""Those under the names by which algorithms ask an engine for a kernel; :func:`triangles_of` replaces an operator."""
