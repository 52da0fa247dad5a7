"""An execution path: three switches, as a small frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final, Literal, TypeAlias, get_args

from dromos.errors import IllegalPathError, InvalidArgumentError
from dromos.program import Analysis

__all__ = ["PATHS", "Direction", "Driven", "Path", "Sync", "require_legal"]

Sync: TypeAlias = Literal["sync", "async"]
Direction: TypeAlias = Literal["push", "pull"]
Driven: TypeAlias = Literal["dd", "td"]


@dataclass(frozen=True, slots=True)
class Path:
    """How one superstep runs.

    ``sync``: messages see the state before the superstep, or (``async``) the newest values. ``direction``: sources
    push along out-edges, or targets pull along in-edges. ``driven``: a queue of vertices (``dd``, data-driven), or a
    pass over all of them that skips the inactive ones (``td``, topology-driven).

    >>> Path.parse("async-push-dd")
    Path(sync='async', direction='push', driven='dd')
    >>> str(Path(direction="pull", driven="td"))
    'sync-pull-td'
    """

    sync: Sync = "sync"
    direction: Direction = "push"
    driven: Driven = "dd"

    @classmethod
    def parse(cls, text: str | Path) -> Path:
        """The path written as ``sync-push-dd``."""
        if isinstance(text, Path):
            return text
        found = _BY_NAME.get(text) if isinstance(text, str) else None
        if found is None:
            raise InvalidArgumentError(f"path={text!r} is not a path; choose 'auto' or one of {', '.join(_BY_NAME)}")
        return found

    def __str__(self) -> str:
        return f"{self.sync}-{self.direction}-{self.driven}"


PATHS: Final = tuple(
    Path(sync, direction, driven)
    for sync, direction, driven in product(get_args(Sync), get_args(Direction), get_args(Driven))
)
_BY_NAME: Final = {str(path): path for path in PATHS}


def require_legal(path: Path, analysis: Analysis, program: str) -> None:
    """Refuse ``path`` with the reason, if it would change the program's result."""
    reason = analysis.legal[str(path)]
    if reason is not None:
        legal = ", ".join(analysis.legal_paths)
        raise IllegalPathError(f"cannot run on {path}: {reason}. It runs on {legal}", program=program)
