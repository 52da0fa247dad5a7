"""The model of a hybrid against the recorded runs, and where its inputs come from; no device is needed."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from benchmarks.gpu.hybrid import MODELS
from benchmarks.gpu.split_costs import (
    FREE,
    RUNS,
    WITHIN,
    Case,
    cases_of,
    errors_of_runs,
    fitted,
    main,
    median_errors,
    predicted,
    table,
)
from dromos.graph.parting import SPLITS
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


def test_the_model_is_near_the_median_of_what_was_measured() -> None:
    """A run has its own noise, and so have its rates."""
    runs = errors_of_runs(RUNS)
    assert [len(run) for run in runs] == [64] * 5
    median = median_errors(runs)
    assert len(median) == 64
    assert max(map(abs, median.values())) < 0.2 < WITHIN


def test_the_model_is_near_most_rows_of_each_run() -> None:
    """Three were fitted to; in the fourth some rows took up to twice as long as in the others."""
    assert [sum(abs(error) > WITHIN for error in run.values()) for run in errors_of_runs(RUNS)] == [0, 0, 0, 3, 0]


def test_the_table_has_a_row_for_each_split() -> None:
    lines = table([cases_of(file) for file in RUNS]).splitlines()
    assert len(lines) == 2 + 16
    assert {line.count("|") for line in lines} == {len(MODELS) + 2}
    one = CASES[0]
    ms = predicted(model_of(one), one)
    assert f"{one.ms:.3g}: {one.cpu_alone / one.ms:.2f} / {one.cpu_alone / ms:.2f} " in table([[one]])


@pytest.mark.parametrize("work", MODELS)
def test_a_fit_finds_the_numbers_that_made_the_times(work: str) -> None:
    cases = [case for case in CASES if case.work == work]
    known = model_of(cases[0])
    cases = [replace(case, ms=predicted(known, case)) for case in cases]
    found = fitted(cases, known, FREE[work], starts=8)
    for case in cases:
        assert predicted(found, case) == pytest.approx(case.ms, rel=0.1)  # numbers are rounded to two digits


def test_the_command_prints_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    printed = capsys.readouterr().out
    assert printed.count(" measured ") == len(CASES) == 64
    assert printed.count("16 of 16 within 25%") == len(MODELS)
    assert "The median of 5 runs: 64 of 64 within 25%" in printed
