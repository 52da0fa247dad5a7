"""Rows of columns that are picked in blocks: what NumPy's index by truth values gives."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.graph import picking


@given(wanted=st.lists(st.booleans(), max_size=40), block=st.sampled_from((1, 3, 8, 64)))
def test_rows_are_those_that_are_wanted_in_their_order(wanted: list[bool], block: int) -> None:
    mask = np.array(wanted, bool)
    columns = np.arange(len(mask), dtype=np.int32), np.linspace(0, 1, len(mask)), np.arange(len(mask) * 2)[::2]
    with patch.object(picking, "_BLOCK", block):
        found = picking.picked(mask, *columns)
    for rows, column in zip(found, columns, strict=True):
        assert rows.dtype == column.dtype
        assert rows.tolist() == column[mask].tolist()


def test_the_edges_of_a_graph_with_several_blocks() -> None:
    graph = dr.generators.rmat(13, 16, seed=3, weights=(1, 9))
    arcs = graph.edges(arcs=True)
    once = arcs.src <= arcs.dst
    assert len(once) > 2 * picking._BLOCK
    for column, whole in zip(graph.edges(), arcs, strict=True):
        assert column is not None
        assert whole is not None
        assert np.array_equal(column, whole[once])
