"""What a format cannot hold is never dropped in silence."""

from __future__ import annotations

import os
from collections.abc import Sequence

from dromos.errors import UnsupportedFormatError

__all__ = ["refuse_loss"]


def refuse_loss(title: str, losses: Sequence[str], allow_loss: bool, path: str | os.PathLike[str]) -> None:
    """Refuse to write a graph of which ``losses`` would be lost, unless the caller accepted that.

    >>> refuse_loss("Sparrow", [], False, "g.sparrow")
    """
    if losses and not allow_loss:
        raise UnsupportedFormatError(
            f"{title} files cannot hold {'; nor '.join(losses)}. Write a .drm store to keep everything, "
            "or pass allow_loss=True",
            path=path,
        )
