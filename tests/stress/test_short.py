"""A short form of ``make stress``: programs that other tests compile, on their parallel paths."""

from __future__ import annotations

import argparse

import pytest

import dromos as dr
from tests.stress.__main__ import cases_of
from tests.stress.cases import Case, Kind, algorithm_cases, program_cases
from tests.stress.colliding import acyclic, graph_of
from tests.stress.running import stress


@pytest.mark.parametrize("shape", ["hubs", "uniform"])
def test_no_answer_of_many_threads_differs_from_one_threads(shape: str) -> None:
    graph = graph_of(shape, seed=1)
    cases = list(program_cases(graph, shape, only=("SSSP", "Components", "Pairs")))
    assert len(cases) > 12
    tally = stress(cases, threads=(2, 4), runs=10)
    assert tally.cases == len(cases)
    assert not tally.faults, "\n".join(tally.faults)


def test_kernels_that_are_no_programs() -> None:
    directed = graph_of("hubs", seed=1)
    graphs: dict[Kind, dr.Graph] = {
        "directed": directed,
        "undirected": graph_of("hubs", seed=1, directed=False),
        "acyclic": acyclic(directed),
    }
    names = ("louvain", "leiden", "truss_numbers")
    cases = list(algorithm_cases(graphs, "hubs", only=names))
    others = ("minimum_spanning_forest", "maximal_matching", "coloring", "bridges")
    cases += [case for case in algorithm_cases(graphs, "hubs", only=others) if " auto " in case.name]
    tally = stress(cases, threads=(2, 4), runs=3)
    assert tally.cases == len(names) + len(others)  # they have no paths but their own, or were not asked for others
    assert not tally.faults, "\n".join(tally.faults)


def test_processes_share_all_cases() -> None:
    names = {"only": "SSSP,Pairs,bfs,louvain,katz", "seed": 1}
    whole, *parts = (
        [case.name for case in cases_of(argparse.Namespace(shard=shard, **names), ("hubs",))]
        for shard in ("0/1", "0/3", "1/3", "2/3")
    )
    assert sorted(name for part in parts for name in part) == sorted(whole)
    assert all(parts)


def test_a_wrong_answer_is_told() -> None:
    (case, *_) = program_cases(graph_of("chain", seed=1, size=50), "chain", only=("SSSP",))

    def run(device: str, threads: int):  # type: ignore[no-untyped-def]
        fields = dict(case.run(device, 1))
        if threads > 1:
            fields["distance"] = fields["distance"] + 1
        return fields

    tally = stress([Case("spoilt", run, case.fault)], threads=(2,), runs=3)
    assert tally.runs == 3
    assert tally.faults[0].startswith("spoilt, 2 threads: 3 of 3 runs; distance: ")
