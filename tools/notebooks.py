"""Runs the notebooks of the gallery: ``python tools/notebooks.py`` checks their outputs, ``--write`` renews them.

Plain Python does it: every code cell is run in order in one namespace, and its output is what it prints, and the value
of its last line as text. So the gallery needs no kernel, and an output that is no longer true is a failing test.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the text of a cell; its outputs as a notebook has them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    outputs: list[dict[str, Any]] = []
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "<cell>", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        shown = {"text/plain": _lines(repr(value))}
        outputs.append({"data": shown, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs that its cells give now."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell = {**cell, "outputs": run_cell("".join(cell["source"]), names)}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> int:
    stale = 0
    for file in sorted(GALLERY.glob("*.ipynb")):
        stored = json.loads(file.read_text(encoding="utf-8"))
        found = executed(stored)
        if found == stored:
            continue
        if "--write" in sys.argv:
            file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"{file.name}: renewed")
        else:
            stale += 1
            print(f"{file.name}: some outputs are no longer true; run with --write")
    return stale


if __name__ == "__main__":
    sys.exit(main())
