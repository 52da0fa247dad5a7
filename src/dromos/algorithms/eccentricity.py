"""Eccentricities, the diameter and the radius.

``eccentricity`` returns the distance from each vertex to the vertex farthest from it, and the greatest and the smallest
of these distances, ``diameter`` and ``radius``. The functions ``diameter`` and ``radius`` return one number and stop as
soon as it is certain; their fields ``lower`` and ``upper`` bound every vertex's eccentricity. All answers are exact. As
in NetworkX, a graph that is not (strongly) connected is refused.

A few searches bound most vertices so tightly that no search from them is needed; see
:mod:`dromos.algorithms.many.bounding`.
"""

from __future__ import annotations

from typing import TypeVar, Unpack

import numpy as np

from dromos.algorithms.many.bounding import Bounds, narrow
from dromos.algorithms.verifying import matrix, nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import NumberResult, Options, Result, Session

__all__ = ["DiameterResult", "EccentricityResult", "RadiusResult", "diameter", "eccentricity", "radius", "verify"]

_CHECKED = 64

Number = TypeVar("Number", bound=NumberResult)


class EccentricityResult(Result):
    """What :func:`eccentricity` returns."""

    eccentricity: Array
    diameter: int
    radius: int
    searches: int


def eccentricity(graph: Graph, **how: Unpack[Options]) -> EccentricityResult:
    """The distance from each vertex to the farthest one.

    Args:
        graph: connected; if directed, strongly connected. Weights are ignored.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> result = dr.eccentricity(dr.generators.path(4))
    >>> result.eccentricity.tolist(), result.diameter, result.radius
    ([3, 2, 2, 3], 3, 2)
    """
    session = Session("eccentricity", graph, **how)
    bounds = narrow(session, graph, "all")
    values = {
        "diameter": int(bounds.lower.max()),
        "radius": int(bounds.lower.min()),
        "searches": int(np.count_nonzero(bounds.searched)),
    }
    return session.result(
        EccentricityResult,
        {"eccentricity": bounds.lower},
        values=values,
        verifier=lambda result: verify(graph, result["eccentricity"], result["eccentricity"]),
    )


class DiameterResult(NumberResult):
    """What :func:`diameter` returns."""

    lower: Array
    upper: Array
    diameter: int
    searches: int


def diameter(graph: Graph, **how: Unpack[Options]) -> DiameterResult:
    """The greatest distance between two vertices.

    Args:
        graph: connected; if directed, strongly connected. Weights are ignored.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> longest = dr.diameter(dr.generators.cycle(7))
    >>> longest == 3, longest / 2, longest.diameter
    (True, 1.5, 3)
    """
    session = Session("diameter", graph, **how)
    bounds = narrow(session, graph, "diameter")
    return _bounded(session, DiameterResult, graph, bounds, {"diameter": int(bounds.lower.max())})


class RadiusResult(NumberResult):
    """What :func:`radius` returns."""

    lower: Array
    upper: Array
    radius: int
    searches: int


def radius(graph: Graph, **how: Unpack[Options]) -> RadiusResult:
    """The smallest eccentricity: some vertex has all others within this distance.

    Args:
        graph: connected; if directed, strongly connected. Weights are ignored.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> dr.radius(dr.generators.star(9)).radius
    1
    """
    session = Session("radius", graph, **how)
    bounds = narrow(session, graph, "radius")
    return _bounded(session, RadiusResult, graph, bounds, {"radius": int(bounds.upper.min())})


def _bounded(session: Session, kind: type[Number], graph: Graph, bounds: Bounds, values: dict[str, int]) -> Number:
    def check(result: Result) -> None:
        verify(graph, result["lower"], result["upper"])
        # Each call narrows the bounds for its own number alone, so the other one may still be open.
        for name, least, most in (
            ("diameter", result["lower"].max(), result["upper"].max()),
            ("radius", result["lower"].min(), result["upper"].min()),
        ):
            if name in values:
                require(least == values[name] == most, f"the {name} is {values[name]}, but the bounds {least}..{most}")

    searches = int(np.count_nonzero(bounds.searched))
    return session.result(
        kind, {"lower": bounds.lower, "upper": bounds.upper}, values={**values, "searches": searches}, verifier=check
    )


def verify(graph: Graph, lower: Array, upper: Array) -> None:
    """SciPy's eccentricities of some vertices are within the bounds."""
    from scipy.sparse.csgraph import shortest_path

    n = graph.num_vertices
    some = np.unique(np.linspace(0, n - 1, min(n, _CHECKED)).astype(np.int64))
    length = shortest_path(matrix(graph.with_weights(None)), unweighted=True, indices=some).max(axis=1)
    nowhere((length < lower[some]) | (length > upper[some]), "checked vertex number {} has another eccentricity")
