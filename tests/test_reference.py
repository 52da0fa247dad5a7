"""The API reference has every public name, once, and none that does not exist."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

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
