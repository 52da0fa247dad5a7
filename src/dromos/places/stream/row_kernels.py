"""Kernels that read the rows of some vertices of a graph on disk: what each reads, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from dromos.dtypes import Array
from dromos.graph.store.origin import Origin
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.stored import StoredGraph
from dromos.places.stream.budget import plan_rows
from dromos.places.stream.communities import communities, communities_later, communities_state
from dromos.places.stream.row_reader import RowReader
from dromos.places.stream.sampling import sampling
from dromos.places.stream.similarity import similarity, similarity_state
from dromos.places.stream.walks import walks, walks_state
from dromos.sizes import available_memory

__all__ = ["ROW_KERNELS", "RowKernel", "call_row_kernel"]


@dataclass(frozen=True)
class RowKernel:
    """``run(reader, graph, threads=, strict=, progress=, **options)`` returns fields by name."""

    run: Callable[..., Mapping[str, Any]]
    weights: bool = False
    """Whether it reads the weights of the graph, if there are any."""
    both: bool = False
    """Whether it reads in-rows too."""
    compiled: bool = False
    """Whether it runs only on the compiled leaf."""
    state: Callable[[StoredGraph, Mapping[str, Any], int | None], int] = lambda graph, options, threads: 0
    """Bytes that it holds beside rows, as a function of the graph, the options and the threads."""

    later: Callable[[StoredGraph, Mapping[str, Any]], str] = lambda graph, options: ""
    """For the refusal of a budget: further needs, which become known only while it runs."""


ROW_KERNELS: Final[Mapping[str, RowKernel]] = {
    "communities": RowKernel(
        communities, weights=True, state=communities_state, later=communities_later, compiled=True
    ),
    "sampling": RowKernel(sampling),
    "similarity": RowKernel(similarity, both=True, state=similarity_state),
    "walks": RowKernel(walks, weights=True, state=walks_state),
}


def call_row_kernel(
    name: str,
    graph: StoredGraph,
    *,
    memory: int | None,
    threads: int | None,
    page_bytes: int | None,
    opener: Callable[[Origin], ByteSource],
    progress: Callable[[int, int], Any] | None = None,
    **options: Any,
) -> Mapping[str, Any]:
    """The result of the kernel called ``name``; its reader stays with the graph for the next similar call."""
    kernel = ROW_KERNELS[name]
    prefixes = [graph.out_prefix]
    if kernel.both and graph.require_in_edges(memory) not in prefixes:
        prefixes.append(graph.require_in_edges())
    state = kernel.state(graph, options, threads)
    later = kernel.later(graph, options)
    make = partial(_reader, graph, prefixes, kernel.weights, state, memory, page_bytes, opener, later)
    key = name, tuple(prefixes), kernel.weights and graph.weights is not None, state, memory, page_bytes, opener
    graph.kept_graph.forget()  # the budget of this call does not count it
    with graph.kept_reader.using(key, make) as reader:
        return kernel.run(reader, graph, threads=threads, strict=memory is not None, progress=progress, **options)


def _reader(
    graph: StoredGraph,
    prefixes: list[str],
    weights: bool,
    state: int,
    memory: int | None,
    page_bytes: int | None,
    opener: Callable[[Origin], ByteSource],
    later: str,
) -> RowReader:
    rows = {prefix: graph.paged_rows(prefix, weights=weights, page_bytes=page_bytes) for prefix in prefixes}
    budget = available_memory() // 2 if memory is None else memory
    plan, work = plan_rows(budget, state, graph.held_bytes(len(rows)), list(rows.values()), later)
    offsets: dict[str, Array] = {prefix: graph.row_offsets(prefix) for prefix in prefixes}
    pager = Pager(opener(graph.origin), plan.room)
    try:
        return RowReader(pager, rows, offsets, memory=budget, work=work)
    except BaseException:
        pager.close()
        raise
