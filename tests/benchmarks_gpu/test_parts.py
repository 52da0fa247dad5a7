"""What of the device's benchmarks runs without a device: names, summaries, figures, and whether kernels compile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from benchmarks.gpu import ablations, algorithms, graphs, sanitize
from benchmarks.gpu.figures import FIGURES
from benchmarks.gpu.timing import Samples, Timed, switches
from benchmarks.gpu.works import WORKS, LevelsOnly
from dromos.program import GraphTypes, analyse

KERNELS = sorted((Path(graphs.__file__).parent / "kernels").glob("*.cuh"))


def test_switches_name_the_superstep_where_each_path_begins() -> None:
    assert switches([("push", 1), ("push", 1), ("pull", 2), ("push", 3)]) == "push @0, pull @2, push @4; 7 supersteps"
    assert switches([("native", 1)]) == "native @0"


def test_a_summary_is_the_median_over_sources_of_the_median_of_rounds() -> None:
    samples = Samples()
    for source, times in {3: (1.0, 9.0, 2.0), 5: (4.0, 4.0, 4.0), 7: (30.0, 10.0, 20.0)}.items():
        for ms in times:
            samples.add(source, Timed(ms, 0.5, dict, [(f"path of {source}", 2)]))
    found = samples.summary(per=2)
    assert (found["best_ms"], found["ms"], found["worst_ms"], found["runs"]) == (1.0, 2.0, 10.0, 9)
    assert found["path"] == "path of 5 @0; 2 supersteps"


def test_a_ratio_is_taken_from_sources_that_both_ran_from() -> None:
    many, one = Samples(), Samples()
    for source, ms in {1: 8.0, 2: 1.0, 3: 1.0}.items():
        many.add(source, Timed(ms, 0.0, dict))
    one.add(1, Timed(4.0, 0.0, dict))
    assert many.over(one) == 2.0


@pytest.mark.parametrize("name", ["kron", "torus9", "kron4x", "grid"])
def test_a_graph_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(SystemExit, match="there is no graph"):
        graphs.make(name)


def test_every_figure_belongs_to_a_row_that_is_measured() -> None:
    for figure, graph in FIGURES:
        assert graph in algorithms.GRAPHS
        assert any(work.figure == figure and algorithms.chosen(work, graph, ()) for work in WORKS), (figure, graph)


def test_rows_are_chosen_by_the_beginnings_of_their_names() -> None:
    named = [work.name for work in WORKS if algorithms.chosen(work, "grid20x500", ("bfs", "betw"))]
    assert named == ["bfs, levels", "bfs, levels and parents"]
    assert "betweenness, one source" in [work.name for work in WORKS if algorithms.chosen(work, "kron22", ())]


def test_tables_name_works_that_there_are() -> None:
    names = {work.name for work in WORKS}
    for table in ablations.TABLES.values():
        assert {name for name, _ in table.cells} <= names
        labels = [variant.label for variant in table.variants]
        assert len(labels) == len(set(labels)) > 1


def test_levels_without_parents_are_claimed_like_breadth_first_search() -> None:
    assert analyse(LevelsOnly.typed(GraphTypes(np.dtype(np.int32), None))).claimed == "level"
    assert dr.run(LevelsOnly(source=1), dr.generators.path(4), device="reference").level.tolist() == [1, 0, 1, 2]


def test_small_runs_verify_answers_and_count_wrong_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = dr.generators.with_random_weights(dr.generators.grid(3, 4), 1, 9)
    case = ("grid", graph.with_weights(None), graph)
    assert sanitize.watched([case], ["bfs", "sssp"], device="reference") == 0

    def forged(bare: dr.Graph, weighted: dr.Graph, how: dict[str, object]) -> dr.Result:
        result = dr.bfs(bare, 1, device="reference")
        result["level"][0] = 7
        return result

    monkeypatch.setitem(sanitize.CALLS, "bfs", forged)
    assert sanitize.watched([case], ["bfs"], device="reference") == 1


@pytest.mark.parametrize("name", sanitize.NO_PATHS)
def test_kernels_for_whole_graphs_are_called_as_they_want(name: str) -> None:
    graph = dr.generators.with_random_weights(dr.generators.grid(8, 9), 1, 9)
    assert sanitize.watched([("grid", graph.with_weights(None), graph)], [name], device="cpu") == 0


@pytest.mark.nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("source", KERNELS, ids=lambda path: path.stem)
def test_kernels_compile(source: Path, arch: str) -> None:
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc")
    try:
        nvrtc.getVersion()
    except Exception as error:  # CuPy without the compiler's library says so in several ways
        pytest.skip(f"no NVRTC: {error}")
    program = nvrtc.createProgram(source.read_text(), source.name, (), ())
    try:
        nvrtc.compileProgram(program, ("--std=c++17", f"-arch={arch}"))
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program))
    finally:
        nvrtc.destroyProgram(program)
