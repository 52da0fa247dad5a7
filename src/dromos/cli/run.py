"""``dromos run``: a program of the user's own."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from dromos.cli.results import deliver
from dromos.cli.values import as_matrix, as_numbers, as_vertex
from dromos.errors import FileError, InvalidArgumentError

if TYPE_CHECKING:
    from dromos.graph import Graph
    from dromos.program import ParamSpec, Program

__all__ = ["load_program", "run"]


def run(
    program: Annotated[
        str,
        typer.Argument(metavar="FILE:CLASS", help="A Python file and the program's class in it.", show_default=False),
    ],
    graph: Annotated[Path, typer.Argument(metavar="GRAPH", help="A graph file of any format.", show_default=False)],
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the program.")
    ] = None,
    max_iter: Annotated[int | None, typer.Option(help="The maximum number of supersteps.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Write a .parquet, .csv, .json or .npz file, or a folder of .parquet files."),
    ] = None,
    device: Annotated[
        str, typer.Option(help="auto, cpu, cuda, mpi, numpy, reference, or several such as cpu+cuda.")
    ] = "auto",
    path: Annotated[str, typer.Option(help="auto, or a fixed path such as sync-push-dd.")] = "auto",
    threads: Annotated[int | None, typer.Option(help=r"Threads \[default: all cores]")] = None,
    memory: Annotated[
        str | None, typer.Option(help="Keep a .drm graph on disk and use at most this memory, such as 2G.")
    ] = None,
    share: Annotated[
        str | None, typer.Option(help="With several devices, the share of edges of the first one: 0 to 1, or auto.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="With several devices, the vertices of the first one: high, low, random or auto.")
    ] = None,
    deal: Annotated[
        str | None, typer.Option(help="With several devices, the edges that each processes: rows, pages or targets.")
    ] = None,
    host_memory: Annotated[
        str | None,
        typer.Option(help="With --device cuda: keep a .drm graph on disk and use at most this memory of the host."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save the run to this folder regularly; the same command resumes it.")
    ] = None,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between checkpoints.")] = 60.0,
    trace: Annotated[bool, typer.Option("--trace", help="Show what each step did, and why.")] = False,
    save_trace: Annotated[Path | None, typer.Option(help="Write the trace to a file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page that explains the run.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Run the other paths too, and show their cost in the report.")
    ] = False,
    top: Annotated[int | None, typer.Option(help="Show the N rows with the greatest values.")] = None,
    format: Annotated[str | None, typer.Option(help=r"Input format \[default: from extension]")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Run a program of your own on a graph, such as `dromos run widest.py:WidestPath G.drm -p source=0`."""
    from dromos.runner import run as run_program

    cls = load_program(program)

    def call(loaded: Graph, how: Mapping[str, Any]) -> Any:
        params = _params(cls, loaded, param or [])
        try:
            made = cls(**params)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{error}; give parameters as -p NAME=VALUE") from None
        return run_program(made, loaded, max_iter=max_iter, **how)

    deliver(
        cls.__name__, graph, call,
        out=out, device=device, path=path, threads=threads, memory=memory, share=share, split=split, deal=deal,
        host_memory=host_memory, checkpoint=checkpoint, checkpoint_every=checkpoint_every,
        check=False, trace=trace, save_trace=save_trace, format=format, json=json, report=report, top=top,
        explain=explain,
    )  # fmt: skip


def load_program(text: str) -> type[Program]:
    """The class that ``FILE:CLASS`` names; ``:CLASS`` may be left out where the file has only one program."""
    from dromos.program import Program

    stem, _, name = text.partition(".py:")
    file = Path(f"{stem}.py" if name else text)
    if not file.is_file():
        raise FileError("there is no such file; write FILE.py:CLASS", path=file)
    spec = importlib.util.spec_from_file_location(f"dromos_user_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise FileError("is not Python; a program is named FILE.py:CLASS, and the graph comes after it", path=file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # so that errors find the source of its functions
    spec.loader.exec_module(module)
    found = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Program) and value.__module__ == spec.name
    }
    if not name and len(found) == 1:
        name = next(iter(found))
    if name not in found:
        raise InvalidArgumentError(
            f"{file} has no program {name!r}; it has {', '.join(found) or 'none'}"
            if name
            else f"{file} has {len(found)} programs ({', '.join(found) or 'none'}); write FILE.py:CLASS"
        )
    return found[name]


def _params(cls: type[Program], graph: Graph, given: list[str]) -> dict[str, Any]:
    specs = {spec.name: spec for spec in cls.ir().params}
    params = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in specs:
            known = ", ".join(specs) or "none"
            raise InvalidArgumentError(f"--param {text!r} is not NAME=VALUE of a parameter; {cls.__name__} has {known}")
        params[name] = _param(graph, specs[name], value)
    return params


def _param(graph: Graph, spec: ParamSpec, text: str) -> Any:
    """A number; a vertex by its label, also for a whole number; numbers by vertex; or a row of numbers."""
    if spec.per_vertex:
        values = as_numbers(graph, text)
        if not isinstance(values, Mapping):
            return values
        column = np.zeros(graph.num_vertices)
        for vertex, value in values.items():
            column[graph.vertex_id(vertex)] = value
        return column
    if spec.per_edge:
        raise InvalidArgumentError(f"--param {spec.name}: it has one value per arc; run this program from Python")
    if spec.size is not None:
        return as_matrix(graph, text)[0]
    if spec.is_vertex:
        return graph.vertex_id(as_vertex(graph, text))
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return graph.vertex_id(as_vertex(graph, text))
