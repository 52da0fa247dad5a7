"""The algorithms, one file each: what it returns, the method, the program, and a verifier."""

from dromos.algorithms.bfs import bfs

__all__ = ["bfs"]
