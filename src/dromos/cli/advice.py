"""What the library says, in the words of the command line: ``allow_loss=True`` becomes ``--allow-loss``."""

from __future__ import annotations

import logging
import re
from typing import Any, Final

from dromos.cli.console import err

__all__ = ["in_options", "listen", "speak_as"]

_KEYWORD: Final = re.compile(r"(?<![\w.])([a-z_]+)=('[^']*'|\"[^\"]*\"|[\w.+…-]*)")
_BARE: Final = re.compile(r"(?<![\w.'\"-])[a-z]+(?:_[a-z]+)+(?![\w(='\"])")
"""A name that is no word of English, such as ``max_iter``."""
_LEFT_OUT: Final = re.compile(r"(?<=\bleave )[a-z_, ]+?(?= out\b)")
"""What somebody is told to leave out, such as ``checkpoint``, or ``slices, parts and memory``."""
_WORD: Final = re.compile(r"[a-z_]+")
_RENAMED: Final = {"format": "from_format", "weighted": "no_weights"}  # where a command has another name for it

_OF_CONVERT: Final = ("extra_columns", "header", "ids", "weight_dtype")
"""How a file is to be read, which only ``dromos convert`` is told."""
_READ: Final = re.compile(r"\buse dr\.read\(path\)(?!, or graph)")
"""Advice to read a graph into memory, unless the message itself goes on to say it for the command line."""
_LARGEST: Final = re.compile(r"dromos\.largest_component\(graph(, strong=True)?\)")

_OPEN: Final = re.compile(
    r"\buse dr\.open\(path\), which reads it in pages \(on the command line: give --memory\), or "
)
"""Advice to stream a store, which only some commands can do."""

_options: dict[str, Any] = {}
"""The parameters of the command that runs, by the names that Python knows them by."""


def speak_as(command: Any) -> None:
    """Let :func:`in_options` use the options of ``command``."""
    _options.clear()
    _options.update({parameter.name: parameter for parameter in getattr(command, "params", ())})


def in_options(text: str) -> str:
    """``text`` with keyword arguments written as options, where the command that runs has them."""
    text = _LEFT_OUT.sub(lambda match: _WORD.sub(_named, match[0]), text)
    if "memory" in _options:
        text = _READ.sub("leave --memory out", text)
    if _options:
        text = _LARGEST.sub(
            lambda found: f"`dromos largest-component{' --strong' if found[1] else ''} GRAPH OUT`", text
        )
        text = text.replace(" and dr.open(path);", ";").replace("call it on graph.symmetrized(), or ", "")
        text = _OPEN.sub("give --memory, or " if "memory" in _options else "", text)
    return _BARE.sub(_named, _KEYWORD.sub(_as_option, text))


def _largest_component(match: re.Match[str]) -> str:
    return f"`dromos largest-component {'--strong ' if match[1] else ''}GRAPH OUT`"


def _named(match: re.Match[str]) -> str:
    parameter = _options.get(match[0])
    known = parameter is not None and parameter.opts[0].startswith("-")
    return max(parameter.opts, key=len) if parameter is not None and known else match[0]


def _as_option(match: re.Match[str]) -> str:
    name, value = match[1], match[2].strip("'\"")
    parameter = _options.get(name) or _options.get(_RENAMED.get(name, ""))
    if parameter is None and name in _OF_CONVERT and _options:
        return f"`dromos convert --{name.replace('_', '-')} {value}`"
    if parameter is None or not parameter.opts[0].startswith("-"):
        return match[0]
    option = max(parameter.opts, key=len)
    if parameter.name == "no_weights":
        return option if value == "False" else match[0]
    if value in ("True", "False") and getattr(parameter, "is_flag", False):
        other = max(parameter.secondary_opts, key=len, default="")
        return option if value == "True" else other or match[0]
    return f"{option} {value}" if value else option


class _Lines(logging.Handler):
    """Log records as lines on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "dromos.compiling":  # a terminal has been told already, and a pipe need not know
            return
        err.print(f"note: {in_options(record.getMessage())}", markup=False, soft_wrap=True)


def listen() -> None:
    """Show what the library logs."""
    log = logging.getLogger("dromos")
    if not any(isinstance(handler, _Lines) for handler in log.handlers):
        log.addHandler(_Lines())
    log.setLevel(logging.INFO)
