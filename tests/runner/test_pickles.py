"""Results and errors go to other processes and come back: pools of workers send both by pickle."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle

import numpy as np
import pytest

import dromos as dr
from dromos import errors
from dromos.errors import InvalidArgumentError

NAMED = dr.Graph.from_edges(["ada", "ada", "bob", "eve"], ["bob", "eve", "eve", "ian"], [1.0, 4.0, 2.0, 1.0])
TASKS = dr.Graph.from_edges([0, 0, 1], [1, 2, 2], [2.0, 1.0, 3.0])
FRIENDS = dr.Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4], directed=False)
DEBTS = dr.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], [1.0, -3.0, 1.0])

CALLS = {
    "bfs": lambda: dr.bfs(NAMED, "ada", device="numpy"),
    "sssp": lambda: dr.sssp(NAMED, "ada", device="numpy"),
    "pagerank": lambda: dr.pagerank(NAMED, device="numpy"),
    "connected_components": lambda: dr.connected_components(NAMED, device="numpy"),
    "distances": lambda: dr.distances(NAMED, ["ada", "eve"], device="numpy"),
    "betweenness": lambda: dr.betweenness(FRIENDS, device="numpy"),
    "edge_betweenness": lambda: dr.edge_betweenness(FRIENDS, device="numpy"),
    "louvain": lambda: dr.louvain(FRIENDS, device="numpy"),
    "k_core": lambda: dr.k_core(FRIENDS, 2, device="numpy"),
    "diameter": lambda: dr.diameter(FRIENDS, device="numpy"),
    "longest_paths": lambda: dr.longest_paths(TASKS, device="numpy"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_result_comes_back_from_a_pickle(name):
    result = CALLS[name]()
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert list(again) == list(result)
    assert all(np.array_equal(again[field], result[field]) for field in result)
    assert again.values_of_graph == result.values_of_graph
    assert again.graph == result.graph
    assert repr(again.trace) == repr(result.trace)
    assert again.to_arrow().equals(result.to_arrow())


def test_a_result_from_a_pickle_says_that_it_cannot_check_itself():
    again = pickle.loads(pickle.dumps(CALLS["bfs"]()))
    with pytest.raises(InvalidArgumentError, match=r"call verify\(\) before the result is pickled"):
        again.verify()


def test_copies_of_results_have_what_the_result_has():
    result = CALLS["sssp"]()
    assert copy.copy(result).distance is result.distance
    deep = copy.deepcopy(result)
    assert deep == result
    assert deep.distance is not result.distance
    deep.verify()
    copy.copy(result).verify()


def failure(call):
    with pytest.raises(errors.DromosError) as found:
        call()
    return found.value


def test_an_error_comes_back_with_all_it_knows():
    error = failure(lambda: dr.sssp(DEBTS, "a", device="numpy"))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.cycle) == (type(error), str(error), error.cycle)
    error = failure(lambda: dr.pagerank(NAMED, tol=1e-12, max_iter=2, device="numpy"))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.iterations) == (str(error), 2)
    assert np.array_equal(again.result.rank, error.result.rank)


KINDS = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, errors.DromosError)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_error_comes_back(kind):
    needed = {"iterations": 3, "cycle": ["a", "b"], "path": "roads.txt", "line": 7}
    taken = () if kind.__init__ is Exception.__init__ else inspect.signature(kind.__init__).parameters
    error = kind("told so", **{name: value for name, value in needed.items() if name in taken})
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


class Widest(dr.Program):
    source = dr.param(dr.ID)
    limit = dr.vertex_param(np.float64)
    width = dr.field(np.float64)
    combine = dr.MAX

    def init(self, v):
        return dr.where(v.id == self.source, v.limit, 0.0)

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return dr.minimum(u.width, edge.weight)

    def update(self, v, message):
        return dr.maximum(v.width, dr.minimum(message, v.limit))


def test_programs_and_runners_come_back():
    program = Widest(source=0, limit=[9.0, 3.0, 9.0, 9.0])
    expected = dr.run(program, NAMED, device="numpy").width.tolist()
    for again in (pickle.loads(pickle.dumps(program)), copy.copy(program), copy.deepcopy(program)):
        assert dr.run(again, NAMED, device="numpy").width.tolist() == expected
        with pytest.raises(TypeError):
            again.params["source"] = 1
    runner = pickle.loads(pickle.dumps(dr.compile(program, NAMED, device="numpy")))
    assert runner().width.tolist() == expected


def ranks_of(graph):
    return dr.pagerank(graph, device="numpy")


def debts_of(graph):
    return dr.sssp(graph, "a", device="numpy")


def test_a_pool_of_processes_gives_results_and_errors_back():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rank = pool.apply_async(ranks_of, (NAMED,)).get(timeout=300).rank
        with pytest.raises(errors.NegativeCycleError, match="a -> b -> c -> a"):
            pool.apply_async(debts_of, (DEBTS,)).get(timeout=300)
    assert np.array_equal(rank, ranks_of(NAMED).rank)
