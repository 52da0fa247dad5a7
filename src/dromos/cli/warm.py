"""``dromos warm``: compile the built-in algorithms for this machine, so that no later run waits for it."""

from __future__ import annotations

import inspect
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from dromos.cli.console import err, out, work

if TYPE_CHECKING:
    from dromos.dtypes import Array
    from dromos.graph import Graph

__all__ = ["arguments_for", "compile_for", "small_graphs", "warm"]

_VERTICES: Final = 64
_AROUND_A_HUB: Final = 80


def warm(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Some algorithms only.", show_default="all")
    ] = None,
) -> None:
    """Compile the built-in algorithms for this machine and keep the machine code in the cache folder.

    Each runs on small graphs, with and without weights. Images and clusters do this when they are built, with
    DROMOS_CACHE_DIR set; a second time takes seconds.
    """
    from dromos.cli.algorithms import COMMANDS
    from dromos.disk_cache import cache_folder
    from dromos.errors import InvalidArgumentError

    chosen = list(COMMANDS) if not names else [name.replace("_", "-") for name in names]
    if unknown := [name for name in chosen if name not in COMMANDS]:
        raise InvalidArgumentError(f"there is no algorithm {unknown[0]!r}; there are {', '.join(COMMANDS)}")
    begin = time.perf_counter()
    graphs = small_graphs()
    with work("compiling") as progress, tempfile.TemporaryDirectory(prefix="dromos-warm-") as scratch:
        for number, name in enumerate(chosen):
            progress.note(name)
            progress(number, len(chosen))
            for graph in graphs:
                compile_for(COMMANDS[name], graph, Path(scratch))
    text = f"{len(chosen)} algorithms are compiled, in {time.perf_counter() - begin:.1f} s: {cache_folder()}"
    (err if err.is_terminal else out).print(text, soft_wrap=True)


def small_graphs() -> tuple[Graph, ...]:
    """Graphs of all kinds that kernels are compiled for.

    Undirected and directed ones (along which no edge leads back), without weights, with whole ones and with others; and
    one with a hub, which some algorithms go about in another way.
    """
    import numpy as np

    from dromos.graph import Graph

    draw = np.random.default_rng(1)
    ends = np.sort(draw.integers(0, _VERTICES, (2, 4 * _VERTICES)), axis=0)
    ends = ends[:, ends[0] != ends[1]]
    whole: Array = draw.integers(1, 9, size=ends[0].shape)
    made = [
        Graph.from_edges(ends[0], ends[1], values, num_vertices=_VERTICES, directed=directed)
        for directed in (False, True)
        for values in cast("tuple[Array | None, ...]", (None, whole.astype(np.float32), whole.astype(np.int32)))
    ]
    star = Graph.from_edges(np.zeros(_AROUND_A_HUB, np.int64), np.arange(1, _AROUND_A_HUB + 1), directed=False)
    return (*made, star)


def arguments_for(graph: Graph, scratch: Path) -> Mapping[str, Any]:
    """A value for each argument that algorithms ask for."""
    import numpy as np

    return {
        "source": 0,
        "sources": [0, 1],
        "to": scratch / "pairs.parquet",
        "x": np.ones(graph.num_vertices),
        "community": np.zeros(graph.num_vertices, dtype=np.int64),
        "prior": np.full((graph.num_vertices, 2), 0.5),
        "coupling": np.array([[0.6, 0.4], [0.4, 0.6]]),
    }


def compile_for(algorithm: Callable[..., Any], graph: Graph, scratch: Path) -> None:
    """Run an algorithm with arguments that fit, as on a small graph and as on a large one; some take no such graph."""
    from dromos.engines.cpu.arc_blocks import blocks_on_any_graph
    from dromos.engines.cpu.initial import only_compiled
    from dromos.errors import DromosError

    given = arguments_for(graph, scratch)
    wanted = [p.name for p in inspect.signature(algorithm).parameters.values() if p.default is p.empty]
    try:
        for size in (nullcontext, blocks_on_any_graph):
            with only_compiled(), size():
                algorithm(graph, device="cpu", **{name: given[name] for name in wanted if name in given})
    except DromosError:  # it wants weights, or an order, or both directions
        return
