"""``dromos plan``: the predicted memory and time of an algorithm on each device of this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape
from rich.table import Table

from dromos.cli.console import out, print_json, work
from dromos.cli.sizes import parse_size
from dromos.errors import InvalidArgumentError

__all__ = ["plan"]

_SHORT: Final = 20  # letters of a place that is not broken into lines


def plan(
    graph: Annotated[Path, typer.Argument(help="A graph file of any format.", show_default=False)],
    algorithm: Annotated[
        str, typer.Argument(help="bfs, sssp, pagerank, connected-components or core-numbers.")
    ] = "pagerank",
    device: Annotated[
        str, typer.Option(help="auto (all places), or the device to show: cpu, cuda or cpu+cuda.")
    ] = "auto",
    memory: Annotated[
        str | None, typer.Option(help=r"Memory that a run may use, such as 2G \[default: what is free]")
    ] = None,
    host_memory: Annotated[
        str | None, typer.Option(help="With --device cuda: memory of the host that a run from disk may use.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Predict the memory and time of an algorithm in memory, from disk and on a GPU, without running it."""
    from dromos.algorithms.costs import PREDICTABLE, cost_of
    from dromos.graph.formats import read
    from dromos.graph.store import open_store
    from dromos.graph.store.striped import is_striped_file
    from dromos.graph.summary import human_bytes
    from dromos.runner.devices import why_chosen
    from dromos.runner.prediction import chosen, predictions, require_model

    name = algorithm.replace("-", "_")
    if name not in PREDICTABLE:  # before the graph is read
        known = ", ".join(PREDICTABLE).replace("_", "-")
        raise InvalidArgumentError(
            f"there is no model for {algorithm!r}; write `dromos plan GRAPH ALGORITHM` with one of {known}"
        )
    require_model(device)
    budget = None if memory is None else parse_size(memory)
    on_host = None if host_memory is None else parse_size(host_memory, "--host-memory")
    cost = cost_of(name)
    with work(f"reading {graph.name}", then="building the graph") as progress:
        striped = is_striped_file(graph)
        opened = striped or on_host is not None
        found = open_store(graph) if opened else read(graph, progress=progress)  # a store is only mapped
    taken, reason = chosen(found, budget, device, on_host), why_chosen(device, found, budget)
    with work("measuring this machine"):
        rows = predictions(found, cost, budget, device, on_host)
    if striped:  # it cannot be mapped
        rows = [row for row in rows if row.engine != "cpu"]
    marked = next((row for row in rows if row.engine == taken), None)
    if budget is not None and marked is not None and marked.whole:
        reason = "memory is given, and holds the graph: it is read whole"
    if marked is not None and marked.seconds is None:
        reason = f"{reason.partition(':')[0]}; but it does not run there: {marked.note}"
    if json:
        places = [asdict(row) | {"taken": row.engine == taken} for row in rows]
        told = {"device": device, "takes": taken, "reason": reason, "auto": chosen(found, budget)}
        print_json({"algorithm": name, "passes": cost.passes, **told, "places": places})
        return
    times = "once" if cost.passes == 1 else f"{cost.passes:g} times"
    title = f"{algorithm} on {graph.name}, assuming that the arcs are read {times}"
    table = Table("place", "memory", "moved each time", "time, about", "", title=title, title_justify="left")
    if all(len(row.place) < _SHORT for row in rows):
        table.columns[0].no_wrap = True  # notes are what is broken where a terminal is narrow
    for row in rows:
        about = "-" if row.seconds is None else _duration(row.seconds)
        mark = "* " if row.engine == taken else "  "
        table.add_row(
            mark + row.place, human_bytes(row.memory), human_bytes(row.moved), about, escape(row.note or row.how)
        )
    out.print(table)
    place = taken if marked is None else marked.place
    out.print(f'* device="{device}" takes {place}: {reason}', markup=False, highlight=False)


def _duration(seconds: float) -> str:
    """A predicted time; it is not known to more than two digits, or below a thousandth of a millisecond.

    >>> _duration(75.2), _duration(5.48e-3), _duration(4e-9)
    ('75 s', '5.5 ms', 'under 0.001 ms')
    """
    if seconds < 1e-6:
        return "under 0.001 ms"
    return f"{seconds * 1e3:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s" if seconds < 10 else f"{seconds:,.0f} s"
