"""The backend's answers are NetworkX's: the same values in the same order, the same exceptions."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dromos.networkx_backend.registry import REGISTRY
from tests.networkx_backend.cases import CASES
from tests.networkx_backend.support import CLASSES, check, graphs
from tests.sizes import examples


def test_every_function_has_a_case():
    assert sorted(CASES) == sorted(REGISTRY)


@pytest.mark.parametrize("name", sorted(CASES))
def test_small_graphs(name):
    @examples(12, suppress_health_check=list(HealthCheck))
    @given(st.data(), st.sampled_from(CASES[name][0]), st.integers(0, 2**16))
    def compare(data, kind, seed):
        check(name, data.draw(graphs(kind)), random.Random(seed))

    compare()


@pytest.mark.parametrize("name", sorted(CASES))
def test_one_connected_graph_of_each_kind(name):
    """Graphs on which most functions have something to say; at least one call is answered by the backend."""
    answered = 0
    for kind in CASES[name][0]:
        for build in (nx.krackhardt_kite_graph, lambda: nx.balanced_tree(2, 3), lambda: nx.cycle_graph(6)):
            graph = CLASSES[kind](build())
            for number, (u, v) in enumerate(list(graph.edges())):
                graph.add_edge(u, v, weight=1 + number % 3)
            answered += check(name, graph, random.Random(3))
    assert answered
