"""Results and traces as notebooks show them: a small table, and a bar for each superstep. No script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from dromos.graph.summary import digits

if TYPE_CHECKING:
    from dromos.runner.result import Result
    from dromos.runner.trace import Trace

__all__ = ["NotebookPage", "result_html", "trace_html"]

_ROWS = 8
_MOST_BARS = 200
_COLOURS = ("#3b82f6", "#f97316", "#10b981", "#8b5cf6", "#ec4899", "#06b6d4", "#84cc16", "#e11d48")


class NotebookPage:
    """A whole page, such as the report of a run, that a notebook shows in a frame of its own.

    >>> NotebookPage("bfs", "<p>a & b</p>")._repr_html_()[:50]
    '<iframe srcdoc="&lt;p&gt;a &amp; b&lt;/p&gt;" widt'
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.text)}" width="100%" height="900" style="border: 0"></iframe>'

    def __repr__(self) -> str:
        return f'<the report of {self.name}: shown by a notebook; report("run.html") writes it>'


def result_html(result: Result) -> str:
    """What ran, the first rows, and the bars of its supersteps.

    >>> import dromos as dr
    >>> html = result_html(dr.bfs(dr.generators.path(3), 0, device="reference"))
    >>> "<th>level</th>" in html, "<svg" in html
    (True, True)
    """
    rows = result.head(_ROWS)
    more = f"<p>{_ROWS} of {result.graph.num_vertices:,} rows</p>" if _cut(result) else ""
    return f"<p><code>{escape(repr(result))}</code></p>{_table(rows)}{more}{_bars(result.trace)}"


def trace_html(trace: Trace) -> str:
    """The bars, and a table with one row per superstep (the first ones of a long run).

    >>> import dromos as dr
    >>> trace_html(dr.bfs(dr.generators.path(3), 0, device="reference").trace).count("<tr>")
    4
    """
    shown = trace[: 4 * _ROWS]
    columns: dict[str, list[Any]] = {
        "superstep": [row.superstep for row in shown],
        "path": [row.path for row in shown],
        "frontier": [f"{row.frontier:,}" for row in shown],
        "out-edges": [f"{row.out_degree:,}" for row in shown],
        "ms": [digits(row.seconds * 1e3) for row in shown],
        "why": [row.reason for row in shown],
    }
    more = f"<p>{len(shown)} of {len(trace):,} rows</p>" if len(shown) < len(trace) else ""
    return f"{_bars(trace)}{_table(columns)}{more}"


def _cut(result: Result) -> bool:
    return result.graph.num_vertices > _ROWS


def _table(columns: dict[str, list[Any]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) + "</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _bars(trace: Trace) -> str:
    """Milliseconds of each superstep, colored by path; a long run is cut."""
    rows = trace[:_MOST_BARS]
    most = max((row.seconds for row in rows), default=0.0)
    if most <= 0:
        return ""
    paths = list(dict.fromkeys(row.path for row in rows))
    width, height = max(6, min(40, 640 // len(rows))), 80
    bars = "".join(
        f"<rect x='{i * width}' y='{height - max(1.0, height * row.seconds / most):.1f}' width='{width - 1}' "
        f"height='{max(1.0, height * row.seconds / most):.1f}' fill='{_COLOURS[paths.index(row.path) % 8]}'>"
        f"<title>{escape(f'superstep {row.superstep}: {row.path}, {digits(row.seconds * 1e3)} ms')}</title></rect>"
        for i, row in enumerate(rows)
    )
    legend = " ".join(
        f"<span style='color:{_COLOURS[i % 8]}'>&#9632;</span> {escape(path)}" for i, path in enumerate(paths)
    )
    size = f"width='{len(rows) * width}' height='{height}'"
    return f"<svg {size} role='img' aria-label='milliseconds of each superstep'>{bars}</svg><p>{legend}</p>"
