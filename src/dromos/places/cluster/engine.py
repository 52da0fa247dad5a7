"""The engine of a cluster: every rank runs the same program on its own part of the graph."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dromos._version import __version__
from dromos.engines import GraphLike, NativeKernel, check_params, graph_types
from dromos.engines.direction import along, refuse_direction
from dromos.engines.parts import Leaf, Part
from dromos.errors import InvalidArgumentError
from dromos.graph.slices import equal_edge_bounds
from dromos.graph.store.stored import StoredGraph
from dromos.places.cluster.exchange import MpiExchange
from dromos.places.cluster.execution import RankExecution
from dromos.places.cluster.graph import RankFeed, RankGraph
from dromos.places.cluster.grid import GridExchange, RankGrid, rank_grid
from dromos.places.cluster.host_memory import HostMemory, host_memory
from dromos.places.cluster.operators import RankBlocks
from dromos.places.cluster.stored import StoredFeed
from dromos.places.cluster.transport import device_transport
from dromos.places.cluster.world import world
from dromos.places.feed import Feed, MemoryFeed
from dromos.places.grid import require_grid
from dromos.places.operators import OPERATORS
from dromos.places.ordered import Ordered
from dromos.program import Program
from dromos.program.expr import reads

__all__ = ["ClusterEngine"]


class ClusterEngine:
    """Runs programs over the ranks of an MPI job, one part per rank, on ``leaf``; see ``docs/cluster.md``.

    From a graph on disk (:func:`dromos.open`), a rank reads only its own rows.

    Every rank makes the same calls with the same program and graph. Each rank gets the whole result unless it asks for
    its own rows only.
    """

    reads_stores = True

    def __init__(self, leaf: Leaf, comm: Any = None, *, grid: str | None = None) -> None:
        """``grid``: rows and columns of ranks, as in ``"4x2"``, or ``"2d"``; None: ranges of vertices with their rows.

        With a grid, a graph is partitioned again on its first run, and the blocks are kept for the next run.
        """
        self.leaf, self.comm = leaf, world() if comm is None else comm
        kind = leaf.name.partition(":")[0]  # ranks of one machine may have a GPU each
        self.name = f"{kind} on {self.comm.Get_size()} ranks"
        self._grid: RankGrid | None = None
        if grid is not None:
            self._grid = rank_grid(self.comm, grid)
            self.name += f" in a grid of {self._grid.grid}"
        self._rows: tuple[Any, str] = (None, "")  # the last graph with a digest, and the digest

    def prepare(self, program: Program, graph: GraphLike | RankGraph) -> RankExecution:
        """Set up the program in its initial state; refused if the ranks differ in program or graph."""
        check_params(program, graph)
        if not isinstance(graph, RankGraph):
            program, graph = along(program, graph)
        elif program.ir().direction != "out":
            refuse_direction(program, "a graph that is spread over ranks")
        if isinstance(graph, RankGraph) and program.ir().edge_params:
            raise InvalidArgumentError(
                f"{program.ir().name}: {program.ir().edge_params[0].name} has a value for each arc, and no rank has "
                "all arcs of this graph; give its values as weights, or run on a graph that every rank holds completely"
            )
        if self._grid is not None:
            require_grid(program)
        words = f"{type(program).__qualname__} {program.ir()}"
        self._require_same(words, _digest(program.params.items()), graph)
        rank = self.comm.Get_rank()
        if isinstance(graph, RankGraph):
            types, bounds = graph.types, graph.bounds
        else:
            types, bounds = graph_types(graph), equal_edge_bounds(graph.offsets, self.comm.Get_size()).tolist()
        first, last = bounds[rank], bounds[rank + 1]
        part = self.leaf.part(program, graph, types, first, last)
        feed = self._feed(program, graph, first, last)
        host, device = host_memory(self.comm), getattr(self.leaf, "device", None)
        if self._grid is not None:
            self._grid.grid.enter(part, rank, bounds)
            typed = program.typed(types)
            weighted = bool(reads(typed.ir.exprs(), "weight")) and types.weight is not None
            block = self._grid.feed(graph, feed, bounds, types, weighted=weighted)
            ranks = GridExchange(self._grid, bounds, typed, types.id, host, device)
            return RankExecution(program, graph, types, [part], [block], ranks)
        devices = None if device is None else device_transport(self.comm, device)
        exchange = MpiExchange(
            self.comm, list(pairwise(bounds)), graph.num_vertices, program.typed(types), types.id, host, devices
        )
        return RankExecution(
            program, graph, types, [part], [feed], exchange, ordered=self._ordered_run(part, feed, bounds, host)
        )

    def _ordered_run(self, part: Part, feed: Feed, bounds: Sequence[int], host: HostMemory | None) -> Any:
        if host is None or not getattr(part, "ordered", False):
            return Ordered
        from dromos.places.cluster.shared_ordered import SharedOrdered

        return lambda parts, feeds, exchange: SharedOrdered(parts[0], feeds[0], exchange, self.comm, bounds, host)

    def _feed(self, program: Program, graph: GraphLike | RankGraph, first: int, last: int) -> Feed:
        if isinstance(graph, RankGraph):
            return RankFeed(graph)
        if isinstance(graph, StoredGraph):
            weights = bool(reads(program.typed(graph_types(graph)).ir.exprs(), "weight"))
            return StoredFeed(graph, first, last, weights=weights)
        return MemoryFeed(graph, first, last, 1)

    def native(self, name: str) -> NativeKernel | None:
        """None: native kernels take whole graphs, so programs do their work here."""
        return None

    def operator(self, name: str) -> NativeKernel | None:
        """The operator for what cannot be a program: each rank processes the rows of its own vertices."""
        if name not in OPERATORS:
            return None

        def run(
            graph: GraphLike, *, directed: bool = False, weighted: bool = False, **options: Any
        ) -> Mapping[str, Any]:
            self._require_same(name, repr(options), graph)
            bounds = equal_edge_bounds(graph.offsets, self.comm.Get_size()).tolist()
            rank = self.comm.Get_rank()
            first, last = bounds[rank], bounds[rank + 1]
            feed: Feed = MemoryFeed(graph, first, last, 1)
            if isinstance(graph, StoredGraph):
                feed = StoredFeed(graph, first, last, weights=weighted)
            blocks = RankBlocks(
                self.comm,
                bounds,
                graph,
                feed,
                graph_types(graph).id,
                threads=getattr(self.leaf, "threads", None),
                directions=("push", "pull") if directed else ("push",),
                weighted=weighted,
            )
            return OPERATORS[name](blocks, self.leaf.name, **options)

        return run

    def _require_same(self, program: str, params: str, graph: GraphLike | RankGraph) -> None:
        """Refuse, on every rank, to run if ranks differ in version, program, parameters or graph."""
        told = {
            "the version of Dromos": __version__,
            "the device": self.leaf.name.partition(":")[0],
            "the program": program,
            "the parameters of the program": params,
            "the number of vertices": graph.num_vertices,
            "the number of arcs": graph.num_arcs,
            "the graph's rows": self._digest_of(graph),
        }
        words = {what: str(value) for what, value in told.items()}
        digest = np.frombuffer(hashlib.sha256(repr(words).encode()).digest(), dtype=np.uint8)
        digests = np.empty((self.comm.Get_size(), len(digest)), dtype=np.uint8)
        self.comm.Allgather(digest, digests)
        if bool((digests == digest).all()):
            return
        everyone = self.comm.allgather(words)
        for what, value in everyone[0].items():
            others = [rank for rank, other in enumerate(everyone) if other[what] != value]
            if others:
                ranks = ", ".join(map(str, others))
                raise InvalidArgumentError(
                    f"rank {ranks} differs from rank 0 in {what}; every rank must make the same calls"
                )

    def _digest_of(self, graph: GraphLike | RankGraph) -> str:
        if self._rows[0] is None or self._rows[0]() is not graph:
            self._rows = weakref.ref(graph), _digest([("offsets", graph.offsets)])
        return self._rows[1]


def _digest(values: Any) -> str:
    found = hashlib.sha256()
    for name, value in values:
        found.update(repr(name).encode())
        found.update(np.ascontiguousarray(value).tobytes())
    return found.hexdigest()
