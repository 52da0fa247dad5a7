"""Arrays of the host on their way to a device, brought by compiled threads and by Python's."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cuda import arrivals, rows
from dromos.engines.cuda.arrivals import Arrival
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.errors import FieldOverflowError

pytestmark = pytest.mark.gpu


@pytest.fixture(params=[True, False], ids=["compiled", "python"])
def carriers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "_is_compiler_loaded", lambda: request.param)


@pytest.mark.usefixtures("carriers")
@pytest.mark.parametrize("size", [1, 512 << 10, (8 << 20) + 5, 40 << 20])
def test_every_byte_arrives(size: int) -> None:
    values = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    arrival = Arrival.begun(values)
    half = arrival.array(size // 2)[: size // 2].get()
    np.testing.assert_array_equal(half, values[: size // 2])
    np.testing.assert_array_equal(arrival.array(size).get(), values)


@pytest.mark.usefixtures("carriers")
def test_rows_of_a_table_arrive() -> None:
    values = np.random.default_rng(3).random((400_001, 3))
    arrival = Arrival(values)
    arrival.bring()
    np.testing.assert_array_equal(arrival.array(len(values)).get(), values)


@pytest.mark.usefixtures("carriers")
def test_rows_are_the_same_in_pieces_and_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = dr.generators.with_random_weights(dr.generators.rmat(11, 8, seed=3), 1, 9, seed=1)
    at_once = DeviceGraph.from_host(graph)
    monkeypatch.setattr(rows, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(rows, "_ARRIVING", 1 << 11)
    monkeypatch.setattr(rows, "_LAST_ARRIVING", 1 << 8)
    in_pieces = DeviceGraph.from_host(graph)
    for one, other in ((at_once.out, in_pieces.out), (at_once.into, in_pieces.into)):
        for name in ("offsets", "targets", "weights"):
            np.testing.assert_array_equal(getattr(one, name).get(), getattr(other, name).get())
    degrees = np.diff(at_once.into.offsets.get().astype(np.int64))
    assert (np.diff(degrees) <= 0).all()
    ids = at_once.ids.get()
    np.testing.assert_array_equal(ids, np.argsort(-graph.in_degree, kind="stable"))
    first, begin = ids[0], at_once.out.offsets.get()
    row = graph.targets[graph.offsets[first] : graph.offsets[first + 1]]
    np.testing.assert_array_equal(at_once.out.targets.get()[begin[0] : begin[1]], np.sort(at_once.rank.get()[row]))


def test_a_driver_that_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int64] * 4)(lambda *_: 700)
    refused, known = ctypes.cast(refuse, ctypes.c_void_p).value, arrivals.address_of
    monkeypatch.setattr(arrivals, "_is_compiler_loaded", lambda: True)
    monkeypatch.setattr(arrivals, "address_of", lambda name: refused if "Memcpy" in name else known(name))
    arrival = Arrival(np.zeros(4 << 20, np.uint8))
    with pytest.raises(dr.DromosError, match="copy to the GPU failed"):
        arrival.bring()


class Large(dr.Program):
    """All vertices start, so the start is not waited for."""

    most = dr.param(int)
    value = dr.field(np.int8)
    combine = dr.MAX

    def init(self, v: Any) -> Any:
        return v.id + self.most

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.value

    def update(self, v: Any, message: Any) -> Any:
        return dr.maximum(v.value, message)


@pytest.mark.parametrize("max_iter", [None, 0])
def test_an_overflow_at_the_start_is_found(max_iter: int | None) -> None:
    line = dr.generators.path(6)
    assert dr.run(Large(most=100), line, device="cuda").value.tolist() == [105] * 6
    with pytest.raises(FieldOverflowError, match="init"):
        dr.run(Large(most=125), line, device="cuda", max_iter=max_iter)
    assert dr.run(Large(most=1), line, device="cuda").value.tolist() == [6] * 6
