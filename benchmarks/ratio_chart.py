"""The chart of the landing page and of the README: how many times faster than the fastest other library.

    python -m benchmarks.ratio_chart

writes ``docs/images/ratios.svg`` from ``benchmarks/results``. It is plain SVG without scripts or fonts of its own, and
follows the reader's light or dark color scheme.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

__all__ = ["TARGET", "Bar", "Panel", "drawing", "panels"]

RESULTS = Path(__file__).parent / "results"
TARGET = Path(__file__).parent.parent / "docs" / "images" / "ratios.svg"

NAMES = {
    "bfs": "breadth-first search",
    "bfs, levels and parents": "breadth-first search",
    "sssp": "shortest paths",
    "pagerank, an iteration": "PageRank",
    "pagerank in float32, an iteration": "PageRank, float32",
    "connected_components": "components",
    "components": "components",
    "betweenness, 4 sources": "betweenness",
    "betweenness, one source": "betweenness",
    "triangles": "triangles",
    "core_numbers": "core numbers",
    "core numbers": "core numbers",
}
PEERS = {"best of all": "best of several", "cuSPARSE SpMV": "cuSPARSE"}


@dataclass(frozen=True)
class Bar:
    """One algorithm: how many times faster than the fastest other, and than each slower one."""

    name: str
    peer: str
    times: float
    slower: tuple[float, ...] = ()


@dataclass(frozen=True)
class Panel:
    """The bars of one machine and graph."""

    title: str
    bars: list[Bar]


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((RESULTS / f"{name}.json").read_text())["rows"]
    return rows


def _cpu() -> list[Bar]:
    """Every algorithm against each library measured with it; the fastest one names the bar."""
    ratios: dict[str, dict[str, float]] = {}
    for row in _rows("algorithms"):
        if row["graph"] == "kron20" and row.get("ratio") and row["row"] in NAMES and "float32" not in row["row"]:
            ratios.setdefault(row["row"], {})[row["peer"]] = row["ratio"]
    bars = []
    for name, peers in ratios.items():
        (best, ratio), *others = sorted(peers.items(), key=lambda item: -item[1])
        bars.append(Bar(NAMES[name], best, 1 / ratio, tuple(1 / other for _, other in others)))
    return bars


def _device(name: str, chosen: dict[str, Any], works: list[str]) -> list[Bar]:
    """The rows of `works`, in that order, among those that match `chosen`; the faster one if there are two."""
    best: dict[str, Bar] = {}
    for row in _rows(name):
        if row["work"] not in works or not row.get("of_peer") or any(row[key] != chosen[key] for key in chosen):
            continue
        ratio = row.get("of_spmv") or row["of_peer"]  # cuSPARSE's time from the same run, if it was measured
        bar = Bar(NAMES[row["work"]], row["peer"], 1 / ratio)
        if row["work"] not in best or bar.times > best[row["work"]].times:
            best[row["work"]] = bar
    return [best[work] for work in works if work in best]


def panels() -> list[Panel]:
    """CPU, GPU, and a GPU that holds a quarter of the graph."""
    on_gpu = ["bfs, levels and parents", "sssp", "pagerank in float32, an iteration", "betweenness, one source"]
    streamed = [*on_gpu[:3], "components"]
    return [
        Panel("2 CPU cores, R-MAT 20", _cpu()),
        Panel("One H200, R-MAT 22", _device("h200/algorithms", {"graph": "kron22"}, on_gpu)),
        Panel(
            "One H200 that holds a quarter of R-MAT 24",
            _device("h200/streaming", {"graph": "kron24", "share": 0.25}, streamed),
        ),
    ]


WIDTH, LEFT, RIGHT, ROW, HEAD = 780, 170, 150, 24, 34
SPAN = math.log10(220)
TICKS = (1, 3, 10, 30, 100)
STYLE = """
  .back { fill: #ffffff } text { fill: #24292f; font: 13px system-ui, sans-serif } .title { font-weight: 600 }
  .small { fill: #57606a; font-size: 12px } .bar { fill: #3f51b5 } .behind { fill: #b5473f }
  .dot { fill: #7986cb; stroke: #ffffff } .grid { stroke: #d0d7de } .one { stroke: #57606a }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } text { fill: #e6edf3 } .small { fill: #9198a1 } .bar { fill: #7986cb }
    .behind { fill: #e57373 } .dot { fill: #c5cae9; stroke: #0d1117 } .grid { stroke: #30363d } .one { stroke: #9198a1 }
  }
"""


def _x(times: float) -> float:
    """The position of `times` on the logarithmic axis, clamped to its ends."""
    return LEFT + (WIDTH - LEFT - RIGHT) * max(-0.05, min(math.log10(times) / SPAN, 1.0))


def _bar(bar: Bar, y: float) -> list[str]:
    start, end = sorted((_x(1), _x(bar.times)))
    middle = y + ROW / 2
    kind = "bar" if bar.times >= 1 else "behind"
    label = f"{bar.times:.1f}x {PEERS.get(bar.peer, bar.peer)}"
    return [
        f'<text x="{LEFT - 10}" y="{middle + 4:.1f}" text-anchor="end">{escape(bar.name)}</text>',
        f'<rect class="{kind}" x="{start:.1f}" y="{y + 5:.1f}" width="{end - start:.1f}" height="{ROW - 10}" rx="2"/>',
        *(f'<circle class="dot" cx="{_x(other):.1f}" cy="{middle:.1f}" r="4"/>' for other in bar.slower),
        f'<text class="small" x="{WIDTH - RIGHT + 14}" y="{middle + 4:.1f}">{escape(label)}</text>',
    ]


def drawing(shown: list[Panel]) -> str:
    """The text of the SVG."""
    height = 58 + sum(HEAD + ROW * len(panel.bars) for panel in shown) + 40
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        "<title>How many times faster Dromos is than the fastest other, by algorithm</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}" rx="6"/>',
        '<text class="title" x="16" y="26">Times faster than the fastest other</text>',
        '<text class="small" x="16" y="44">bar: the fastest other, named on the right; dots: other libraries</text>',
    ]
    bottom = height - 34
    lines += [
        f'<text class="small" x="{_x(times):.1f}" y="{bottom + 18}" text-anchor="middle">{times}x</text>'
        for times in TICKS
    ]
    y = 58.0
    for panel in shown:
        lines.append(f'<text class="title" x="16" y="{y + HEAD - 12:.1f}">{escape(panel.title)}</text>')
        y += HEAD
        for times in TICKS:
            x, kind = _x(times), "one" if times == 1 else "grid"
            lines.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + ROW * len(panel.bars)}"/>')
        for bar in panel.bars:
            lines += _bar(bar, y)
            y += ROW
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(drawing(panels()))
    print(f"wrote {TARGET.name}")
