"""Programs over ranks on random graphs, against the reference engine; every rank calls it, and draws the same ones."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given

import dromos as dr
from dromos.engines import graph_types
from dromos.program import analyse
from dromos.runner.devices import engine_for
from tests.cluster.comparing import same
from tests.program.programs import examples
from tests.program.running import graphs, run
from tests.sizes import examples as num_examples

__all__ = ["check_random_graphs"]


def check_random_graphs(device: str, num_graphs: int) -> int:
    """Every program as planned on so many graphs that Hypothesis draws; how many runs there were.

    An example that fails is not made smaller: the other ranks would not know that they have to run it again.
    """
    engine, count = engine_for(device), 0

    @num_examples(
        num_graphs, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(graph=graphs(max_vertices=9))
    def check(graph: dr.Graph) -> None:
        nonlocal count
        for program in examples(graph.num_vertices):
            facts = analyse(program.typed(graph_types(graph)))
            expected, _ = run(program, graph, "sync-push-dd")
            found, _ = run(program, graph, engine=engine)
            for name, values in expected.items():
                if facts.deterministic or name == "level":
                    same(found[name], values, program, graph, name)
            count += 1

    check()
    return count
