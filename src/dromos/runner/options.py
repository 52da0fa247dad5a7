"""Run options, which every algorithm accepts beside its own arguments."""

from __future__ import annotations

import os
from typing import Any, Literal, TypedDict

from dromos.engines import Engine
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.hints import made_by
from dromos.plan import Path
from dromos.runner.loop import Progress

__all__ = ["DeviceOptions", "Options", "check_graph"]


class DeviceOptions(TypedDict, total=False):
    """Run options, which every algorithm accepts beside its own arguments.

    - ``device``: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"numpy"`` (no compiler, for small graphs), ``"reference"``, or
      several joined by ``+``.
    - ``path``: ``"auto"`` or a fixed path such as ``"sync-push-dd"``.
    - ``threads``: by default all cores.
    - ``progress``: a function called with ``(supersteps done, total or 0)``.
    - ``parts``, ``slices``: run programs over this many parts of the graph, each in this many slices, as if the graph
      did not fit one memory. By default the graph is whole.
    - ``share``, ``split``: with several devices (``"cpu+cuda"``), the first device's part of the edges, and the
      vertices it gets: ``"high"`` (those of the highest degrees), ``"low"`` or ``"random"``. By default, and with
      ``"auto"``, a model chooses.
    - ``deal``: over parts or several devices, the arcs that each of them processes: ``"rows"`` (those of its own
      vertices, the default), ``"pages"`` (equally many for each, whichever vertices they belong to) or ``"targets"``
      (those that end at its own vertices).
    - ``host_memory``: with ``device="cuda"`` and a graph on disk (:func:`dromos.open`), the limit for the memory of the
      host, by default what is free. Arcs that fit neither there nor on the GPU are read from disk in every superstep
      that needs them.
    - ``keep_on_device``: leave the arrays of the result on the GPU, as CuPy arrays that PyTorch and others can use
      without a copy.
    - ``gather``: over MPI ranks, whether every rank gets all rows of the result (True, the default) or only those of
      its own vertices.
    - ``checkpoint``: a folder to which the state of the run is saved every ``checkpoint_every`` seconds (60 by
      default). After a kill, the same call resumes from there.
    - ``explain``: run the other paths as well, so that ``result.report()`` and ``result.other_paths`` show what they
      would have cost.
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
    host_memory: int | str | None
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: float
    explain: bool


class Options(DeviceOptions, total=False):
    """As :class:`DeviceOptions`, and ``memory``: the budget for a graph that stays on disk (:func:`dromos.open`).

    It is given in bytes or as text such as ``"2G"``; by default it is half of the free memory.
    """

    memory: int | str | None


def check_graph(graph: Any) -> None:
    """Refuse anything that is not a Dromos graph, and say how to make one.

    >>> check_graph("friends.txt")
    Traceback (most recent call last):
    dromos.errors.InvalidArgumentError: graph is a str; make a graph of it with dromos.read(path)
    """
    if isinstance(graph, Graph):
        return
    package = type(graph).__module__.partition(".")[0]
    kind = f"{package}.{type(graph).__name__}" if package != "builtins" else type(graph).__name__
    raise InvalidArgumentError(f"graph is a {kind}; make a graph of it with {made_by(graph)}")
