"""Target figures on one H200: milliseconds of other systems measured there on graphs of the same make.

``must`` is a requirement, ``aim`` a hope. ``peer`` is the fastest other system; Gunrock's figure is given beside it.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FIGURES", "Figures"]


class Figures(NamedTuple):
    """Milliseconds."""

    peer: str
    peer_ms: float
    gunrock_ms: float | None
    must_ms: float
    aim_ms: float


FIGURES: dict[tuple[str, str], Figures] = {
    ("bfs", "kron22"): Figures("SIMD-X", 1.63, 5.5, 1.6, 0.8),
    ("bfs", "kron24"): Figures("Enterprise", 4.64, 28, 4.6, 2.3),
    ("bfs", "urand22"): Figures("Enterprise", 2.24, 6.0, 2.2, 1.2),
    ("bfs", "grid3000"): Figures("SEP-Graph", 60.5, 1018, 40, 15),
    ("sssp", "kron22"): Figures("best of all", 19.0, 22.9, 19, 9),
    ("sssp", "kron24"): Figures("best of all", 50.4, 83, 50, 25),
    ("sssp", "urand22"): Figures("best of all", 35.5, 35.5, 35, 17),
    ("sssp", "grid3000"): Figures("best of all", 100, 1156, 80, 30),
    ("pagerank", "kron22"): Figures("cuSPARSE SpMV", 1.08, 3.0, 1.2, 0.9),
    ("pagerank", "kron24"): Figures("cuSPARSE SpMV", 5.09, 11.9, 5.5, 4),
    ("pagerank", "urand22"): Figures("cuSPARSE SpMV", 1.06, 2.8, 1.2, 0.9),
    ("betweenness", "kron22"): Figures("best of all", 12.0, 12.0, 12, 5),
    ("betweenness", "kron24"): Figures("best of all", 53, 59, 50, 22),
    ("betweenness", "urand22"): Figures("best of all", 9.3, 15, 9, 4.5),
    ("components", "kron22"): Figures("GAP, 16 cores", 25, None, 3, 1),
    ("cores", "kron22"): Figures("Gunrock", 2319, 2319, 400, 100),
    ("triangles", "kron22"): Figures("Gunrock", 7588, 7589, 2000, 400),
}
"""By work and graph."""
