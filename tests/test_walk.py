"""The walk of ``dr.bfs`` through the code, as described in docs/design/walk.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dromos as dr

SOURCES = Path(dr.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "design" / "walk.md"
HEADINGS = {"cpu": "On the CPU", "cuda": "On a GPU"}
KERNELS = ("/skeletons/", ".cuh")
"""Parts of the names of files that run as machine code, where calls are not visible."""


def files_in(heading: str) -> list[str]:
    """The files in the table below a heading of the page."""
    section = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def file_of(frame: FrameType) -> str | None:
    """The file of a running function, relative to the package's folder; None if it is elsewhere."""
    file = Path(frame.f_code.co_filename)
    return file.relative_to(SOURCES).as_posix() if file.is_relative_to(SOURCES) else None


def test_the_files_exist_and_are_ten_at_most() -> None:
    for heading in HEADINGS.values():
        files = files_in(heading)
        assert 0 < len(files) <= 10
        for file in files:
            assert (SOURCES / file).is_file(), file


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_call_comes_to_them_in_that_order_and_from_each_other(device: str) -> None:
    told = [file for file in files_in(HEADINGS[device]) if not any(part in file for part in KERNELS)]
    graph, reached = dr.generators.grid(5, 5), dict[str, None]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = file_of(frame) if event == "call" else None
        if file is None or file not in told or file in reached:
            return
        above, callers = frame.f_back, set[str | None]()
        while above is not None:
            callers.add(file_of(above))
            above = above.f_back
        if callers <= {None, *told}:  # other files may get there first, such as those of the initial state
            reached[file] = None

    dr.bfs(dr.generators.grid(5, 5), 0, device=device)  # imports and compiles
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        dr.bfs(graph, 0, device=device)
    finally:
        sys.setprofile(before)
    assert list(reached) == told
