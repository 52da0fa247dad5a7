"""Dominating sets: ``networkx.algorithms.dominating``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import implements

__all__: list[str] = []


@implements()
def is_dominating_set(G: BackendGraph, nbunch: Any) -> bool:
    inside = np.zeros(len(G), bool)
    inside[G.numbers(node for node in nbunch if node in G)] = True
    reached = inside.copy()
    reached[G.targets[inside[G.sources]]] = True
    return bool(reached.all())
