"""Which pages of a graph on disk hold the rows of some vertices: from a list of them, and from their bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dromos.places.stream.feed import pages_of, pages_of_bits


def pages_by_definition(vertices: np.ndarray, offsets: np.ndarray, page_arcs: int, num_pages: int) -> list[bool]:
    found = [False] * num_pages
    for v in vertices.tolist():
        for arc in range(int(offsets[v]), int(offsets[v + 1])):
            found[arc // page_arcs] = True
    return found


@given(
    lengths=st.lists(st.sampled_from([0, 0, 1, 2, 5, 40]), min_size=1, max_size=300),
    seed=st.integers(0, 1_000),
    share=st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]),
    page_arcs=st.sampled_from([1, 4, 64]),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    dtype=st.sampled_from([np.uint32, np.int64]),
)
@example([1] * 64, 0, 1.0, 4, (0.0, 1.0), np.uint32)  # a word of which all bits are set
@example([1] * 200, 0, 1.0, 4, (0.3, 0.4), np.uint32)
@example([0] * 200, 0, 1.0, 4, (0.0, 1.0), np.int64)
def test_the_pages_of_a_list_and_of_bits_are_those_that_hold_an_arc(
    lengths: list[int], seed: int, share: float, page_arcs: int, cut: tuple[float, float], dtype: Any
) -> None:
    n = len(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)
    num_pages = -(-int(offsets[-1]) // page_arcs)
    set_bits = np.random.default_rng(seed).random(n) < share
    first, last = sorted(int(at * n) for at in cut)
    marked = np.zeros(-(-n // 64) * 64, dtype=bool)
    marked[:n] = set_bits
    bits = np.packbits(marked, bitorder="little").view(np.uint64)
    vertices = np.flatnonzero(set_bits[first:last]).astype(np.int32) + first
    expected = pages_by_definition(vertices, offsets, page_arcs, num_pages)
    assert pages_of(vertices, offsets, page_arcs, num_pages).tolist() == expected
    assert pages_of_bits(bits, first, last, offsets, page_arcs, num_pages).tolist() == expected


def test_several_threads_mark_the_same_pages() -> None:
    n, rng = 600_000, np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))]).astype(np.uint32)
    num_pages = -(-int(offsets[-1]) // 64)
    for share in (0.001, 0.3, 0.999):
        set_bits = rng.random(n) < share
        bits = np.packbits(np.pad(set_bits, (0, -n % 64)), bitorder="little").view(np.uint64)
        listed = pages_of(np.flatnonzero(set_bits).astype(np.int32), offsets, 64, num_pages)
        np.testing.assert_array_equal(pages_of_bits(bits, 0, n, offsets, 64, num_pages), listed)
        assert listed.any()
