"""The labels of an opened graph: read when first needed, and released when a run needs the memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from dromos.graph.labels import Labels

__all__ = ["KeptLabels"]

_MOST_FOUND: Final = 1 << 10


class KeptLabels:
    """Shared by all views of a graph. The caller passes how to read labels; ``read`` returns None if there are none.

    Lookups are remembered, so that a second run from the same source reads nothing.

    >>> def read() -> Labels:
    ...     print("reads")
    ...     return Labels.from_values(["ada", "bob"])
    >>> kept = KeptLabels()
    >>> kept.id_of("bob", read)
    reads
    1
    >>> kept.forget()
    >>> kept.id_of("bob", read)
    1
    """

    def __init__(self) -> None:
        self._labels: Labels | None = None
        self._is_read = False
        self._found: dict[tuple[type, Hashable], int] = {}

    def get(self, read: Callable[[], Labels | None]) -> Labels | None:
        """All labels."""
        if not self._is_read:
            self._labels, self._is_read = read(), True
        return self._labels

    def id_of(self, label: Hashable, read: Callable[[], Labels | None]) -> int | None:
        """The vertex with this label; None if the graph has no labels. An unknown label raises an error."""
        key = type(label), label
        try:
            found = self._found.get(key)
        except TypeError:  # such as a list, which cannot be a label
            found = None
        if found is not None:
            return found
        labels = self.get(read)
        if labels is None:
            return None
        found = labels.id_of(label)
        if len(self._found) < _MOST_FOUND:
            self._found[key] = found
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of the labels in memory now, including their index."""
        labels = self._labels
        return 0 if labels is None else labels.nbytes + labels.index_bytes

    def forget(self) -> None:
        """Drop the labels; their memory is released unless something else references them."""
        if self._labels is not None:
            self._labels, self._is_read = None, False
