"""Pictures of a run: a trace as seconds and frontier per step, a result as a distribution and a list of the top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.errors import MissingDependencyError
from dromos.graph.pictures import new_axes
from dromos.runner.host import on_host

if TYPE_CHECKING:
    from dromos.runner.result import Result
    from dromos.runner.trace import Trace

__all__ = ["plot", "plot_result"]


def plot(trace: Trace, ax: Any = None) -> Any:
    """Bars of milliseconds colored by path, and the frontier as a line on an axis of its own; returns the axes.

    Where several processors shared the steps, a narrow bar for each of them, and one for the exchange, stands before
    the bar of the step. Together they are higher than it where they overlap.
    """
    try:
        from matplotlib import colormaps
    except ImportError:
        raise MissingDependencyError("Trace.plot() needs matplotlib: pip install 'dromos[plot]'") from None
    ax = new_axes("Trace.plot()", ax, figsize=(9, 4))
    colours = colormaps["tab10"].colors
    steps, shared = range(len(trace)), [row.busy for row in trace]
    names = list(dict.fromkeys(name for busy in shared for name in busy))
    for number, path in enumerate(trace.paths):
        mine = [i for i in steps if trace[i].path == path]
        ax.bar(
            mine, [trace[i].seconds * 1e3 for i in mine], color=colours[number % len(colours)], label=path,
            alpha=0.3 if names else 1.0,
        )  # fmt: skip
    width, dark = 0.7 / max(len(names), 1), colormaps["Dark2"].colors
    for number, name in enumerate(names):
        places = [i + (number - (len(names) - 1) / 2) * width for i in steps]
        heights = [busy.get(name, 0.0) for busy in shared]
        ax.bar(places, heights, width, color=dark[number % len(dark)], label=name)
    ax.set_xlabel("step")
    ax.set_ylabel("ms")
    frontier = ax.twinx()
    frontier.plot(steps, [row.frontier for row in trace], color="0.25", marker=".", label="frontier")
    frontier.set_yscale("symlog")
    frontier.set_ylabel("vertices in the frontier")
    handles = [*ax.get_legend_handles_labels()[0], *frontier.get_legend_handles_labels()[0]]
    ax.legend(handles=handles, loc="best")
    return ax


_BINS = 40
_TOP = 10


def plot_result(result: Result, by: str | None = None, axes: Any = None) -> Any:
    """A histogram of the finite values of a field, and bars of the vertices with the greatest ones.

    Of groups of vertices, their sizes, and bars of the largest.
    """
    top = result.top(_TOP, by=by)
    rows = "vertices" if result._index is None else "rows"
    if by is None and result.group_field is not None:
        name, rows = f"vertices by {result.group_field}", "groups"
        shown = np.unique(on_host(result[result.group_field]), return_counts=True)[1]
    else:
        name = result._main_field() if by is None else by
        shown = on_host(result[name])
    values = shown.astype(np.float64)
    finite = values[np.isfinite(values)]
    left, right = new_axes("Result.plot()", axes, ncols=2, figsize=(10, 4))
    whole = finite.size and shown.dtype.kind in "iub" and finite.max() - finite.min() < _BINS
    left.hist(finite, bins=np.arange(finite.min(), finite.max() + 2) - 0.5 if whole else _BINS, color="C0")
    left.set_yscale("log")
    left.set_xlabel(name)
    left.set_ylabel(rows)
    places = range(len(top))
    right.barh(places, [value for _, value in top], color="C0")
    right.set_yticks(places, [str(vertex) for vertex, _ in top])
    right.invert_yaxis()
    right.set_xlabel(name)
    right.set_title(f"the top {len(top)} of {len(values):,}", fontsize="medium")
    return left, right
