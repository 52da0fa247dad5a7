"""Graphs: CSR, slices, builders, generators, formats and the store."""

from dromos.graph.graph import Graph
from dromos.graph.labels import Labels
from dromos.graph.records import Edges, Flags
from dromos.graph.slices import GraphSlice, VertexSubset
from dromos.graph.transform import Relabelled

__all__ = ["Edges", "Flags", "Graph", "GraphSlice", "Labels", "Relabelled", "VertexSubset"]
