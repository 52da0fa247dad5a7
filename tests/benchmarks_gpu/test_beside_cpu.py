"""Whole calls on a GPU beside the CPU's: the rows, with NumPy in the GPU's place."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import dromos as dr
from benchmarks.gpu import beside_cpu
from benchmarks.gpu.command import BENCHMARKS


@pytest.fixture(autouse=True)
def _made_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def host(weighted: bool) -> dr.Graph:
        graph = dr.generators.complete(70)  # more vertices than sources are drawn
        return dr.generators.with_random_weights(graph, 1, 9, seed=1) if weighted else graph

    monkeypatch.setattr(beside_cpu, "make", lambda name: SimpleNamespace(host=host))


def test_every_algorithm_has_a_row_on_its_graphs() -> None:
    rows = list(beside_cpu.run(device="numpy"))
    assert BENCHMARKS["beside_cpu"].key == ("graph", "row")
    assert {(row["graph"], row["row"]) for row in rows} == {
        (graph, label) for label, row in beside_cpu.ROWS.items() for graph in row.graphs
    }
    assert not any(row["differs"] for row in rows)
    assert all(row["ms"] > 0 and row["ratio"] == row["ms"] / row["peer_ms"] for row in rows)


def test_rows_and_graphs_can_be_chosen() -> None:
    found = list(beside_cpu.run(graphs=["path"], rows=["truss"], device="numpy"))
    assert [(row["graph"], row["row"]) for row in found] == [("path", "truss_numbers")]
    quick = list(beside_cpu.run(quick=True, rows=["coloring"], device="numpy"))
    assert {row["graph"] for row in quick} == set(beside_cpu._QUICK_GRAPHS)


def test_an_answer_that_differs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def forged(graph: dr.Graph, device: str) -> SimpleNamespace:
        return SimpleNamespace(color=np.arange(70) if device == "cpu" else np.zeros(70), device=device)

    monkeypatch.setitem(beside_cpu.ROWS, "coloring", beside_cpu.ROWS["coloring"]._replace(call=forged))
    assert next(row["differs"] for row in beside_cpu.run(graphs=["one"], rows=["coloring"], device="numpy"))
