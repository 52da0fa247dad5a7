"""Graphs from igraph's."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dromos import Graph
from dromos.errors import GraphDataError


class TestIgraph:
    @cached_property
    def igraph(self) -> Any:
        """Imported when a test runs: it takes a second, which each process that collects tests would pay."""
        return pytest.importorskip("igraph")

    @given(st.booleans(), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
    def test_edges_weights_and_numbers_are_kept(self, directed: bool, pairs: list[tuple[int, int]]) -> None:
        other = self.igraph.Graph(6, pairs, directed=directed)
        other.es["weight"] = [float(i) for i in range(len(pairs))]
        graph = Graph.from_igraph(other)
        src, dst = (np.array([pair[end] for pair in pairs], dtype=np.int64) for end in (0, 1))
        expected = Graph.from_edges(src, dst, np.arange(len(pairs), dtype=float), num_vertices=6, directed=directed)
        assert graph == expected
        assert Graph.from_igraph(other, weight=None).weights is None

    def test_names_and_other_attributes(self) -> None:
        other = self.igraph.Graph.TupleList([("dam", "mill", 5), ("mill", "town", 4)], edge_attrs="length")
        graph = Graph.from_igraph(other, weight="length")
        assert graph.labels is not None
        assert graph.labels.to_numpy().tolist() == ["dam", "mill", "town"]
        assert graph.to_arrow().to_pylist()[0] == {"src": "dam", "dst": "mill", "weight": 5}
        assert Graph.from_igraph(other).weights is None
        other.vs["height"] = [12, None, 25]
        assert {name: column.tolist() for name, column in Graph.from_igraph(other).vertex_data.items()} == {
            "height": [12, None, 25]
        }
        unnamed = Graph.from_igraph(other, labels=None)
        assert unnamed.labels is None
        assert unnamed.vertex_data["name"].tolist() == ["dam", "mill", "town"]

    def test_what_cannot_be_kept_is_refused(self) -> None:
        other = self.igraph.Graph.TupleList([("dam", "mill")])
        with pytest.raises(GraphDataError, match="no attribute 'length'; they have none"):
            Graph.from_igraph(other, weight="length")
        other.vs["name"] = ["dam", None]
        with pytest.raises(GraphDataError, match="1 of 2 vertices have no 'name'"):
            Graph.from_igraph(other)
        other.vs["name"] = ["dam", 3]
        with pytest.raises(GraphDataError, match="strings and numbers"):
            Graph.from_igraph(other)
        with pytest.raises(GraphDataError, match="expected an igraph graph, not list"):
            Graph.from_igraph([])
