"""What a user sees when a program is wrong: the program, the function, the line, and the fix."""

from __future__ import annotations

import inspect
import math
import random
import subprocess
import sys

import numpy as np
import pytest

import dromos.program as dr
from dromos.errors import DromosWarning, InvalidArgumentError, ProgramError, ProgramTypeError, UntraceableError
from tests.program.programs import SSSP, PageRank


def program(**members):
    """A small valid program with some members replaced; None removes one."""
    base = {
        "x": dr.field(np.float32, init=0.0),
        "combine": dr.MIN,
        "compute": lambda self, u, edge, v: u.x,
        "update": lambda self, v, message: dr.minimum(v.x, message),
    }
    body = {name: value for name, value in {**base, **members}.items() if value is not None}
    for name, value in body.items():
        if hasattr(value, "__set_name__"):
            value.__set_name__(type, name)
    return type("Sample", (dr.Program,), body)


def branching(self, u, edge, v):
    if u.x > 0:
        return u.x
    return 0.0


def short_circuit(self, u, edge, v):
    return dr.where((u.x > 0) and (v.x > 0), 1.0, 0.0)


def looping(self, u, edge, v):
    while u.x:
        pass
    return u.x


@pytest.mark.parametrize(("function", "line"), [(branching, 1), (short_circuit, 1), (looping, 1)])
def test_python_branches_on_symbols_are_refused_with_place_and_mend(function, line):
    with pytest.raises(UntraceableError, match=r"dr\.where\(condition, a, b\)") as caught:
        program(compute=function).ir()
    error = caught.value
    assert (error.program, error.function, error.file) == ("Sample", "compute", __file__)
    assert error.line == inspect.getsourcelines(function)[1] + line
    assert f"Sample.compute ({__file__}:{error.line})" in str(error)


@pytest.mark.parametrize(
    "compute",
    [
        lambda self, u, edge, v: math.sqrt(u.x),
        lambda self, u, edge, v: int(u.x),
        lambda self, u, edge, v: [1, 2][u.x],
        lambda self, u, edge, v: sum(part for part in u.x),
    ],
)
def test_numbers_of_symbols_are_refused(compute):
    with pytest.raises(UntraceableError, match=r"Sample\.compute"):
        program(compute=compute).ir()


WRONG = {
    "combine = 'mean' is not a monoid": {"combine": "mean"},
    "has no combine: it needs a monoid": {"combine": None},
    "has no compute: it needs a method compute(self, u, edge, v)": {"compute": None},
    "is 'comput' meant to be it?": {"compute": None, "comput": lambda self, u, edge, v: 1.0},
    "must be a method update(self, v, message)": {"update": lambda self, v: 1.0},
    "returns nothing; add a return statement": {"compute": lambda self, u, edge, v: None},
    "field 'x' is never initialized": {"x": dr.field(np.float32)},
    "writes 'y'; the fields are x": {"update": lambda self, v, message: {"y": message}},
    "a vertex has no 'y' here; it has x, id, out_degree, in_degree": {"compute": lambda self, u, edge, v: u.y},
    "a vertex has no 'x' here": {"init": lambda self, v: v.x},
    "an edge has no 'length' here": {"compute": lambda self, u, edge, v: edge.length},
    "self.x: a field belongs to a vertex": {"compute": lambda self, u, edge, v: self.x},
    "priority = 'y' is not a scalar field": {"priority": "y"},
    "helps only with combine = dr.MIN; with MAX leave it out": {"priority": "x", "combine": dr.MAX},
    "with SUM leave it out": {"priority": "x", "combine": dr.SUM},
    "compute (": {"compute": lambda self, u, edge, v: u.x + random.random()},
    "returns something else each time it is called": {"update": lambda self, v, message: message + random.random()},
    "or pass them as a dr.vertex_param": {"init": lambda self, v: np.random.default_rng().random()},
    "update_on = 'some' must be": {"update_on": "some"},
    "ANY has no identity": {"combine": dr.ANY, "update_on": "all"},
    "ARGMIN needs a message (key, value, ...)": {"combine": dr.ARGMIN},
    "must return a dict": {"y": dr.field(np.float32, init=0.0)},
    "np.hypot cannot be traced": {"compute": lambda self, u, edge, v: np.hypot(u.x, v.x)},
    "has no field": {"x": None},
    "weight is reserved; choose another name": {"weight": dr.field(float, init=0.0)},
}


@pytest.mark.parametrize("message", WRONG)
def test_malformed_programs(message):
    with pytest.raises(ProgramError) as caught:
        program(**WRONG[message]).ir()
    assert message in str(caught.value)


WRONG_TYPES = {
    "returns 2 values for field 'x', which is a scalar": {"update": lambda self, v, message: [v.x, v.x]},
    "vectors of sizes [2, 3] cannot be combined": {
        "y": dr.field(float, size=3, init=0.0),
        "update": lambda self, v, message: {"x": message, "y": v.y + np.ones(2)},
    },
    "returns float64 for field 'x', which is int32": {
        "x": dr.field(np.int32, init=0),
        "compute": lambda s, u, e, v: 0.5,
    },
    "300 does not fit field 'x' of type int8": {"x": dr.field(np.int8, init=300)},
    "200 does not fit int8, the type of the other operand": {
        "x": dr.field(np.int8, init=0),
        "update": lambda self, v, message: dr.where(v.x < 0, 200, v.x),
    },
    "-1 does not fit uint32": {
        "x": dr.field(np.uint32, init=0),
        "update": lambda self, v, message: dr.where(v.x == -1, v.x, message),
    },
    "must return a truth value, not int64": {"active": lambda self, old, new: new.out_degree},
    "must return a truth value, not int64; ~ makes a number of Python's own True and False: write not": {
        "active": lambda self, old, new: -2,  # which is ~True
    },
    "the condition of where() is float32": {"compute": lambda self, u, edge, v: dr.where(u.x, 1.0, 0.0)},
    "'add' does not apply to truth values": {"compute": lambda self, u, edge, v: (u.x > 0) + (v.x > 0)},
    "bit operation 'and' does not apply to float32": {"compute": lambda self, u, edge, v: u.x & 1},
    "OR merges truth values and integers, not float32": {"combine": dr.OR},
    "uint64 and int64 have no common integer type": {
        "y": dr.field(np.uint64, init=0),
        "update": lambda self, v, message: {"x": message},
        "compute": lambda self, u, edge, v: (u.y + u.out_degree) * 1.0,
    },
    "returns a vector; use .any() or .all()": {
        "x": dr.field(float, size=2, init=0.0),
        "active": lambda self, old, new: new.x < old.x,
    },
}


@pytest.mark.parametrize("message", WRONG_TYPES)
def test_types_that_do_not_fit(message):
    with pytest.raises(ProgramTypeError) as caught:
        program(**WRONG_TYPES[message]).ir()
    assert message in str(caught.value)
    assert "Sample" in str(caught.value)


def test_declarations_are_checked_where_they_stand():
    with pytest.raises(ProgramTypeError, match="complex64 is not a type for a field"):
        dr.field(np.complex64)
    with pytest.raises(ProgramTypeError, match=r"size=1000 is outside 1\.\.64"):
        dr.field(float, size=1000)
    with pytest.raises(ProgramError, match="a reduction cannot use ANY"):
        dr.reduction(dr.ANY)


def test_reductions_are_known_between_supersteps_only():
    class Early(PageRank):
        def start(self, v):
            return v.rank > self.dangling

    with pytest.raises(ProgramError, match=r"Early.start .*reads self.dangling before the first superstep"):
        Early.ir()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "SSSP needs source="),
        ({"source": 0, "sauce": 1}, "SSSP has no parameter sauce; it has source"),
        ({"source": 1.5}, "source=1.5 is not a value of type int64"),
        ({"source": [1, 2]}, r"source has shape \(2,\), expected \(\)"),
    ],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(InvalidArgumentError, match=message):
        SSSP(**params)


def test_parameters_are_not_in_the_ir():
    assert SSSP(source=1).ir() is SSSP(source=2).ir()
    assert SSSP(source=1).source == 1


def test_the_hash_names_the_content():
    class Renamed(SSSP):
        pass

    class Other(SSSP):
        def compute(self, u, edge, v):
            return u.distance + 2 * edge.weight

    assert Renamed.ir().hash == SSSP.ir().hash != Other.ir().hash
    code = "from tests.program.programs import SSSP; print(SSSP.ir().hash)"
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert again.stdout.strip() == SSSP.ir().hash


def test_the_program_layer_does_not_import_the_compiler():
    code = "import sys, dromos.program, dromos.plan, dromos.engines.null; print('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_numpy_functions_and_scalars_are_traced():
    ir = program(compute=lambda self, u, edge, v: np.float32(2) * np.minimum(u.x, np.sqrt(v.x))).ir()
    assert [line.split(" = ")[1].split()[0] for line in ir.text.splitlines() if "%" in line].count("sqrt") == 1
    assert dr.GraphTypes().resolve(ir.fields[0].dtype) == np.float32


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("activ", lambda self, old, new: True, "active"),
        ("send", lambda self, u, edge, v: u.x > 0, "sends"),
        ("converge", lambda self: False, "converged"),
        ("directions", "in", "direction"),
        ("prioritys", "x", "priority"),
    ],
)
def test_a_name_that_is_nearly_a_part_is_warned_of(name, value, meant):
    with pytest.warns(DromosWarning, match=f"{name} is not a part of a program.*did you mean '{meant}'"):
        program(**{name: value}).ir()


def test_a_helper_that_is_used_may_have_any_name():
    program(send=lambda self, u: u.x, compute=lambda self, u, edge, v: self.send(u)).ir()
    program(directions="in", compute=lambda self, u, edge, v: u.x if self.directions == "in" else v.x).ir()
