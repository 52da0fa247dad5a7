"""One command per algorithm, made from its function's signature and docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from dromos import algorithms
from dromos.cli.results import deliver
from dromos.cli.values import as_matrix, as_numbers, as_vertex, as_vertices

__all__ = ["COMMANDS", "Common", "add_commands"]

COMMANDS: Final = {name.replace("_", "-"): getattr(algorithms, name) for name in algorithms.__all__}

# Arguments that a word has to be turned into with the graph at hand; the others are numbers, flags and texts.
_WORDS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "source": as_vertex,
    "sources": as_vertices,
    "targets": as_vertices,
    "nbunch": as_vertices,
    "personalization": as_numbers,
    "nstart": as_numbers,
    "dangling": as_numbers,
    "x": as_numbers,
    "community": as_numbers,
    "prior": as_matrix,
    "coupling": as_matrix,
}
_NOT_WORDS: Final = ("graph", "how", "consume")  # a function cannot be typed in
_METAVARS: Final[Mapping[Callable[[Any, str], Any], str]] = {
    as_vertex: "VERTEX",
    as_vertices: "V,V,…",
    as_numbers: "V=NUMBER,…",
    as_matrix: "a,b;c,d",
}


def _option(*names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text.replace("[", r"\["), **more)  # brackets would be taken as markup


class Common:
    """The options that every command has: how to run, and where the answer goes."""

    OPTIONS: Final[Mapping[str, tuple[Any, Any]]] = {
        "out": (
            Annotated[
                Path | None,
                _option(
                    "-o", "--out", text="Write a .parquet, .csv, .json or .npz file, or a folder of .parquet files."
                ),
            ],
            None,
        ),
        "device": (
            Annotated[
                str, _option("--device", text="auto, cpu, cuda, mpi, numpy, reference, or several such as cpu+cuda.")
            ],
            "auto",
        ),
        "path": (Annotated[str, _option("--path", text="auto, or a fixed path such as sync-push-dd.")], "auto"),
        "memory": (
            Annotated[
                str | None,
                _option(
                    "--memory",
                    text="Keep a .drm graph on disk and use at most this memory, such as 2G; cpu+cuda: GPU memory.",
                ),
            ],
            None,
        ),
        "share": (
            Annotated[
                str | None,
                _option("--share", text="With several devices, the share of edges of the first one: 0 to 1, or auto."),
            ],
            None,
        ),
        "split": (
            Annotated[
                str | None,
                _option(
                    "--split", text="With several devices, the vertices of the first one: high, low, random or auto."
                ),
            ],
            None,
        ),
        "deal": (
            Annotated[
                str | None,
                _option("--deal", text="With several devices, the edges that each processes: rows, pages or targets."),
            ],
            None,
        ),
        "host_memory": (
            Annotated[
                str | None,
                _option(
                    "--host-memory",
                    text="With --device cuda: keep a .drm graph on disk and use at most this memory of the host.",
                ),
            ],
            None,
        ),
        "checkpoint": (
            Annotated[
                Path | None,
                _option("--checkpoint", text="Save the run to this folder regularly; the same command resumes it."),
            ],
            None,
        ),
        "checkpoint_every": (
            Annotated[float, _option("--checkpoint-every", text="Seconds between checkpoints.")],
            60.0,
        ),
        "threads": (Annotated[int | None, _option("--threads", text="Threads [default: all cores]")], None),
        "check": (Annotated[bool, _option("--verify", text="Verify the answer.")], False),
        "trace": (Annotated[bool, _option("--trace", text="Show what each step did, and why.")], False),
        "save_trace": (Annotated[Path | None, _option("--save-trace", text="Write the trace to a file.")], None),
        "report": (
            Annotated[Path | None, _option("--report", text="Write an HTML page that explains the run.")],
            None,
        ),
        "explain": (
            Annotated[bool, _option("--explain", text="Run the other paths too, and show their cost in the report.")],
            False,
        ),
        "top": (
            Annotated[
                int | None, _option("--top", text="Show the N rows with the greatest values, or the N largest groups.")
            ],
            None,
        ),
        "format": (Annotated[str | None, _option("--format", text="Input format [default: from extension]")], None),
        "json": (Annotated[bool, _option("--json", text="Print a summary as JSON.")], False),
    }
    GRAPH: Final = Annotated[
        Path, typer.Argument(metavar="GRAPH", help="A graph file of any format.", show_default=False)
    ]


def add_commands(app: typer.Typer) -> None:
    """Give ``app`` a command for every algorithm."""
    for name, function in COMMANDS.items():
        app.command(name, rich_help_panel="Algorithms")(_command(name, function))


def _command(name: str, function: Callable[..., Any]) -> Callable[..., None]:
    """A function that Typer understands: the algorithm's own arguments as options, then the common ones."""
    own = [p for p in inspect.signature(function, eval_str=True).parameters.values() if p.name not in _NOT_WORDS]
    told = _help_texts(function)
    parameters = [inspect.Parameter("graph", inspect.Parameter.KEYWORD_ONLY, annotation=Common.GRAPH)]
    for p in own:
        annotation, default = _as_option(p, told.get(p.name, ""))
        parameters.append(p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default))
    taken = {p.name for p in own}
    if "to" in taken:  # the answer is a file, and the result only a table about it
        taken.add("out")
    common_options = {option: kind for option, kind in Common.OPTIONS.items() if option not in taken}
    for option, (annotation, default) in common_options.items():
        parameters.append(
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        )

    unweighted = any(p.name == "weight" and p.default is not None for p in own)

    def command(**given: Any) -> None:
        common = {"out": None} | {option: given.pop(option) for option in common_options}
        file = given.pop("graph")
        if unweighted:  # the option asks for the opposite of what the argument says
            given["weight"] = not given["weight"]

        if given.get("memory") is None:  # the function has a default of its own
            given.pop("memory", None)
        elif _streams(file, **common):
            common["memory"] = given.pop("memory")  # the budget of the whole run, as for every other algorithm

        def call(graph: Any, how: Mapping[str, Any]) -> Any:
            return function(graph, **{key: _value(graph, key, value) for key, value in given.items()}, **how)

        deliver(name, file, call, **common)

    command.__doc__ = (inspect.getdoc(function) or "").split("\n")[0].replace("``", "")
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _streams(file: Path, *, device: str, format: str | None, check: bool, **others: Any) -> bool:
    """Whether an algorithm with a ``memory`` of its own is to leave the graph on disk: a store, on one CPU."""
    return file.suffix == ".drm" and format in (None, "drm") and device in ("auto", "cpu", "numpy") and not check


def _as_option(parameter: inspect.Parameter, text: str) -> tuple[Any, Any]:
    """The annotation and default of an argument as an option; one without a default must be given."""
    name, default = parameter.name, parameter.default
    required = default is inspect.Parameter.empty
    if name == "weight" and default is None:
        return Annotated[bool, _option("--weighted", text="Add up the graph's weights.")], False
    if name == "weight":
        return Annotated[bool, _option("--unweighted", text="Ignore the graph's weights.")], False
    flag = f"--{name.replace('_', '-')}"
    if (word := _WORDS.get(name)) is not None:
        kind: Any = str if required else str | None
        more = {"metavar": _METAVARS[word], "show_default": False}
        return Annotated[kind, _option(flag, text=text, **more)], ... if required else default
    if name == "dtype":
        own = None if default is None else np.dtype(default).name
        return Annotated[str | None, _option(flag, text=text)], own
    if name == "memory":
        shown = "" if default is None else f" [default: {default >> 20}M]"
        return Annotated[str | None, _option(flag, text=text + shown)], None
    if name == "to":
        return Annotated[Path, _option("-o", flag, text=text)], ... if required else default
    if default is True:
        flag = f"{flag}/--no-{flag[2:]}"
    return Annotated[parameter.annotation, _option(flag, text=text)], default


def _value(graph: Any, name: str, given: Any) -> Any:
    if name == "weight":
        return "weight" if given else None
    return _WORDS[name](graph, given) if name in _WORDS and given is not None else given


def _help_texts(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring's Args say of each argument, without reStructuredText's marks."""
    section = re.search(r"Args:\n(.*?)(\n\n|\Z)", inspect.getdoc(function) or "", re.DOTALL)
    texts: dict[str, str] = {}
    for entry in re.findall(r"^    (\w[\w, ]*): (.*(?:\n {8}.*)*)", section.group(1) if section else "", re.MULTILINE):
        text = re.sub(r":\w+:`~?[\w.]*?(\w+)`", r"\1", re.sub(r"\s+", " ", entry[1])).replace("``", "")
        texts |= {name.strip(): text[:1].upper() + text[1:] for name in entry[0].split(",")}
    return texts
