"""What the commands that compute something share: read a graph, run, check, and hand the answer over."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from dromos.cli.advice import in_options
from dromos.cli.console import err, out, print_json, work
from dromos.cli.sizes import parse_size
from dromos.errors import ArcsOnDiskError, InvalidArgumentError

if TYPE_CHECKING:
    from dromos.runner import Result

__all__ = ["deliver"]

_ROWS = 10
_PARTS = 16
"""How much of a long vector is shown, such as a random walk."""


def deliver(
    name: str,
    file: Path,
    call: Callable[[Any, Mapping[str, Any]], Result],
    *,
    out: Path | None,
    device: str,
    path: str,
    threads: int | None,
    check: bool,
    trace: bool,
    save_trace: Path | None,
    format: str | None,
    json: bool,
    report: Path | None = None,
    explain: bool = False,
    top: int | None = None,
    memory: str | None = None,
    share: str | None = None,
    split: str | None = None,
    deal: str | None = None,
    host_memory: str | None = None,
    checkpoint: Path | None = None,
    checkpoint_every: float = 60.0,
) -> None:
    """Run ``call(graph, how)`` on the graph in ``file``; the answer goes to a file, to JSON, or to a short table."""
    from dromos.graph.formats import read
    from dromos.graph.formats.files import require_folder
    from dromos.places.cluster.world import launched, rank_of_job
    from dromos.runner.data_set import is_data_set
    from dromos.runner.report import check_report_path
    from dromos.runner.writing import check_extension

    for target in (out, save_trace):
        if target is not None and not (target is out and is_data_set(target)):
            check_extension(target)
    if report is not None:
        check_report_path(report)
    elif explain:
        raise InvalidArgumentError("--explain adds the cost of other paths to a report; give --report run.html too")
    for target in (out, save_trace, report):  # a name that cannot be written shows before the work, not after it
        if target is not None:
            require_folder(target)
    if top is not None and top < 1:
        raise InvalidArgumentError(f"--top {top}: give a number of rows, 1 or more")

    def read_whole() -> Any:
        with work(f"reading {file.name}", then="building the graph") as progress:
            return read(file, format=format, threads=threads, progress=progress)

    if device == "auto" and launched():
        device = "mpi"
    on_ranks = device.partition(":")[0] == "mpi"
    how: dict[str, Any] = {"device": device, "path": path, "threads": threads}
    over_devices = {"share": _share(share), "split": split, "deal": deal}
    how |= {name: value for name, value in over_devices.items() if value is not None}
    if explain:
        how["explain"] = True
    if checkpoint is not None:
        how |= {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
    if host_memory is not None:
        how["host_memory"] = parse_size(host_memory, "--host-memory")
    on_disk = memory is not None or host_memory is not None
    if memory is not None and "+" in device:  # the host holds the graph; GPUs take so much of it
        graph, how["memory"] = read_whole(), memory
    elif on_disk:
        if check:
            given = "--host-memory" if memory is None else "--memory"
            raise InvalidArgumentError(f"--verify needs the whole graph in memory; leave {given} out")
        graph = open_on_disk(file, format)
        if memory is not None:
            how["memory"] = parse_size(memory)
    elif on_ranks and not check and is_undirected_store(file, format):
        graph = open_on_disk(file, format)  # each rank reads its own rows
    else:
        graph = read_whole()
    stays = on_ranks and out is not None and not check and report is None
    if stays:  # every rank writes its own rows
        how["gather"] = False
    with work(name) as progress:
        how["progress"] = progress if err.is_terminal else None
        try:
            result = call(graph, how)
        except ArcsOnDiskError:
            if on_disk:
                raise
            result = call(read_whole(), how)
    if check:
        with work("verifying"):
            result.verify()
    if stays and out is not None:
        with work(f"writing {out.name}"):
            result.write(out)
    if rank_of_job() != 0:  # every rank of an MPI job has the answer, or has written it; the first one tells the rest
        return
    if trace:
        _show_trace(result)
    if save_trace is not None:
        result.trace.write(save_trace)
    if out is not None and not stays:
        with work(f"writing {out.name}"):
            result.write(out)
    if report is not None:
        result.report(report)
    if json:
        print_json(_summary(name, result, check))
    elif out is None:
        _show(result, check, top)
    elif err.is_terminal:
        err.print(repr(result), markup=False)


def is_undirected_store(file: Path, format: str | None) -> bool:
    """Whether ``file`` is a store whose rows serve both directions."""
    from dromos.graph.store import open_store

    return format in (None, "drm") and file.suffix == ".drm" and bool(open_store(file).symmetric)


def open_on_disk(file: Path, format: str | None = None) -> Any:
    """A graph that stays on disk; other formats are told the way there."""
    from dromos.errors import UnsupportedFormatError
    from dromos.graph.store import open_store

    if format not in (None, "drm"):
        raise InvalidArgumentError(f"--memory reads a .drm store, and --format {format} is another format")
    try:
        return open_store(file)
    except UnsupportedFormatError as error:
        names = f"{file.name} {file.stem}.drm"
        if file.suffix == ".drm":  # its extension does not say what it is
            names = f"--from edges {file.name} {file.stem}.store.drm"
        raise UnsupportedFormatError(
            f"--memory reads a .drm store; make one with `dromos convert --memory 2G {names}` "
            f"({error.message.partition(';')[0]})",
            path=file,
        ) from None


def _summary(name: str, result: Result, verified: bool) -> dict[str, Any]:
    values = {key: getattr(result, key) for key in result.values_of_graph}
    return {
        "algorithm": name,
        **values,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "device": result.device,
        **({"bytes_read": result.trace.read} if result.trace.read else {}),
        "paths": result.trace.paths,
        "finished": result.finished,
        "verified": verified,
    }


def _show(result: Result, verified: bool, top: int | None) -> None:
    from rich.table import Table

    out.print(repr(result), markup=False, soft_wrap=not out.is_terminal)
    if verified:
        out.print("verified: the answer has all required properties")
    rows = result.head(_ROWS) if top is None else result.top_rows(top)
    table = Table(*rows)
    for cells in zip(*rows.values(), strict=True):
        table.add_row(*(escape(_cell(cell)) for cell in cells))
    out.print(table)
    count = len(result[next(iter(result))])
    if top is None and count > table.row_count:
        out.print(f"the first {table.row_count} of {count:,} rows; -o FILE writes all of them, --top N shows others")


def _show_trace(result: Result) -> None:
    """The trace to standard error: in a terminal a table that fits it, elsewhere whole lines."""
    from rich.table import Table

    from dromos.graph.summary import digits

    trace = result.trace
    if not err.is_terminal:
        err.print(in_options(repr(trace)), markup=False, soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    disk = any(row.read for row in trace)
    for name in ("superstep", "frontier", "out-edges", "path", "ms", *(["MiB read"] if disk else []), "reason"):
        table.add_column(name, justify="left" if name in ("path", "reason") else "right", no_wrap=name != "reason")
    rows = list(trace)
    for number, row in enumerate(rows):
        if len(rows) > 2 * _ROWS and _ROWS <= number < len(rows) - _ROWS:
            if number == _ROWS:
                table.add_row("…")
            continue
        counts = f"{row.superstep}", f"{row.frontier:,}", f"{row.out_degree:,}"
        more = (f"{row.parts} ms" if row.parts else "", row.directions, f"rows {row.way}" if row.way else "")
        why = row.reason + "".join(f" ({text})" for text in more if text)
        read = [digits(row.read / 2**20)] if disk else []
        table.add_row(*counts, row.path, digits(row.seconds * 1e3), *read, escape(in_options(why)))
    err.print(table)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join([*map(_cell, value[:_PARTS]), *["…"][: len(value) > _PARTS]])
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    return "" if value is None else str(value)


def _share(given: str | None) -> float | str | None:
    """A number where it is one; what else was given the engine takes, or refuses."""
    if given is None:
        return None
    try:
        return float(given)
    except ValueError:
        return given
