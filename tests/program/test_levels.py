"""Searches by levels written as a minimum, and ids that spread: what is recognized, and what only looks like one."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.program import GraphTypes, analyse
from dromos.program.forms import spreads_ids
from dromos.program.levels import LevelSearch

GREAT = np.iinfo(np.int32).max


def searching(dtype=np.int32, first=0, unreached=GREAT, compute=None, start=None, **more):
    def init(self, v):
        return dr.where(v.id == self.source, first, unreached)

    members = {
        "source": dr.param(int),
        "level": dr.field(dtype),
        "combine": dr.MIN,
        "init": init,
        "start": start or (lambda self, v: v.id == self.source),
        "compute": compute or (lambda self, u, edge, v: u.level + 1),
        "update": lambda self, v, message: dr.minimum(v.level, message),
        **more,
    }
    return type("Searching", (dr.Program,), members)


def found(**how):
    return analyse(searching(**how).typed(GraphTypes(weight=np.dtype(np.float32)))).search


def test_the_level_of_a_search_is_found():
    assert found() == LevelSearch("level", 0, GREAT, 1)
    assert found(dtype=np.float64, unreached=np.inf) == LevelSearch("level", 0, np.inf, 1)
    assert found(compute=lambda self, u, edge, v: 2 + u.level) == LevelSearch("level", 0, GREAT, 2)
    assert found(active=lambda self, old, new: new.level < old.level) is not None
    better = {"update": lambda self, v, message: dr.where(message < v.level, message, v.level)}
    assert found(**better) == LevelSearch("level", 0, GREAT, 1)


NOT_LEVELS = {
    "narrow": {"dtype": np.int16, "unreached": 1000},
    "weights": {"compute": lambda self, u, edge, v: u.level + edge.weight, "dtype": np.float32},
    "back": {"compute": lambda self, u, edge, v: u.level - 1},
    "by target": {"compute": lambda self, u, edge, v: u.level + v.level},
    "start elsewhere": {"start": lambda self, v: v.id == 0},
    "start everywhere": {"start": lambda self, v: v.id >= 0},
    "uneven start": {"init": lambda self, v: dr.where(v.id == self.source, v.id, GREAT)},
    "some edges": {"sends": lambda self, u, edge, v: u.id < v.id},
    "deaf": {"wants": lambda self, v: v.id > 3},
    "restless": {"active": lambda self, old, new: (new.level < old.level) | (new.id == 3)},
    "silent": {"active": lambda self, old, new: (new.level < old.level) & (new.id > 3)},
    "converged": {"converged": lambda self: self.superstep > 3},
    "greatest": {"combine": dr.MAX},
    "not a number": {"dtype": np.float64, "unreached": np.nan},
}


@pytest.mark.parametrize("form", NOT_LEVELS)
def test_what_only_looks_like_one_is_not(form):
    assert found(**NOT_LEVELS[form]) is None


def test_levels_must_fit_their_field():
    search = LevelSearch("level", 0, GREAT, 1 << 20)
    assert search.fits(1000, np.dtype(np.int32))
    assert not search.fits(1 << 12, np.dtype(np.int32))
    assert search.fits(1 << 12, np.dtype(np.float32))


def spreading(**more):
    members = {
        "label": dr.field(dr.ID),
        "combine": dr.MIN,
        "init": lambda self, v: v.id,
        "compute": lambda self, u, edge, v: u.label,
        "update": lambda self, v, message: dr.minimum(v.label, message),
        **more,
    }
    typed = type("Spreading", (dr.Program,), members).typed(GraphTypes())
    return spreads_ids(typed.ir, analyse(typed))


def test_ids_that_spread_are_found():
    assert spreading() == "label"
    assert spreading(init=lambda self, v: v.id + 1) is None
    assert spreading(compute=lambda self, u, edge, v: u.label + 1) is None
    assert spreading(start=lambda self, v: v.id == 0) is None
    assert spreading(sends=lambda self, u, edge, v: u.id < v.id) is None
    assert spreading(active=lambda self, old, new: new.label < old.label - 1) is None
    assert spreading(converged=lambda self: self.superstep > 2) is None
    assert spreading(combine=dr.MAX, update=lambda self, v, message: dr.maximum(v.label, message)) is None
