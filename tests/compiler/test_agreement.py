"""What the compiler of team kernels and Numba make of the same kernels."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos import parallel
from dromos.engines.cpu.initial import only_compiled
from dromos.errors import InvalidArgumentError
from dromos.parallel import run_team
from dromos.team_calls import Call, call_of, is_supported
from dromos.compiler import compiled_call, is_call_kept, kept
from dromos.teams import run_alone

if not is_supported():
    pytest.skip("kernels are called by Python here", allow_module_level=True)

from tests.compiler import kernels

EDGES = [0, 1, 2, 3, 7, 31, 100, 127, -1, -2, -3, -8, -128]


def by_numba(kernel: Any, args: tuple[Any, ...]) -> Call:
    signature = tuple(kernel.typeof_pyval(value) for value in (0, 1, *args))
    kernel.compile(signature)
    call = call_of(kernel, signature)
    assert call is not None
    return call


def results_of_both(kernel: Any, *args: Any) -> tuple[Any, Any]:
    """The arguments after a run by either."""
    own = compiled_call(kernel, args)
    assert own is not None
    changed = []
    for call in (own, by_numba(kernel, args)):
        given = deepcopy(args)
        run_alone(call, given)
        changed.append(given)
    return changed[0], changed[1]


def require_equal(one: Any, other: Any) -> None:
    if isinstance(one, tuple):
        for a, b in zip(one, other, strict=True):
            require_equal(a, b)
    else:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("left", "right"), [("i8", "u4"), ("u8", "u8"), ("i8", "i8"), ("u1", "i2"), ("i4", "u1")])
def test_integers(left: str, right: str) -> None:
    pairs = np.array([(a, b) for a in EDGES for b in EDGES])
    a, b = pairs[:, 0].astype(left).copy(), pairs[:, 1].astype(right).copy()
    require_equal(*results_of_both(kernels.integers, a, b, np.zeros((17, a.size), np.int64)))


@pytest.mark.parametrize(("left", "right"), [("f8", "f8"), ("f4", "f4"), ("f4", "f8")])
def test_fractions(left: str, right: str) -> None:
    edges = np.array([0.0, -0.0, 1.0, -1.5, 0.1, 1e30, -1e-30, np.inf, -np.inf, np.nan, 2.5, 7.0])
    a, b = np.repeat(edges, edges.size).astype(left), np.tile(edges, edges.size).astype(right)
    require_equal(*results_of_both(kernels.fractions, a, b, np.zeros((14, a.size))))


def test_control() -> None:
    values = np.array([3, 1, 0, -5, 6, 9, 2])
    pair = (np.array([1, 2, 3]), (np.array([4, 5]), 2.5))
    flags = np.array([False, True, True, False])
    require_equal(*results_of_both(kernels.control, values, pair, flags, np.zeros(10, np.int64)))


def test_arrays_of_any_layout() -> None:
    random = np.random.default_rng(1)
    strided, table = random.random(20)[::2], random.random((10, 3))
    turned, truths = np.asfortranarray(random.random((3, 10))), random.random(10) < 0.5
    require_equal(*results_of_both(kernels.places, strided, table, turned, truths, np.zeros(1)))


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_atomics(real: Any) -> None:
    whole, narrow = np.arange(-3, 5), np.arange(8, dtype=np.uint8)
    args = (whole, np.linspace(-1, 1, 8, dtype=real), narrow, np.arange(16, dtype=np.uint8), np.zeros(7, np.int64))
    require_equal(*results_of_both(kernels.atomics, *args))


NOT_KNOWN = {kernels.making: [0, 2, 4, 6], kernels.of_two_types: [0, 1.5, 0, 0], kernels.inverted_truth: [0, 1, -7, 0]}


@pytest.mark.parametrize("kernel", NOT_KNOWN, ids=lambda kernel: kernel.__name__)
def test_what_is_not_known_is_compiled_by_numba(kernel: Any) -> None:
    out = np.zeros(4)
    assert compiled_call(kernel, (out,)) is None
    run_team(kernel, out, threads=1)
    np.testing.assert_array_equal(out, NOT_KNOWN[kernel])


def test_machine_code_is_kept_and_made_again_where_it_is_damaged(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))
    args = (np.arange(5.0), np.ones(5), np.zeros((14, 5)))
    assert not is_call_kept(kernels.fractions, args)
    first = compiled_call(kernels.fractions, args)
    assert first is not None
    assert is_call_kept(kernels.fractions, args)
    assert not is_call_kept(kernels.fractions, (*args[:2], np.zeros((14, 5), np.float32)))
    (file,) = (tmp_path / "kernels").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    expected = deepcopy(args)
    run_alone(first, expected)
    again = compiled_call(kernels.fractions, args)
    assert again is not None
    run_alone(again, args)
    require_equal(args, expected)


def small_graph() -> dr.Graph:
    random = np.random.default_rng(5)
    ends = random.integers(0, 60, (2, 300))
    return dr.Graph.from_edges(*ends, weight=random.random(300).astype(np.float32), num_vertices=60)


@pytest.mark.parametrize("compiler", ["numba", ""])
def test_programs_run_with_either(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROMOS_COMPILER", compiler)
    monkeypatch.setattr(parallel, "_compiled", type(parallel._compiled)())
    graph = small_graph()
    with only_compiled():
        ranks = dr.pagerank(graph, device="cpu")
    np.testing.assert_allclose(ranks.rank, dr.pagerank(graph, device="reference").rank, rtol=1e-9)


def test_a_compiler_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROMOS_COMPILER", "gcc")
    with pytest.raises(InvalidArgumentError, match="DROMOS_COMPILER='gcc' is not a compiler; choose 'own' or 'numba'"):
        compiled_call(kernels.control, ())


def test_no_kernel_of_a_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_refused", set())
    monkeypatch.setattr(parallel, "_compiled", type(parallel._compiled)())
    graph = small_graph()
    with only_compiled():
        dr.bfs(graph, 0, device="cpu")
        dr.sssp(graph, 0, device="cpu")
        for path in ("sync-push-dd", "async-push-dd", "sync-pull-td"):
            dr.sssp(graph, 0, device="cpu", path=path)
    assert not [name for name in kept._refused if "generated" in name]
