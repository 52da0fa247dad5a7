"""Alternating calls of ours and a peer's, and the numbers of a row."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks import peers
from benchmarks.answers import Disagreement, compare
from benchmarks.cases import Case
from benchmarks.rows import Row

__all__ = ["Samples", "measure"]

_ROUNDS, _ROUNDS_OF_ONE = 3, 5
"""Over all sources; and if there is only one call to repeat."""
_SETTLE_S = 0.005
"""A pause before a call, in which threads that another library left spinning go to sleep."""


class Samples(NamedTuple):
    """Seconds of one call, by round."""

    ours: list[float]
    engine: list[float]
    peer: list[float]


def measure(
    row: Row, case: Case, small: Case, name: str, peer: peers.Peer, budget: float, tell: Callable[[str], None]
) -> dict[str, Any]:
    """The numbers of one cell, or a note that states why there are none; ``tell`` is called when a call begins."""
    if row.peer_row in peer.skips:
        return {"note": f"not run: {peer.skips[row.peer_row]}"}
    tell("our")
    row.ours(small, *row.items(small)[0])  # compile, or load compiled code from disk
    if len(items := row.items(case)) > 1:
        row.ours(case, *items[0])  # a large graph may use paths that a small one does not
    try:
        samples = _paired(row, case, name, peer, budget, tell)
    except Disagreement as difference:
        return {"note": f"answers differ: {difference}", "differs": True}
    except Exception as error:  # a peer that fails gives a row without numbers and does not end the run
        return {"note": f"failed: {type(error).__name__}: {error}"}
    ours, engine, theirs = (
        statistics.median(min(taken[part]) for taken in samples) / row.per for part in range(len(Samples._fields))
    )
    middle_ours, middle_theirs = (
        statistics.median(statistics.median(taken[part]) for taken in samples) for part in (0, 2)
    )
    return {
        "ours_s": ours, "engine_s": engine, "peer_s": theirs, "ratio": ours / theirs,
        "ratio_median": middle_ours / middle_theirs, "calls": sum(len(taken.peer) for taken in samples),
        "note": peer.notes.get(row.peer_row, ""),
    }  # fmt: skip


def _paired(
    row: Row, case: Case, name: str, peer: peers.Peer, budget: float, tell: Callable[[str], None]
) -> list[Samples]:
    """Call ours and the peer's in turn, round after round over all items, while the budget lasts."""
    items = row.items(case)
    call, read = getattr(peer, row.peer_row), getattr(peer, f"read_{row.peer_row}", None)
    samples = [Samples([], [], []) for _ in items]
    spent = 0.0
    for number in range(_ROUNDS_OF_ONE if len(items) == 1 else _ROUNDS):
        for item, taken in zip(items, samples, strict=True):
            if spent >= budget and samples[0].peer:
                return [whole for whole in samples if whole.peer]
            tell(f"{name}'s")
            seconds, raw = _timed(call, item)
            tell("our")
            taken.peer.extend(seconds)
            for _ in seconds:
                answer, ours_s, engine_s = _timed_ours(row, case, item)
                taken.ours.append(ours_s)
                taken.engine.append(engine_s)
            spent += sum(seconds)
            if read is not None and not number:
                compare(row.peer_row, case, answer, read(raw), name)
            del raw
    return samples


def _timed_ours(row: Row, case: Case, item: tuple[Any, ...]) -> tuple[Any, float, float]:
    time.sleep(_SETTLE_S)
    start = time.perf_counter()
    result = row.ours(case, *item)
    taken = time.perf_counter() - start
    return result, taken, result.trace.seconds


def _timed(call: Callable[..., Any], item: tuple[Any, ...]) -> tuple[tuple[float, ...], Any]:
    time.sleep(_SETTLE_S)
    start = time.perf_counter()
    result = call(*item)
    taken = time.perf_counter() - start
    return result if isinstance(result, peers.Reported) else ((taken,), result)
