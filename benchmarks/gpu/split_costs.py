"""The model of a hybrid beside measured runs: ``python -m benchmarks.gpu.split_costs``.

Prints for each row of ``benchmarks/results/h200/hybrid.json`` the measured milliseconds and those that the model in use
gives, from the rates that were measured in the same run and the sizes of the parts; and of all recorded runs, the
median error of each row. ``--table`` prints the medians of all recorded runs as a table of Markdown. No device is
needed.

``--fit`` fits the numbers of :class:`dromos.plan.cost.SplitCost` to all rows, by least squares of the logarithms, and
tests them twice: fitted to three of the five shares and compared with the other two, and fitted to all rows but one
and compared with that one, for each row in turn. ``--ablate`` fits them to all rows again without one term or another.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from benchmarks.gpu.hybrid import MODELS
from benchmarks.record import RESULTS
from dromos.places.hybrid.model import predicted_run
from dromos.places.hybrid.part_sizes import PartSize
from dromos.places.hybrid.rates import Rates
from dromos.plan.cost import SplitCost

__all__ = [
    "EARLIER", "FREE", "MEASURED", "RUNS", "WITHIN", "Case", "cases_of", "errors_of_runs", "fitted", "median_errors",
    "predicted", "table",
]  # fmt: skip

Row = dict[str, Any]
MEASURED = RESULTS / "h200" / "hybrid.json"
EARLIER = RESULTS / "h200" / "hybrid_runs"
"""Earlier runs of the same benchmark."""
RUNS = (*sorted(EARLIER.glob("*.json")), MEASURED)
WITHIN = 0.25
FITTED = (0.05, 0.25, 0.75)
"""The shares whose rows the first test fits to."""
FREE: dict[str, tuple[str, ...]] = {
    "bfs": ("vertices", "steps", "growth", "shared"),
    "pagerank, an iteration": ("arcs", "vertices", "steps", "crossing"),
    "components": ("arcs", "vertices", "steps", "on_device"),
    "sssp": ("arcs", "vertices", "steps", "inner", "growth", "on_device"),
}
"""The numbers that are fitted for each algorithm; the others do not affect it, and keep their values."""
_BOUNDS: dict[str, tuple[float, float]] = {
    "arcs": (1e-3, 40.0),
    "vertices": (1e-2, 100.0),
    "steps": (0.1, 40.0),
    "crossing": (1.0, 200.0),
    "inner": (0.5, 4.0),
    "growth": (0.2, 1.0),
    "on_device": (0.2, 30.0),
    "shared": (0.01, 20.0),
}


@dataclass(frozen=True)
class Case:
    """A measured run on a split graph, and the model's inputs for it."""

    work: str
    graph: str
    split: str
    share: float
    ms: float
    cpu_alone: float
    """Milliseconds of the CPU alone in that run."""
    predicted_then: float
    """Milliseconds by the model at the time of the recording."""
    parts: tuple[PartSize, ...]
    rates: tuple[Rates, ...]

    def __str__(self) -> str:
        return f"{self.graph} {self.split} {self.share:g}"


def cases_of(measured: Path = MEASURED) -> list[Case]:
    """The runs of a file, in its order."""
    rows: list[Row] = json.loads(measured.read_text())["rows"]
    by_name = {row["row"]: row for row in rows}
    names = [one.name for one in fields(Rates)]
    rates = tuple(Rates(**{name: by_name[f"rates of {device}"][name] for name in names}) for device in ("cpu", "cuda"))
    return [
        Case(
            row["row"], row["graph"], row["split"], row["share"], row["ms"], row["cpu_alone_ms"],
            row["predicted_ms"], _parts_of(row), rates,
        )
        for row in rows
        if row["row"] in MODELS
    ]  # fmt: skip


def _parts_of(row: Row) -> tuple[PartSize, ...]:
    names = [one.name for one in fields(PartSize)]
    return tuple(PartSize(**{name: row[f"{which}_{name}"] for name in names}) for which in ("first", "second"))


def predicted(cost: SplitCost, case: Case) -> float:
    """Milliseconds by the model."""
    return predicted_run(cost, case.parts, case.rates) * 1e3


def errors_of_runs(files: Sequence[Path]) -> list[dict[str, float]]:
    """The relative error of the model in use for each row of each run."""
    found = []
    for file in files:
        errors: dict[str, float] = {}
        for case in cases_of(file):
            cost = MODELS[case.work]
            assert cost is not None
            errors[f"{case.work}, {case}"] = predicted(cost, case) / case.ms - 1
        found.append(errors)
    return found


def median_errors(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median error of each row over the runs that have it."""
    rows = dict.fromkeys(row for run in runs for row in run)
    return {row: statistics.median(run[row] for run in runs if row in run) for row in rows}


def table(runs: Sequence[Sequence[Case]]) -> str:
    """Medians of runs: milliseconds, measured and predicted speed-up over the CPU alone, and the errors of each run."""
    rows: dict[str, dict[str, list[Case]]] = {}
    for case in (case for run in runs for case in run):
        rows.setdefault(str(case), {}).setdefault(case.work, []).append(case)
    lines = [["graph, split, share", *MODELS], ["---"] * (len(MODELS) + 1)]
    lines += [[name, *(_cell(by_work.get(work, ())) for work in MODELS)] for name, by_work in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cases: Sequence[Case]) -> str:
    if not cases:
        return ""
    cost = MODELS[cases[0].work]
    assert cost is not None
    told = [predicted(cost, case) for case in cases]
    faster = statistics.median(case.cpu_alone / case.ms for case in cases)
    expected = statistics.median(case.cpu_alone / ms for case, ms in zip(cases, told, strict=True))
    errors = [ms / case.ms - 1 for case, ms in zip(cases, told, strict=True)]
    return (
        f"{statistics.median(case.ms for case in cases):.3g}: {faster:.2f} / {expected:.2f} "
        f"(**{statistics.median(errors):+.0%}**; {', '.join(f'{error:+.0%}' for error in errors)})"
    )


def fitted(cases: Sequence[Case], known: SplitCost, names: Sequence[str], starts: int = 12) -> SplitCost:
    """``known`` with the numbers called ``names`` chosen so that its predictions are nearest to the runs."""

    def cost(logs: Any) -> SplitCost:
        return replace(known, **dict(zip(names, np.exp(logs).tolist(), strict=True)))

    def errors(logs: Any) -> list[float]:
        made = cost(logs)
        return [math.log(predicted(made, case) / case.ms) for case in cases]

    bounds = np.log([_BOUNDS[name] for name in names]).T
    draw, best = np.random.default_rng(1), None
    for _ in range(starts):  # the problem is not convex
        found = least_squares(errors, draw.uniform(*bounds), bounds=tuple(bounds))
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    rounded = {name: float(f"{value:.2g}") for name, value in zip(names, np.exp(best.x), strict=True)}
    return replace(known, **rounded)


def _errors(cost: SplitCost, cases: Sequence[Case]) -> dict[str, float]:
    return {str(case): predicted(cost, case) / case.ms - 1 for case in cases}


def _told(errors: Mapping[str, float]) -> str:
    good = sum(abs(error) <= WITHIN for error in errors.values())
    worst = max(errors, key=lambda name: abs(errors[name]))
    spread = math.sqrt(sum(math.log1p(error) ** 2 for error in errors.values()) / len(errors))
    off = [f"{name} {error:+.0%}" for name, error in errors.items() if abs(error) > WITHIN]
    return (
        f"{good} of {len(errors)} within {WITHIN:.0%}, the worst {worst} {errors[worst]:+.0%}, root of the mean square "
        f"{spread:.0%}" + (f"; off: {', '.join(off)}" if off else "")
    )


def _compare(work: str, cost: SplitCost, cases: Sequence[Case]) -> None:
    print(f"{work}: {cost}")
    for case in cases:
        ms = predicted(cost, case)
        then = case.predicted_then / case.ms - 1
        print(
            f"  {case!s:20} measured {case.ms:8.3f}  predicted {ms:8.3f}  {ms / case.ms - 1:+4.0%}  (then {then:+4.0%})"
        )
    print(f"  {_told(_errors(cost, cases))}")


def _fit_and_test(work: str, known: SplitCost, cases: Sequence[Case]) -> None:
    names = FREE[work]
    _compare(work, fitted(cases, known, names), cases)
    fit, test = ([case for case in cases if (case.share in FITTED) is kind] for kind in (True, False))
    print(f"  fitted to the shares {FITTED}, the others: {_told(_errors(fitted(fit, known, names), test))}")
    left_out: dict[str, float] = {}
    for case in cases:
        others = [other for other in cases if other is not case]
        left_out |= _errors(fitted(others, known, names, starts=4), [case])
    for graph in dict.fromkeys(case.graph for case in cases):
        of_graph = {name: error for name, error in left_out.items() if name.startswith(f"{graph} ")}
        print(f"  each left out of its fit, {graph}: {_told(of_graph)}")


def _ablate(work: str, known: SplitCost, cases: Sequence[Case]) -> None:
    """Errors of the fit if all vertices count, or if a search is treated like other programs."""
    bare = [replace(case, parts=tuple(replace(part, joined=part.vertices) for part in case.parts)) for case in cases]
    variants = {"as it is": (known, cases), "all vertices": (replace(known, search=False), bare)}
    if known.search:
        variants["vertices with arcs"] = replace(known, search=False), cases
    print(f"{work}:")
    for name, (cost, some) in variants.items():
        _tell_all(name, _errors(fitted(some, cost, FREE[work]), some))
        if "shared" in FREE[work]:
            fewer = [number for number in FREE[work] if number != "shared"]
            _tell_all(f"{name}, without shared", _errors(fitted(some, replace(cost, shared=0.0), fewer), some))


def _tell_all(name: str, errors: Mapping[str, float]) -> None:
    print(f"  {name}: {_told(errors)}")
    print("    " + ", ".join(f"{case} {error:+.0%}" for case, error in errors.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print predictions beside the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=MEASURED, help="what the benchmark hybrid wrote")
    parser.add_argument("--fit", action="store_true", help="fit the numbers anew, and test them")
    parser.add_argument("--ablate", action="store_true", help="fit them without one term or another")
    parser.add_argument("--table", action="store_true", help="print the medians of all recorded runs")
    asked = parser.parse_args(arguments)
    if asked.table:
        print(table([cases_of(file) for file in RUNS]))
        return
    cases = cases_of(asked.file)
    for work, known in MODELS.items():
        assert known is not None
        mine = [case for case in cases if case.work == work]
        if asked.fit:
            _fit_and_test(work, known, mine)
        elif asked.ablate:
            _ablate(work, known, mine)
        else:
            _compare(work, known, mine)
    if not (asked.fit or asked.ablate):
        runs = errors_of_runs(RUNS)
        print(f"The median of {len(runs)} runs: {_told(median_errors(runs))}")


if __name__ == "__main__":
    main()
