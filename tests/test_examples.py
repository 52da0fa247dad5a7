"""The examples run, and what they print is correct."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("name", ["hello_world", "many_sources", "widest_path"])
def test_an_example_runs_as_a_script(name, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert "superstep" in capsys.readouterr().out


def test_a_graph_of_ten_times_the_budget_runs_as_in_memory(capsys):
    module = runpy.run_path(str(EXAMPLES / "larger_than_memory.py"), run_name="larger_than_memory")
    module["show"](12, 1024)
    said = capsys.readouterr().out
    assert said.count("as in memory: True") == 3
    assert "as in memory: False" not in said
    assert "MiB read" in said  # a column of the trace


def test_the_perceptron_descends_its_gradient():
    module = runpy.run_path(str(EXAMPLES / "mlp.py"), run_name="mlp")
    network = module["Network"]()

    def error(weights, bias):
        network.graph, network.bias = network.graph.with_weights(weights), bias
        out = network.activations(device="reference")[network.layer == 2]
        return ((out - network.target[network.layer == 2]) ** 2).sum() / 2

    weights, bias = network.graph.weights.copy(), network.bias.copy()
    before = network.train(rate=1.0, device="reference")
    stepped, shifted = network.graph.weights.copy(), network.bias.copy()
    assert before == pytest.approx(error(weights, bias))
    nudge = 1e-5
    for arc in (0, 5, 11):
        more = weights.copy()
        more[arc] += nudge
        slope = (error(more, bias) - before) / nudge
        assert weights[arc] - stepped[arc] == pytest.approx(slope, abs=1e-4)
    more = bias.copy()
    more[6] += nudge
    assert bias[6] - shifted[6] == pytest.approx((error(weights, more) - before) / nudge, abs=1e-4)


def test_the_perceptron_learns():
    module = runpy.run_path(str(EXAMPLES / "mlp.py"), run_name="mlp")
    network = module["Network"]()
    errors = [network.train(rate=3.0, device="reference") for _ in range(12)]
    assert errors[-1] < errors[0]
    assert np.isfinite(errors).all()
