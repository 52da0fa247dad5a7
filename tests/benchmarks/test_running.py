"""The benchmarks themselves, on tiny graphs: rows come as they should, a stuck or failing peer is a row with a note."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from benchmarks import algorithms, paths, peers, programs, resources, threads
from benchmarks.answers import Disagreement, compare
from benchmarks.cases import load_case, make_case, save_case
from benchmarks.measure import measure
from benchmarks.rows import ROWS
from benchmarks.watched import Holder, Plan
from dromos.graph.store import changed_underneath

SCALE = 6


@pytest.fixture(scope="module")
def case():
    return make_case("kron", SCALE)


def test_a_case_goes_to_another_process_whole(case, tmp_path):
    save_case(case, tmp_path)
    back = load_case(tmp_path)
    assert (back.name, back.sources) == (case.name, case.sources)
    assert np.array_equal(back.graph.targets, case.graph.targets)
    assert np.array_equal(back.weighted.weights, case.weighted.weights)
    (tmp_path / "graph.drm").unlink()
    assert not changed_underneath(back.graph)  # in memory, not mapped: as a graph that was made here


class Fake(peers.Peer):
    """A peer that gives the right components after a while, a wrong core, and fails at triangles."""

    def connected_components(self):
        return self.case.graph

    def read_connected_components(self, raw):
        import dromos as dr

        return {"count": dr.connected_components(raw).count}

    def core_numbers(self):
        return np.full(self.case.graph.num_vertices, -1)

    def read_core_numbers(self, raw):
        return {"core": raw}

    def triangles(self):
        raise MemoryError("too many")

    def bfs(self, source):
        time.sleep(0.01)


def measured(name, case, budget=10.0, **skips):
    peer = Fake(case, 2)
    peer.skips.update(skips)
    heard = []
    return measure(ROWS[name], case, case, "Fake", peer, budget, heard.append), heard


def test_a_row_has_times_and_their_ratio(case):
    row, heard = measured("connected_components", case)
    assert row["ratio"] == pytest.approx(row["ours_s"] / row["peer_s"])
    assert 0 < row["engine_s"] <= row["ours_s"]
    assert row["calls"] == 5
    assert heard == ["our", *["Fake's", "our"] * 5]


def test_a_budget_ends_a_slow_peer_after_a_call(case):
    row, _ = measured("bfs", case, budget=0.0)
    assert row["calls"] == 1


def test_a_wrong_answer_a_failure_and_a_skip_are_notes(case):
    wrong, _ = measured("core_numbers", case)
    assert wrong["differs"]
    assert "core differs from that of Fake" in wrong["note"]
    failed, _ = measured("triangles", case)
    assert failed == {"note": "failed: MemoryError: too many"}
    skipped, heard = measured("bfs", case, bfs="takes hours")
    assert skipped == {"note": "not run: takes hours"}
    assert heard == []


def test_answers_are_held_to_ours(case):
    import dromos as dr

    ours = dr.bfs(case.graph, case.sources[0])
    compare("bfs", case, ours, {"level": ours.level, "parent": ours.parent}, "itself")
    forged = ours.parent.copy()
    deepest = int(ours.level.argmax())
    forged[deepest] = deepest
    with pytest.raises(Disagreement, match="parent"):
        compare("bfs", case, ours, {"parent": forged}, "a forger")


def test_rows_of_chosen_peers_and_algorithms():
    rows = list(
        algorithms.run(scale=SCALE, budget=0.05, rows=("connected", "bfs"), against=("scipy",), graphs=("grid",))
    )
    assert [(row["graph"], row["row"], row["peer"]) for row in rows] == [
        ("grid16", "bfs", "SciPy"),
        ("grid16", "connected_components", "SciPy"),
    ]
    assert all(row["ratio"] > 0 for row in rows)
    assert algorithms.order(rows[0]) < algorithms.order(rows[1])


def test_what_is_done_is_not_measured_again():
    done = {("grid16", row, "SciPy") for row in ROWS}
    assert list(algorithms.run(scale=SCALE, against=("SciPy",), graphs=("grid",), done=done)) == []


def test_a_stuck_peer_is_stopped_and_named(case, tmp_path):
    save_case(case, tmp_path)
    with Holder(Plan("kron", tmp_path, "tests.benchmarks.stuck", 2, 1.0, limit=1.0)) as holder:
        assert "connected_components" in holder.rows
        row = holder.measure("connected_components")
        assert row == {"note": "stopped after 1 s in tests.benchmarks.stuck's call"}
        assert holder.lost


def test_a_peer_that_is_not_there_says_why(case, tmp_path, monkeypatch):
    monkeypatch.delenv("GAPBS_DIR", raising=False)
    save_case(case, tmp_path)
    with pytest.raises(peers.Unavailable, match="GAPBS_DIR"):
        Holder(Plan("kron", tmp_path, "GAP", 2, 1.0, limit=60.0))


def test_paths_compare_auto_with_every_legal_path():
    rows = list(paths.run(scale=SCALE, limit=600.0, rows=("bfs",), graphs=("grid",)))
    assert [row["path"] for row in rows][:2] == ["auto", "sync-push-dd"]
    assert rows[0]["over_best"] > 0
    assert "the best fixed path" in rows[0]["note"]
    assert list(paths.run(scale=SCALE, rows=("bfs",), graphs=("grid",), done={("grid16", "bfs", "auto")})) == []


def test_a_run_beyond_the_limit_is_stopped(case):
    def forever(case, path):
        while True:
            time.sleep(0.01)

    assert paths._limited(forever, case, "auto", 0.05) is None


def test_the_table_of_paths_names_the_best_and_the_stopped():
    far = float("inf")
    auto, push, pull = paths._rows({"auto": 1.0, "push": 0.8, "pull": far}, {"pull": 4.0})
    assert auto["note"] == "25% over the best fixed path, push"
    assert push["over_auto"] == 0.8
    assert pull == {"path": "pull", "note": "stopped after 4 s"}
    auto, _ = paths._rows({"auto": 1.0, "push": far}, {"push": 4.0})
    assert auto["note"] == "every fixed path was stopped"
    assert [paths._again(number, 1.0) for number in (0, 2, 3)] == [True, True, False]
    assert [paths._again(number, 0.1) for number in (3, 6)] == [True, True]
    assert [paths._again(number, 9.0) for number in (1, 6)] == [False, False]
    assert paths._again(0, far)
    assert not paths._again(1, far)


def test_programs_of_users_say_what_built_in_ones_say(case):
    for user, built_in in programs.PAIRS.values():
        source = case.sources[0]
        np.testing.assert_allclose(user(case, source), built_in(case, source), rtol=1e-9)


def test_growth_is_said_after_each_scale():
    rows = list(resources._growth(range(4, 7)))
    assert len(rows) == 2 * len(resources._GROWING)
    assert "to kron6" in rows[-1]["note"]


def test_threads_have_a_time_for_each_count(monkeypatch):
    monkeypatch.setenv("DROMOS_NUM_THREADS", "2")
    monkeypatch.delenv("GAPBS_DIR", raising=False)
    (row,) = threads.run(scale=SCALE, budget=0.0, graphs=["kron"], rows=["connected"])
    assert {"1_s", "2_s", "speed_up"} <= set(row)
    assert row["1_s"] > 0 < row["2_s"]
    assert os.environ["DROMOS_NUM_THREADS"] == "2"
