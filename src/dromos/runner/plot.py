"""The picture of a trace: seconds and frontier per step, by path, and by processor where several ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dromos.errors import MissingDependencyError

if TYPE_CHECKING:
    from dromos.runner.trace import Trace

__all__ = ["plot"]


def plot(trace: Trace, ax: Any = None) -> Any:
    """Bars of milliseconds coloured by path, and the frontier as a line on an axis of its own; returns the axes.

    Where several processors shared the steps, a narrow bar for each of them, and one for the exchange, stands before
    the bar of the step. Together they are higher than it where they overlap.
    """
    try:
        from matplotlib import colormaps
        from matplotlib import pyplot as plt
    except ImportError:
        raise MissingDependencyError("Trace.plot() needs matplotlib: pip install 'dromos[plot]'") from None
    if ax is None:
        _, ax = plt.subplots(figsize=(9, 4), layout="constrained")
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
