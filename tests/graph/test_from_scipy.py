"""Graphs from and to matrices of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dromos import Graph
from dromos.errors import GraphDataError


class TestSciPy:
    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
    def test_every_kind(self, kind: str) -> None:
        dense = np.array([[0, 2.5, 0], [0, 1, 0], [3, 0, 0]])
        g = Graph.from_scipy(sp.csr_array(dense).asformat(kind))
        assert np.array_equal(g.to_scipy().toarray(), dense)
        assert g.num_edges == 3

    def test_duplicates_are_parallel_edges(self) -> None:
        g = Graph.from_scipy(sp.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2)))
        assert g.weights.tolist() == [1, 2]
        matrix = g.to_scipy()
        matrix.sum_duplicates()
        assert matrix.toarray().tolist() == [[0, 3], [0, 0]]
        assert g.weights.tolist() == [1, 2]

    def test_bool_is_unweighted(self) -> None:
        matrix = sp.csr_array(np.array([[False, True], [True, False]]))
        assert Graph.from_scipy(matrix, directed=False).weights is None
        assert Graph.from_scipy(matrix, weighted=True).weights.tolist() == [1, 1]

    def test_undirected_must_be_symmetric(self) -> None:
        with pytest.raises(GraphDataError, match="both directions"):
            Graph.from_scipy(sp.csr_array([[0, 1], [0, 0]]), directed=False)

    def test_shares_what_scipy_leaves_alone(self) -> None:
        g = Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])
        assert np.shares_memory(g.to_scipy().data, g.weights)

    def test_unsorted_rows_are_copied(self) -> None:
        g = Graph.from_csr(np.array([0, 2, 2]), np.array([1, 0], np.int32))
        matrix = g.to_scipy()
        matrix.sort_indices()
        assert matrix.indices.tolist() == [0, 1]
        assert g.targets.tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            (sp.csr_array((2, 3)), "as many columns"),
            (np.eye(2), "SciPy sparse"),
            (sp.csr_array([[1j]]), "complex"),
            (sp.csr_array([[np.nan]]), "NaN"),
        ],
    )
    def test_refused(self, matrix: object, message: str) -> None:
        with pytest.raises(GraphDataError, match=message):
            Graph.from_scipy(matrix)
