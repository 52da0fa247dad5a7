"""Charts of ratios, with matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["draw_ratios"]


def draw_ratios(rows: list[dict[str, Any]], target: Path, title: str) -> None:
    """One panel per graph; in it one group of bars per row, one colour per peer, on a logarithmic scale around 1."""
    from matplotlib.figure import Figure

    shown = [row for row in rows if "ratio" in row]
    graphs, names, peers = (list(dict.fromkeys(row[key] for row in shown)) for key in ("graph", "row", "peer"))
    figure = Figure(figsize=(5 * len(graphs), 1.5 + 0.9 * len(names)), layout="constrained")
    panels = figure.subplots(1, len(graphs), sharey=True, squeeze=False)[0]
    height = 0.85 / len(peers)
    for panel, graph in zip(panels, graphs, strict=True):
        for place, peer in enumerate(peers):
            bars = {names.index(r["row"]): r["ratio"] for r in shown if r["graph"] == graph and r["peer"] == peer}
            at = [number + (place - (len(peers) - 1) / 2) * height for number in bars]
            widths = [ratio - 1 for ratio in bars.values()]
            panel.barh(at, widths, height, left=1, color=f"C{place}", label=peer if panel is panels[0] else None)
        panel.axvline(1, color="black", linewidth=1)
        panel.set_xscale("log")
        panel.set_title(graph)
        panel.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
    figure.suptitle(title)
    figure.legend(loc="outside lower center", ncols=len(peers))
    figure.savefig(target, dpi=110)
