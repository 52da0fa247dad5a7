"""How to run: the options that every algorithm takes beside its own arguments."""

from __future__ import annotations

import os
from typing import Any, Final, Literal, TypedDict

from dromos.engines import Engine
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.plan import Path
from dromos.runner.loop import Progress

__all__ = ["DeviceOptions", "Options", "check_graph"]


class DeviceOptions(TypedDict, total=False):
    """How to run: what every algorithm takes beside its own arguments.

    ``device``: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"numpy"`` (no compiler, for small graphs), ``"reference"``,
    or several joined by ``+``.
    ``path``: ``"auto"`` or a fixed one such as ``"sync-push-dd"``. ``threads``: all cores unless given. ``progress``:
    told ``(supersteps done, total or 0)``. ``slices``, ``parts``: run programs over so many parts of the graph, each in
    so many slices, as where a graph does not lie in one memory; whole unless given. ``share``, ``split``: with several
    devices (``"cpu+cuda"``), the first one's part of the edges, and which vertices it gets: ``"high"`` (of the highest
    degrees), ``"low"`` or ``"random"``; ``"auto"``, or not given: chosen by a model. ``deal``: over parts or several
    devices, which arcs each of them goes along: ``"rows"`` (of its own vertices, unless given), ``"pages"`` (as many
    for each, whoever's they are) or ``"targets"`` (those that end at its own vertices). ``keep_on_device``: leave the
    arrays of the result on the GPU, as CuPy arrays that PyTorch and others take without a copy. ``gather``: over MPI
    ranks, whether every rank gets all rows of the result (True unless given), or those of its own vertices.
    ``checkpoint``: a folder that the state of the run is saved to every ``checkpoint_every`` seconds (60 unless given);
    after a kill the same call goes on from there. ``explain``: run the other paths as well, so that ``result.report()``
    and ``result.other_paths`` tell what they would have cost.
    """

    device: str | Engine
    path: str | Path
    threads: int | None
    progress: Progress | None
    slices: int | None
    parts: int | None
    keep_on_device: bool
    gather: bool
    share: float | Literal["auto"] | None
    split: str | None
    deal: str | None
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: float
    explain: bool


class Options(DeviceOptions, total=False):
    """As :class:`DeviceOptions`, and ``memory``: what a run on a graph that stays on disk (:func:`dromos.open`) may
    take, in bytes or as ``"2G"``; half of what is free unless given.
    """

    memory: int | str | None


def check_graph(graph: Any) -> None:
    """Refuse what is not a graph of ours, with the way to make one.

    >>> check_graph("friends.txt")
    Traceback (most recent call last):
    dromos.errors.InvalidArgumentError: graph is a str; make a graph of it with dromos.read(path)
    """
    if isinstance(graph, Graph):
        return
    package = type(graph).__module__.partition(".")[0]
    kind = f"{package}.{type(graph).__name__}" if package != "builtins" else type(graph).__name__
    how = "dromos.read(path)" if isinstance(graph, str | os.PathLike) else _MADE_BY.get(package)
    if hasattr(graph, "__networkx_cache__"):  # also graphs of classes that somebody derived from NetworkX's
        how = _MADE_BY["networkx"]
    raise InvalidArgumentError(f"graph is a {kind}; make a graph of it with {how or _MADE_BY['builtins']}")


_MADE_BY: Final = {
    "networkx": "dromos.Graph.from_networkx(graph)",
    "igraph": "dromos.Graph.from_igraph(graph)",
    "scipy": "dromos.Graph.from_scipy(matrix)",
    "numpy": "dromos.Graph.from_edges(src, dst)",
    "pandas": "dromos.Graph.from_pandas(frame)",
    "polars": "dromos.Graph.from_polars(frame)",
    "pyarrow": "dromos.Graph.from_arrow(table)",
    "builtins": "dromos.Graph.from_edges(src, dst), or read a file with dromos.read(path)",
}
