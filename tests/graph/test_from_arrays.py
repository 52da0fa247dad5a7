"""Graphs from arrays of NumPy, Arrow, pandas and polars, and by DLPack."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dromos import Graph
from dromos.errors import GraphDataError
from dromos.graph.columns import as_numpy

pl = pytest.importorskip("polars")


class ByDLPack:
    """An array that only speaks DLPack, as a tensor of another library does."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def __dlpack__(self, **options: object) -> object:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._values.__dlpack_device__()


class OnADevice(ByDLPack):
    def __dlpack__(self, **options: object) -> object:
        raise BufferError("the tensor lies on cuda:0")


class TestArrays:
    def test_dlpack(self) -> None:
        g = Graph.from_edges(ByDLPack(np.array([0, 1])), ByDLPack(np.array([1, 2])), ByDLPack(np.array([0.5, 1.5])))
        assert g == Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])

    def test_dlpack_shares_memory(self) -> None:
        values = np.arange(5)
        assert np.shares_memory(as_numpy(ByDLPack(values)), values)

    def test_dlpack_of_a_device(self) -> None:
        with pytest.raises(GraphDataError, match=r"cuda:0.*move it to the CPU"):
            as_numpy(OnADevice(np.arange(3)))

    def test_read_only_and_strided(self) -> None:
        src = np.arange(8)
        src.flags.writeable = False
        assert Graph.from_edges(src[::2], src[1::2]).edges().src.tolist() == [0, 2, 4, 6]

    def test_other_byte_order(self) -> None:
        g = Graph.from_edges(np.array([0, 1], ">i4"), np.array([1, 2], ">i8"), np.array([0.5, 2], ">f4"))
        assert g == Graph.from_edges([0, 1], [1, 2], np.array([0.5, 2], np.float32))

    def test_masked(self) -> None:
        with pytest.raises(GraphDataError, match="masked"):
            Graph.from_edges(np.ma.array([0, 1], mask=[0, 1]), [1, 0])

    def test_numbers_among_strings(self) -> None:
        with pytest.raises(GraphDataError, match="int, str"):
            Graph.from_edges(["a", 1], ["b", "c"])

    def test_arrow_nulls(self) -> None:
        with pytest.raises(GraphDataError, match="1 missing"):
            Graph.from_edges(pa.array([0, None]), pa.array([1, 2]))

    def test_bool_weights_are_counted_as_ones(self) -> None:
        assert Graph.from_edges([0, 1], [1, 0], [True, False]).weights.tolist() == [1, 0]

    def test_complex_weights(self) -> None:
        with pytest.raises(GraphDataError, match="complex"):
            Graph.from_edges([0], [1], [1j])

    def test_ragged(self) -> None:
        with pytest.raises(GraphDataError, match="not a column"):
            Graph.from_edges([[0], [1, 2]], [1, 0])

    @pytest.mark.parametrize("series", [pd.Series, pl.Series])
    def test_series(self, series: type) -> None:
        assert Graph.from_edges(series(["a", "b"]), series(["b", "c"])).num_vertices == 3
        assert Graph.from_edges(series([0, 1]), series([1, 2]), series([1.5, 2.5])).weights.tolist() == [1.5, 2.5]
