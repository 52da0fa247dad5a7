"""What kernels are given of a graph has one type, whatever was worked out about the graph before."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.compiler.compile import argument_shapes
from dromos.engines.cpu.topology import topology


@pytest.mark.parametrize("dense", [False, True])
def test_offsets_of_the_transpose_have_their_type_before_there_is_one(dense):
    """Otherwise every kernel of a program would be compiled again after the first pull."""
    n = 1 << 12
    src = np.arange(n * (12 if dense else 1)) % n
    graph = dr.Graph.from_edges(src, (src * 7 + 1) % n, num_vertices=n)
    known = topology(graph)
    before = known.in_offsets(graph)
    assert before.size == 0
    known.in_rows(graph)
    after = known.in_offsets(graph)
    assert after.size == n + 1
    assert after.dtype == np.uint32
    assert argument_shapes((before,)) == argument_shapes((after,))
