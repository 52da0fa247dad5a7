"""A small local page to explore a graph: search, neighbors, egonets, degrees, runs and their reports.

``dromos serve g.drm`` starts it. The server is the standard library's, listens on this machine only, and answers only
requests whose address holds the token that was drawn at its start.
"""

from dromos.serve.server import GraphServer

__all__ = ["GraphServer"]
