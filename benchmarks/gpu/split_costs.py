"""What algorithms cost on a split graph, fitted to measured runs: ``python -m benchmarks.gpu.split_costs FILE``.

FILE is what ``python -m benchmarks --gpu hybrid`` wrote. The numbers of :class:`dromos.plan.cost.SplitCost` are fitted
to the rows of three of the five shares, on all graphs together, by least squares of the logarithms. The rows of the
other two shares are the test. ``--in-use`` compares the numbers that the algorithms' own files state, without fitting.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from benchmarks.gpu.hybrid import MODELS
from dromos.places.hybrid.model import predicted_run
from dromos.places.hybrid.rates import Rates
from dromos.plan.cost import SplitCost

Row = dict[str, Any]
WITHIN = 0.25
FITTED = (0.05, 0.25, 0.75)
"""The shares whose rows the numbers are fitted to."""
_NUMBERS = ("arcs", "vertices", "crossing", "steps", "growth", "on_device")
_LEAST, _MOST = (1e-3, 1e-3, 1e-2, 0.5, 0.2, 0.2), (40.0, 100.0, 200.0, 40.0, 1.0, 4.0)


def predicted(cost: SplitCost, row: Row, rates: Sequence[Rates]) -> float:
    """Milliseconds by the model."""
    arcs = [row["first_arcs"], row["arcs"] - row["first_arcs"]]
    vertices = [row["first_vertices"], row["vertices"] - row["first_vertices"]]
    return predicted_run(cost, arcs, vertices, rates) * 1e3


def fitted(rows: Sequence[Row], rates: Sequence[Rates], inner: bool) -> SplitCost:
    """The cost whose predictions are nearest to the rows."""

    def cost(logs: Any) -> SplitCost:
        return SplitCost(**dict(zip(_NUMBERS, np.exp(logs).tolist(), strict=True)), inner=inner)

    def errors(logs: Any) -> list[float]:
        made = cost(logs)
        return [math.log(predicted(made, row, rates) / row["ms"]) for row in rows]

    bounds = np.log(_LEAST), np.log(_MOST)
    draw, best = np.random.default_rng(1), None
    for _ in range(24):  # it is no convex problem
        found = least_squares(errors, draw.uniform(*bounds), bounds=bounds, loss="soft_l1", f_scale=0.2)
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    rounded = {name: float(f"{value:.2g}") for name, value in zip(_NUMBERS, np.exp(best.x), strict=True)}
    return SplitCost(**rounded, inner=inner)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the numbers, and how far they are off on each graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--in-use", action="store_true")
    asked = parser.parse_args(arguments)
    rows: list[Row] = json.loads(asked.file.read_text())["rows"]
    by_name = {row["row"]: row for row in rows}
    names = ("arcs", "vertices", "bytes", "long_arcs", "step")
    rates = [Rates(**{name: by_name[f"rates of {device}"][name] for name in names}) for device in ("cpu", "cuda")]
    for work, known in MODELS.items():
        assert known is not None
        mine = [row for row in rows if row["row"] == work]
        fit, test = ([row for row in mine if (row["share"] in FITTED) is kind] for kind in (True, False))
        cost = known if asked.in_use else fitted(fit, rates, known.inner)
        print(f"{work}: {cost}")
        for what, some in (("fitted", fit), ("test", test)):
            for graph in dict.fromkeys(row["graph"] for row in some):
                print(f"  {what}, {graph}: {_told(cost, [row for row in some if row['graph'] == graph], rates)}")


def _told(cost: SplitCost, rows: Sequence[Row], rates: Sequence[Rates]) -> str:
    off = {(row["split"], row["share"]): predicted(cost, row, rates) / row["ms"] - 1 for row in rows}
    good = sum(abs(error) <= WITHIN for error in off.values())
    text = ", ".join(f"{split} {share:g} {error:+.0%}" for (split, share), error in off.items())
    return f"{good} of {len(off)} within {WITHIN:.0%}: {text}"


if __name__ == "__main__":
    main()
