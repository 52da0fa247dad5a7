"""Columns of values beside the vertices."""

from __future__ import annotations

import numpy as np
import pytest

from dromos import Graph
from dromos.errors import GraphDataError


class TestVertexData:
    def test_columns_given(self) -> None:
        g = Graph.from_edges([0, 1], [1, 2], [0.5, 1.5], directed=False)
        ages = np.array([3, 4, 5], np.int8)
        h = g.with_vertex_data({"age": ages, "name": ["x", None, "z"]})
        ages[0] = 9
        assert h == g
        assert h.vertex_data["age"].tolist() == [3, 4, 5]
        assert h.vertex_data["age"].dtype == np.int8
        assert h.with_weights(None).vertex_data["name"].tolist() == ["x", None, "z"]
        assert list({**h.vertex_data, "new": ages}) == ["age", "name", "new"]
        assert repr(h.with_vertex_data(None).vertex_data) == "<vertex data: none>"
        assert len(g.vertex_data) == 0
        assert h.vertex_data.get("colour") is None
        with pytest.raises(KeyError, match="no data 'colour'; they have age, name"):
            h.vertex_data["colour"]

    def test_of_directed_graphs_made_undirected(self) -> None:
        g = Graph.from_edges([0, 1], [1, 2]).with_vertex_data({"age": [1, 2, 3]})
        assert g.symmetrized().vertex_data["age"].tolist() == [1, 2, 3]
        assert g.egonet(1).vertex_data["age"].tolist() == [2, 3]

    @pytest.mark.parametrize("column", [[1, 2], np.arange(4), []])
    def test_wrong_lengths(self, column: object) -> None:
        with pytest.raises(GraphDataError, match=r"'age' has \d values for 3 vertices"):
            Graph.from_edges([0, 1], [1, 2]).with_vertex_data({"age": column})

    def test_what_is_no_columns_is_refused(self) -> None:
        with pytest.raises(GraphDataError, match="int is no vertex data; give columns by name"):
            Graph.from_edges([0], [1]).with_vertex_data(5)  # type: ignore[arg-type]

    @pytest.mark.parametrize("column", [5, np.array(5), "red"])
    def test_no_column(self, column: object) -> None:
        with pytest.raises(GraphDataError, match="'age' is not a column"):
            Graph.from_edges([0, 1], [1, 2]).with_vertex_data({"age": column})
