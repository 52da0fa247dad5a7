"""Layered neighbor sampling, for mini-batches of graph learning.

For each seed up to ``fanouts[0]`` in-neighbors are drawn without replacement, then up to ``fanouts[1]`` for each new
vertex, and so on: one block of edges for each layer. The same seed draws the same edges; the draw for a vertex depends
only on the seed, the layer and its edges. Hamilton, Ying and Leskovec, "Inductive representation learning on large
graphs" (GraphSAGE), 2017.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of
from dromos.algorithms.many.sources import listed_ids
from dromos.algorithms.verifying import expand, nowhere, require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.runner import Options, Session

__all__ = ["Block", "NeighborSample", "sample_neighbors"]

_NO_LIMIT = (1 << 63) - 1  # more edges than any graph has
_FEW_ARCS = 1 << 10  # which a CPU draws as soon as a GPU is told of them


@dataclass(frozen=True)
class Block:
    """The edges drawn for one layer, from ``source`` to ``target``: positions among the vertices of the sample."""

    source: Array
    target: Array

    @property
    def edge_index(self) -> Array:
        """Two rows, sources and targets: PyTorch Geometric's ``edge_index``."""
        return np.stack([self.source, self.target])


@dataclass(frozen=True)
class NeighborSample:
    """A sample: ``vertices`` (distinct ids, the seeds first) and a :class:`Block` for each layer."""

    graph: Graph
    vertices: Array
    num_seeds: int
    blocks: tuple[Block, ...]
    fanouts: tuple[int, ...]
    device: str = "cpu"

    @property
    def edge_index(self) -> Array:
        """The edges of all layers, in the order of the layers."""
        return np.concatenate([block.edge_index for block in self.blocks], axis=1)

    def verify(self) -> None:
        """Every edge is the graph's, none is drawn twice for a vertex, and as many are drawn as there may be."""
        n, into = self.graph.num_vertices, self.graph.transpose
        require(len(np.unique(self.vertices)) == len(self.vertices), "a vertex stands twice in the sample")
        known, frontier = self.num_seeds, np.arange(self.num_seeds)
        for block, fanout in zip(self.blocks, self.fanouts, strict=True):
            source, target = self.vertices[block.source], self.vertices[block.target]
            rows, arcs = expand(into, self.vertices[frontier])
            real, copies = np.unique(
                self.vertices[frontier][rows].astype(np.int64) * n + into.targets[arcs], return_counts=True
            )
            drawn, times = np.unique(target.astype(np.int64) * n + source, return_counts=True)
            place = np.minimum(np.searchsorted(real, drawn), max(len(real) - 1, 0))
            nowhere(real[place] != drawn if len(real) else drawn >= 0, "drawn edge {} is no edge of its layer")
            nowhere(times > copies[place], "drawn edge {} was drawn more often than it is there")
            counts = np.bincount(block.target, minlength=len(self.vertices))[frontier]
            expected = np.minimum(into.out_degree[self.vertices[frontier]], fanout)
            nowhere(counts != expected, "vertex number {} of a layer has another number of edges")
            frontier = np.arange(known, max(known, int(block.source.max(initial=-1)) + 1))
            known += len(frontier)
        require(known == len(self.vertices), "there are vertices that no edge leads to")


def sample_neighbors(
    graph: Graph, sources: Iterable[Any], fanouts: Sequence[int], seed: int = 0, **how: Unpack[Options]
) -> NeighborSample:
    """Draw a neighborhood of ``sources``, layer by layer.

    Args:
        graph: edges are followed from target to source, against the flow of messages; each parallel edge counts.
        sources: the seeds without repeats (labels, or ids if the graph has no labels).
        fanouts: for each layer, the maximum number of edges to draw for a vertex.
        seed: the random seed of the draw.
        how: ``device``, ``threads``; ``path`` is not supported. A GPU draws the same edges; without an explicit
            ``device``, a few edges are drawn on the CPU. From a graph on disk (:func:`dromos.open`) the pages that
            hold drawn edges are read within ``memory`` and kept for the next call.

    >>> import dromos as dr
    >>> sample = dr.sample_neighbors(dr.generators.star(5), [0, 1], [2, 2])
    >>> sample.vertices[:2].tolist(), len(sample.vertices), [len(block.source) for block in sample.blocks]
    ([0, 1], 4, [3, 2])
    """
    session = Session("sample_neighbors", graph, **how)
    limits = tuple(min(count_of(fanout, "fanouts", 1), _NO_LIMIT) for fanout in fanouts)
    random = count_of(seed, "seed") % (1 << 64)
    if isinstance(sources, str | bytes):
        raise InvalidArgumentError(f"sources={sources!r} is not a list of vertices; write [{sources!r}] for one")
    seeds = listed_ids(graph, sources)
    if len(np.unique(seeds)) < len(seeds):
        raise InvalidArgumentError("sources lists a vertex twice; give each vertex once")
    bound = len(seeds)
    for limit in limits:
        bound *= limit + 1
    if bound < _FEW_ARCS:
        session.little_to_do()
    fields = session.host_native("sampling", graph.transpose, seeds=seeds, limits=limits, seed=random)
    blocks = tuple(Block(fields[f"source_{layer}"], fields[f"target_{layer}"]) for layer in range(len(limits)))
    return NeighborSample(graph, fields["vertices"], len(seeds), blocks, limits, session.engine.name)
