"""Betweenness centrality.

Returns ``centrality``: for each vertex the share of shortest paths between other vertices that lead through it. Paths
are measured by number of edges, or by weight on request. Arguments, scaling and numbers are those of NetworkX's
``betweenness_centrality``: parallel edges count once (with weights the lightest), self-loops do not count, and the same
seed draws the same sources. Weights must be positive; otherwise a path could circle at no cost.

The engine's own kernel runs if it has one; ``dromos/engines/native/betweenness.py`` says what it gains. A fixed path
and the reference engine run a composition of programs instead. For each source, one program counts shortest paths level
by level, and a second one gathers dependencies from the far end back: level by level, or, where there are many levels,
a vertex sends when all vertices after it have sent. With weights, a search for the distances comes first, and paths are
counted the way dependencies are gathered, each vertex after all vertices before it. The programs count in floats and
raise an error if there are too many paths for that; the unweighted kernel has no such limit. Brandes, "A faster
algorithm for betweenness centrality", 2001.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import count_of, lightest, simple_for_programs, weight_range
from dromos.algorithms.arguments import weighted as with_weight
from dromos.algorithms.many.sources import drawn, vertex_ids
from dromos.algorithms.sssp import as_float, distance_type, sssp_program
from dromos.algorithms.verifying import matrix, mean_steps, require
from dromos.dtypes import Array
from dromos.errors import FieldOverflowError, InvalidArgumentError
from dromos.graph import Graph
from dromos.parallel import in_blocks
from dromos.runner import Options, Result, Session, array_module

__all__ = [
    "BetweennessResult",
    "Dependencies",
    "LevelDependencies",
    "Paths",
    "betweenness",
    "dependencies",
    "require_countable",
    "verify",
]

_BESIDE = 20  # bytes per vertex: sums, and of one source the paths and who is reached
# What the way back takes more for its fields than the first search, without and with weights. It is asked for before
# that, so that a budget that is too small is refused at once.
_WAY_BACK = {False: 28, True: 52}
_FEW_LEVELS = 64
"""Up to so many levels, a look at all vertices for each of them costs little beside their edges."""
_MOST_PATHS = 2.0**900  # beyond, a dependency divided by the paths may leave the range of normal floats


class Paths(dr.Program):
    """Levels, and the number of shortest paths from the source."""

    source = dr.param(int)
    level = dr.field(np.int32)
    paths = dr.field(np.float64)
    combine = dr.SUM

    def init(self, v: Any) -> Any:
        here = v.id == self.source
        return {"level": dr.where(here, 0, -1), "paths": dr.where(here, 1.0, 0.0)}

    def start(self, v: Any) -> Any:
        return v.id == self.source

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.paths

    def update(self, v: Any, message: Any) -> Any:
        new = v.level < 0
        return {"level": dr.where(new, self.superstep + 1, v.level), "paths": dr.where(new, message, v.paths)}

    def active(self, old: Any, new: Any) -> Any:
        return new.level != old.level


class _Backward(dr.Program):
    """What :class:`Dependencies` and :class:`WeightedDependencies` have in common."""

    paths = dr.vertex_param(np.float64)
    dependency = dr.field(np.float64, init=0.0)
    waiting = dr.field(np.int64, init=0)
    combine = dr.SUM
    kind = "traversal"

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        first = self.superstep == 0
        return dr.where(first, 0.0, (1 + u.dependency) / u.paths), dr.where(first, 1, -1)

    def update(self, v: Any, message: Any) -> Any:
        gathered, count = message
        return {"dependency": v.dependency + v.paths * gathered, "waiting": v.waiting + count}

    def active(self, old: Any, new: Any) -> Any:
        return (new.waiting == 0) & ((old.waiting != 0) | (self.superstep == 0))


class Dependencies(_Backward):
    """How many paths to vertices further on lead through each vertex; runs on the transpose.

    In the first superstep all vertices tell those before them to wait for them. From then on a vertex sends once
    nobody is left to wait for, so every edge carries one dependency, and thin levels cost what they weigh.
    """

    level = dr.vertex_param(np.int32)

    def start(self, v: Any) -> Any:
        return v.level >= 0

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return v.level == u.level - 1


class LevelDependencies(dr.Program):
    """As :class:`Dependencies`, level by level from the deepest one; runs on the transpose.

    Nobody has to be told to wait, and only the vertices of one level want messages. But every superstep looks at all
    vertices, so it is for searches of few levels.
    """

    paths = dr.vertex_param(np.float64)
    level = dr.vertex_param(np.int32)
    deepest = dr.param(int)
    dependency = dr.field(np.float64, init=0.0)
    combine = dr.SUM
    kind = "traversal"
    update_on = "all"

    def start(self, v: Any) -> Any:
        return (v.level > 0) & (v.level == self.deepest)

    def wants(self, v: Any) -> Any:
        return v.level == self.deepest - self.superstep - 1

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return (1 + u.dependency) / u.paths

    def update(self, v: Any, message: Any) -> Any:
        return v.dependency + v.paths * message

    def active(self, old: Any, new: Any) -> Any:
        return (new.level > 0) & (new.level == self.deepest - self.superstep - 1)


def dependencies(level: Array, paths: Array) -> dr.Program:
    """The program that gathers dependencies after a search that found these levels and numbers of paths."""
    deepest = int(level.max(initial=-1))
    if deepest <= _FEW_LEVELS:
        return LevelDependencies(level=level, paths=paths, deepest=deepest)
    return Dependencies(level=level, paths=paths)


class WeightedPaths(dr.Program):
    """The number of shortest paths to each vertex, from the distances; as in :class:`Dependencies` they wait."""

    source = dr.param(int)
    distance = dr.vertex_param(np.float64)
    paths = dr.field(np.float64)
    waiting = dr.field(np.int64)
    combine = dr.SUM
    kind = "traversal"

    def init(self, v: Any) -> Any:
        return {"paths": dr.where(v.id == self.source, 1.0, 0.0), "waiting": 0}

    def start(self, v: Any) -> Any:
        return dr.isfinite(v.distance)

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        first = self.superstep == 0
        return dr.where(first, 0.0, u.paths), dr.where(first, 1, -1)

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return u.distance + edge.weight == v.distance

    def update(self, v: Any, message: Any) -> Any:
        gathered, count = message
        return {"paths": v.paths + gathered, "waiting": v.waiting + count}

    def active(self, old: Any, new: Any) -> Any:
        return dr.isfinite(new.distance) & (new.waiting == 0) & ((old.waiting != 0) | (self.superstep == 0))


class WeightedDependencies(_Backward):
    """As :class:`Dependencies`, along weighted shortest paths."""

    distance = dr.vertex_param(np.float64)

    def start(self, v: Any) -> Any:
        return dr.isfinite(v.distance)

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return v.distance + edge.weight == u.distance

    def active(self, old: Any, new: Any) -> Any:
        return dr.isfinite(new.distance) & super().active(old, new)


class BetweennessResult(Result):
    """What :func:`betweenness` returns."""

    centrality: Array


def betweenness(
    graph: Graph,
    k: int | None = None,
    sources: Iterable[Any] | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    seed: int | None = None,
    weight: str | None = None,
    **how: Unpack[Options],
) -> BetweennessResult:
    """The share of shortest paths that lead through each vertex.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways. Weights are ignored
            unless ``weight`` is given.
        k: estimate from this many random sources; by default all vertices are sources.
        sources: estimate from these vertices instead (labels, or ids if the graph has no labels).
        normalized: divide by the number of pairs of other vertices.
        endpoints: count the two ends of a path as lying on it.
        seed: the random seed; the same seed draws the same sources.
        weight: ``"weight"`` measures paths by the sum of the graph's weights, which must be positive.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.

    >>> import dromos as dr
    >>> dr.betweenness(dr.generators.path(4)).centrality.round(3).tolist()
    [0.0, 0.667, 0.667, 0.0]
    """
    session = Session("betweenness", graph, **how)
    chosen = _sources(graph, k, sources, seed)
    by_weight = with_weight(graph, weight).weights is not None
    on = lightest(graph) if by_weight else simple_for_programs(graph, directed=True)
    if by_weight and weight_range(on, negative=False)[0] == 0:
        raise InvalidArgumentError("a weight is 0, so paths could circle at no cost; betweenness needs weights above 0")
    start_from = range(graph.num_vertices) if chosen is None else chosen
    kernel = "weighted_betweenness" if by_weight else "betweenness"
    fields = session.native(
        kernel, on, keep_on_device=True, sources=start_from, endpoints=endpoints, progress=session.progress
    )
    total = _by_programs(session, on, start_from, endpoints) if fields is None else fields["dependency"]
    share, share_of_chosen = _shares(graph, chosen, normalized, endpoints)
    _scale(total, share, chosen, share_of_chosen)

    def check(result: Result) -> None:
        factors = np.ones(graph.num_vertices)
        _scale(factors, share, chosen, share_of_chosen)
        verify(on, chosen, result["centrality"], factors, endpoints, by_weight=by_weight)

    return session.result(BetweennessResult, {"centrality": total}, verifier=check)


def _by_programs(session: Session, graph: Graph, sources: Sequence[int], endpoints: bool) -> Array:
    """The dependencies of all sources, added up."""
    total, back = np.zeros(graph.num_vertices), graph.transpose
    session.hold_beside_programs(_BESIDE + _WAY_BACK[graph.weights is not None])
    for source in sources:
        program, reached, paths = _counted(session, graph, source)
        require_countable(paths, source, "leave path out and use device='cpu', whose kernel has no such limit")
        dependency = session.run(program, back).fields["dependency"]
        dependency[source] = 0
        if endpoints:
            reached[source] = False
            dependency[reached] += 1
            dependency[source] = np.count_nonzero(reached)
        total += dependency
        del program, reached, paths, dependency  # before the next search
    return total


def require_countable(paths: Array, source: int, remedy: str) -> None:
    """Refuse to go on where there are too many paths for the programs, and say what to do."""
    if paths.max() > _MOST_PATHS:
        raise FieldOverflowError(
            f"from vertex {source} there are more shortest paths than a 64-bit float can count in a program; {remedy}"
        )


def _counted(session: Session, graph: Graph, source: int) -> tuple[dr.Program, Array, Array]:
    """The program that gathers a source's dependencies, which vertices it reaches, and by how many paths."""
    if graph.weights is None:
        forward = session.run(Paths(source=source), graph).fields
        session.hold_beside_programs(_BESIDE)
        level, paths = forward["level"], forward["paths"]
        return dependencies(level, paths), level >= 0, paths
    search = sssp_program(distance_type(graph, *weight_range(graph)))(source=source)
    distance = as_float(session.run(search, graph).fields["distance"])
    session.hold_beside_programs(_BESIDE)
    paths = session.run(WeightedPaths(source=source, distance=distance), graph).fields["paths"]
    return WeightedDependencies(distance=distance, paths=paths), np.isfinite(distance), paths


def _sources(graph: Graph, k: int | None, sources: Iterable[Any] | None, seed: int | None) -> list[int] | None:
    """The ids to start from, or None for all."""
    n = graph.num_vertices
    if sources is not None:
        if k is not None:
            raise InvalidArgumentError("k and sources exclude each other; give one of them")
        ids: list[int] = vertex_ids(graph, sources, "sources").tolist()
        return ids
    if k is None or (count := count_of(k, "k")) == n:
        return None
    return drawn(count, n, seed)


def _shares(graph: Graph, chosen: list[int] | None, normalized: bool, endpoints: bool) -> tuple[float, float]:
    """What a vertex's sum is multiplied by, and a chosen source's, which lacks its own share of an estimate."""
    pairs = graph.num_vertices if endpoints else graph.num_vertices - 1
    drawn = pairs if chosen is None else len(chosen)
    if pairs < 2 or drawn == 0:
        return 1.0, 1.0
    share = 1 / (pairs - 1) if normalized else pairs / (1 if graph.directed else 2)
    if chosen is None or endpoints:
        return share / drawn, share / drawn
    return share / drawn, share / (drawn - 1) if drawn > 1 else np.nan


def _scale(total: Array, share: float, chosen: list[int] | None, share_of_chosen: float) -> None:
    """Multiply in place; a large array by all threads."""
    own = None if chosen is None else total[chosen] * share_of_chosen

    def part(begin: int, end: int) -> None:
        total[begin:end] *= share

    if array_module(total) is np:
        in_blocks(part, len(total), block=1 << 18)
    else:
        part(0, len(total))
    if own is not None:
        total[chosen] = own


def verify(
    graph: Graph,
    sources: list[int] | None,
    centrality: Array,
    scale: Array,
    endpoints: bool,
    *,
    by_weight: bool = False,
) -> None:
    """From each source, the dependencies sum to the inner vertices of all shortest paths; SciPy knows their lengths."""
    from scipy.sparse.csgraph import shortest_path

    total = np.where(np.isnan(scale), 0, centrality / np.where(scale == 0, 1, scale))
    require(bool(np.all(np.isnan(scale) | (total >= -1e-9))), "a centrality is below zero")
    if graph.num_vertices == 0 or (sources is not None and len(sources) < 2):
        return
    length = shortest_path(matrix(graph), method="D", unweighted=not by_weight, indices=sources)
    if by_weight:
        starts = range(graph.num_vertices) if sources is None else sources
        length = np.array([mean_steps(graph, start, row) for start, row in zip(starts, length, strict=True)])
    inner = (length[np.isfinite(length) & (length > 0)] - 1 + 2 * endpoints).sum()
    require(
        abs(total.sum() - inner) <= 1e-6 * max(inner, 1),
        f"the dependencies sum to {total.sum():g}, but shortest paths have {inner:g} vertices on them",
    )
