"""An execution path: three switches and a load balance, as a small frozen value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Literal, TypeAlias, cast, get_args

from dromos.errors import IllegalPathError, InvalidArgumentError
from dromos.program import Analysis

__all__ = ["PATHS", "Balance", "Direction", "Driven", "Path", "Sync", "legal_paths", "require_legal"]

Sync: TypeAlias = Literal["sync", "async"]
Direction: TypeAlias = Literal["push", "pull"]
Driven: TypeAlias = Literal["dd", "td"]
Balance: TypeAlias = Literal["auto", "vertex", "edge", "degree"]


@dataclass(frozen=True, slots=True)
class Path:
    """How one superstep runs.

    ``sync``: messages see the state before the superstep, or (``async``) whatever is newest. ``direction``: sources
    push along out-edges, or targets pull along in-edges. ``driven``: a queue of vertices (``dd``, data-driven), or a
    pass over all of them that skips the inactive ones (``td``, topology-driven). ``balance``: how work is cut for
    threads; ``auto`` leaves it to the engine, and every balance gives the same answer.

    >>> Path.parse("async-push-dd")
    Path(sync='async', direction='push', driven='dd', balance='auto')
    >>> str(Path(direction="pull", driven="td", balance="edge"))
    'sync-pull-td-edge'
    """

    sync: Sync = "sync"
    direction: Direction = "push"
    driven: Driven = "dd"
    balance: Balance = "auto"

    @classmethod
    def parse(cls, text: str | Path) -> Path:
        """The path written as ``sync-push-dd`` or ``sync-push-dd-edge``."""
        if isinstance(text, Path):
            return text
        words = text.split("-") if isinstance(text, str) else []
        known = (get_args(Sync), get_args(Direction), get_args(Driven), get_args(Balance))
        if len(words) not in (3, 4) or any(word not in choices for word, choices in zip(words, known, strict=False)):
            spelled = "-".join("|".join(choices) for choices in known[:3])
            raise InvalidArgumentError(
                f"path={text!r} is not a path; write {spelled}, such as 'sync-push-dd', or 'auto'"
            )
        sync, direction, driven = cast(tuple[Sync, Direction, Driven], tuple(words[:3]))
        return cls(sync, direction, driven, cast(Balance, words[3]) if len(words) == 4 else "auto")

    def __str__(self) -> str:
        suffix = "" if self.balance == "auto" else f"-{self.balance}"
        return f"{self.sync}-{self.direction}-{self.driven}{suffix}"

    @property
    def axes(self) -> Path:
        """The three switches alone, which decide about legality."""
        return replace(self, balance="auto")


PATHS: Final = tuple(
    Path(sync, direction, driven)
    for sync, direction, driven in product(get_args(Sync), get_args(Direction), get_args(Driven))
)


def legal_paths(analysis: Analysis) -> tuple[Path, ...]:
    """The paths on which a program gives its answer."""
    return tuple(path for path in PATHS if analysis.legal[str(path)] is None)


def require_legal(path: Path, analysis: Analysis, program: str) -> None:
    """Refuse ``path`` with the reason, if it would change the program's answer."""
    reason = analysis.legal[str(path.axes)]
    if reason is not None:
        legal = ", ".join(analysis.legal_paths)
        raise IllegalPathError(f"cannot run on {path}: {reason}. It runs on {legal}", program=program)
