"""Dromos: graph processing that finds the shortest execution path by itself."""
