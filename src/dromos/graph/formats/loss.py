"""What a format cannot hold is never dropped in silence; and what rows of edges alone do not tell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dromos.errors import UnsupportedFormatError

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["has_isolated", "refuse_loss", "rows_tell_labels"]


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


def has_isolated(graph: Graph) -> bool:
    """Whether some vertex has no edge, so that no row of edges tells of it."""
    used = graph.out_degree > 0
    used[graph.targets] = True
    return not used.all()


def rows_tell_labels(graph: Graph) -> bool:
    """Whether reading the rows alone gives the integer labels: in ascending order, with gaps, and all of them used."""
    labels = None if graph.labels is None else graph.labels.integers
    if labels is None or graph.num_arcs == 0 or not np.all(labels[1:] > labels[:-1]):
        return False
    return bool(labels[0] != 0 or labels[-1] != len(labels) - 1) and not has_isolated(graph)
