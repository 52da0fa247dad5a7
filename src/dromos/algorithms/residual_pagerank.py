"""PageRank in its residual form, ``dr.pagerank(g, method="delta")``: a vertex sends what changed since it last sent.

With ``y = (1 - alpha) jump + alpha M y``, where ``M`` leaves out the jumps of vertices without out-edges, the ranks are
``y`` divided by its sum. Such a vertex jumps to the same targets as all others, so its jumps only scale the answer. A
vertex has a ``rank`` and a ``residual``, the amount missing in its equation. A vertex sends by adding the residual to
its rank and passing ``alpha`` of it on along the out-edges. Vertices may send in any order, so the planner chooses
between synchronous pulls and asynchronous pushes, over all vertices or over those with much to send (SEP-Graph's
Algorithm 1).

Vertices with little to send wait: a residual of at most ``bound`` for each out-edge (and one more) is not sent. Sending
costs work for each edge, so hubs wait for more. If ``R`` is the sum of the sizes of the remaining residuals, adding
them to the ranks leaves a step that changes the ranks by ``2 alpha R / s`` at most, with ``s`` the sum before the
division. From ``tol`` follows the ``bound`` that is certain to suffice. Most runs end with far smaller residuals than
this bound allows, so a run begins with a bound that is looser by a factor and continues with a tighter one if
necessary.

Andersen, Chung and Lang, "Local graph partitioning using PageRank vectors", 2006; Zhang, Gao, Gao and Wang, "Accelerate
large-scale iterative computation through asynchronous accumulative updates", 2012.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

import dromos.program as dr
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.program import Program
from dromos.runner import Session, on_host

__all__ = ["Ranks", "check_arguments", "residual_ranks", "sending_program"]

_LEAST_TOL = 1e-12

_LOOSER = 4.0  # than what is sure to do: the first bound that is tried

# Bytes per vertex, of the budget for a graph on disk. The second program takes more than the first one, which reserves
# that too, so that a small budget is refused at once.
_MORE_FOR_SENDING: Final = 55
_JUMPS: Final = 8  # what the caller gives and keeps, if it is not the same everywhere


class _FirstStep(dr.Program):
    """Ranks to begin with, and what is missing in each equation: a superstep in which all vertices send.

    They are where walkers jump to, so that residuals have both signs and mostly cancel out. Vertices without out-edges
    get the part of it that they keep: then the residuals sum to 0.
    """

    alpha = dr.param(float)
    rank = dr.field(np.float64)
    residual = dr.field(np.float64, init=0.0)
    combine = dr.SUM
    update_on = "all"

    def is_dangling(self, v: Any) -> Any:
        return v.out_degree == 0

    def jump(self, v: Any) -> Any:
        return 1 / self.num_vertices

    def init(self, v: Any) -> Any:
        return {"rank": self.jump(v) * dr.where(self.is_dangling(v), 1 - self.alpha, 1.0)}

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return self.alpha * u.rank / u.out_degree

    def update(self, v: Any, message: Any) -> Any:
        return {"residual": (1 - self.alpha) * self.jump(v) + message - v.rank}

    def active(self, old: Any, new: Any) -> Any:
        return True


class _FirstStepWeighted(_FirstStep):
    """Edges in proportion to their weights; ``strength`` is their sum at each vertex."""

    strength = dr.vertex_param(np.float64)

    def is_dangling(self, v: Any) -> Any:
        return v.strength == 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return dr.where(u.strength == 0, 0.0, self.alpha * u.rank * edge.weight / u.strength)


class _Sending(dr.Program):
    """Vertices with much to send do so; the end is when nobody has."""

    alpha = dr.param(float)
    bound = dr.param(float)
    first_rank = dr.vertex_param(np.float64)
    first_residual = dr.vertex_param(np.float64)
    rank = dr.field(np.float64)
    residual = dr.field(np.float64)
    combine = dr.SUM
    kind = "iterative"
    # adding no message changes nothing, so all may be updated: a pull is then the quick one, of messages made once
    update_on = "all"
    any_order = True

    def init(self, v: Any) -> Any:
        return {"rank": v.first_rank, "residual": v.first_residual}

    def start(self, v: Any) -> Any:
        return abs(v.residual) > self.bound * (v.out_degree + 1)

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return self.alpha * u.residual / u.out_degree

    def sent(self, u: Any) -> Any:
        return {"rank": u.rank + u.residual, "residual": 0.0}

    def update(self, v: Any, message: Any) -> Any:
        return {"residual": v.residual + message}

    def active(self, old: Any, new: Any) -> Any:
        return abs(new.residual) > self.bound * (new.out_degree + 1)


class _SendingWeighted(_Sending):
    """Edges in proportion to their weights."""

    strength = dr.vertex_param(np.float64)

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return dr.where(u.strength == 0, 0.0, self.alpha * u.residual * edge.weight / u.strength)


@cache
def _first_program(personal: bool, weights: bool) -> type[Program]:
    base = _FirstStepWeighted if weights else _FirstStep
    given: dict[str, Any] = {}
    if personal:
        given = {"jumped": dr.vertex_param(np.float64), "jump": lambda self, v: v.jumped}
    return type("ResidualOfStart", (base,), given)


@cache
def sending_program(weights: bool = False) -> type[Program]:
    """The program in which vertices send their residuals."""
    return type("ResidualPageRank", (_SendingWeighted if weights else _Sending,), {})


def check_arguments(alpha: float, tol: float, nstart: Any, dangling: Any, dtype: np.dtype[Any]) -> None:
    """Refuse arguments of PageRank that the residual form cannot serve."""
    reasons = {
        "nstart": (nstart is not None, "it starts from ranks at which residuals cancel out"),
        "dangling": (dangling is not None, "vertices without out-edges jump to the same vertices as all others"),
        "dtype=float32": (dtype != np.float64, "what rounding cuts off a residual is lost"),
        "alpha=1": (alpha == 1, "residuals would never shrink"),
        f"tol={tol:g}": (tol < _LEAST_TOL, f"changes below {_LEAST_TOL:g} are lost in rounding"),
    }
    for given, (is_given, why) in reasons.items():
        if is_given:
            raise InvalidArgumentError(f"method='delta' cannot use {given}: {why}; leave it out, or use method='power'")


class Ranks(NamedTuple):
    """The outcome of a run."""

    rank: Array
    change: float
    """By no more than this, and rounding, does one more step of the power iteration change the ranks in sum."""


def residual_ranks(
    session: Session,
    graph: Graph,
    alpha: float,
    tol: float,
    jump: Array,
    strength: Array | None,
    *,
    personal: bool,
    max_iter: int | None,
) -> Ranks:
    """The ranks on ``graph``; ``jump`` sums to 1, ``strength`` is the sum of the weights of each vertex's out-edges."""
    session.keep_between_runs()
    weights = {} if strength is None else {"strength": session.shared(strength)}
    jumped = {"jumped": jump} if personal else {}
    first = session.program(_first_program(personal, strength is not None), alpha=alpha, **weights, **jumped)
    given, session.path = session.path, "auto"  # the first step is the same on every path
    session.hold_beside_programs(_MORE_FOR_SENDING)
    try:
        begun = session.run(first, graph, max_iter=1, keep_on_device=True).fields
    finally:
        session.path = given
    del first
    bound = _left(alpha, tol, _least_sum(graph, alpha, *_dangling(graph, strength, jump if personal else None)))
    bound /= graph.num_arcs + graph.num_vertices
    program = sending_program(strength is not None)
    session.hold_beside_programs(_JUMPS if personal else 0)
    looser, used = _LOOSER, 1
    while True:
        now = {"first_rank": begun["rank"], "first_residual": begun["residual"], **weights}
        left = None if max_iter is None else max(0, max_iter - used)
        sending = session.program(program, alpha=alpha, bound=bound * looser, **now)
        outcome = session.run(sending, graph, max_iter=left, keep_on_device=True)
        begun = outcome.fields
        del now, sending  # while the next program runs, nothing of the last one is held but what it is given
        used += outcome.supersteps
        rank = (begun["rank"] + begun["residual"]).clip(0)  # below 0 by rounding only
        total = float(rank.sum())
        change = 2 * alpha * float(abs(begun["residual"]).sum()) / total
        if change <= tol or looser == 1 or not outcome.finished:
            rank /= total
            return Ranks(rank, change)
        del rank, outcome
        looser = max(1.0, looser * min(0.5, 0.7 * tol / change))


def _dangling(graph: Graph, strength: Array | None, jump: Array | None) -> tuple[float, bool]:
    """Which part of all jumps leads to vertices without out-edges, and whether there are any."""
    dangling = (graph.out_degree if strength is None else strength) == 0
    if jump is None:
        return np.count_nonzero(dangling) / max(len(dangling), 1), bool(dangling.any())
    return float(on_host(jump)[dangling].sum()), bool(dangling.any())


def _least_sum(graph: Graph, alpha: float, dangling: float, any_dangling: bool) -> float:
    """What ``y`` sums to at least, where ``dangling`` of all jumps lead to vertices without out-edges."""
    if not any_dangling:
        return 1.0
    if graph.known_flags.symmetric and graph.weights is None:  # nobody comes to them otherwise
        return 1 - alpha * dangling
    return (1 - alpha) * (1 + alpha * (1 - dangling))


def _left(alpha: float, tol: float, least_sum: float) -> float:
    """How much may be left in all residuals.

    Those that are left would add up to ``alpha R / (1 - alpha)`` of ``y``, so ``s`` may be smaller by that.
    """
    if alpha == 0:
        return 2.0  # nothing is ever sent
    return tol * least_sum / (alpha * (2 + tol / (1 - alpha)))
