"""The walk of ``dr.bfs`` through the code, as docs/design/walk.md tells it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import dromos as dr
from dromos.engines.cpu.initial import only_compiled

SOURCES = Path(dr.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "design" / "walk.md"


def files_in(heading: str) -> list[str]:
    """The files in the table below a heading of the page."""
    section = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_the_files_exist_and_are_ten_at_most() -> None:
    for heading in ("On the CPU", "On a GPU"):
        files = files_in(heading)
        assert 0 < len(files) <= 10
        for file in files:
            assert (SOURCES / file).is_file(), file


def test_a_call_comes_to_them_in_that_order() -> None:
    graph, entered = dr.generators.grid(5, 5), dict[str, None]()
    with only_compiled():  # a process initialises by NumPy while no kernel for it is on disk
        dr.bfs(graph, 0, device="cpu")

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(SOURCES):
            entered.setdefault(file.relative_to(SOURCES).as_posix())

    before = sys.getprofile()
    try:
        with only_compiled():
            sys.setprofile(note)
            dr.bfs(graph, 0, device="cpu")
    finally:
        sys.setprofile(before)
    told = [file for file in files_in("On the CPU") if "/skeletons/" not in file]  # that one runs as machine code
    assert [file for file in entered if file in told] == told
