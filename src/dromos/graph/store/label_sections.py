"""The labels of a graph as sections of its store, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dromos.dtypes import Array
from dromos.graph.labels import Labels

__all__ = ["label_arrays", "labels_kind", "labels_of"]

_NAMES = ("labels", "labels_utf8", "labels_offsets")


def label_arrays(labels: Labels | None) -> Iterator[tuple[str, Array]]:
    """The arrays of labels, by the names of their sections."""
    if labels is not None:
        arrays = zip(_NAMES, (labels.integers, labels.utf8, labels.offsets), strict=True)
        yield from ((name, array) for name, array in arrays if array is not None)


def labels_of(section: Callable[[str], Array | None]) -> Labels | None:
    """Labels around the arrays that ``section`` returns for their names; ``None`` if the store has no labels."""
    integers, utf8, offsets = map(section, _NAMES)
    return None if integers is None and utf8 is None else Labels(integers, utf8=utf8, offsets=offsets)


def labels_kind(has: Callable[[str], bool]) -> str | None:
    """The kind of the labels, as :attr:`Labels.kind` has it, by which sections the store ``has``."""
    return next((kind for name, kind in zip(_NAMES, ("int", "str"), strict=False) if has(name)), None)
