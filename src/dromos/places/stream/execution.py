"""A program on a graph on disk: the driver of all places, with bytes counted and the direction chosen by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dromos.dtypes import Array
from dromos.engines.parts import Part
from dromos.engines.saving import Saved
from dromos.graph.store.stored import StoredGraph
from dromos.graph.summary import human_bytes
from dromos.places.driver import PlacedExecution, sends_all_rows
from dromos.places.exchange import CopyExchange
from dromos.places.feed import Feed
from dromos.places.stream.budget import MemoryPlan
from dromos.places.stream.compiler_pages import release_compiler_pages
from dromos.places.stream.feed import PageFeed
from dromos.places.stream.free_memory import release_free_memory
from dromos.places.stream.whole import Mover
from dromos.plan import Constants, Path, Stats
from dromos.program import GraphTypes, Program

__all__ = ["StreamExecution"]

_LITTLE = 1 << 22  # bytes: for a push that reads no more, the bytes of a pull are not computed
_CONSTANTS = Constants(alpha=15.0, beta=18.0)  # those of the CPU's engine in memory
_WHY_ONLY_PUSHED = (
    "the program has values of edges, which are in the order of the out-rows, so from disk it reads these alone; "
    "use dr.read(path)"
)


class StreamExecution(PlacedExecution):
    """See :class:`dromos.engines.Execution`; has to be closed after the run."""

    def __init__(
        self,
        program: Program,
        graph: StoredGraph,
        types: GraphTypes,
        part: Part,
        feed: PageFeed,
        memory: MemoryPlan,
        mover: Mover | None = None,
    ) -> None:
        self.feed, self.memory, self._kept = feed, memory, graph.kept_graph
        self.mover = None if program.ir().edge_fields else mover  # engines have values of arcs in different orders
        """How to continue in memory, if the budget has room for that."""
        self._before, self._counted = feed.seconds_by_part(), 0
        self._compiled: set[Path] = set()
        release_free_memory()
        super().__init__(program, graph, types, [part], [feed], CopyExchange())
        if "pull" not in feed.directions:
            why = _WHY_ONLY_PUSHED if self.ir.edge_fields or self.ir.edge_params else graph.why_no_transpose
            self.caps = replace(self.caps, why_no_others=f"{self.caps.why_no_others}: {why}")
        self.caps = replace(self.caps, constants=_CONSTANTS, dominated=(*self.caps.dominated, *self._paths_to_avoid()))
        self._both = {path.direction for path in self.caps.paths} == {"push", "pull"}
        self.stats = self._with_bytes(self.stats, 0)

    def _paths_to_avoid(self) -> tuple[Path, ...]:
        """For an iterative program on a directed graph: all but the pushes that apply messages at once.

        News travels along the rows of such a push as it does along those of a pull, and pulls would read other rows.
        """
        alike = self.caps.in_place and self.caps.kind == "iterative" and self.analysis.wants is None
        if not alike or self.feed.rows_serve_both:
            return ()
        return tuple(path for path in self.caps.paths if path.direction == "pull" or path.sync == "sync")

    def restore(self, saved: Saved, stats: Stats) -> None:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        super().restore(saved, stats)
        self.feed.forget_rows()  # they may be from a later superstep
        self.stats = self._with_bytes(stats, 0)

    def expect(self, supersteps: int | None) -> None:
        """See :class:`dromos.engines.ExpectingExecution`."""
        self.feed.expect(supersteps)

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """One superstep on ``path``; the stats have the bytes that it read, and those that the next one would read."""
        before, self._before = self.feed.pager.bytes_read, self.feed.seconds_by_part()
        stats = super().step(path, horizon)
        if path not in self._compiled:
            self._compiled.add(path)
            release_compiler_pages()
        self.stats = self._with_bytes(stats, self.feed.pager.bytes_read - before)
        return self.stats

    def _told(self, busy: Sequence[float], exchanging: float) -> tuple[tuple[str, float], ...]:
        found = self.feed.seconds_by_part(self._before)
        if self.parts[0].asynchronous:  # a device reports the time of its kernels, which run beside everything else
            return ("kernels", busy[0]), ("disk", found.disk), ("host", found.host)
        return found.told(busy[0])

    def _with_bytes(self, stats: Stats, read: int) -> Stats:
        stats = replace(stats, read=read)
        if stats.finished or not self._both or self.caps.kind != "traversal":
            return stats
        part = self.parts[0]
        push = self.feed.missing_bytes(part, "push")
        if push <= _LITTLE and stats.out_degree * _CONSTANTS.alpha < self.shape.num_arcs:
            return replace(stats, push_read=push)
        return replace(stats, push_read=push, pull_read=self.feed.missing_bytes(part, "pull"))

    @staticmethod
    def _with_work(part: Part, feed: Feed, path: Path) -> Array:
        """See :class:`PlacedExecution`."""
        assert isinstance(feed, PageFeed)
        if sends_all_rows(path):
            return feed.holding(None, path.direction)
        return feed.wanted_by(part, path.direction)

    def close(self) -> None:
        """Stop the reader threads, and close the file."""
        self._kept.bytes_read += self.feed.pager.bytes_read - self._counted
        self._counted = self.feed.pager.bytes_read
        self.feed.close()
        release_compiler_pages()

    def __repr__(self) -> str:
        return f"<{self.ir.name} on {self.shape!r}: {self.memory}; {human_bytes(self.feed.pager.bytes_read)} read>"
