"""The notebooks of the gallery run, and give the outputs that they show."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "gallery").glob("*.ipynb"))
TOOL = runpy.run_path(str(ROOT / "tools" / "notebooks.py"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_outputs_are_true(file):
    stored = json.loads(file.read_text(encoding="utf-8"))
    found = TOOL["executed"](stored)
    for kept, made in zip(stored["cells"], found["cells"], strict=True):
        assert kept == made, "".join(kept["source"])
    assert sum(bool(cell.get("outputs")) for cell in found["cells"]) >= 4


def test_the_gallery_page_has_them_all():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) >= 4
    assert [file.stem for file in NOTEBOOKS if f"(gallery/{file.name})" not in page] == []


def test_a_cell_shows_what_it_prints_and_its_last_value():
    names = {}
    assert TOOL["run_cell"]("x = 2\nprint('hi')\nx + 1", names) == [
        {"name": "stdout", "output_type": "stream", "text": ["hi\n"]},
        {"data": {"text/plain": ["3"]}, "execution_count": None, "metadata": {}, "output_type": "execute_result"},
    ]
    assert TOOL["run_cell"]("x = None\nx", names) == []
    assert names["x"] is None
