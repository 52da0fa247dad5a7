"""Generated functions against the interpreter of the IR."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dromos.codegen import load
from dromos.codegen.functions import functions
from dromos.codegen.python import render
from dromos.codegen.python.lower import lower
from dromos.compiler.compile import argument_shapes, kernel_text
from dromos.compiler.scalars import kind_of_type
from dromos.graph import Graph
from dromos.program import GraphTypes, evaluate
from dromos.program.expr import OPERATORS, Expr, build
from dromos.program.types import Type, Typing
from tests.program import programs

pytestmark = pytest.mark.usefixtures("scratch_cache")

TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))
PROGRAMS = [type(program) for program in programs.examples(4)]


@pytest.fixture(scope="module", autouse=True)
def scratch_cache(tmp_path_factory):
    """Generated modules go to a folder of this run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DROMOS_CACHE_DIR", str(tmp_path_factory.mktemp("generated")))
        yield


@cache
def plain(program):
    """The generated module as ordinary Python: the same text, compiled by nobody, which is quick to try out."""
    text = render(program.typed(TYPES)).replace(
        "from dromos.jit import inline, kernel", "inline = kernel = lambda f: f"
    )
    return load(text, program.__name__)


def values(dtype):
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind == "f":
        return st.floats(-1e3, 1e3, width=dtype.itemsize * 8) | st.sampled_from([0.0, 1.0, float("inf")])
    low, high = (0, 200) if dtype.kind == "u" else (-100, 100)
    return st.integers(low, high)


def check(function, call, typing, data):
    arguments = [a.dtype.type(data.draw(values(a.dtype), a.name)) for a in function.arguments]
    given_leaves = {a.leaf: value for a, value in zip(function.arguments, arguments, strict=True)}
    expected = [evaluate(root, typing, given_leaves.__getitem__) for root in function.roots]
    with np.errstate(all="ignore"):
        expected = [np.asarray(e).astype(d) for e, d in zip(expected, function.results, strict=True)]
        found = call(*arguments)
    found = list(found) if isinstance(found, tuple) else [found]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(one).astype(other.dtype), other)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@settings(max_examples=10)
@given(data=st.data())
def test_functions_mean_what_the_interpreter_says(program, data):
    typed = program.typed(TYPES)
    for function in functions(typed):
        check(function, getattr(plain(program), function.name), typed.typing, data)


# ---- every operator, compiled, in the types that matter ------------------------------------------------------------

UNARY = {"neg", "abs", "invert", "floor", "ceil", "isnan", "isfinite"}
UNARY |= {"sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "arctan"}
INEXACT = {"exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "arctan", "pow"}
A, B, C = (Expr("param", attr=(name, 0)) for name in "abc")


def operator_roots(dtype):
    """One expression an operator that takes ``dtype``, on the symbols a, b of that type and c, a truth value."""
    roots = {}
    for op, kind in OPERATORS.items():
        if kind in ("cast", "lookup") or (kind in ("bits", "shift") and dtype.kind == "f"):
            continue
        if dtype.kind == "b" and (kind in ("arithmetic", "rounding", "shift", "real") and op not in ("min", "max")):
            continue
        roots[op] = Expr(op, (C, A, B) if op == "where" else (A,) if op in UNARY else (A, B))
    if dtype.kind in "iu":  # what has gone round is seen by who compares it, not only where it is stored
        for op in ("add", "sub", "mul", "neg", "abs"):
            roots[f"{op}_is_above"] = build("gt", roots[op], B)
    for target in ("bool", "int8", "int32", "int64", "uint32", "float32", "float64"):
        roots[f"to_{target}"] = build("cast", A, attr=(target,))
    return roots


def operator_typing(dtype):
    return Typing(GraphTypes(), lambda node, _: Type(np.dtype(bool) if node is C else dtype))


@cache
def operator_module(dtype):
    """All operators of one type in one function, so that it is compiled once; the types of its results."""
    roots, typing = operator_roots(dtype), operator_typing(dtype)
    results = [typing.of(root).dtype for root in roots.values()]
    statements, texts = lower(list(roots.values()), results, typing, lambda leaf: leaf.attr[0])
    body = [*statements, *(f"out{i} = {text}" for i, text in enumerate(texts))]
    body.append(f"return ({', '.join(f'out{i}' for i in range(len(texts)))})")
    lines = ["import numpy as np", "from dromos.jit import kernel", "@kernel", "def every(a, b, c):"]
    every = load("\n".join([*lines, *(f"    {line}" for line in body)]) + "\n", f"operators_{dtype.name}").every
    given_shapes = argument_shapes((dtype.type(0), dtype.type(0), True))
    return every, kernel_text(every.function, given_shapes, for_team=False).result


DTYPES = [np.dtype(t) for t in (np.bool_, np.int8, np.int64, np.uint32, np.uint64, np.float32, np.float64)]


def edge_values(dtype):
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind == "f":
        special = st.sampled_from(
            [0.0, -0.0, 0.5, 1.0, 2.0**31, -(2.0**63), 1e30, float("inf"), -float("inf"), float("nan")]
        )
        return st.floats(-1e4, 1e4, width=dtype.itemsize * 8) | special
    limits = np.iinfo(dtype)
    near = st.sampled_from([0, 1, 2, 31, 32, 63, 64, limits.max, limits.min, *([-1] if dtype.kind == "i" else [])])
    return st.integers(int(limits.min), int(limits.max)) | near.map(lambda x: min(x, int(limits.max)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@settings(max_examples=60)
@given(data=st.data())
def test_operators_compiled(dtype, data):
    a, b = (dtype.type(data.draw(edge_values(dtype))) for _ in range(2))
    c = data.draw(st.booleans())
    typing = operator_typing(dtype)
    every, returned = operator_module(dtype)
    found = every(a, b, c)
    assert list(returned) == [kind_of_type(typing.of(root).dtype) for root in operator_roots(dtype).values()]
    leaves = {A: a, B: b, C: c}
    for (op, root), one in zip(operator_roots(dtype).items(), found, strict=True):
        other = evaluate(root, typing, leaves.__getitem__)
        if op in INEXACT:
            scale = 1e-5 if other.dtype == np.float32 else 1e-12
            np.testing.assert_allclose(one, other, rtol=scale, atol=scale, err_msg=f"{op}({a}, {b})")
        else:
            np.testing.assert_array_equal(one, other, err_msg=f"{op}({a}, {b})")


# ---- the addressed forms, and the cache --------------------------------------------------------------------------


def superstep(module, program, graph, state, edges, frontier, number):
    """One synchronous push by the addressed functions: what a kernel skeleton does, without its speed."""
    ir = program.ir()
    shape = (graph.num_vertices, graph.num_arcs, graph.offsets, graph.in_degree)
    context = (np.int32(number), *shape, *program.params.values())
    now, before = tuple(state.values()), tuple(array.copy() for array in state.values())
    edge_now = tuple(edges.values())
    merged = {}
    for u in frontier:
        for arc in range(graph.offsets[u], graph.offsets[u + 1]):
            v, weight = graph.targets[arc], graph.weights[arc]
            if module.wants_at(before, context, v) and module.sends_at(before, edge_now, context, u, v, arc, weight):
                message = module.compute_at(before, edge_now, context, u, v, arc, weight)
                merged[v] = message if v not in merged else min(merged[v], message)
    for u in frontier:
        assert module.sent_store(now, before, context, u)
    for v, message in merged.items():
        assert module.update_store(now, now, context, v, message)
    assert ir.combine.name in ("MIN", "ARGMIN", "ANY")
    return [v for v in {*merged, *frontier} if module.active_at(before, now, context, v)]


@pytest.mark.parametrize("program", [programs.SSSP, programs.SSSPWithParents, programs.BFS], ids=lambda p: p.__name__)
def test_addressed_functions_run_a_program(program):
    graph = Graph.from_edges([0, 0, 1, 2, 3, 1], [1, 2, 3, 3, 4, 0], np.array([5, 1, 1, 3, 1, 1], dtype=np.float32))
    instance, module = program(source=0), plain(program)
    typed = program.typed(TYPES)
    state = {spec.name: np.zeros(5, typed.dtype(spec.name)) for spec in typed.ir.fields}
    context = (np.int32(0), 5, 6, graph.offsets, graph.in_degree, *instance.params.values())
    for v in range(5):
        assert module.init_store(tuple(state.values()), tuple(state.values()), context, v)
    frontier = [v for v in range(5) if module.start_at(tuple(state.values()), context, v)]
    for number in range(9):
        frontier = superstep(module, instance, graph, state, {}, frontier, number)
    expected = [0, 1, 1, 2, 3] if program is programs.BFS else [0, 5, 1, 4, 5]
    assert next(iter(state.values())).tolist() == expected
    assert not frontier


def test_stores_tell_when_an_integer_does_not_fit():
    module = plain(programs.KCore)
    degree = np.array([5], dtype=np.int32)
    context = (np.int32(0), 1, 0, degree, degree, np.int64(2))
    assert module.update_store((degree,), (degree,), context, 0, np.int64(3))
    assert degree[0] == 2
    with np.errstate(all="ignore"):
        assert not module.update_store((degree,), (degree,), context, 0, np.int64(2**40))


def test_unweighted_graphs_need_no_weight():
    (compute,) = (f for f in functions(programs.SSSP.typed(GraphTypes())) if f.name == "compute")
    assert [a.name for a in compute.arguments] == ["u_distance"]
    assert "u_distance + np.float32(1.0)" in render(programs.SSSP.typed(GraphTypes()))


def test_programs_that_say_the_same_share_their_code():
    class Renamed(programs.SSSP):
        pass

    assert render(Renamed.typed(TYPES)) == render(programs.SSSP.typed(TYPES))


def test_text_is_a_function_of_the_program_and_the_types():
    assert render(programs.SSSP.typed(TYPES)) == render(programs.SSSP.typed(TYPES))
    wide = GraphTypes(np.dtype(np.int64), np.dtype(np.float32))
    assert render(programs.BFS.typed(TYPES)) != render(programs.BFS.typed(wide))


KERNEL = """

@kernel
def relax(S, E, K, u, v, weight):
    if not wants_at(S, K, v) or not sends_at(S, E, K, u, v, 0, weight):
        return True
    return update_store(S, S, K, v, compute_at(S, E, K, u, v, 0, weight))
"""

SECOND_PROCESS = textwrap.dedent(
    """
    import numpy as np
    from dromos.codegen import load
    from dromos.codegen.python import render
    from dromos.compiler import kept
    from dromos.program import GraphTypes
    from tests.codegen.test_python import KERNEL
    from tests.program.programs import SSSP

    texts = []
    compile_text = kept.object_code
    kept.object_code = lambda text, **how: texts.append(text) or compile_text(text, **how)
    types = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))
    relax = load(render(SSSP.typed(types)) + KERNEL, "SSSP").relax
    S = (np.array([0, np.inf], dtype=np.float32),)
    K = (np.int32(0), 2, 1, np.array([1, 0]), np.array([0, 1]), np.int64(0))
    assert relax(S, (), K, 0, 1, np.float32(4)) and S[0][1] == 4
    print(len(texts))
    """
)


def test_a_second_process_finds_the_machine_code(tmp_path):
    environment = {**os.environ, "DROMOS_CACHE_DIR": str(tmp_path)}
    results = [
        subprocess.run(
            [sys.executable, "-c", SECOND_PROCESS], env=environment, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert [r.stdout.split() for r in results] == [["1"], ["0"]]
