"""Values derived from an object, kept as long as the object lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["IdentityCache"]

T = TypeVar("T")


class IdentityCache:
    """A dictionary per object, by its identity: graphs are large, and not hashable.

    >>> class Thing: pass
    >>> cache, thing = IdentityCache(), Thing()
    >>> cache.of(thing)["square"] = 4
    >>> cache.of(thing), cache.of(Thing())
    ({'square': 4}, {})
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref[Any], dict[Any, Any]]] = {}

    def of(self, thing: Any) -> dict[Any, Any]:
        """The dictionary of ``thing``."""
        key = id(thing)
        found = self._kept.get(key)
        if found is None:
            made: tuple[weakref.ref[Any], dict[Any, Any]] = (
                weakref.ref(thing, lambda _: self._kept.pop(key, None)),
                {},
            )
            found = self._kept.setdefault(key, made)  # with several threads, the first one wins
        return found[1]

    def once(self, thing: Any, name: str, make: Callable[[], T]) -> T:
        """The result of ``make``, called once as long as ``thing`` lives.

        >>> class Thing: pass
        >>> cache, thing = IdentityCache(), Thing()
        >>> cache.once(thing, "list", list) is cache.once(thing, "list", list)
        True
        """
        kept = self.of(thing)
        if name not in kept:
            kept.setdefault(name, make())
        made: T = kept[name]
        return made
