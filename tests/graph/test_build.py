"""The builder against a plain one, on every route through it: key widths, windows, threads, merge rules."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dromos.errors import GraphDataError, InvalidArgumentError
from dromos.graph import build
from dromos.graph.build import MERGE_RULES, build_csr, expand_sources, id_range, scan_rows

MERGE = {"first": lambda values: values[0], "min": min, "max": max, "sum": sum}


def plain_csr(src, dst, weight, num_vertices, mirror=False, drop_self_loops=False, dedupe=False, merge_weights="first"):
    """What `build_csr` promises, one arc at a time."""
    arcs = []
    for i, (u, v) in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
        w = 0 if weight is None else weight[i]
        if u == v and drop_self_loops:
            continue
        arcs.append((u, v, w))
        if mirror and u != v:
            arcs.append((v, u, w))
    arcs.sort(key=lambda arc: arc[:2])
    if dedupe:
        runs = itertools.groupby(arcs, key=lambda arc: arc[:2])
        arcs = [(u, v, MERGE[merge_weights]([arc[2] for arc in run])) for (u, v), run in runs]
    offsets = np.zeros(num_vertices + 1, dtype=np.int64)
    for u, _, _ in arcs:
        offsets[u + 1] += 1
    weights = None if weight is None else np.array([w for _, _, w in arcs], dtype=weight.dtype)
    return offsets.cumsum(), np.array([v for _, v, _ in arcs], dtype=np.int64), weights


def assert_same(found, expected):
    np.testing.assert_array_equal(found.offsets, expected[0])
    np.testing.assert_array_equal(found.targets, expected[1])
    assert (found.weights is None) == (expected[2] is None)
    if expected[2] is not None:
        np.testing.assert_array_equal(found.weights, expected[2])
        assert found.weights.dtype == expected[2].dtype


@st.composite
def edge_columns(draw):
    num_vertices = draw(st.sampled_from([1, 2, 7, 300, 70_000]))
    # ids at both ends of the range, so that they repeat and touch the borders
    near = min(num_vertices, draw(st.sampled_from([3, 20])))
    ids = st.integers(0, near - 1) | st.integers(num_vertices - near, num_vertices - 1)
    pairs = draw(st.lists(st.tuples(ids, ids), max_size=60))
    kind = draw(st.sampled_from([None, np.float32, np.float64, np.int32]))
    # int64 with one kind of weights alone: every pair of types is compiled anew
    dtypes = [np.int32] if kind in (np.float64, np.int32) else [np.int32, np.int64]
    dtype = draw(st.sampled_from([*dtypes, np.uint16] if num_vertices < 2**16 else dtypes))
    columns = np.array(pairs, dtype=dtype).reshape(-1, 2)
    weight = None if kind is None else np.arange(len(pairs), 0, -1).astype(kind) % 11
    return columns[:, 0], columns[:, 1], weight, num_vertices


ROUTES = {
    "as it comes": {},
    "many buckets": {"_ARCS_A_BUCKET": 4},
    "one bucket, wide keys": {"_ROWS_A_BUCKET": 1 << 20},
    "narrow digits, an odd number of passes": {"_DIGIT_BITS": 6, "_ROWS_A_BUCKET": 1 << 20},
}


@given(
    edge_columns(), st.booleans(), st.booleans(), st.booleans(), st.sampled_from(MERGE_RULES),
    st.sampled_from(sorted(ROUTES)), st.sampled_from([1, 3]),
)  # fmt: skip
def test_build_agrees_with_the_plain_builder(columns, mirror, drop, dedupe, merge, route, threads):
    options = {"mirror": mirror, "drop_self_loops": drop, "dedupe": dedupe, "merge_weights": merge}
    with patch.multiple(build, _SMALL=0, **ROUTES[route]):
        found = build_csr(*columns, **options, threads=threads)
    assert_same(found, plain_csr(*columns, **options))


@given(edge_columns(), st.booleans())
def test_ids_beyond_int32_take_wide_keys_and_targets(columns, mirror):
    columns = (*columns[:2], None, columns[3])
    with patch.object(build, "id_dtype", lambda _: np.dtype(np.int64)), patch.object(build, "_ROWS_A_BUCKET", 1 << 20):
        found = build_csr(columns[0].astype(np.int64), columns[1].astype(np.int64), *columns[2:], mirror=mirror)
    assert found.targets.dtype == np.int64
    assert_same(found, plain_csr(*columns, mirror=mirror))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_build_agrees_with_scipy(threads, dtype):
    rng = np.random.default_rng(3)
    n = 5_000
    src, dst = rng.integers(0, n, (2, 200_000)).astype(dtype)
    src[:30_000] = 17  # a hub
    weight = rng.integers(1, 100, len(src)).astype(np.int32)
    expected = sp.coo_array((weight.astype(np.int64), (src, dst)), shape=(n, n)).tocsr()
    found = build_csr(src, dst, weight, n, dedupe=True, merge_weights="sum", threads=threads)
    np.testing.assert_array_equal(found.offsets, expected.indptr)
    np.testing.assert_array_equal(found.targets, expected.indices)
    np.testing.assert_array_equal(found.weights, expected.data)
    assert found.targets.dtype == np.int32


def test_parallel_edges_stay_in_input_order_across_threads():
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 40, (2, 100_000)).astype(np.int32)
    weight = np.arange(len(src), dtype=np.int32)
    found = build_csr(src, dst, weight, 40, threads=4)
    order = np.lexsort((weight, dst, src))
    np.testing.assert_array_equal(found.targets, dst[order])
    np.testing.assert_array_equal(found.weights, weight[order])


@pytest.mark.parametrize("hub_first", [True, False])
def test_a_star_whose_hub_holds_every_edge(hub_first):
    leaves = np.random.default_rng(5).permutation(np.arange(1, 150_000, dtype=np.int32))
    hub = np.zeros_like(leaves)
    src, dst = (hub, leaves) if hub_first else (leaves, hub)
    found = build_csr(src, dst, None, 150_000, mirror=True, threads=2)
    np.testing.assert_array_equal(found.targets[: len(leaves)], np.arange(1, 150_000))
    assert not found.targets[len(leaves) :].any()
    np.testing.assert_array_equal(np.diff(found.offsets), np.append(len(leaves), np.ones(len(leaves))))


@pytest.mark.parametrize("num_vertices", [0, 1, 5])
def test_no_edges(num_vertices):
    none = np.empty(0, dtype=np.int64)
    found = build_csr(none, none, np.empty(0, dtype=np.float32), num_vertices, mirror=True, dedupe=True)
    assert found.offsets.tolist() == [0] * (num_vertices + 1)
    assert found.targets.size == 0
    assert found.weights is not None
    assert found.weights.size == 0


def test_dst_ascending_gives_the_same_as_a_full_sort():
    rng = np.random.default_rng(6)
    src, dst = rng.integers(0, 3_000, (2, 100_000)).astype(np.int32)
    dst.sort()
    weight = np.arange(len(src), dtype=np.float32)
    for a, b in zip(
        build_csr(src, dst, weight, 3_000), build_csr(src, dst, weight, 3_000, dst_ascending=True), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_strided_and_sorted_input():
    both = np.stack([np.repeat(np.arange(1000), 50), np.tile(np.arange(50), 1000)], axis=1)
    found = build_csr(both[:, 0], both[:, 1], None, 1000)
    np.testing.assert_array_equal(found.targets, both[:, 1])


def test_sums_of_int32_weights_that_overflow_are_refused():
    twice = np.zeros(2, dtype=np.int32)
    weight = np.full(2, 2**30, dtype=np.int32)
    with pytest.raises(GraphDataError, match="overflows int32"):
        build_csr(twice, twice, weight, 1, dedupe=True, merge_weights="sum")
    assert build_csr(twice, twice, -weight, 1, dedupe=True, merge_weights="sum").weights.tolist() == [-(2**31)]


def test_an_unknown_merge_rule_is_refused():
    with pytest.raises(InvalidArgumentError, match="first, min, max, sum"):
        build_csr(np.zeros(1, int), np.zeros(1, int), None, 1, merge_weights="mean")


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1), st.sampled_from([1, 3]))
def test_id_range(values, threads):
    with patch.object(build, "_SMALL", 0):
        assert id_range(np.array(values, dtype=np.int64), threads) == (min(values), max(values))


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=10, max_size=10), st.sampled_from([1, 3]))
def test_scan_and_expand_rows(rows, threads):
    offsets = np.cumsum([0, *map(len, rows)])
    targets = np.array(list(itertools.chain(*rows)), dtype=np.int32)
    with patch.object(build, "_SMALL", 0):
        flags = scan_rows(offsets, targets, threads)
        sources = expand_sources(offsets, np.dtype(np.int32), threads)
    assert flags.loops == any(u in row for u, row in enumerate(rows))
    assert flags.sorted == all(row == sorted(row) for row in rows)
    if flags.sorted:
        assert flags.parallel == any(len(set(row)) < len(row) for row in rows)
    assert sources.tolist() == [u for u, row in enumerate(rows) for _ in row]


PEAK = """
import sys
from pathlib import Path
import numpy as np
from dromos.compiling import note_kernels_are_loaded
from dromos.graph.build import build_csr
from dromos.graph.generators import rmat_edges
note_kernels_are_loaded()  # the kernels, not the form for small graphs
mirror, num_vertices = sys.argv[1] == "mirror", int(sys.argv[2])
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
few = np.arange(1000, dtype=np.int32)
build_csr(few, few, None, num_vertices, mirror=mirror)  # compiled, and its threads begun
edges = rmat_edges(18, 32)
for column in edges[:2]:
    column *= num_vertices >> 18
before = peak() - edges.src.nbytes - edges.dst.nbytes
build_csr(edges.src, edges.dst, None, num_vertices, mirror=mirror, threads=2)
print((peak() - before) / (edges.src.nbytes + edges.dst.nbytes))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the peak of resident memory from Linux")
@pytest.mark.parametrize(("mirror", "num_vertices"), [("mirror", 1 << 18), ("once", 1 << 18), ("mirror", 1 << 22)])
def test_peak_memory_is_at_most_three_times_the_input(mirror, num_vertices):
    ran = subprocess.run(
        [sys.executable, "-c", PEAK, mirror, str(num_vertices)], capture_output=True, text=True, check=True
    )
    assert float(ran.stdout) <= 3.0
