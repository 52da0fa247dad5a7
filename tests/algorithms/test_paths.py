"""The paths and kernel forms that the built-in programs have: a stricter analysis must not slow them down unnoticed."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from dromos.algorithms.many.program import joint_program
from dromos.program import GraphTypes, Program, analyse
from dromos.program.forms import is_offered, is_offered_in_place, is_ordered

INT32, INT64, FLOAT32, FLOAT64 = (np.dtype(t) for t in (np.int32, np.int64, np.float32, np.float64))


def named(module: str, name: str) -> type[Program]:
    """The program ``name`` of a module of algorithms (whose functions have the names of the modules)."""
    found: type[Program] = getattr(import_module(f"dromos.algorithms.{module}"), name)
    return found


def sssp(factory: str, *arguments: object) -> type[Program]:
    found: type[Program] = getattr(import_module("dromos.algorithms.sssp"), factory)(*arguments)
    return found


# program, the weights of its graph, how many asynchronous paths it has, its kernel form
EXPECTED = [
    (named("bfs", "BFS"), None, 0, "claiming"),
    (named("spmv", "SpMV"), FLOAT64, 0, "general"),
    (named("connected_components", "Components"), None, 4, "in place"),
    (named("strongly_connected_components", "Trim"), None, 0, "general"),
    (named("strongly_connected_components", "Color"), None, 4, "in place"),
    (named("strongly_connected_components", "Reach"), None, 4, "general"),
    (named("betweenness", "Paths"), None, 0, "general"),
    (named("core_numbers", "Peel"), None, 0, "general"),
    (named("core_numbers", "Cores"), None, 0, "general"),
    (joint_program(2), None, 0, "general"),
    (sssp("sssp_program", INT32), INT32, 4, "ordered"),
    (sssp("sssp_program", INT64), INT32, 4, "ordered"),
    (sssp("sssp_program", FLOAT64), FLOAT32, 4, "ordered"),
    (sssp("sssp_program", FLOAT64), FLOAT64, 4, "ordered"),
    (sssp("sssp_program", INT32), None, 4, "ordered"),
    (sssp("bellman_ford_program", INT32), INT32, 4, "general"),
    (sssp("bellman_ford_program", FLOAT64), FLOAT64, 4, "general"),
    (sssp("parents_program", FLOAT64, False), FLOAT64, 0, "general"),
]


@pytest.mark.parametrize(
    ("program", "weight", "asynchronous", "form"),
    EXPECTED,
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value),
)
def test_built_in_programs_keep_their_paths(program, weight, asynchronous, form):
    typed = program.typed(GraphTypes(weight=weight))
    facts = analyse(typed)
    assert sum(path.startswith("async") for path in facts.legal_paths) == asynchronous
    forms = {
        "claiming": facts.claimed is not None,
        "ordered": is_ordered(typed, facts),
        "in place": is_offered_in_place(program.ir(), facts),
        "offered": is_offered(program.ir(), facts),
    }
    assert next((name for name, is_it in forms.items() if is_it), "general") == form
