"""What a run would take on each place, predicted."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.algorithms.costs import cost_of
from dromos.cli import app
from dromos.cli.advice import in_options
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import DeviceError, InvalidArgumentError, ResourceError
from dromos.graph.store import stripe_store
from dromos.places.hybrid.rates import Rates
from dromos.plan.cost import Cost
from dromos.plan.ways import LinkRates
from dromos.runner import prediction

RATES = Rates(arcs=1e9, vertices=1e9, bytes=1e10)


@pytest.fixture(autouse=True)
def _known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "_measured", lambda device: RATES)
    monkeypatch.setattr(prediction, "_measured_over_slices", lambda: RATES)
    monkeypatch.setattr(prediction, "_disk_rate", lambda graph: 1e6)
    monkeypatch.setattr("dromos.engines.cuda.availability.why_unavailable", lambda: "there is no GPU")


def by_place(rows: list[prediction.Prediction]) -> dict[str, prediction.Prediction]:
    return {row.place: row for row in rows}


def test_a_graph_in_memory_alone_cannot_be_streamed() -> None:
    graph = dr.generators.rmat(10, 8, seed=1)
    rows = prediction.predictions(graph, cost_of("pagerank"))
    assert rows[0].place == "cpu, in memory"
    assert rows[0].seconds == pytest.approx(20 * (graph.num_arcs + graph.num_vertices) / 1e9)
    assert ".drm" in by_place(rows)["cpu, from disk"].note
    assert by_place(rows)["cuda"].seconds is None


@pytest.fixture
def _buffers_take_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small graph, whose arcs take less than the least buffers, may have a budget without room for them."""
    monkeypatch.setattr(prediction, "_LEAST_BUFFERS", 0)
    monkeypatch.setattr(prediction, "READERS", 0)


@pytest.mark.usefixtures("_buffers_take_nothing")
def test_a_small_budget_makes_the_disk_the_bound(tmp_path: Path) -> None:
    graph = dr.generators.rmat(10, 8, seed=1)
    dr.write(graph, tmp_path / "g.drm")
    stored = dr.open(tmp_path / "g.drm")
    state = cost_of("bfs").over_pages * graph.num_vertices
    plenty = by_place(prediction.predictions(stored, cost_of("bfs"), 1 << 30))["cpu, from disk"]
    little = by_place(prediction.predictions(stored, cost_of("bfs"), state + 4096))["cpu, from disk"]
    assert (plenty.moved, little.moved) == (0, 4 * graph.num_arcs - 4096)
    assert plenty.seconds is not None
    assert little.seconds is not None
    assert little.seconds - plenty.seconds == pytest.approx(0.5 * little.moved / 1e6, rel=0.1)
    assert by_place(prediction.predictions(stored, cost_of("bfs"), state - 1))["cpu, from disk"].seconds is None


def test_a_budget_that_a_run_refuses_is_not_predicted(tmp_path: Path) -> None:
    graph = dr.generators.rmat(10, 8, seed=1)
    dr.write(graph, tmp_path / "g.drm")
    stored = dr.open(tmp_path / "g.drm")
    row = by_place(prediction.predictions(stored, cost_of("bfs"), 1 << 20))["cpu, from disk"]
    assert row.seconds is None
    assert row.note == "1.0 MiB is too little: a run needs about 2.1 MiB"
    with pytest.raises(ResourceError, match=r"memory=1M is too little: this run needs 2\.\d MiB"):
        dr.bfs(stored, 0, memory="1M", device="cpu")


def test_a_gpu_reads_from_disk_what_has_no_room_on_the_host(tmp_path: Path) -> None:
    graph = dr.generators.rmat(10, 8, seed=1)
    dr.write(graph, tmp_path / "g.drm")
    arcs = 4 * graph.num_arcs
    for on, note in ((dr.open(tmp_path / "g.drm"), ""), (graph, prediction._NO_STORE)):
        row = prediction._on_gpu_from_disk(on, Cost(5.0), 0.0, "how", arcs // 4, 3 * arcs // 4, arcs // 4)
        assert (row.place, row.engine, row.note, row.how) == ("cuda, from disk", "cuda, streamed", note, "how")
        read = (arcs + 5 * (3 * arcs // 4 - arcs // 4)) / 1e6  # the whole file once, then what neither of them keeps
        assert row.seconds == (None if note else pytest.approx(read))


@pytest.mark.usefixtures("_buffers_take_nothing")
def test_packed_targets_are_read_in_fewer_bytes(tmp_path: Path) -> None:
    graph = dr.generators.rmat(10, 8, seed=1)
    dr.write(graph, tmp_path / "g.drm", compress=True)
    stored = dr.open(tmp_path / "g.drm")
    targets = stored.header.section("targets")
    assert targets is not None
    cost = cost_of("bfs")
    row = by_place(prediction.predictions(stored, cost, cost.over_pages * graph.num_vertices))["cpu, from disk"]
    assert row.moved == targets.nbytes < 2 * graph.num_arcs


@pytest.mark.usefixtures("_buffers_take_nothing")
def test_arcs_that_stay_in_memory_are_sorted_by_who_gathers_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = dr.generators.rmat(10, 8, seed=1)
    dr.write(graph, tmp_path / "g.drm")
    stored = dr.open(tmp_path / "g.drm")
    monkeypatch.setattr(prediction, "_measured_over_slices", lambda: Rates(arcs=2.5e8, vertices=2.5e8, bytes=1e10))
    monkeypatch.setattr(prediction, "_disk_rate", lambda graph: 1e15)
    whole = (graph.num_arcs + graph.num_vertices) / 1e9
    cached = by_place(prediction.predictions(stored, cost_of("pagerank"), 8 << 20))["cpu, from disk"]
    assert cached.seconds == pytest.approx((4 + 19 + 3 * 4) * whole, rel=1e-3)  # one pass, 19 sorted ones, sorting
    cost = cost_of("pagerank")
    little = by_place(prediction.predictions(stored, cost, cost.over_pages * graph.num_vertices))["cpu, from disk"]
    assert little.seconds == pytest.approx(20 * 4 * whole, rel=1e-3)


def test_a_budget_that_holds_the_graph_and_the_run_reads_it_once(tmp_path: Path) -> None:
    graph = dr.generators.rmat(10, 8, seed=1)
    dr.write(graph, tmp_path / "g.drm")
    stored = dr.open(tmp_path / "g.drm")
    row = by_place(prediction.predictions(stored, cost_of("pagerank"), 1 << 30))["cpu, from disk"]
    assert (row.moved, "read whole" in row.note) == (0, True)
    whole = (graph.num_arcs + graph.num_vertices) / 1e9
    assert row.seconds == pytest.approx(20 * whole + 4 * graph.num_arcs / 1e6)
    assert dr.pagerank(stored, memory=1 << 30).device == "cpu"
    little = by_place(prediction.predictions(stored, cost_of("pagerank"), 20 << 20))["cpu, from disk"]
    assert "read whole" not in little.note
    assert dr.pagerank(stored, memory=20 << 20).device == "cpu, streamed"


@pytest.mark.parametrize(("pages", "told"), [(5e9, "read in place"), (2e10, "copied in pages")])
def test_a_gpu_takes_arcs_for_which_it_has_no_room_over_the_link(
    pages: float, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dromos.engines.cuda.availability.why_unavailable", lambda: "")
    monkeypatch.setattr("dromos.engines.cuda.link_rates.link_rates", lambda: LinkRates(1e10, pages, 1e9))
    graph = dr.generators.rmat(10, 8, seed=1)
    arcs = 4 * graph.num_arcs
    state = by_place(list(prediction._on_gpu(graph, Cost(2.0), 1, None)))["cuda"].memory
    (row,) = prediction._on_gpu(graph, Cost(2.0), state + arcs // 4, None)
    assert row.place == f"cuda, 25% of the arcs on the device, the others {told}"
    assert row.moved == arcs - arcs // 4
    rate = max(1e10, pages)
    assert row.seconds == pytest.approx(2 * max((graph.num_arcs + graph.num_vertices) / 1e9, row.moved / rate))
    assert row.note == f"in place 10, pages {pages / 1e9:g}, gathered 1 GB/s; chosen in each superstep"


def test_the_graph_that_is_too_large_for_memory_is_not_predicted_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dromos.sizes.available_memory", lambda: 1000)
    row = by_place(prediction.predictions(dr.generators.path(500), cost_of("bfs")))["cpu, in memory"]
    assert row.seconds is None
    assert "larger than" in row.note


def test_an_algorithm_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="pagerank"):
        prediction.predictions(dr.generators.path(3), cost_of("triangles"))


def test_the_command(tmp_path: Path) -> None:
    dr.write(dr.generators.rmat(8, 8, seed=1), tmp_path / "g.drm")
    ran = CliRunner().invoke(app, ["plan", str(tmp_path / "g.drm"), "connected-components", "--json"])
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert said["auto"] == "cpu"
    assert {"cpu, in memory", "cpu, from disk", "cuda", "cpu+cuda"} == {place["place"] for place in said["places"]}
    refused = CliRunner().invoke(app, ["plan", str(tmp_path / "g.drm"), "triangles"])
    assert "connected-components" in str(refused.exception)
    shown = CliRunner().invoke(app, ["plan", str(tmp_path / "g.drm")])
    assert 'device="auto" takes cpu, in memory: ' in shown.stdout
    assert {len(line) for line in shown.stdout.splitlines() if line[0] in "│┏┡└"} <= set(range(81))
    assert all(line[-1] in "│┓┩┘" for line in shown.stdout.splitlines() if line[0] in "│┏┡└"), "the table is cut off"


def test_the_command_says_when_a_budget_holds_the_graph(tmp_path: Path) -> None:
    dr.write(dr.generators.rmat(8, 8, seed=1), tmp_path / "g.drm")
    for budget, told in (("64M", "it is read whole"), ("4M", "arcs are read from the file within it")):
        shown = CliRunner().invoke(app, ["plan", str(tmp_path / "g.drm"), "--memory", budget]).stdout
        line = " ".join(shown[shown.index("* device") :].split())
        assert line.startswith('* device="auto" takes cpu, from disk: memory is given')
        assert line.endswith(told)
        assert [place["whole"] for place in planned(str(tmp_path / "g.drm"), "--memory", budget)["places"]] == [
            False, budget == "64M", False, False
        ]  # fmt: skip


ALGORITHMS = ("bfs", "sssp", "pagerank", "connected_components", "core_numbers")


def arguments_of(algorithm: str) -> dict[str, Any]:
    return {"source": 0} if algorithm in ("bfs", "sssp") else {}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_budget_is_planned_to_hold_a_graph_if_a_run_within_it_reads_all_of_it(algorithm: str, tmp_path: Path) -> None:
    graph = dr.generators.rmat(16, 2, seed=1, dedupe=True, drop_self_loops=True)
    dr.write(graph, tmp_path / "g.drm")
    stored, cost = dr.open(tmp_path / "g.drm"), cost_of(algorithm)
    arc = 4 + (prediction.BLOCK_BYTES if cost.gathers else 0)
    planned = prediction.FIXED + cost.beside * graph.num_vertices + arc * graph.num_arcs
    for budget in (planned * 98 // 100, planned * 102 // 100):
        row = by_place(prediction.predictions(stored, cost, budget, "cpu"))["cpu, from disk"]
        ran = getattr(dr, algorithm)(stored, memory=budget, device="cpu", **arguments_of(algorithm))
        assert row.whole == (ran.device == "cpu") == (budget > planned), (budget, planned)
        stored.make_room()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("algorithm", "weighted"), [*((name, False) for name in ALGORITHMS), ("sssp", True)])
def test_a_budget_is_planned_to_be_enough_if_a_run_within_it_begins(
    algorithm: str, weighted: bool, packed: bool, tmp_path: Path
) -> None:
    graph = dr.generators.rmat(18, 2, seed=1, dedupe=True, drop_self_loops=True)
    graph = dr.generators.with_random_weights(graph, 0.5, 2.0) if weighted else graph
    dr.write(graph, tmp_path / "g.drm", compress=packed)
    stored = dr.open(tmp_path / "g.drm")
    with pytest.raises(ResourceError) as caught:
        getattr(dr, algorithm)(stored, memory=1, device="cpu", **arguments_of(algorithm))
    assert caught.value.needed is not None
    near = 0.12 if packed else 0.02  # readers unpack in buffers of about as many bytes as they read
    for budget, enough in ((caught.value.needed * (1 - near), False), (caught.value.needed * (1 + near), True)):
        row = by_place(prediction.predictions(stored, cost_of(algorithm), int(budget), "cpu"))["cpu, from disk"]
        assert (row.seconds is not None) == enough, row


def test_the_command_tells_that_the_chosen_place_refuses_the_graph(tmp_path: Path) -> None:
    graph = dr.Graph.from_edges([0, 1], [1, 2])
    dr.write(graph, tmp_path / "g.drm")
    dr.write(graph, tmp_path / "g.txt")
    for file, algorithm in (("g.drm", "core-numbers"), ("g.txt", "bfs")):
        said = planned(str(tmp_path / file), algorithm, "--memory", "64M", "--device", "cpu")
        assert "but it does not run there: the graph is " in said["reason"], said
    with pytest.raises(InvalidArgumentError, match="is directed"):
        dr.core_numbers(dr.open(tmp_path / "g.drm"), memory="64M", device="cpu")


def test_weights_count_where_they_are_read(tmp_path: Path) -> None:
    graph = dr.generators.rmat(8, 8, seed=1, weights=(1, 9))
    dr.write(graph, tmp_path / "g.drm")
    for algorithm, size in (("bfs", 4), ("sssp", 8)):
        row = by_place(prediction.predictions(graph, cost_of(algorithm)))["cpu, in memory"]
        assert row.memory == size * graph.num_arcs + cost_of(algorithm).over_pages * graph.num_vertices


def test_the_command_plans_for_a_striped_store(tmp_path: Path) -> None:
    dr.write(dr.generators.rmat(8, 8, seed=1), tmp_path / "g.drm")
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    stripe_store(tmp_path / "g.drm", tmp_path / "striped.drm", folders)
    for more in ((), ("--memory", "64M")):
        said = planned(str(tmp_path / "striped.drm"), "bfs", *more)
        assert taken(said) == ["cpu, from disk"]
        assert "cpu, in memory" not in {place["place"] for place in said["places"]}


def planned(*words: str) -> dict[str, Any]:
    """What ``dromos plan`` says as JSON."""
    ran = CliRunner().invoke(app, ["plan", *words, "--json"])
    assert ran.exit_code == 0, ran.output
    said: dict[str, Any] = json.loads(ran.stdout)
    return said


def taken(said: dict[str, Any]) -> list[str]:
    return [place["place"] for place in said["places"] if place["taken"]]


def test_the_command_shows_the_places_of_one_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "g.drm")
    dr.write(dr.generators.rmat(8, 8, seed=1), file)
    said = planned(file, "bfs", "--device", "cpu")
    assert (said["device"], said["takes"], said["reason"]) == ("cpu", "cpu", 'device="cpu" is asked for')
    assert {place["place"] for place in said["places"]} == {"cpu, in memory", "cpu, from disk"}
    assert taken(said) == ["cpu, in memory"]
    assert taken(planned(file, "bfs", "--device", "cpu", "--memory", "1G")) == ["cpu, from disk"]
    assert taken(planned(file, "bfs", "--memory", "1G")) == ["cpu, from disk"]
    shown = CliRunner().invoke(app, ["plan", file, "--device", "cpu"]).stdout
    assert "* cpu, in memory" in shown
    assert "cuda" not in shown
    monkeypatch.setenv("DROMOS_DEVICE", "numpy")
    assert taken(planned(file, "bfs")) == []  # what auto is then has no model
    assert taken(planned(file, "bfs", "--device", "cpu")) == ["cpu, in memory"]


def test_the_command_shows_the_places_of_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that says it has one: nothing runs there."""
    file = str(tmp_path / "g.drm")
    dr.write(dr.generators.rmat(8, 8, seed=1), file)
    monkeypatch.setattr("dromos.engines.cuda.availability.why_unavailable", lambda: "")
    monkeypatch.setattr("dromos.engines.cuda.link_rates.link_rates", lambda: LinkRates(1e10, 1e10, 1e9))
    monkeypatch.setattr(prediction, "_leaves", lambda: [Named("cpu"), Named("cuda")])
    for module in ("dromos.places.hybrid.model", "dromos.runner.prediction"):
        monkeypatch.setattr(f"{module}.measured", lambda leaf: RATES)
    engines = {"cuda": "cuda", "cpu+cuda": "cpu+cuda"}
    monkeypatch.setattr(prediction, "engine_for", lambda device, *_, **__: Named(engines.get(device, "cpu")))
    monkeypatch.setattr("dromos.engines.cuda.residency.free_bytes", lambda: 1 << 30)
    assert taken(planned(file, "bfs", "--device", "cuda")) == ["cuda"]
    (row,) = planned(file, "bfs", "--device", "cpu+cuda", "--memory", "1G")["places"]
    assert row["place"] == "cpu+cuda"
    assert row["taken"]
    assert row["seconds"] > 0
    (part,) = planned(file, "bfs", "--device", "cuda", "--memory", "30k")["places"]
    assert part["place"].startswith("cuda, ")
    assert part["taken"]


def test_the_command_shows_what_a_gpu_reads_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "g.drm")
    graph = dr.generators.rmat(8, 8, seed=1)
    dr.write(graph, file)
    refused = CliRunner().invoke(app, ["plan", file, "bfs", "--host-memory", "1G"])
    assert "--host-memory 1G is for a graph on disk on a GPU: use --device cuda;" in in_options(str(refused.exception))
    monkeypatch.setattr("dromos.engines.cuda.availability.why_unavailable", lambda: "")
    monkeypatch.setattr("dromos.engines.cuda.link_rates.link_rates", lambda: LinkRates(1e10, 1e10, 1e9))
    asked: list[Any] = []
    monkeypatch.setattr(
        prediction, "engine_for", lambda *_, **how: asked.append(how.get("host_memory")) or Named("cuda, streamed")
    )
    budgets = ("--device", "cuda", "--memory", "21k", "--host-memory")
    moved = []
    for size in ("1k", "3k"):
        (row,) = planned(file, "bfs", *budgets, size)["places"]
        assert (row["place"], row["taken"]) == ("cuda, from disk", True)
        assert row["how"] == f'dr.open(path), device="cuda", memory="21k", host_memory="{size}"'
        assert asked[-2] == int(size[0]) << 10
        moved.append(row["moved"])
    assert moved[0] - moved[1] == 2048  # what the host keeps is not read again
    (row,) = planned(file, "bfs", *budgets, "1G")["places"]
    assert row["place"].startswith("cuda, ")
    assert "disk" not in row["place"]
    assert row["how"].endswith('host_memory="1G"')


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("gpu", "an NVIDIA GPU is 'cuda'; choose one of 'auto', 'cpu', 'cuda', 'cpu+cuda'"),
        ("cpu+gpu", "'gpu' is not a device"),
        ("cuda", "there is no GPU. Fix that"),
        ("cpu+cuda", "there is no GPU. Fix that"),
        ("numpy", "no model of its runs; choose one of 'auto', 'cpu', 'cuda', 'cpu+cuda'"),
        ("mpi", "no model of its runs"),
    ],
)
def test_the_command_refuses_devices_before_it_reads_the_graph(device: str, said: str) -> None:
    refused = CliRunner().invoke(app, ["plan", "missing.drm", "bfs", "--device", device])
    assert isinstance(refused.exception, InvalidArgumentError | DeviceError)
    assert said in str(refused.exception)


def test_rates_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(prediction, "_SCALE", 12)
    kept: dict[str, bytes] = {}  # not the one of whoever runs the tests: a small graph tells little
    monkeypatch.setattr(prediction, "disk_cache", SimpleNamespace(read=kept.get, save=kept.__setitem__))
    first = prediction._measured("cpu")
    assert first.arcs > 0
    assert first.vertices > 0
    monkeypatch.setattr(prediction, "rates_from", lambda *_: pytest.fail("measured again"))
    assert prediction._measured("cpu") == first


class Named(VectorisedLeaf):
    """A leaf that is called as another."""

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]


def test_a_hybrid_stands_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = dr.generators.rmat(10, 8, seed=1, symmetrize=True)
    assert by_place(prediction.predictions(graph, cost_of("pagerank")))["cpu+cuda"].note == "there is no GPU"
    monkeypatch.setattr("dromos.engines.cuda.availability.why_unavailable", lambda: "")
    monkeypatch.setattr(prediction, "_on_gpu", lambda *_: iter(()))
    monkeypatch.setattr(prediction, "_leaves", lambda: [Named("cpu"), Named("cuda")])
    quick = Rates(arcs=9e9, vertices=9e9, bytes=1e10)
    for module in ("dromos.places.hybrid.model", "dromos.runner.prediction"):
        monkeypatch.setattr(f"{module}.measured", lambda leaf: quick if leaf.name == "cuda" else RATES)
    state, rows = 80 * graph.num_vertices, 4 * graph.num_arcs
    half = by_place(prediction.predictions(graph, cost_of("pagerank"), state + rows // 2))["cpu+cuda"]
    most = by_place(prediction.predictions(graph, cost_of("pagerank"), state + rows))["cpu+cuda"]
    assert half.seconds is not None
    assert most.seconds is not None
    assert half.seconds > most.seconds  # the slower processor has to take more
    assert "share=0.5" in half.how
    assert "fits the devices' memory" in by_place(prediction.predictions(graph, cost_of("bfs"), state))["cpu+cuda"].note
    assert "no program" in by_place(prediction.predictions(graph, cost_of("core_numbers")))["cpu+cuda"].note
