"""The policy, by tables of numbers; among them the ones that the papers print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dromos.errors import InvalidArgumentError
from dromos.plan import PATHS, Caps, Constants, Decision, History, Path, Row, Stats, candidates, choose

PULL_TD, PUSH_TD, PUSH_DD = (Path.parse(text) for text in ("sync-pull-td", "async-push-td", "async-push-dd"))


def stats(superstep=0, frontier=1, out_degree=1, **more):
    return Stats(superstep, frontier, out_degree, more.pop("in_degree", out_degree), **more)


def drive(caps, frontiers, seconds=lambda path, before: 1.0):
    """The decisions for a run whose frontiers are given: the first is the start, and each step leads to the next."""
    history = History()
    for before, after in zip(frontiers, [*frontiers[1:], stats(frontier=0, out_degree=0)], strict=True):
        decision = choose(before, history, caps)
        history.append(Row(before, decision, replace(after, seconds=seconds(decision.path, before))))
    return history


# ---- paths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_paths_are_written_as_they_are_read(path):
    assert Path.parse(str(path)) == path


@pytest.mark.parametrize("text", ["", "push", "sync-push", "sync-push-xx", "sync-push-dd-best", "a-b-c-d-e", 3])
def test_other_texts_are_not_paths(text):
    with pytest.raises(InvalidArgumentError, match="is not a path; choose 'auto' or one of sync-push-dd"):
        Path.parse(text)


# ---- candidates ----------------------------------------------------------------------------------------------------

SYNC_ONLY = tuple(path for path in PATHS if path.sync == "sync")


@pytest.mark.parametrize(
    ("options", "free", "limited"),
    [
        ({"kind": "iterative"}, "sync-pull-td async-push-td async-push-dd", "sync-pull-td sync-push-td sync-push-dd"),
        ({"kind": "traversal"}, "async-push-dd async-pull-dd", "sync-push-dd sync-pull-dd"),
        (
            {"kind": "iterative", "in_place": True},
            "async-pull-td async-push-td async-push-dd",
            "sync-pull-td sync-push-td sync-push-dd",
        ),
    ],
)
def test_a_limit_of_supersteps_leaves_synchronous_paths(options, free, limited):
    caps = Caps(100, 1000, paths=PATHS, **options)
    assert " ".join(map(str, candidates(caps))) == free
    assert " ".join(map(str, candidates(caps.in_supersteps()))) == limited


def test_a_limit_of_supersteps_leaves_no_order():
    ordered = Caps(100, 200, "traversal", PATHS, ordered=True)
    assert choose(stats(), History(), ordered).path == PUSH_DD
    assert choose(stats(), History(), ordered.in_supersteps()).path == Path()


@pytest.mark.parametrize(
    ("kind", "paths", "always", "expected"),
    [
        ("iterative", PATHS, False, "sync-pull-td async-push-td async-push-dd"),
        ("iterative", SYNC_ONLY, False, "sync-pull-td sync-push-td sync-push-dd"),
        ("iterative", SYNC_ONLY, True, "sync-pull-td sync-push-td"),
        ("iterative", (Path(),), True, "sync-push-dd"),
        ("traversal", PATHS, False, "async-push-dd async-pull-dd"),
        ("traversal", SYNC_ONLY, False, "sync-push-dd sync-pull-dd"),
    ],
)
def test_candidates(kind, paths, always, expected):
    found = candidates(Caps(100, 1000, kind, paths, always_active=always))
    assert " ".join(map(str, found)) == expected


def test_a_pull_that_the_engine_does_better_asynchronously_is_replaced():
    caps = Caps(100, 1000, "iterative", PATHS, dominated=(PULL_TD,))
    assert " ".join(map(str, candidates(caps))) == "async-pull-td async-push-td async-push-dd"


def test_a_single_path_is_taken_whatever_the_statistics():
    only = (Path("sync", "pull", "td"),)
    assert choose(stats(), History(), Caps(10, 10, "traversal", only)).path == only[0]
    with pytest.raises(InvalidArgumentError, match="no path"):
        choose(stats(), History(), Caps(10, 10, "traversal", ()))


def test_a_traversal_that_starts_from_many_vertices_pulls():
    caps = Caps(1_000, 15_000, "traversal", SYNC_ONLY)  # alpha is 15
    few, many = Stats(0, 90, 1_000, 20), Stats(0, 100, 1_001, 20)
    assert choose(few, History(), caps).path.direction == "push"
    decision = choose(many, History(), caps)
    assert decision.path.direction == "pull"
    assert decision.reason == "a traversal starts with many out-edges 1,001 against 15,000 / alpha = 15"


# ---- Algorithm 1 and SEP-Graph's Figure 7 --------------------------------------------------------------------------

KRON = Caps(2_100_000, 182_100_000, "iterative", PATHS)
MEASURED = {PULL_TD: 0.078, PUSH_TD: 0.182, PUSH_DD: 0.180}


def kron_times(path, before):
    scale = before.out_degree / 176_622_425 if path == PUSH_DD else 1.0
    return MEASURED[path] * scale


def test_figure_7_pagerank_on_kron():
    # printed: the three times, 176,622,425 out-edges at the inspection, 64,970,229 after iteration 34
    shrinking = [176_622_425 - i * (176_622_425 - 80_000_000) // 34 for i in range(31)]
    frontiers = [stats(i, 1_000_000, d) for i, d in enumerate([176_622_425] * 3 + shrinking + [64_970_229])]
    history = drive(KRON, frontiers, kron_times)
    taken = [row.decision.path for row in history]
    assert taken[:3] == [PULL_TD, PUSH_TD, PUSH_DD]
    assert taken[3:34] == [PULL_TD] * 31
    assert taken[34] == PUSH_DD
    assert history[34].decision.predicted == pytest.approx(0.0662, abs=5e-5)
    assert "async-push-dd 66.2" in history[34].decision.reason


@pytest.mark.parametrize(("out_degree", "expected"), [(76_600_000, PULL_TD), (76_500_000, PUSH_DD)])
def test_figure_7_the_switch_is_where_the_predictions_cross(out_degree, expected):
    history = drive(KRON, [stats(i, 1, 176_622_425) for i in range(3)], kron_times)
    assert choose(stats(3, 1, out_degree), history, KRON).path == expected


def test_a_push_is_not_tried_before_the_engines_cost_of_an_arc_says_that_it_wins():
    caps = Caps(1_000, 10_000, "iterative", PATHS, push_cost=2.5)
    times = {PULL_TD: 0.010, PUSH_DD: 0.008}
    frontiers = [stats(i, size, arcs) for i, (size, arcs) in enumerate([(1000, 10_000), (900, 9_000), (300, 3_500)])]
    history = drive(caps, frontiers, lambda path, before: times[path])
    assert [row.decision.path for row in history] == [PULL_TD, PULL_TD, PUSH_DD]
    # 10 ms for 10,000 arcs, pushed at 2.5 times that, and 300 vertices of a queue
    assert history[2].decision.predicted == pytest.approx(1e-6 * (2.5 * 3_500 + 300))
    # once it has run, its own time counts
    assert choose(stats(3, 300, 3_500), history, caps).predicted == pytest.approx(0.008)


def test_measured_times_replace_older_ones():
    history = drive(KRON, [stats(i, 1, 176_622_425) for i in range(3)], kron_times)
    slow = Row(stats(3, 1, 176_622_425), Decision(PULL_TD, ""), stats(4, 1, 1, seconds=9.0))
    history.append(slow)
    assert choose(stats(4, 1, 176_622_425), history, KRON).path == PUSH_DD


def test_figure_7_high_diameter_graphs_go_from_push_td_to_push_dd():
    # the figure's numbers for usa_road are not printed: these have the order that the text tells
    road = Caps(23_900_000, 57_700_000, "iterative", PATHS)
    times = {PULL_TD: 0.030, PUSH_TD: 0.020, PUSH_DD: 0.040}

    def seconds(path, before):
        return times[path] * (before.out_degree / 57_700_000 if path == PUSH_DD else 1)

    frontiers = [stats(i, 1, d) for i, d in enumerate([57_700_000] * 3 + [50_000_000, 30_000_000, 20_000_000])]
    taken = [str(row.decision.path) for row in drive(road, frontiers, seconds)]
    assert taken[3:] == ["async-push-td", "async-push-td", "async-push-dd"]


# ---- Algorithm 2 and SEP-Graph's Figure 8 --------------------------------------------------------------------------

TWITTER = Caps(14_800_000, 265_000_000, "traversal", PATHS)


def test_figure_8_sssp_on_twitter():
    # the figure draws two ratios: E' / outDegree(A) falls below alpha = 15 at the end of round 5, and |V| / |A| rises
    # above beta = 2 at the end of round 8; frontiers with such ratios switch where the figure does
    frontiers = [
        stats(0, 1, 30),
        stats(1, 30, 4_000),
        stats(2, 3_000, 200_000),
        stats(3, 100_000, 4_000_000),
        stats(4, 800_000, 15_000_000),  # E' / out = 16.4
        stats(5, 4_000_000, 60_000_000),  # E' / out = 3.1
        stats(6, 9_000_000, 150_000_000),
        stats(7, 8_000_000, 120_000_000),  # |V| / |A| = 1.85
        stats(8, 6_000_000, 70_000_000),  # |V| / |A| = 2.47
        stats(9, 200_000, 2_000_000),
        stats(10, 9_000, 90_000),
    ]
    taken = [row.decision.path for row in drive(TWITTER, frontiers)]
    assert {path.sync for path in taken} == {"async"}
    assert {path.driven for path in taken} == {"dd"}
    assert [path.direction for path in taken] == ["push"] * 5 + ["pull"] * 3 + ["push"] * 3


@pytest.mark.parametrize(
    ("last", "untouched", "frontier", "out_degree", "expected", "reason"),
    [
        ("push", 16_000.0, 10, 1_001, "pull", "many out-edges 1,001 against 14,999 untouched / alpha = 15"),
        ("push", 16_000.0, 10, 1_000, "push", "few out-edges 1,000 against 15,000 untouched"),
        ("push", 500.0, 10, 600, "pull", "against 0 untouched"),
        ("pull", 16_000.0, 499, 9_999, "push", "small frontier 499 against |V| 1,000 / beta = 2"),
        ("pull", 16_000.0, 500, 9_999, "pull", "large frontier 500"),
    ],
)
def test_algorithm_2(last, untouched, frontier, out_degree, expected, reason):
    caps = Caps(1_000, 20_000, "traversal", PATHS)
    before = stats(1, 1, 1)
    history = History([Row(before, Decision(Path("async", last, "dd"), "", untouched=untouched), before)])
    decision = choose(stats(2, frontier, out_degree), history, caps)
    assert decision.path.direction == expected
    assert reason in decision.reason
    assert decision.untouched == (untouched if last == "pull" else untouched - out_degree)


def test_high_diameter_graphs_are_pushed_to_the_end():
    decision = choose(stats(5, 900, 3_000), History(), Caps(1_000, 4_000, "traversal", PATHS))
    assert (str(decision.path), decision.horizon) == ("async-push-dd", None)
    assert "average degree 4 is below delta = 5" in decision.reason


def test_gamma_scales_the_edges_of_programs_that_revisit():
    caps = Caps(1_000, 20_000, "traversal", PATHS, constants=Constants(gamma=2))
    assert choose(stats(), History(), caps).untouched == 40_000


def test_history_is_a_sequence_that_knows_the_latest_step_of_a_path():
    rows = [Row(stats(i), Decision(PATHS[i % 2], ""), stats(i + 1, seconds=float(i))) for i in range(4)]
    history = History(rows)
    assert list(history) == rows == history[:]
    assert history.latest(PATHS[0]) is rows[2]
    assert history.latest(PATHS[5]) is None


@pytest.mark.parametrize(
    ("push_read", "pull_read", "expected", "reason"),
    [
        (10 << 20, None, "push", "few out-edges (500): a push reads 10 MiB"),
        (10 << 20, 100 << 20, "push", "fewer bytes: a push would read 10 MiB, a pull 100 MiB"),
        (100 << 20, 10 << 20, "pull", "fewer bytes: a push would read 100 MiB, a pull 10 MiB"),
        (100 << 20, 100 << 20, "push", "a traversal starts with push"),  # nothing to choose: as in memory
    ],
)
def test_on_disk_the_direction_that_reads_less_is_taken(push_read, pull_read, expected, reason):
    caps = Caps(1_000, 20_000, "traversal", PATHS)
    stats = Stats(3, 50, 500, 500, push_read=push_read, pull_read=pull_read)
    decision = choose(stats, History(), caps)
    assert (decision.path.direction, decision.reason) == (expected, reason)


def test_an_engine_that_can_go_on_by_itself_is_let_go() -> None:
    caps = Caps(1_000, 20_000, "traversal", PATHS)
    decision = choose(Stats(3, 500, 9_000, 9_000, switches=True), History(), caps)
    assert decision.switching
    assert decision.horizon is None
    assert not choose(Stats(3, 500, 9_000, 9_000), History(), caps).switching


def test_the_slowest_part_decides_where_costs_are_known() -> None:
    caps = Caps(1_000, 20_000, "traversal", PATHS)
    for push, pull, direction in ((10.0, 20.0, "push"), (30.0, 20.0, "pull"), (20.0, 20.0, "push")):
        decision = choose(Stats(3, 500, 9_000, 9_000, push_cost=push, pull_cost=pull), History(), caps)
        assert decision.path.direction == direction
        assert "slowest part" in decision.reason
