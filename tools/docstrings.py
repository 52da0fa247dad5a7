"""For the site: examples in docstrings become blocks of code, and Sphinx's roles become plain code.

Our docstrings are written for ``help()`` and doctest, where an example is just a paragraph that begins with ``>>>``;
Markdown would take that for a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc):`~?([^`]+)`")
_EXAMPLE = re.compile(r"^( *)>>> ")


def as_markdown(text: str) -> str:
    """``text`` with fences around each example and without roles."""
    shown: list[str] = []
    paragraph: list[str] = []
    for line in [*_ROLE.sub(r"`\1`", text).splitlines(), ""]:
        if line.strip():
            paragraph.append(line)
            continue
        if paragraph and (found := _EXAMPLE.match(paragraph[0])):
            paragraph = [f"{found[1]}```pycon", *paragraph, f"{found[1]}```"]
        shown += [*paragraph, ""]
        paragraph = []
    return "\n".join(shown).rstrip("\n")


class Docstrings(griffe.Extension):
    """Prepares every docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for each object that it has read."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
