"""For the site: examples in docstrings become blocks of code, Sphinx's roles plain code, functions of modules methods.

Our docstrings are written for ``help()`` and doctest, where an example is just a paragraph that begins with ``>>>``;
Markdown would take that for a quotation. Some methods are functions of modules that a class takes by name
(``egonet = transform.egonet``), which Griffe reads as attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc):`~?([^`]+)`")
_EXAMPLE = re.compile(r"^( *)>>> ")
_SEVERAL = re.compile(r"^( +)(\w+(?:, \w+)+)(: .*)$")


def as_markdown(text: str) -> str:
    """``text`` with fences around each example, an entry for each argument, and without roles."""
    shown: list[str] = []
    paragraph: list[str] = []
    for line in [*_one_by_one(_ROLE.sub(r"`\1`", text).splitlines()), ""]:
        if line.strip():
            paragraph.append(line)
            continue
        if paragraph and (found := _EXAMPLE.match(paragraph[0])):
            paragraph = [f"{found[1]}```pycon", *paragraph, f"{found[1]}```"]
        shown += [*paragraph, ""]
        paragraph = []
    return "\n".join(shown).rstrip("\n")


def _one_by_one(lines: list[str]) -> Iterator[str]:
    """Entries of ``Args:`` that tell of several arguments (``rows, cols: the sizes``), as one for each of them."""
    in_args, at = False, 0
    while at < len(lines):
        line, at = lines[at], at + 1
        in_args = line.strip() == "Args:" or (in_args and bool(line.strip()))
        found = _SEVERAL.match(line) if in_args else None
        if found is None:
            yield line
            continue
        indent, names, said = found.groups()
        more = []
        while at < len(lines) and lines[at].startswith(indent + " "):
            more.append(lines[at])
            at += 1
        for name in names.split(", "):
            yield f"{indent}{name}{said}"
            yield from more


_TAKEN = re.compile(r"^(?:classmethod\()?([A-Za-z_][\w.]*)\)?$")


def as_method(attribute: griffe.Attribute, package: griffe.Module) -> griffe.Function | None:
    """The function that a class takes as ``name = module.function``, or by ``classmethod``, as its method."""
    found = _TAKEN.match(str(attribute.value))
    cls = attribute.parent
    if found is None or cls is None:
        return None
    first, *rest = found[1].split(".")
    try:
        path = ".".join([cls.resolve(first), *rest]).removeprefix(f"{package.path}.")
        function = package[path]
        function = function.final_target if function.is_alias else function
    except (griffe.NameResolutionError, griffe.AliasResolutionError, KeyError):
        return None
    if not function.is_function:
        return None
    method = griffe.Function(
        attribute.name,
        parameters=griffe.Parameters(*list(function.parameters)[1:]),  # without self, or the class
        returns=function.returns,
        lineno=attribute.lineno,
        endlineno=attribute.endlineno,
        parent=cls,
    )
    method.docstring = function.docstring
    method.labels |= {"classmethod"} if "classmethod" in str(attribute.value) else set()
    return method


class Docstrings(griffe.Extension):
    """Prepares every docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for each object that it has read."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called by Griffe when it has read all of a package: functions that classes take by name become methods."""
        for cls in _classes(pkg):
            for name, member in list(cls.members.items()):
                method = as_method(member, pkg) if isinstance(member, griffe.Attribute) else None
                if method is not None:
                    cls.members[name] = method


def _classes(module: griffe.Object) -> Iterator[griffe.Class]:
    for member in module.members.values():
        if isinstance(member, griffe.Class):
            yield member
        elif isinstance(member, griffe.Module):
            yield from _classes(member)
