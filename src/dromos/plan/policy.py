"""The policy: a pure function from statistics to a decision, so that a table of numbers tests it.

Programs of two kinds are planned by two algorithms of SEP-Graph (PPoPP 2019, section 4.3):

- *Iterative* programs start from all vertices. Each candidate path runs once; from then on the one with the least
  predicted time runs. Where the engine knows the cost of an arc in a push relative to a pull, no push is tried before
  that cost says it wins.
- *Traversal* programs start from a few vertices and switch between push and pull by the edges of the frontier.
"""

from __future__ import annotations

from functools import lru_cache

from dromos.errors import InvalidArgumentError
from dromos.plan.path import Path
from dromos.plan.stats import Caps, Decision, History, Stats

__all__ = ["candidates", "choose"]

_CLEARLY_LESS = 1.25
"""A direction is taken if the other would read this many times as much from disk."""

# SEP-Graph's candidates for iterative programs, each with its replacements where it is not legal, or where the engine
# knows a path that always beats it. Topology-driven pull comes first: it needs no atomics and wins while most vertices
# are active.
_ITERATIVE = (
    ("sync-pull-td", "async-pull-td", "sync-push-td"),
    ("async-push-td", "sync-push-td"),
    ("async-push-dd", "sync-push-dd"),
)
_TRAVERSAL = {
    "push": ("async-push-dd", "sync-push-dd", "async-push-td", "sync-push-td"),
    "pull": ("async-pull-dd", "sync-pull-dd", "async-pull-td", "sync-pull-td"),
}

_SYNC_PASS = Path("sync", "pull", "td")


@lru_cache(maxsize=64)
def candidates(caps: Caps) -> tuple[Path, ...]:
    """The paths that a run chooses between, in the order of trial.

    >>> from dromos.plan.path import PATHS
    >>> [str(path) for path in candidates(Caps(10, 90, "iterative", PATHS))]
    ['sync-pull-td', 'async-push-td', 'async-push-dd']
    """
    if not caps.paths:
        raise InvalidArgumentError("there is no path that both the program and the engine allow")
    rows: tuple[tuple[str, ...], ...] = tuple(_TRAVERSAL.values())
    if caps.kind == "iterative":
        rows = _ITERATIVE[:2] if caps.always_active else _ITERATIVE
    chosen = [_first(row, caps) for row in rows]
    found = tuple(dict.fromkeys(path for path in chosen if path is not None)) or caps.paths
    return tuple(path for path in found if not _is_dominated(path, caps)) or found


def _is_dominated(path: Path, caps: Caps) -> bool:
    in_place = caps.in_place and _allowed("async-pull-td", caps) is not None
    return path in caps.dominated or (in_place and path == _SYNC_PASS)


def _first(row: tuple[str, ...], caps: Caps) -> Path | None:
    """The first legal path of a row; one that the engine avoids only if there is no other."""
    legal = [path for text in row if (path := _allowed(text, caps)) is not None]
    return next((path for path in legal if not _is_dominated(path, caps)), legal[0] if legal else None)


def _allowed(text: str, caps: Caps) -> Path | None:
    wanted = Path.parse(text)
    return next((path for path in caps.paths if path == wanted), None)


def choose(stats: Stats, history: History, caps: Caps) -> Decision:
    """The path for the next superstep, with the reason.

    >>> from dromos.plan.path import PATHS
    >>> caps = Caps(1_000, 20_000, "traversal", PATHS)
    >>> choose(Stats(0, 1, 20, 20), History(), caps).reason
    'a traversal starts with push'
    """
    available = candidates(caps)
    if caps.whole:
        return Decision(available[0], caps.whole, horizon=None, switching=True)
    if len(available) == 1:
        return Decision(available[0], "the only path that the program, the engine and the caller allow", horizon=None)
    if caps.ordered and (path := _allowed("async-push-dd", caps)) is not None:
        return Decision(path, "vertices are settled in the order of their priority", horizon=None)
    if caps.kind == "iterative":
        return _iterative(stats, history, caps, available)
    if caps.switches or stats.switches:
        reason = "the engine switches between push and pull by itself, level by level"
        # level by level: the current path is synchronous
        return Decision(_allowed("sync-push-dd", caps) or available[0], reason, horizon=None, switching=True)
    push = next(path for path in available if path.direction == "push")
    pull = next(path for path in available if path.direction == "pull")
    if (decision := _by_bytes(stats, history, caps, push, pull)) is not None:
        return decision
    if stats.push_cost is not None and stats.pull_cost is not None:
        costs = f"a push would cost {stats.push_cost:,.0f}, a pull {stats.pull_cost:,.0f}"
        return Decision(push if stats.push_cost <= stats.pull_cost else pull, f"by the slowest part: {costs}")
    return _by_edges(stats, history, caps, push, pull)


# ---- Algorithm 1: iterative programs ------------------------------------------------------------------------------


def _work(path: Path, stats: Stats) -> float:
    """The quantity that the time of a step on ``path`` grows with; a pass over all vertices always costs the same."""
    if path.driven == "td":
        return 1.0
    return float(max(stats.out_degree if path.direction == "push" else stats.in_degree, 1))


def _guess(path: Path, stats: Stats, history: History, caps: Caps) -> float | None:
    """The seconds of an untried push, estimated from the last pass of pulls; None without a basis."""
    if caps.push_cost is None or path.direction != "push":
        return None
    pulls = [
        row for tried in candidates(caps) if tried.direction == "pull" if (row := history.latest(tried)) is not None
    ]
    if not pulls:
        return None
    visited = caps.num_vertices if path.driven == "td" else stats.frontier
    an_arc = min(row.seconds for row in pulls) / max(caps.num_arcs, 1)
    return an_arc * (caps.push_cost * stats.out_degree + visited)


def _iterative(stats: Stats, history: History, caps: Caps, available: tuple[Path, ...]) -> Decision:
    predicted: dict[Path, float] = {}
    for number, path in enumerate(available, 1):
        row = history.latest(path)
        if row is not None:
            predicted[path] = row.seconds / _work(path, row.before) * _work(path, stats)
            continue
        guess = _guess(path, stats, history, caps)
        if guess is None:
            return Decision(path, f"candidate {number} of {len(available)} is tried once")
        predicted[path] = guess
    best = min(predicted, key=lambda path: predicted[path])
    times = ", ".join(f"{path} {seconds * 1e3:.3g}" for path, seconds in predicted.items())
    return Decision(best, f"shortest predicted time (ms): {times}", predicted=predicted[best])


# ---- Algorithm 2: traversal programs ------------------------------------------------------------------------------


def _by_edges(stats: Stats, history: History, caps: Caps, push: Path, pull: Path) -> Decision:
    c = caps.constants
    if caps.average_degree < c.delta:
        reason = f"average degree {caps.average_degree:.3g} is below delta = {c.delta:g}: high diameter, always push"
        return Decision(push, reason, horizon=None)
    if not history:
        untouched = caps.num_arcs * c.gamma
        if stats.out_degree > untouched / c.alpha:
            edges = f"out-edges {stats.out_degree:,} against {untouched:,.0f} / alpha = {c.alpha:g}"
            return Decision(pull, f"a traversal starts with many {edges}", untouched=untouched)
        return Decision(push, "a traversal starts with push", untouched=untouched)
    last = history[-1].decision
    untouched = caps.num_arcs * c.gamma if last.untouched is None else last.untouched
    if last.path.direction == "push":
        # only pushes count as touching edges: after a pull the old value is kept, so the tail does not flip back
        untouched -= stats.out_degree
        edges = f"out-edges {stats.out_degree:,} against {max(untouched, 0):,.0f} untouched / alpha = {c.alpha:g}"
        if stats.out_degree > untouched / c.alpha:
            return Decision(pull, f"many {edges}", untouched=untouched)
        return Decision(push, f"few {edges}", untouched=untouched)
    size = f"frontier {stats.frontier:,} against |V| {caps.num_vertices:,} / beta = {c.beta:g}"
    if stats.frontier < caps.num_vertices / c.beta:
        return Decision(push, f"small {size}", untouched=untouched)
    return Decision(pull, f"large {size}", untouched=untouched)


# ---- Graphs on disk -------------------------------------------------------------------------------------------------


def _by_bytes(stats: Stats, history: History, caps: Caps, push: Path, pull: Path) -> Decision | None:
    """The direction that reads clearly less from disk; None if neither does, or nothing is on disk."""
    if stats.push_read is None:
        return None
    last = history[-1].decision.untouched if history else None
    untouched = (caps.num_arcs * caps.constants.gamma if last is None else last) - stats.out_degree
    if stats.pull_read is None:
        reason = f"few out-edges ({stats.out_degree:,}): a push reads {stats.push_read / 2**20:.3g} MiB"
        return Decision(push, reason, untouched=untouched)
    read = f"a push would read {stats.push_read / 2**20:.3g} MiB, a pull {stats.pull_read / 2**20:.3g} MiB"
    if stats.push_read > _CLEARLY_LESS * stats.pull_read:
        return Decision(pull, f"fewer bytes: {read}", untouched=untouched)
    if stats.pull_read > _CLEARLY_LESS * stats.push_read:
        return Decision(push, f"fewer bytes: {read}", untouched=untouched)
    return None
