"""``dromos warm`` knows what every algorithm asks for, and runs those that are named."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dromos.algorithms.arguments import simple
from dromos.cli import app
from dromos.cli.algorithms import COMMANDS
from dromos.compiler import machine
from dromos.engines.native.triangles import _worth_orienting
from dromos.errors import InvalidArgumentError, MissingDependencyError
from dromos.graph import generators
from dromos.rehearsal import arguments_for, small_graphs


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_has_a_value(name: str, tmp_path: Path) -> None:
    parameters = inspect.signature(COMMANDS[name]).parameters.values()
    wanted = {p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD} - {"graph"}
    assert wanted <= set(arguments_for(generators.path(4), tmp_path))


def test_named_algorithms_are_compiled() -> None:
    done = CliRunner().invoke(app, ["warm", "degree_distribution", "degree_centrality"])
    assert done.exit_code == 0, done.output
    assert "2 algorithms are compiled" in done.output


def test_all_kinds_of_small_graphs_are_compiled_for() -> None:
    made = small_graphs()
    kinds = {(graph.directed, None if graph.weights is None else graph.weights.dtype.name) for graph in made}
    assert kinds == {
        (directed, weight) for directed in (False, True) for weight in (None, "float32", "float64", "int32")
    }
    assert {_worth_orienting(simple(graph)) for graph in made if not graph.directed} == {False, True}


def test_an_unknown_name_is_told() -> None:
    done = CliRunner().invoke(app, ["warm", "bsf"])
    assert isinstance(done.exception, InvalidArgumentError)
    assert "there is no algorithm 'bsf'" in str(done.exception)


def test_nothing_is_said_to_be_compiled_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise MissingDependencyError("nothing can be compiled here")

    monkeypatch.setattr(machine, "require_compiler", refuse)
    done = CliRunner().invoke(app, ["warm", "bfs"])
    assert isinstance(done.exception, MissingDependencyError)
