"""The time of a superstep of a search over ranks, fitted to measurements: ``python -m benchmarks.scaling_model FILE``.

    seconds = latency(ranks) + push * edges / ranks + pull * vertices / ranks
              + messages * bytes pushed / ranks + marks * bytes of frontiers / ranks

``latency``: the fastest superstep with almost no work, as a line over the logarithm of the ranks. The others are least
squares, none below zero. ``edges`` are those of the frontier in a pushed superstep, ``vertices`` those of the graph in
a pulled one. FILE has the lines of ``benchmarks.ranks``. docs/design/cluster.md gives the conclusions.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
_THIN = 1000  # edges: a superstep that pushes along fewer has almost no work
_FOLDED = 5  # bytes of a message of a search in a grid: a gap and a parent
_SLOT = 2048  # bytes that the exchange of pushes sends to every rank, as in places/cluster/exchange.py


@dataclass(frozen=True)
class Model:
    """The costs of the parts of a superstep on a machine; times in seconds."""

    latency_once: float
    latency_per_doubling: float
    push: float
    pull: float
    messages: float
    marks: float

    def seconds(self, row: Row) -> float:
        """The prediction for a superstep."""
        costs = self.push, self.pull, self.messages, self.marks
        return self.latency(row["ranks"]) + float(np.dot(_terms(row), costs))

    def latency(self, ranks: int) -> float:
        return self.latency_once + self.latency_per_doubling * math.log2(ranks)


def _terms(row: Row) -> tuple[float, float, float, float]:
    """Edges, vertices, bytes of messages and bytes of frontiers of one rank."""
    ranks = row["ranks"]
    if "-pull-" in row["path"]:
        return 0.0, (1 << row["scale"]) / ranks, 0.0, row["sent"] / ranks
    return row["edges"] / ranks, 0.0, row["sent"] / ranks, 0.0


def fitted(rows: Sequence[Row]) -> Model:
    """Fit the model to measured supersteps.

    >>> true = Model(1e-4, 1e-5, 2e-8, 3e-9, 5e-9, 1e-9)
    >>> rows = [
    ...     {"ranks": p, "scale": 20, "path": f"sync-{way}-dd", "edges": edges, "sent": sent * (p - 1), "seconds": 0.0}
    ...     for p in (1, 2, 4) for way, edges, sent in (("push", 0, 0), ("push", 9_000, 70), ("pull", 9_000, 800))
    ... ]
    >>> found = fitted([{**row, "seconds": true.seconds(row)} for row in rows])
    >>> all(np.isclose(*pair, rtol=1e-3) for pair in zip(vars(found).values(), vars(true).values()))
    True
    """
    thin = [row for row in rows if "-push-" in row["path"] and row["edges"] < _THIN]
    counts = sorted({row["ranks"] for row in thin})
    quickest = [min(row["seconds"] for row in thin if row["ranks"] == ranks) for ranks in counts]
    slope, once = np.polyfit(np.log2(counts), quickest, 1) if len(counts) > 1 else (0.0, quickest[0])
    empty = Model(max(float(once), 0.0), max(float(slope), 0.0), 0.0, 0.0, 0.0, 0.0)
    terms = np.array([_terms(row) for row in rows])
    rest = np.array([row["seconds"] - empty.latency(row["ranks"]) for row in rows])
    return Model(empty.latency_once, empty.latency_per_doubling, *_least_squares(terms, rest))


def _least_squares(terms: Any, values: Any) -> tuple[float, ...]:
    """Non-negative least squares: the best over all choices of terms to leave out."""
    best: tuple[float, tuple[float, ...]] = (float(np.square(values).sum()), (0.0,) * terms.shape[1])
    for count in range(1, terms.shape[1] + 1):
        for chosen in combinations(range(terms.shape[1]), count):
            found = np.linalg.lstsq(terms[:, chosen], values, rcond=None)[0]
            whole = np.zeros(terms.shape[1])
            whole[list(chosen)] = found
            off = float(np.square(terms @ whole - values).sum())
            if (found >= 0).all() and off < best[0]:
                best = off, tuple(whole.tolist())
    return best[1]


@dataclass(frozen=True)
class Network:
    """A cluster that was not measured: one rank per core or GPU, each with its own link."""

    latency: float = 2e-6
    bandwidth: float = 12.5e9


def folded_messages(columns: float) -> float:
    """How many other ranks of its row find a vertex that a pull reaches: a line over the logarithm of the columns.

    Counted on Kronecker graphs of scale 16 and 18 with randomly distributed columns: 0.8, 1.7, 2.9 and 4.1 on 2, 4, 10
    and 32 columns.

    >>> [round(folded_messages(columns), 1) for columns in (1, 2, 4, 10, 32)]
    [0.0, 0.8, 1.7, 2.8, 4.1]
    """
    return 0.83 * math.log2(columns)


def predicted(
    search: Sequence[Row], model: Model, network: Network, ranks: int, *, square: bool = False, sparse: bool = False
) -> dict[str, float]:
    """Predict a search of ``search``'s shape with as many vertices per rank on ``ranks`` ranks; seconds by cause.

    The graph is split by rows of vertices, or (``square``) by rows and columns of ranks, where a rank communicates only
    with those of its row and column. A push sends a message of the exchange's slot to every partner, even if it is
    empty; with ``sparse`` only to partners with data, which one more reduction announces.
    """
    measured = search[0]["ranks"]
    vertices = (1 << search[0]["scale"]) / measured * ranks
    side = math.sqrt(ranks)
    partners = 2 * (side - 1) if square else ranks - 1
    compute = talk = waits = 0.0
    for row in search:
        edges, own, sent, _ = _terms(row)
        compute += model.latency_once + edges * model.push + own * model.pull + sent * model.messages
        waits += 2 * math.log2(ranks) * network.latency  # the reduction at the end of a superstep
        if own:  # all frontiers as bits: of all ranks, or of a column and a row, which then merges the found vertices
            marks = (2 * vertices / side if square else vertices) / 8
            compute += marks * model.marks  # every rank assembles what it receives
            if square:
                folded = row["new"] / measured * folded_messages(side) * _FOLDED
                compute += folded * model.messages
                marks += folded
            talk += marks / network.bandwidth
            waits += math.log2(ranks) * network.latency
            continue
        talk += (2 if square else 1) * (sent + (0 if sparse else partners * _SLOT)) / network.bandwidth
        reached = min(partners, row["new"] / measured) if sparse else partners
        waits += reached * network.latency + (math.log2(ranks) * network.latency if sparse else 0.0)
    return {"compute": compute, "wire": talk, "latency": waits, "total": compute + talk + waits}


def extrapolation(search: Sequence[Row], model: Model, network: Network) -> str:
    """A table of predictions."""
    lines = [
        "| ranks | split | compute ms | wire ms | latency ms | search ms | GTEPS |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    edges = 16 * (1 << search[0]["scale"]) / search[0]["ranks"]
    for ranks in (16, 100, 1000):
        for name, square, sparse in (("1-D", False, False), ("1-D, sparse", False, True), ("2-D, sparse", True, True)):
            found = predicted(search, model, network, ranks, square=square, sparse=sparse)
            cells = [f"{found[part] * 1e3:.1f}" for part in ("compute", "wire", "latency", "total")]
            lines.append(f"| {ranks} | {name} | {' | '.join(cells)} | {edges * ranks / found['total'] / 1e9:.1f} |")
    return "\n".join(lines)


def report(rows: Iterable[Row], fit_ranks: Sequence[int]) -> str:
    """The fit on some numbers of ranks, and its error on each."""
    steps = [row for row in rows if row["work"] == "superstep" and row["device"] == "mpi"]
    model = fitted([row for row in steps if row["ranks"] in fit_ranks])
    lines = [
        f"latency {model.latency_once * 1e6:.0f} us, {model.latency_per_doubling * 1e6:.0f} us for each doubling; "
        f"push {model.push * 1e9:.1f} ns per edge, pull {model.pull * 1e9:.1f} ns per vertex, messages "
        f"{model.messages * 1e9:.1f} and frontiers {model.marks * 1e9:.1f} ns per byte; fitted on "
        f"{', '.join(map(str, fit_ranks))} ranks",
        "",
        "| ranks | scale | measured ms | model ms | latency ms | off |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for ranks, scale in sorted({(row["ranks"], row["scale"]) for row in steps}):
        search = [row for row in steps if (row["ranks"], row["scale"]) == (ranks, scale)]
        real, guess = sum(row["seconds"] for row in search), sum(map(model.seconds, search))
        waits = len(search) * model.latency(ranks)
        off = f"{100 * (guess / real - 1):+.0f} %"
        lines.append(f"| {ranks} | {scale} | {real * 1e3:.1f} | {guess * 1e3:.1f} | {waits * 1e3:.2f} | {off} |")
    searches = [row for row in steps if row["ranks"] == max(row["ranks"] for row in steps)]
    largest = [row for row in searches if row["scale"] == max(row["scale"] for row in searches)]
    return "\n".join([*lines, "", extrapolation(largest, model, Network())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", type=Path)
    parser.add_argument("--fit", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.file.read_text().splitlines() if line.startswith("{")]
    print(report(rows, given.fit))


if __name__ == "__main__":
    main()
