"""``dromos convert``: from one file format to another."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from dromos.cli.console import err, work
from dromos.cli.sizes import parse_size
from dromos.errors import InvalidArgumentError, UnsupportedFormatError
from dromos.graph.build import MERGE_RULES

__all__ = ["convert"]

_READING: Final = "How to read IN"


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The file to read.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    from_format: Annotated[str | None, typer.Option("--from", help=r"Input format \[default: from extension]")] = None,
    to_format: Annotated[str | None, typer.Option("--to", help=r"Output format \[default: from extension]")] = None,
    directed: Annotated[
        bool | None, typer.Option("--directed/--undirected", help=r"\[default: as the file states, else directed]")
    ] = None,
    symmetrize: Annotated[bool, typer.Option("--symmetrize", help="Make an undirected graph.")] = False,
    keep_parallel: Annotated[
        bool,
        typer.Option(
            "--keep-parallel",
            help="If IN lists every undirected edge in both directions, keep one edge for each line.",
        ),
    ] = False,
    dedupe: Annotated[bool, typer.Option("--dedupe", help="Keep one of several parallel edges.")] = False,
    drop_self_loops: Annotated[bool, typer.Option("--drop-self-loops", help="Drop self-loops.")] = False,
    merge_weights: Annotated[
        str, typer.Option(help=f"The weight kept by --dedupe: {', '.join(MERGE_RULES)}.")
    ] = "first",
    no_weights: Annotated[bool, typer.Option("--no-weights", help="Drop the weights.")] = False,
    transpose: Annotated[bool, typer.Option("--transpose", help="Also store the transpose.")] = False,
    compress: Annotated[
        bool, typer.Option("--compress", help="Compress the targets in the store, so that runs on disk read less.")
    ] = False,
    stripe: Annotated[
        list[Path] | None,
        typer.Option(
            help="Spread the store over this folder and those of the other --stripe options, to be read in parallel "
            "(dr.open, --memory).",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            help="Order of the vertices: input, or degree (largest first; runs on disk read less). Labels are kept."
        ),
    ] = "input",
    memory: Annotated[
        str | None,
        typer.Option(help="Use at most this memory, such as 2G (from edge lists, tables and stores to a .drm store)."),
    ] = None,
    allow_loss: Annotated[
        bool, typer.Option("--allow-loss", help="Write what the format of OUT can hold, even if something is lost.")
    ] = False,
    threads: Annotated[int | None, typer.Option(help=r"Threads \[default: all cores]")] = None,
    src: Annotated[
        str | None, typer.Option(help="The table column with the sources.", metavar="NAME", rich_help_panel=_READING)
    ] = None,
    dst: Annotated[
        str | None, typer.Option(help="The table column with the targets.", metavar="NAME", rich_help_panel=_READING)
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="The table column with the weights.", metavar="NAME", rich_help_panel=_READING)
    ] = None,
    ids: Annotated[
        str | None,
        typer.Option(
            help="dense: ids are 0..n-1; names: ids are labels; auto: labels if ids are missing in 0..largest.",
            rich_help_panel=_READING,
        ),
    ] = None,
    header: Annotated[
        str | None,
        typer.Option(
            help="The first line of an edge list: auto, counts, names or none (an edge).", rich_help_panel=_READING
        ),
    ] = None,
    extra_columns: Annotated[
        str | None,
        typer.Option(help="Columns after the weight of an edge list: error or ignore.", rich_help_panel=_READING),
    ] = None,
    weight_dtype: Annotated[
        str | None,
        typer.Option(
            help="The type of the weights of a text file: int32, float32 or float64.", rich_help_panel=_READING
        ),
    ] = None,
) -> None:
    """Read a graph in one format and write it in another. OUT is replaced only once the new file is complete."""
    from dromos.graph import formats, store
    from dromos.graph.formats.files import require_folder
    from dromos.graph.store.striped import without_old_stripes

    if source.exists() and target.exists() and source.samefile(target):
        raise InvalidArgumentError("IN and OUT are the same file; give OUT another name")
    if merge_weights not in MERGE_RULES:
        raise InvalidArgumentError(f"--merge-weights {merge_weights} is not one of {', '.join(MERGE_RULES)}")
    try:
        target_format = formats.format_of(target, to_format)
    except UnsupportedFormatError as error:
        raise UnsupportedFormatError(error.message.replace("format=", "--to"), path=error.path) from None
    if transpose and target_format.name != "drm":
        raise InvalidArgumentError("--transpose is for .drm stores; give OUT a name ending in .drm")
    if compress and target_format.name != "drm":
        raise InvalidArgumentError("--compress is for .drm stores; give OUT a name ending in .drm")
    if stripe and target_format.name != "drm":
        raise InvalidArgumentError("--stripe is for .drm stores; give OUT a name ending in .drm")
    if stripe and (len(stripe) < 2 or not all(folder.is_dir() for folder in stripe)):
        raise InvalidArgumentError("give --stripe at least twice, each time with an existing folder")
    require_folder(target)
    if order not in store.ORDERS:
        raise InvalidArgumentError(f"--order {order} is neither {' nor '.join(store.ORDERS)}")
    if memory is not None and target_format.name != "drm":
        raise InvalidArgumentError(
            "--memory writes a .drm store; give OUT a name ending in .drm, and convert that file in a second step"
        )
    options: dict[str, Any] = {
        "symmetrize": symmetrize or None,
        "dedupe": dedupe,
        "drop_self_loops": drop_self_loops,
        "merge_weights": merge_weights,
        "directed": directed,
        "keep_parallel": keep_parallel,
        "weighted": False if no_weights else None,
        "threads": threads,
    }
    reading = {
        "src": src, "dst": dst, "weight": weight, "ids": ids, "header": header, "extra_columns": extra_columns,
        "weight_dtype": weight_dtype,
    }  # fmt: skip
    options |= {name: value for name, value in reading.items() if value is not None}  # not every format has all of them
    chosen = {"transpose": transpose, "compress": compress}
    extra: dict[str, Any] = {name: True for name, wanted in chosen.items() if wanted}
    final, target = target, target.with_name(f".{target.stem}.whole.drm") if stripe else target
    with without_old_stripes(final), ExitStack() as at_the_end:
        if stripe:
            at_the_end.callback(target.unlink, missing_ok=True)
        if memory is not None:
            with work(f"converting {source.name}") as progress:
                store.convert(
                    source, target, memory=parse_size(memory), format=from_format, order=order, progress=progress,
                    **options, **extra,
                )  # fmt: skip
        else:
            with work(f"reading {source.name}", then="building the graph") as progress:
                graph = formats.read(source, format=from_format, progress=progress, **options)
            if order == "degree":
                with work("ordering the vertices"):
                    graph = graph.relabel_by_degree(named=True).graph
            with work(f"writing {target.name}") as progress:
                formats.write(graph, target, format=to_format, allow_loss=allow_loss, progress=progress, **extra)
        if stripe:
            with work(f"striping {final.name}") as progress:
                store.stripe_store(target, final, stripe, progress=progress)
    if err.is_terminal:
        err.print(f"wrote {final}")
