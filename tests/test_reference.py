"""The API reference lists every public name once, and no name that does not exist."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np

import dromos
from dromos import errors
from dromos.graph import generators

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


def _documented() -> list[str]:
    pages = sorted(REFERENCE.glob("*.md"))
    return [name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)]


def test_every_public_name_is_in_the_reference() -> None:
    public = {f"dromos.{name}" for name in dromos.__all__} - {"dromos.__version__", "dromos.generators"}
    public |= {f"dromos.graph.generators.{name}" for name in generators.__all__}
    public |= {f"dromos.errors.{name}" for name in errors.__all__ if name not in dromos.__all__}
    assert public - set(_documented()) == set()


def test_the_reference_has_each_name_once_and_it_exists() -> None:
    assert [name for name, times in Counter(_documented()).items() if times > 1] == []
    for name in _documented():
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute), name


def test_the_table_of_algorithms_has_their_arguments_and_defaults() -> None:
    page = (REFERENCE.parent / "algorithms.md").read_text()
    calls = re.findall(r"^\| `(\w+\(.*?\))` \|", page, re.MULTILINE)
    assert len(calls) > 30
    for text in calls:
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        parameters = inspect.signature(getattr(dromos, call.func.id)).parameters.values()
        told = {argument.id: inspect.Parameter.empty for argument in call.args[1:] if isinstance(argument, ast.Name)}
        told |= {keyword.arg: eval(ast.unparse(keyword.value), {"np": np}) for keyword in call.keywords}
        there = {one.name: one.default for one in list(parameters)[1:] if one.kind is not inspect.Parameter.VAR_KEYWORD}
        assert told == there, text
