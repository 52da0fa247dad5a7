"""Dromos's own format, the store (``.drm``): see :mod:`dromos.graph.store`."""

from __future__ import annotations

from dromos.graph.formats.base import Format
from dromos.graph.store.reader import load
from dromos.graph.store.writer import write

__all__ = ["FORMATS"]

FORMATS = (Format("drm", "Dromos store", (".drm",), load=load, write=write, compressed=False),)
