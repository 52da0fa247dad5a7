"""Graphs larger than memory: the fields of vertices in memory, the arcs in pages of a store (Graphene, FlashGraph).

``PageFeed`` maps the vertices of a superstep to pages, and pages to slices. ``StreamEngine`` is the place: it divides a
budget, and drives a leaf engine over the slices. docs/larger-than-memory.md explains how to use it.
"""

from dromos.places.stream.engine import StreamEngine
from dromos.places.stream.feed import PageFeed

__all__ = ["PageFeed", "StreamEngine"]
