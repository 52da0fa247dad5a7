"""The chart of the landing page tells what the results in the repository say."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from benchmarks.ratio_chart import RESULTS, TARGET, Bar, Panel, drawing, panels


def test_the_chart_is_made_from_the_present_results() -> None:
    assert TARGET.read_text() == drawing(panels()), "run: python -m benchmarks.ratio_chart"


def test_bars_are_named_by_the_fastest_other_library() -> None:
    rows = json.loads((RESULTS / "algorithms.json").read_text())["rows"]
    ratios = [row["ratio"] for row in rows if row["graph"] == "kron20" and row["row"] == "bfs" and "ratio" in row]
    (search,) = [bar for bar in panels()[0].bars if bar.name == "breadth-first search"]
    assert search.times == 1 / max(ratios)
    assert len(search.slower) == len(ratios) - 1
    assert all(other >= search.times for other in search.slower)


def test_a_slower_row_is_drawn_to_the_left_and_names_are_escaped() -> None:
    text = drawing([Panel("<one>", [Bar("a & b", "peer", 0.9)])])
    root = ElementTree.fromstring(text)
    kinds = [node.get("class") for node in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert kinds == ["back", "behind"]
    assert "a & b" in "".join(root.itertext())
