"""Whole numbers beyond 64 signed bits: as constants of programs, as initial values and as parameters."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import InvalidArgumentError, ProgramTypeError

RING = dr.generators.cycle(3)
EVERYWHERE = pytest.mark.parametrize("device", ["reference", "numpy", "cpu"])


def once(dtype, value, init=1, message=0):
    """A program that writes ``value(v)`` into every vertex."""

    class Once(dr.Program):
        x = dr.field(dtype, init=init)
        combine = dr.MAX

        def compute(self, u, edge, v):
            return message

        def update(self, v, message):
            return value(v)

        def active(self, old, new):
            return False

    return Once()


CONSTANTS = {
    "a sum with a float": (np.float64, lambda v: v.x + 10**19, 1e19),
    "a product with a float": (np.float64, lambda v: v.x * -(10**19), -1e19),
    "a float": (np.float64, lambda v: 10**25, 1e25),
    "the greater float": (np.float32, lambda v: dr.maximum(v.x, 2**64), 2.0**64),
    "a comparison with a float": (np.float64, lambda v: dr.where(v.x < 10**19, 7.0, v.x), 7.0),
    "a root": (np.float64, lambda v: v.x + dr.sqrt(2**64), 2.0**32 + 1),
    "a cast": (np.float64, lambda v: dr.cast(10**19, np.float64), 1e19),
    "an unsigned integer": (np.uint64, lambda v: 2**64 - 1, 2**64 - 1),
    "a sum with an unsigned integer": (np.uint64, lambda v: v.x + 2**63, 2**63 + 1),
}


@EVERYWHERE
@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_keeps_its_value(device, name):
    dtype, value, expected = CONSTANTS[name]
    assert dr.run(once(dtype, value), RING, device=device).x.tolist() == [expected] * 3


@EVERYWHERE
@pytest.mark.parametrize(("dtype", "init"), [(np.uint64, 2**63), (np.uint64, 2**64 - 1), (np.float64, 2**70)])
def test_a_first_value_is_as_it_was_given(device, dtype, init):
    assert dr.run(once(dtype, lambda v: v.x, init), RING, device=device).x.tolist() == [init] * 3


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (
            lambda: once(np.float64, lambda v: v.x, message=10**19),
            "10000000000000000000 does not fit int64; dr.cast it",
        ),
        (lambda: once(np.float64, lambda v: v.x + 10**400), "does not fit float64"),
        (lambda: once(np.float64, lambda v: 10**400), "does not fit field 'x' of type float64"),
        (lambda: once(np.int64, lambda v: v.x + dr.cast(2**70, np.int64)), "does not fit any integer type"),
    ],
)
def test_a_constant_that_would_become_another_number_is_refused(program, says):
    with pytest.raises(ProgramTypeError, match=says):
        dr.run(program(), RING, device="numpy")


class Shifted(dr.Program):
    by = dr.param(np.uint64)
    start_at = dr.vertex_param(np.uint32)
    x = dr.field(np.uint64, init=0)
    combine = dr.MAX

    def compute(self, u, edge, v):
        return u.x

    def update(self, v, message):
        return v.start_at + self.by

    def active(self, old, new):
        return False


@EVERYWHERE
def test_unsigned_parameters_take_plain_numbers(device):
    given = [0, 1, 2**32 - 1]
    for start_at in (given, np.array(given), np.array(given, np.uint32)):
        assert dr.run(Shifted(by=5, start_at=start_at), RING, device=device).x.tolist() == [5, 6, 2**32 + 4]
    assert dr.run(Shifted(by=2**63, start_at=given), RING, device=device).x[0] == 2**63


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"by": -1, "start_at": [0, 0, 0]}, "by=-1 is not a value of type uint64"),
        ({"by": 2**64, "start_at": [0, 0, 0]}, "is not a value of type uint64"),
        ({"by": 1.5, "start_at": [0, 0, 0]}, "by=1.5 is not a value of type uint64"),
        ({"by": 1, "start_at": [0, 0, 2**32]}, "is not a value of type uint32"),
        ({"by": 1, "start_at": [0, 0, -1]}, "is not a value of type uint32"),
    ],
)
def test_unsigned_parameters_refuse_what_they_cannot_hold(params, says):
    with pytest.raises(InvalidArgumentError, match=says):
        Shifted(**params)


def test_a_label_for_an_id_is_told_how_to_be_given():
    class From(Shifted):
        source = dr.param(dr.ID)

    with pytest.raises(InvalidArgumentError, match=r"graph\.vertex_id\(label\) finds the id of a label"):
        From(by=0, start_at=[0], source="ada")
