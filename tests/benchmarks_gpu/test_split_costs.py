"""The model of a hybrid against the recorded runs, and where its inputs come from; no device is needed."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.gpu.hybrid import MODELS
from benchmarks.gpu.split_costs import FREE, MEASURED, WITHIN, Case, cases_of, fitted, main, predicted
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


@pytest.mark.parametrize(
    ("file", "off", "error"),
    [
        (MEASURED, "sssp kron21 high 0.75", -0.30),
        (MEASURED.with_name("hybrid_later.json"), "pagerank, an iteration kron21 random 0.05", -0.32),
    ],
    ids=["table", "later"],
)
def test_the_model_is_near_what_was_measured(file: Path, off: str, error: float) -> None:
    """The recorded runs were made after the numbers of the model were fixed."""
    cases = cases_of(file)
    assert len(cases) == 64
    errors = {f"{case.work} {case}": predicted(model_of(case), case) / case.ms - 1 for case in cases}
    far = {name: found for name, found in errors.items() if abs(found) > WITHIN}
    assert far == {off: pytest.approx(error, abs=0.01)}


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
    assert printed.count("16 of 16 within 25%") == 3
    assert printed.count("15 of 16 within 25%, the worst kron21 high 0.75 -30%") == 1
