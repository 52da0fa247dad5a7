"""Searches from many sources dealt over processors, each of which has the whole graph.

Searches are independent, so no edge is cut and nothing is exchanged: each processor searches from its own groups of
sources with its own kernel, and the results are put together in the caller's order. iBFS uses several GPUs in the same
way (Liu, Huang and Hu, SIGMOD 2016).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import NativeKernel
from dromos.engines.joint_groups import Found, step_of
from dromos.engines.parts import Leaf
from dromos.errors import DeviceError, DromosError
from dromos.graph import Graph
from dromos.places.hybrid.rates import measured

__all__ = ["DEALT", "dealt", "kernels_of", "portions"]

Progress = Callable[[int, int], Any]


class _Stopped(Exception):
    """Another processor failed, or the caller interrupted the run."""


def kernels_of(leaves: Sequence[Leaf], name: str) -> list[NativeKernel] | None:
    """The kernel of each leaf for whole graphs; None if any leaf has none."""
    found = [leaf.native(name) if hasattr(leaf, "native") else None for leaf in leaves]
    kernels = [kernel for kernel in found if kernel is not None]
    return kernels if len(kernels) == len(leaves) else None


def portions(count: int, leaves: Sequence[Leaf], share: float | None = None) -> list[int]:
    """The number of ``count`` equal pieces of work that each leaf gets, so that all finish as soon as possible.

    ``share`` is the first leaf's fraction, if given. Otherwise leaves of one kind get equal numbers, and different
    kinds get numbers by their measured rates: a leaf that is too slow to help gets none.

    >>> from dromos.engines.vectorised import VectorisedLeaf
    >>> portions(5, [VectorisedLeaf(), VectorisedLeaf()]), portions(4, [VectorisedLeaf()] * 3, share=0.5)
    ([3, 2], [2, 1, 1])
    """
    if share is not None:
        others = len(leaves) - 1
        speeds = [share, *((1 - share) / others,) * others]
    elif len({leaf.name.partition(":")[0] for leaf in leaves}) == 1:
        speeds = [1.0] * len(leaves)
    else:
        speeds = [measured(leaf).arcs for leaf in leaves]
    given = [0] * len(leaves)
    able = [leaf for leaf, speed in enumerate(speeds) if speed > 0]
    for _ in range(count):  # each piece goes to the leaf that would finish it first
        given[min(able, key=lambda leaf: (given[leaf] + 1) / speeds[leaf])] += 1
    return given


class _Team:
    """Leaves that work at the same time, each in a thread; the first one in the caller's, where Ctrl-C arrives."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self.leaves, self.lock = leaves, threading.Lock()
        self._errors: list[tuple[str, BaseException]] = []

    def check(self) -> None:
        """Raise if another leaf failed: further results of this one are of no use."""
        if self._errors:
            raise _Stopped

    def run(self, work: Mapping[int, Callable[[], Any]]) -> None:
        """Do the work of each leaf; the first error stops all and is raised."""

        def guarded(leaf: int) -> None:
            try:
                work[leaf]()
            except _Stopped:
                pass
            except BaseException as error:
                self._errors.append((self.leaves[leaf].name, error))

        first, *others = work
        threads = [threading.Thread(target=guarded, args=(leaf,)) for leaf in others]
        for thread in threads:
            thread.start()
        guarded(first)
        for thread in threads:
            thread.join()
        if self._errors:
            name, error = self._errors[0]
            if isinstance(error, Exception) and not isinstance(error, (DromosError, _CallersError)):
                raise DeviceError(
                    f"{name} failed during its part of the searches ({type(error).__name__}: {error}); leave it "
                    "out of device="
                ) from error
            raise error.cause if isinstance(error, _CallersError) else error


class _CallersError(Exception):
    """An exception raised by a function of the caller's."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


def _of_caller(call: Callable[..., Any], *arguments: Any) -> None:
    try:
        call(*arguments)
    except Exception as error:
        raise _CallersError(error) from error


def _joint(
    leaves: Sequence[Leaf],
    kernels: Sequence[NativeKernel],
    share: float | None,
    graph: Graph,
    *,
    groups: Sequence[Array],
    consume: Callable[[Found], Any],
    progress: Progress | None = None,
    **options: Any,
) -> Mapping[str, Any]:
    """As the kernels, with each group searched on one of the leaves; calls of ``consume`` never overlap."""
    team, steps = _Team(leaves), []

    def deliver(leaf: Leaf, number: int, found: Found) -> None:
        with team.lock:
            team.check()
            told = found._replace(group=number)
            _of_caller(consume, told)
            levels, joint, said, seconds = step_of(told)
            steps.append((number, (levels, joint, f"{said}, on {leaf.name}", seconds)))
            if progress is not None:
                _of_caller(progress, len(steps), len(groups))

    def searches(leaf: Leaf, kernel: NativeKernel, numbers: range) -> Callable[[], Any]:
        return lambda: kernel(
            graph,
            groups=[groups[number] for number in numbers],
            consume=lambda found: deliver(leaf, numbers[found.group], found),
            **options,
        )

    ranges = _ranges(portions(len(groups), leaves, share))
    work = {at: searches(leaves[at], kernels[at], numbers) for at, numbers in enumerate(ranges) if numbers}
    if work:
        team.run(work)
    return {"steps": [step for _, step in sorted(steps)]}


def _betweenness(
    leaves: Sequence[Leaf],
    kernels: Sequence[NativeKernel],
    share: float | None,
    graph: Graph,
    *,
    sources: Sequence[int],
    progress: Progress | None = None,
    **options: Any,
) -> Mapping[str, Any]:
    """As the kernels: the sums of all leaves, always added in the same order."""
    team, done = _Team(leaves), [0] * len(leaves)
    sums: dict[int, Array] = {}

    def sweeps(at: int, own: Sequence[int]) -> Callable[[], Any]:
        def tell(count: int, of: int) -> None:
            with team.lock:
                team.check()
                done[at] = count
                if progress is not None:
                    _of_caller(progress, sum(done), len(sources))

        def work() -> None:
            sums[at] = kernels[at](graph, sources=own, progress=tell, **options)["dependency"]

        return work

    ranges = _ranges(portions(len(sources), leaves, share))
    work = {at: sweeps(at, [sources[n] for n in numbers]) for at, numbers in enumerate(ranges) if numbers}
    if work:
        team.run(work)
    return {"dependency": sum((sums[at] for at in sorted(sums)), start=np.zeros(graph.num_vertices))}


def _ranges(counts: Sequence[int]) -> list[range]:
    """Consecutive ranges of the given lengths."""
    ends = np.cumsum(counts).tolist()
    return [range(end - count, end) for count, end in zip(counts, ends, strict=True)]


DEALT: Final[Mapping[str, Callable[..., Mapping[str, Any]]]] = {"joint": _joint, "betweenness": _betweenness}
"""The kernels whose sources are dealt."""


def dealt(leaves: Sequence[Leaf], name: str, share: float | None) -> NativeKernel | None:
    """The kernel called ``name`` over all ``leaves``; None if its sources are not dealt, or a leaf lacks the kernel."""
    kernels = kernels_of(leaves, name) if name in DEALT else None
    if kernels is None:
        return None
    return lambda graph, **options: DEALT[name](leaves, kernels, share, graph, **options)
