"""The iteration loop, as small as it can be, and graphs to run it on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dromos.dtypes import Array
from dromos.engines import Engine
from dromos.engines.reference import ReferenceEngine
from dromos.graph import Graph
from dromos.plan import Decision, History, Path, Row, choose
from dromos.program import Program


def run(
    program: Program, graph: Any, path: str | None = None, *, engine: Engine | None = None, limit: int = 300
) -> tuple[Mapping[str, Array], History]:
    """The fields after a run on one path, or on those that the planner chooses; and the steps."""
    execution = (engine or ReferenceEngine()).prepare(program, graph)
    history, stats = History(), execution.stats
    while not stats.finished:
        assert len(history) < limit, "the run does not end"
        decision = choose(stats, history, execution.caps) if path is None else Decision(Path.parse(path), "fixed")
        after = execution.step(decision.path, decision.horizon)
        history.append(Row(stats, decision, after))
        stats = after
    return execution.result(), history


@st.composite
def graphs(draw: st.DrawFn, max_vertices: int = 8, directed: bool | None = None) -> Graph:
    """Small graphs with loops, parallel edges and isolated vertices."""
    n = draw(st.integers(1, max_vertices))
    ends = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ends, ends, st.integers(1, 9)), max_size=3 * n))
    columns = np.array(edges, dtype=np.int64).reshape(-1, 3)
    both_ways = draw(st.booleans()) if directed is None else not directed
    return Graph.from_edges(
        columns[:, 0],
        columns[:, 1],
        columns[:, 2].astype(np.float32),
        num_vertices=n,
        directed=not both_ways,
        threads=1,
    )
