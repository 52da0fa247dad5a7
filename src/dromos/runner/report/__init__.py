"""A run as one HTML page that explains itself: the graph, each superstep, why its path was taken, and the answer.

The page is self-contained: its style, script and data are in the file, and nothing is fetched from a network. It is
assembled from ``page.html``, ``style.css``, ``charts.js`` and ``script.js`` beside this module and from the
run as JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dromos.errors import InvalidArgumentError, UnsupportedFormatError
from dromos.graph.formats.files import atomic_output
from dromos.runner.report.data import run_data

if TYPE_CHECKING:
    from dromos.runner.result import Result

__all__ = ["check_report_path", "filled", "page", "write_report"]


def page(results: Sequence[Result], title: str | None = None) -> str:
    """The page as text, for one run or for several that are compared.

    >>> import dromos as dr
    >>> run = dr.bfs(dr.generators.path(4), 0, device="reference")
    >>> text = page([run])
    >>> text.startswith("<!doctype html>"), "sync-push-dd" in text, "http://" in text or "https://" in text
    (True, True, False)
    """
    if not results:
        raise InvalidArgumentError("a report needs at least one result")
    runs = [run_data(result) for result in results]
    if title is None:
        title = ", ".join(dict.fromkeys(run["name"] for run in runs))
    parts = {
        "TITLE": escape(title),
        "SCRIPT": _text("script.js"),
        "DATA": _embedded(runs),
    }
    return filled(_text("page.html"), parts)


def filled(text: str, parts: Mapping[str, str]) -> str:
    """A page with its parts put in, and with the style and the charts that all pages share.

    >>> filled("<h1><!--TITLE--></h1>", {"TITLE": "one run"})
    '<h1>one run</h1>'
    """
    for name, part in {"STYLE": _text("style.css"), "CHARTS": _text("charts.js"), **parts}.items():
        text = text.replace(f"<!--{name}-->", part, 1)
    return text


def write_report(results: Sequence[Result], path: str | os.PathLike[str], title: str | None = None) -> None:
    """Write the page to ``path``, whole or not at all.

    >>> import tempfile, pathlib
    >>> import dromos as dr
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.html"
    >>> write_report([dr.bfs(dr.generators.path(4), 0, device="reference")], file)
    >>> file.stat().st_size > 10_000
    True
    """
    check_report_path(path)
    text = page(results, title)
    with atomic_output(path) as stream:
        stream.write(text.encode())


def check_report_path(path: str | os.PathLike[str]) -> None:
    """Refuse a file name that is not a page's, before any work is done."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise UnsupportedFormatError("a report is an HTML page; give a file name that ends in .html", path=path)


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def _embedded(runs: list[dict[str, Any]]) -> str:
    """JSON that may stand inside a script element: no sequence in it can end the element."""
    text = json.dumps(runs, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
