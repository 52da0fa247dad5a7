"""Dromos's own format, the store (``.drm``): see :mod:`dromos.graph.store`."""

from __future__ import annotations

from pathlib import Path

from dromos.graph.formats.base import Format
from dromos.graph.store.layout import MAGIC
from dromos.graph.store.reader import load
from dromos.graph.store.writer import write

__all__ = ["FORMATS"]


def _is_store(first_bytes: bytes, path: Path) -> bool:
    return first_bytes.startswith(MAGIC)


FORMATS = (
    Format(
        name="drm",
        title="Dromos store",
        extensions=(".drm",),
        load=load,
        write=write,
        compressed=False,
        sniff=_is_store,
    ),
)
