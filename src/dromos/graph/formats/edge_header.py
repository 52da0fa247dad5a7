"""What the head of a list of edges says of the whole, and how it is held against the rest."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dromos.errors import DromosWarning, FormatError
from dromos.graph.formats.base import EdgeBlock, EdgeSource
from dromos.graph.formats.text_rows import check_count
from dromos.graph.labels import Labels

__all__ = ["CountsLine", "SnapHeader"]

_SNAP_COUNTS = re.compile(rb"\s*Nodes:\s*(\d{1,18})\s+Edges:\s*(\d{1,18})\s*\Z")


def _plausible(num_vertices: int, num_edges: int) -> bool:
    """Whether a graph that large may be believed on the word of one line."""
    return num_vertices <= 64 * num_edges + 2**20


@dataclass(frozen=True)
class SnapHeader:
    """``# Nodes: 7115 Edges: 103689``, as the files of SNAP have it."""

    num_vertices: int | None
    num_edges: int | None
    undirected: bool
    line: int

    @classmethod
    def find(cls, comments: list[bytes], last_line: int) -> SnapHeader | None:
        """The header among the comments at the front of a file."""
        undirected = any(comment.strip().startswith(b"Undirected graph") for comment in comments)
        for at, comment in enumerate(comments):
            found = _SNAP_COUNTS.match(comment)
            if found:
                line = at + 1 if len(comments) == last_line else last_line
                return cls(int(found[1]), int(found[2]), undirected, line)
        return cls(None, None, True, last_line) if undirected else None

    def apply(self, source: EdgeSource, edges: int, lowest: int, highest: int, path: Path) -> None:
        """Check the number of edges; take the number of vertices where the ids lie below it."""
        if self.num_edges is None or self.num_vertices is None:
            return
        check_count(edges, self.num_edges, path, self.line)
        source.num_edges = edges
        if lowest >= 0 and highest < self.num_vertices and _plausible(self.num_vertices, edges):
            source.num_vertices = self.num_vertices


@dataclass(frozen=True)
class CountsLine:
    """A first line of two numbers: the counts of vertices and edges, or an edge."""

    num_vertices: int
    num_edges: int
    line: int
    path: Path
    certain: bool
    """Whether it cannot be an edge: the user said so, or the other lines have a weight."""
    why: str = ""
    """Why it cannot, for the message."""

    def as_edge(self) -> EdgeBlock:
        """The line taken for an edge."""
        dtype = np.int32 if max(self.num_vertices, self.num_edges) < 2**31 else np.int64
        return EdgeBlock(np.array([self.num_vertices], dtype), np.array([self.num_edges], dtype), None)

    def decide(self, source: EdgeSource, edges: int, lowest: int, highest: int) -> Iterator[EdgeBlock]:
        """Now that all other lines are known: put the counts into ``source``, or give the line back as an edge."""
        agrees = self.num_edges == edges and lowest >= 0
        below = highest < self.num_vertices
        from_one = highest == self.num_vertices and lowest >= 1
        believed = self.certain or (edges > 0 and _plausible(self.num_vertices, edges))
        if agrees and (below or from_one) and believed:
            source.num_edges = edges
            source.sparse_ids = False
            if from_one:
                source.labels = Labels(np.arange(1, self.num_vertices + 1))
            else:
                source.num_vertices = self.num_vertices
            return
        if self.certain:
            raise FormatError(
                f"the first line{self.why} promises {self.num_vertices:,} vertices and {self.num_edges:,} edges; "
                f"the rest holds {edges:,} edges" + (f" with ids {lowest}..{highest}" if edges else ""),
                path=self.path,
                line=self.line,
            )
        if edges and self.num_edges > edges and highest == self.num_vertices - 1:
            warnings.warn(
                f"{self.path}: line {self.line} ({self.num_vertices} {self.num_edges}) looks like counts of vertices "
                f"and edges, but {edges:,} edges follow; it is taken for an edge. Pass header='counts' to have the "
                "counts checked, or header='none' if it is an edge",
                DromosWarning,
                stacklevel=2,
            )
        yield self.as_edge()
