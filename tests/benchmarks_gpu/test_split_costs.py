"""The model of a hybrid against the recorded runs, and where its inputs come from; no device is needed."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from benchmarks.gpu.hybrid import MODELS
from benchmarks.gpu.split_costs import FREE, MEASURED, SIZES, WITHIN, Case, cases_of, fitted, main, predicted
from benchmarks.gpu.split_sizes import rmat_edges, sizes_of_splits
from dromos.graph.parting import SPLITS
from dromos.places.hybrid import split_graph
from dromos.plan.cost import SplitCost

CASES = cases_of()
SHARES = (0.05, 0.1, 0.25, 0.5, 0.75)


def model_of(case: Case) -> SplitCost:
    cost = MODELS[case.work]
    assert cost is not None
    return cost


def test_all_splits_of_the_table_are_recorded() -> None:
    small = {(case.work, case.split, case.share) for case in CASES if case.graph == "kron21"}
    assert small == set(itertools.product(MODELS, SPLITS, SHARES))
    assert {case.work for case in CASES if case.graph == "kron24"} == set(MODELS)


def test_the_model_is_near_what_was_measured() -> None:
    """The recorded run was made after the numbers of the model were fixed."""
    off = {f"{case.work} {case}": predicted(model_of(case), case) / case.ms - 1 for case in CASES}
    far = {name: error for name, error in off.items() if abs(error) > WITHIN}
    assert list(far) == ["sssp kron21 high 0.75"]
    assert far["sssp kron21 high 0.75"] == pytest.approx(-0.30, abs=0.01)


def test_recorded_sizes_are_those_of_the_graphs_that_were_measured() -> None:
    sizes = {(row["graph"], row["split"], row["share"]): row for row in json.loads(SIZES.read_text())["rows"]}
    rows = [row for row in json.loads(MEASURED.read_text())["rows"] if row["row"] in MODELS]
    for row in rows:
        size = sizes[row["graph"], row["split"], row["share"]]
        assert size["first_arcs"] == round(row["first_arcs"])  # it was a share of all arcs once
        assert size["first_vertices"] == row["first_vertices"]
        assert size["first_arcs"] + size["second_arcs"] == row["arcs"]
        assert size["inner_arcs"] + size["cut_arcs"] == size["first_arcs"]


@pytest.mark.parametrize("split", SPLITS)
def test_sizes_are_those_of_the_split_that_a_run_makes(split: str) -> None:
    low, high = rmat_edges(9)
    graph = dr.Graph.from_edges(low, high, num_vertices=1 << 9, directed=False)
    for row in sizes_of_splits(9, [(name, share) for name in SPLITS if name == split for share in SHARES]):
        made = split_graph(graph, (row["share"], 1 - row["share"]), row["split"])
        first = made.bounds[1]
        assert row["first_vertices"] == first
        rows = made.graph.offsets[: first + 1]
        assert row["first_arcs"] == rows[-1]
        assert row["first_joined"] == np.count_nonzero(np.diff(rows))
        assert row["inner_arcs"] == np.count_nonzero(made.graph.targets[: rows[-1]] < first)


@pytest.mark.parametrize("work", MODELS)
def test_a_fit_finds_the_numbers_that_made_the_times(work: str) -> None:
    cases = [case for case in CASES if case.work == work]
    known = model_of(cases[0])
    cases = [replace(case, ms=predicted(known, case)) for case in cases]
    found = fitted(cases, known, FREE[work], starts=8)
    for case in cases:
        assert predicted(found, case) == pytest.approx(case.ms, rel=0.1)  # numbers are rounded to two digits


def test_rows_that_have_sizes_of_their_own_need_no_other_file(tmp_path: Path) -> None:
    recorded = json.loads(MEASURED.read_text())
    (size,) = [
        row for row in json.loads(SIZES.read_text())["rows"] if row["graph"] == "kron24"
    ]  # the one split of that graph
    rows = [row for row in recorded["rows"] if row["row"].startswith("rates of")]
    rows += [{**size, **row} for row in recorded["rows"] if row["row"] in MODELS and row["graph"] == "kron24"]
    measured, sizes = tmp_path / "hybrid.json", tmp_path / "none.json"
    measured.write_text(json.dumps({"rows": rows}))
    sizes.write_text('{"rows": []}')
    assert cases_of(measured, sizes) == [case for case in CASES if case.graph == "kron24"]


def test_the_command_prints_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    printed = capsys.readouterr().out
    assert printed.count(" measured ") == len(CASES) == 64
    assert printed.count("16 of 16 within 25%") == 3
    assert printed.count("15 of 16 within 25%, the worst kron21 high 0.75 -30%") == 1
