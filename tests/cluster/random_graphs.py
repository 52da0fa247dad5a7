"""Programs over ranks on random graphs, against the reference engine; every rank calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dromos as dr
from dromos.engines import graph_types
from dromos.places.cluster import world
from dromos.program import analyse
from dromos.runner.devices import engine_for
from tests.cluster.comparing import same
from tests.program.programs import examples
from tests.program.running import run

__all__ = ["check_random_graphs", "drawn_graphs"]

Draw = Callable[[int], list[dr.Graph]]
Answer = Callable[[dr.Program, dr.Graph, int], Mapping[str, Any]]


def drawn_graphs(count: int) -> list[dr.Graph]:
    """So many graphs, by Hypothesis; it is imported by whoever draws, not by every rank."""
    from hypothesis import HealthCheck, Phase, given

    from tests.program.small_graphs import graphs
    from tests.sizes import examples as num_examples

    drawn: list[dr.Graph] = []

    @num_examples(
        count, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(graph=graphs(max_vertices=9))
    def draw(graph: dr.Graph) -> None:
        drawn.append(graph)

    draw()
    return drawn


def by_reference(program: dr.Program, graph: dr.Graph, number: int) -> Mapping[str, Any]:
    """The fields after a run of the reference engine."""
    return run(program, graph, "sync-push-dd")[0]


def check_random_graphs(device: str, num_graphs: int, draw: Draw = drawn_graphs, answer: Answer = by_reference) -> int:
    """Every program as planned on so many graphs, which the first rank draws; how many runs there were.

    ``answer`` tells what to expect of a program on a graph with a number.
    """
    comm, engine, count = world(), engine_for(device), 0
    for number, graph in enumerate(comm.bcast(draw(num_graphs) if comm.Get_rank() == 0 else None)):
        for program in examples(graph.num_vertices):
            facts = analyse(program.typed(graph_types(graph)))
            expected = answer(program, graph, number)
            found, _ = run(program, graph, engine=engine)
            for name, values in expected.items():
                if facts.deterministic or name == "level":
                    same(found[name], values, program, graph, name)
            count += 1
    return count
