"""Facts that are derived from a program without declarations by its author."""

from __future__ import annotations

import numpy as np
import pytest

import dromos.program as dr
from dromos.codegen.functions import functions
from dromos.program import GraphTypes, analyse
from dromos.program.forms import is_ordered
from tests.program import programs as p

FLOAT = GraphTypes(weight=np.dtype(np.float32))
SYNC = {"sync-push-dd", "sync-push-td", "sync-pull-dd", "sync-pull-td"}
ALL = SYNC | {path.replace("sync", "async") for path in SYNC}
ASYNC_PUSH = {"async-push-dd", "async-push-td"}

LEGAL = {
    p.BFS: SYNC,
    p.SSSP: ALL,
    p.SSSPWithParents: ALL,
    p.Parents: SYNC,
    p.PageRank: SYNC,
    p.DeltaPageRank: SYNC | ASYNC_PUSH,
    p.Components: ALL,
    p.BCForward: SYNC,
    p.BCBackward: SYNC,
    p.KCore: SYNC,
    p.SpMV: SYNC,
    p.BeliefPropagation: SYNC,
    p.WidestPath: ALL,
    p.Reach: ALL,
    p.ReachSets: ALL,
    p.Hebb: {"sync-push-dd", "sync-push-td"},
}


@pytest.mark.parametrize("program", LEGAL, ids=lambda program: program.__name__)
def test_legal_paths(program):
    facts = analyse(program.typed(FLOAT))
    assert set(facts.legal_paths) == LEGAL[program]
    assert all(facts.legal[path] for path in facts.legal if path not in LEGAL[program])


REASONS = {
    p.BFS: "update() reads the superstep number",
    p.Parents: "ANY keeps the first message",
    p.PageRank: "update() reads the reduction 'dangling'",
    p.KCore: "SUM is not idempotent",
    p.Hebb: "edge fields are written between supersteps",
}


@pytest.mark.parametrize("program", REASONS, ids=lambda program: program.__name__)
def test_reasons_against_async(program):
    reason = analyse(program.typed(FLOAT)).legal["async-push-dd"]
    assert reason is not None
    assert REASONS[program] in reason


SILENT = {
    "a step that has to be large": (p.SSSP, {"active": lambda s, old, new: old.distance - new.distance >= 10}),
    "who never falls": (p.SSSP, {"active": lambda s, old, new: new.distance > old.distance}),
    "a bound": (p.SSSP, {"active": lambda s, old, new: (new.distance < old.distance) & (new.distance > 3)}),
    # a vertex that starts beyond the limit is sent once: as it was, or as it is by then
    "a depth limit": (p.SSSP, {"active": lambda s, old, new: (new.distance < old.distance) & (new.distance < 9)}),
    "nobody": (p.SSSP, {"active": lambda s, old, new: False}),
    "a choice": (
        p.SSSP,
        {"active": lambda s, old, new: dr.where(new.id > 3, new.distance != old.distance, new.distance > old.distance)},
    ),
    "one component of two": (p.ReachSets, {"active": lambda s, old, new: new.seen[0] != old.seen[0]}),
    "the other way of a maximum": (p.WidestPath, {"active": lambda s, old, new: new.width < old.width}),
    "of a message that is always the same": (p.Reach, {"active": lambda s, old, new: new.reached == old.reached}),
    "a key": (p.SSSPWithParents, {"active": lambda s, old, new: new.parent != old.parent}),
    "something else than the residual": (p.DeltaPageRank, {"active": lambda s, old, new: new.rank > old.rank}),
    "a change of the residual": (p.DeltaPageRank, {"active": lambda s, old, new: new.residual != old.residual}),
    "little of the residual": (p.DeltaPageRank, {"active": lambda s, old, new: new.residual < s.tolerance}),
    "the residual of some": (
        p.DeltaPageRank,
        {"active": lambda s, old, new: (new.residual > s.tolerance) & (new.rank < 1)},
    ),
}


@pytest.mark.parametrize("form", SILENT)
def test_a_change_that_is_not_passed_on_makes_the_order_matter(form):
    base, members = SILENT[form]
    facts = variant(base, **members)
    assert "active()" in (facts.legal["async-push-dd"] or "")
    assert not is_ordered(type("Variant", (base,), members).typed(FLOAT), facts)


def test_who_sends_the_same_whatever_happens_may_be_silent():
    assert variant(p.Reach, active=lambda s, old, new: False).legal["async-push-dd"] is None


@pytest.mark.parametrize("rule", [lambda self: self.superstep >= 2, lambda self: True])
def test_asking_for_the_end_needs_supersteps(rule):
    facts = variant(p.SSSP, converged=rule)
    assert "converged() is asked between supersteps" in (facts.legal["async-push-dd"] or "")
    assert facts.legal["sync-pull-dd"] is None
    assert variant(p.BFS, converged=rule).claimed is None
    assert variant(p.BFS, converged=lambda self: False).claimed == "level"


WRAPPING = {
    "a narrowing cast": (p.Components, lambda s, u, edge, v: dr.cast(dr.cast(u.label, np.int8), np.int32)),
    "a cast to whole numbers": (p.SSSP, lambda s, u, edge, v: dr.cast(dr.cast(u.distance, np.int32), np.float32)),
    "a cast to truth": (p.Components, lambda s, u, edge, v: dr.cast(dr.cast(u.label, bool), np.int32)),
    "a product": (p.Components, lambda s, u, edge, v: u.label * 3),
    "a great constant": (p.Components, lambda s, u, edge, v: u.label + 2_000_000_000),
    "a narrow sum": (p.Components, lambda s, u, edge, v: dr.cast(dr.cast(u.label, np.int64) + 1, np.int32)),
}


@pytest.mark.parametrize("form", WRAPPING)
def test_integers_that_may_wrap_are_not_taken_for_rising(form):
    base, compute = WRAPPING[form]
    assert "not proven to rise" in (variant(base, compute=compute).legal["async-push-dd"] or "")


def narrow(dtype, message):
    class Narrow(dr.Program):
        x = dr.field(dtype, init=0)
        combine = dr.MAX

        def compute(self, u, edge, v):
            return message(u.x)

        def update(self, v, message):
            return dr.maximum(v.x, message)

    return analyse(Narrow.typed(FLOAT)).legal["async-push-dd"]


def test_sums_are_trusted_from_32_bits_on():
    assert narrow(np.int32, lambda x: x + 1) is None
    assert narrow(np.uint32, lambda x: x + 1) is None
    assert "not proven to rise" in (narrow(np.int8, lambda x: x + 1) or "")
    assert "not proven to rise" in (narrow(np.int16, lambda x: x + 1) or "")
    assert "not proven to rise" in (narrow(np.uint32, lambda x: x - 1) or "")
    assert narrow(np.int64, lambda x: dr.cast(dr.cast(x, np.float64), np.int64)) is not None
    assert narrow(np.float32, lambda x: dr.cast(dr.cast(x, np.float64), np.float32)) is None


def test_what_travels_with_a_key_is_not_state():
    def message(s, u, edge, v):
        return u.distance + edge.weight, u.parent

    assert "travels with the key" in (variant(p.SSSPWithParents, compute=message).legal["async-push-dd"] or "")


def test_a_cast_to_integers_is_not_linear():
    def message(s, u, edge, v):
        return dr.cast(dr.cast(u.residual, np.int32), np.float64)

    assert variant(p.DeltaPageRank, compute=message).delta is None


def test_pull_cannot_take_deltas_or_reach_edge_fields():
    assert "a delta must be taken once" in (analyse(p.DeltaPageRank.typed(FLOAT)).legal["async-pull-td"] or "")
    assert "in the order of out-edges" in (analyse(p.Hebb.typed(FLOAT)).legal["sync-pull-td"] or "")


def variant(base, **members):
    return analyse(type("Variant", (base,), members).typed(FLOAT))


NOT_ASYNC = {
    "a message is not proven to rise": (p.SSSP, {"compute": lambda self, u, edge, v: edge.weight - u.distance}),
    "not the improvement of one field": (
        p.SSSP,
        {"update": lambda self, v, message: dr.minimum(v.distance, 2 * message)},
    ),
    "reads a field of its target": (p.SSSP, {"compute": lambda self, u, edge, v: u.distance + v.distance}),
    "sends() reads fields": (p.SSSP, {"sends": lambda self, u, edge, v: v.distance > 5}),
    "wants() reads fields": (p.SSSP, {"wants": lambda self, v: v.distance > 5}),
    "sends() reads fields that other messages change": (p.Reach, {"sends": lambda self, u, edge, v: ~v.reached}),
    "messages linear in u.f": (p.DeltaPageRank, {"compute": lambda self, u, edge, v: u.residual * u.residual}),
}


@pytest.mark.parametrize("reason", NOT_ASYNC)
def test_near_misses_of_async(reason):
    base, members = NOT_ASYNC[reason]
    assert reason in (variant(base, **members).legal["async-push-dd"] or "")


ASYNC = {
    "where form": (p.SSSP, {"update": lambda s, v, message: dr.where(message < v.distance, message, v.distance)}),
    "swapped": (p.SSSP, {"update": lambda s, v, message: dr.where(v.distance <= message, v.distance, message)}),
    "argument order": (p.SSSP, {"update": lambda s, v, message: np.minimum(message, v.distance)}),
    "a filter that only drops useless messages": (
        p.SSSP,
        {"sends": lambda self, u, edge, v: u.distance + edge.weight < v.distance},
    ),
    "a scaled message": (p.SSSP, {"compute": lambda self, u, edge, v: 0.5 * u.distance + edge.weight}),
    "a change by any name": (p.SSSP, {"active": lambda s, old, new: ~(old.distance <= new.distance)}),
    "a change or more": (p.SSSP, {"active": lambda s, old, new: (new.distance != old.distance) | (new.distance > 9)}),
    "the size of a residual": (p.DeltaPageRank, {"active": lambda s, old, new: abs(new.residual) > s.tolerance}),
    "a residual of either sign": (
        p.DeltaPageRank,
        {"active": lambda s, old, new: (new.residual > s.tolerance) | (new.residual < -s.tolerance)},
    ),
    "a weighted delta": (p.DeltaPageRank, {"compute": lambda s, u, edge, v: edge.weight * u.residual / u.out_degree}),
}


@pytest.mark.parametrize("form", ASYNC)
def test_other_forms_of_the_same_thing(form):
    base, members = ASYNC[form]
    assert variant(base, **members).legal["async-push-dd"] is None


def test_fields_read_and_written():
    facts = analyse(p.BFS.typed(FLOAT))
    assert facts.source_fields == frozenset()
    assert facts.written_fields == {"level", "parent"}
    sends = variant(p.SSSP, sends=lambda self, u, edge, v: v.distance > u.distance)
    assert (sends.source_fields, sends.target_fields, sends.reads_target) == ({"distance"}, {"distance"}, True)
    assert not analyse(p.SSSP.typed(FLOAT)).reads_target


def test_message_shapes():
    rank, bfs, sssp = (analyse(q.typed(FLOAT)) for q in (p.PageRank, p.BFS, p.SSSP))
    assert (rank.source_only, bfs.source_only, sssp.source_only) == (True, True, False)
    assert analyse(p.SSSP.typed(GraphTypes())).source_only  # without weights every edge has weight 1
    assert (rank.uses_weight, sssp.uses_weight) == (False, True)
    assert [analyse(q.typed(FLOAT)).message_bytes for q in (p.SSSP, p.SSSPWithParents, p.KCore, p.ReachSets)] == [
        4,
        12,
        8,
        16,
    ]
    assert analyse(p.Components.typed(GraphTypes(id=np.dtype(np.int64)))).message_bytes == 8


def test_votes_and_idempotence():
    facts = {q: analyse(q.typed(FLOAT)) for q in LEGAL}
    assert {q for q in facts if facts[q].vote} == {p.BFS, p.Parents, p.Reach}
    assert {q for q in facts if not facts[q].deterministic} == {p.BFS, p.Parents}
    assert not any(facts[q].idempotent_combine for q in (p.PageRank, p.KCore, p.SpMV))
    idempotent = {q for q in facts if facts[q].idempotent_update}
    assert idempotent >= {p.BFS, p.SSSP, p.SSSPWithParents, p.Components, p.PageRank, p.BCForward, p.ReachSets}
    assert not idempotent & {p.DeltaPageRank, p.KCore, p.BCBackward}


CLAIMS = {
    "below": lambda v, level: dr.where(v.x < 0, level, v.x),
    "seen first": lambda v, level: dr.where(v.x >= 0, v.x, level),
    "not seen": lambda v, level: dr.where(~(v.x >= 0), level, v.x),
    "a mark": lambda v, level: dr.where(v.x == -1, level, v.x),
    "no mark": lambda v, level: dr.where(v.x != -1, v.x, level),
    "at most": lambda v, level: dr.where(v.x <= -1, level, v.x),
    "above": lambda v, level: dr.where(v.x > -1, v.x, level),
    "turned round": lambda v, level: dr.where(np.greater(0, v.x), level, v.x),
}
NO_CLAIMS = {
    "zero is free": lambda v, level: dr.where(v.x <= 0, level, v.x),
    "a mark above": lambda v, level: dr.where(v.x == 5, level, v.x),
    "anything else": lambda v, level: dr.where(v.x != 5, level, v.x),
    "falls back": lambda v, level: dr.where(v.x < 0, level - 9, v.x),
    "a product may wrap": lambda v, level: dr.where(v.x < 0, level * 1_000_000, v.x),
    "so may a sum": lambda v, level: dr.where(v.x < 0, level + 2_000_000_000, v.x),
}


def claiming(dtype, form):
    class Claim(dr.Program):
        x = dr.field(dtype, init=-1)
        combine = dr.ANY

        def compute(self, u, edge, v):
            return u.id

        def update(self, v, message):
            return form(v, self.superstep + 1)

        def active(self, old, new):
            return new.x != old.x

    return analyse(Claim.typed(FLOAT)).claimed


@pytest.mark.parametrize("form", CLAIMS)
def test_a_vertex_that_takes_one_message_is_found_in_whichever_words(form):
    assert claiming(np.int32, CLAIMS[form]) == "x"


def test_a_nan_that_passes_for_unseen_is_not_taken_for_below_zero():
    """And a NaN, which always differs from its old value, keeps a vertex active, whatever it wants."""
    assert claiming(np.float64, CLAIMS["below"]) is None
    assert claiming(np.float64, CLAIMS["seen first"]) is None
    assert claiming(np.float64, CLAIMS["not seen"]) is None


@pytest.mark.parametrize("form", NO_CLAIMS)
def test_near_misses_of_taking_one_message(form):
    assert claiming(np.int32, NO_CLAIMS[form]) is None


def test_a_level_that_may_not_fit_its_field_is_not_taken_for_above_zero():
    """It wraps to below zero, and the vertex would be claimed again and again."""
    assert claiming(np.int8, CLAIMS["below"]) is None
    assert claiming(np.int16, CLAIMS["below"]) is None
    assert claiming(np.int64, CLAIMS["below"]) == "x"


class LeastFlags(dr.Program):
    """A bool that messages improve, and by which the vertices are to be ordered."""

    combine = dr.MIN
    priority = "low"
    low = dr.field(bool)

    def init(self, v):
        return v.id > 0

    def compute(self, u, edge, v):
        return u.low

    def update(self, v, message):
        return dr.minimum(v.low, message)


def test_monotone_delta_and_priority():
    assert analyse(p.SSSPWithParents.typed(FLOAT)).monotone == "distance"
    assert analyse(p.DeltaPageRank.typed(FLOAT)).delta == "residual"
    assert analyse(p.SSSP.typed(FLOAT)).priority == ("distance", "ascending")

    silent = variant(p.SSSP, active=lambda self, old, new: old.distance - new.distance > 1)
    other = variant(
        p.SSSP,
        other=dr.field(float, init=0.0),
        priority="other",
        init=lambda self, v: {"distance": 0.0},
        update=lambda self, v, message: {"distance": dr.minimum(v.distance, message)},
    )
    flags = analyse(LeastFlags.typed(FLOAT))
    assert flags.monotone == "low"
    for unused, why in (
        (silent, "active() is not proven"),
        (other, "not the field that messages improve"),
        (flags, "a bool has too few values"),
    ):
        assert unused.priority is None
        assert any("is not used" in note and why in note for note in unused.notes)


def test_activity_and_kind():
    kinds = {q.__name__: (q.ir().kind, analyse(q.typed(FLOAT)).activity, q.ir().update_on) for q in LEGAL}
    assert kinds["PageRank"] == ("iterative", "always", "all")
    assert kinds["SSSP"] == ("traversal", "changed", "received")
    assert kinds["BFS"] == ("traversal", "changed", "received")
    assert kinds["Components"] == ("iterative", "changed", "received")
    assert kinds["DeltaPageRank"] == ("iterative", "other", "received")
    assert kinds["BCBackward"] == ("traversal", "other", "all")


def test_wants_is_derived_where_the_update_ignores_the_message():
    facts = analyse(p.BFS.typed(FLOAT))
    assert repr(facts.wants) == "lt(field(vertex, level, 0), const(int, 0))"
    turned = variant(
        p.BCForward,
        update=lambda self, v, message: {"paths": dr.where(v.level >= 0, v.paths, message)},
        active=lambda self, old, new: new.paths > old.paths,
    )
    assert repr(turned.wants) == "invert(ge(field(vertex, level, 0), const(int, 0)))"
    assert analyse(p.SSSP.typed(FLOAT)).wants is None
    # activity that does not require a change: a dropped message could matter
    assert variant(p.BFS, active=lambda self, old, new: new.level == self.superstep + 1).wants is None


def test_identity_is_skipped_only_where_it_changes_nothing():
    skips = {q for q in LEGAL if analyse(q.typed(FLOAT)).update_skips_identity}
    assert skips >= {p.SSSP, p.Components, p.DeltaPageRank, p.ReachSets}
    assert not skips & {p.PageRank, p.BFS, p.BCForward, p.SpMV}


def test_sums_into_narrow_fields_are_noted():
    (note,) = analyse(p.KCore.typed(FLOAT)).notes
    assert "kept in int64" in note
    assert "FieldOverflowError" in note
    assert p.KCore.typed(FLOAT).narrowing == (("init", "degree"), ("update", "degree"))


def test_names_are_only_names():
    """Fields and parameters may have the names of roles."""

    class Named(p.SSSP):
        new = dr.param(float, 0.0)
        target = dr.field(np.float32, init=0.0)
        distance = dr.field(np.float32)

        def init(self, v):
            return {"distance": dr.where(v.id == self.source, 0.0, np.inf)}

        def compute(self, u, edge, v):
            return u.distance + edge.weight + u.target + self.new

        def update(self, v, message):
            return {"distance": dr.minimum(v.distance, message)}

        def active(self, old, new):
            return new.distance < old.distance

    facts = analyse(Named.typed(FLOAT))
    assert (facts.reads_target, facts.activity) == (False, "changed")
    assert facts.legal["async-push-dd"] is None
    (compute,) = (f for f in functions(Named.typed(FLOAT)) if f.name == "compute")
    assert [a.name for a in compute.arguments] == ["u_distance", "u_target", "weight", "p_new"]


def test_wants_is_not_derived_where_an_ignored_message_is_seen_elsewhere():
    """An edge that carries a message is written, whatever its target does with the message."""
    written = {"g": dr.edge_field(float, init=0.0), "edge_update": lambda self, u, edge, v: {"g": edge.g + 1}}
    assert variant(p.BFS, **written).wants is None


def test_wants_is_not_derived_from_what_a_sender_changes_before_its_update():
    reopened = variant(p.BFS, sent=lambda self, u: {"level": -1})
    assert reopened.wants is None
    assert repr(variant(p.BFS, sent=lambda self, u: {"parent": 0}).wants) == repr(analyse(p.BFS.typed(FLOAT)).wants)
