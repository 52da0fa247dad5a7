"""The local page: what it answers, what it refuses, and that it works in a browser."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos import algorithms
from dromos.cli import app
from dromos.errors import InvalidArgumentError
from dromos.serve import GraphServer
from dromos.serve.menu import arguments_of, menu
from dromos.serve.runs import Runs
from tests.reports.browser import visited, watched

_EVIL = "</script><b>x"
_SLOW: dict[str, Any] = {"device": "reference"}


@contextlib.contextmanager
def _served(graph: dr.Graph) -> Iterator[GraphServer]:
    with GraphServer(graph, "a <graph>", how=_SLOW) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def people() -> Iterator[GraphServer]:
    graph = dr.Graph.from_edges(
        ["ada", "ada", "bob", "eve", _EVIL], ["bob", "eve", "eve", _EVIL, "ada"], [1.0, 4.0, 2.0, 1.0, 3.0]
    )
    with _served(graph) as server:
        yield server


def _ask(server: GraphServer, route: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    with contextlib.closing(connection):
        content = None if body is None else body if isinstance(body, str) else json.dumps(body)
        connection.request("GET" if body is None else "POST", route, content, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if answer.headers["Content-Type"] == "application/json" else text


def _api(server: GraphServer, route: str, body: Any = None) -> tuple[int, Any]:
    return _ask(server, f"/{server.token}/{route}", body)


def test_it_shows_vertices_and_their_surroundings(people: GraphServer) -> None:
    status, graph = _api(people, "api/graph")
    assert (status, graph["facts"]["vertices"], graph["directed"]) == (200, "4", True)
    assert _api(people, "api/search?q=E")[1] == ["eve"]
    shown = _api(people, "api/vertex?v=eve")[1]
    assert (shown["out"], shown["in"]) == (1, 2)
    assert (shown["outgoing"], shown["incoming"]) == ([[_EVIL, 1.0]], [["ada", 4.0], ["bob", 2.0]])
    net = _api(people, f"api/egonet?v={quote(_EVIL)}&hops=2")[1]
    assert net["vertices"][0] == _EVIL
    assert sorted(net["hops"]) == [0, 1, 1, 2]
    assert len(net["edges"]) == 5


def test_a_run_has_a_report(people: GraphServer) -> None:
    status, started = _api(people, "api/run", {"name": "sssp", "arguments": {"source": "ada"}})
    assert status == 200
    state: dict[str, Any] = {"changes": -1, "state": ""}
    while state["state"] not in ("done", "failed"):
        state = _api(people, f"api/run?n={started['run']}&seen={state['changes']}")[1]
    assert state["message"].startswith("<sssp of 4 vertices")
    assert "<title>sssp" in _api(people, f"report?n={started['run']}")[1]


@pytest.mark.parametrize("token", ["", "wrong", "%00", "é"])
def test_a_wrong_token_sees_nothing(people: GraphServer, token: str) -> None:
    for route in ("", "api/graph", "api/vertex?v=ada"):
        status, answer = _ask(people, quote(f"/{token}/") + route)
        assert (status, list(answer)) == (403, ["error"])
        assert "wrong token" in answer["error"]
    status, answer = _ask(people, f"/{people.token[:-1]}/api/run", {"name": "bfs", "arguments": {"source": "ada"}})
    assert status == 403


def test_another_name_of_the_machine_sees_nothing(people: GraphServer) -> None:
    status, answer = _ask(people, f"/{people.token}/api/graph", Host="evil.example")
    assert (status, answer["error"]) == (403, "this server answers on 127.0.0.1 only")


@pytest.mark.parametrize(
    ("route", "body", "status", "words"),
    [
        ("api/vertex?v=nobody", None, 404, "nobody"),
        ("api/egonet?v=nobody", None, 404, "nobody"),
        ("api/vertex", None, 400, "no 'v'"),
        ("api/egonet?v=ada&hops=9", None, 400, "give 1 or 2"),
        ("api/egonet?v=ada&hops=x", None, 400, "not a whole number"),
        ("api/run?n=99", None, 400, "no run 99"),
        ("report?n=99", None, 400, "no run 99"),
        ("api/none", None, 404, "nothing at"),
        ("../secret", None, 404, "nothing at"),
        ("api/run", {"name": "rm", "arguments": {}}, 400, "no algorithm 'rm'"),
        ("api/run", {"name": "bfs", "arguments": {}}, 400, "bfs needs source"),
        ("api/run", {"name": "bfs", "arguments": {"source": "nobody"}}, 404, "nobody"),
        ("api/run", {"name": "bfs", "arguments": {"source": "ada", "depth_limit": "x"}}, 400, "not a value"),
        ("api/run", {"name": "bfs", "arguments": {"device": "cuda"}}, 400, "takes no 'device'"),
        ("api/run", {"name": "bfs", "arguments": 7}, 400, ""),
        ("api/run", {"name": "bfs"}, 400, "no 'arguments'"),
        ("api/run", "no json", 400, "not a JSON object"),
        ("api/run", "[]", 400, "not a JSON object"),
        ("api/run", "x" * 70_000, 413, "at most"),
        ("api/stop", {"n": 99}, 400, "no run 99"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(people: GraphServer, route: str, body: Any, status: int, words: str) -> None:
    found, answer = _api(people, route, body)
    assert found == status
    assert words in answer["error"]


def test_it_listens_on_this_machine_only(people: GraphServer) -> None:
    assert people.server_address[0] == "127.0.0.1"
    assert len(people.token) >= 32
    assert people.url == f"http://127.0.0.1:{people.server_port}/{people.token}/"


def test_the_page_loads_nothing_from_elsewhere(people: GraphServer) -> None:
    page = _api(people, "")[1]
    assert "http://" not in page
    assert "https://" not in page
    assert "<title>a &lt;graph&gt; - Dromos</title>" in page


def test_many_neighbours_are_cut_and_the_best_connected_are_drawn(people: GraphServer) -> None:
    hub = np.zeros(300, dtype=np.int64)
    graph = dr.Graph.from_edges(np.append(hub, [299, 299]), np.append(np.arange(1, 301), [300, 1]), directed=False)
    with _served(graph) as server:
        assert len(_api(server, "api/vertex?v=0")[1]["outgoing"]) == 100
        net = _api(server, "api/egonet?v=0&hops=2")[1]
        assert len(net["vertices"]) == 48
        assert {"1", "299", "300"} < set(net["vertices"])
        assert net["left_out"] == 300 - 47
        assert _api(server, "api/search?q=29")[1][:3] == ["29", "129", "229"]
        assert len(_api(server, "api/search?q=2")[1]) == 20


class _Gate:
    """Holds a run at its first superstep until it is opened."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self, graph: dr.Graph, *, progress: Any) -> None:
        self.reached.set()
        assert self.open.wait(60)
        progress(1, 0)
        raise AssertionError("the run was asked to stop")


def test_a_run_can_be_stopped_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = _Gate()
    monkeypatch.setattr(algorithms, "triangles", gate)
    runs = Runs(dr.generators.path(3))
    first, second = runs.start("triangles", {}), runs.start("triangles", {})
    assert gate.reached.wait(60)
    with pytest.raises(InvalidArgumentError, match="no report"):
        runs.report(first)
    runs.stop(second)
    runs.stop(first)
    gate.open.set()
    for number in (first, second):
        state: dict[str, Any] = {"changes": -1, "state": ""}
        while state["state"] not in ("stopped", "failed"):
            state = runs.state(number, state["changes"])
        assert state["state"] == "stopped"


def test_a_run_that_fails_says_why() -> None:
    runs = Runs(dr.Graph.from_edges([0], [1]), _SLOW)
    number = runs.start("triangles", {})
    state: dict[str, Any] = {"changes": -1, "state": ""}
    while state["state"] not in ("done", "failed"):
        state = runs.state(number, state["changes"])
    assert state["state"] == "failed"
    assert "directed" in state["message"]


def test_the_menu_has_all_algorithms_that_can_be_typed_in() -> None:
    assert set(algorithms.__all__) - set(menu()) == {"all_pairs", "belief_propagation", "modularity", "spmv"}
    graph = dr.generators.path(5)
    words = {"sources": "0, 3", "normalized": "false", "seed": "7", "endpoints": ""}
    assert arguments_of(graph, "betweenness", words) == {"sources": [0, 3], "normalized": False, "seed": 7}
    assert arguments_of(graph, "pagerank", {"alpha": "0.5"}) == {"alpha": 0.5}


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "g.el"
    file.write_text("0 1\n1 2\n")
    monkeypatch.setattr(GraphServer, "serve_forever", lambda server: None)
    done = CliRunner().invoke(app, ["serve", str(file)])
    assert done.exit_code == 0
    assert done.output.startswith("http://127.0.0.1:")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InvalidArgumentError, match="leave it out"):
            CliRunner().invoke(app, ["serve", str(file), "--port", str(taken.getsockname()[1])], catch_exceptions=False)


_VISIT = """
const byId = (id) => document.getElementById(id);
const until = async (holds) => { while (!holds()) await fetch("api/search?q=ada"); };
await window.ready;
byId("search").value = "nobody";
byId("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
await until(() => !byId("trouble").hidden);
document.body.setAttribute("data-trouble", byId("trouble").textContent);
byId("search").value = "ev";
byId("search").dispatchEvent(new Event("input"));
await until(() => byId("found").textContent === "eve");
byId("found").querySelector("button").click();
await until(() => byId("egonet").querySelector('svg[aria-label="Surroundings of eve"]'));
document.body.setAttribute("data-drawn", byId("egonet").querySelectorAll("circle").length);
document.body.setAttribute("data-rows", byId("neighbours").querySelectorAll("tbody tr").length);
document.body.setAttribute("data-source", byId("argument-source").value);
byId("run").click();
await until(() => byId("report").contentDocument?.querySelector("#steps-chart .bar"));
document.body.setAttribute("data-state", byId("state").textContent);
document.body.setAttribute("data-report", byId("report").contentDocument.title);
document.body.setAttribute("data-shown", [byId("trouble").hidden, byId("stop").hidden, byId("run").disabled].join());
document.body.setAttribute("data-heading", byId("title").textContent);
document.body.setAttribute("data-hash", location.hash);
"""


def test_in_a_browser(people: GraphServer, tmp_path: Path) -> None:
    graph = people.graph
    with _served(graph) as server:
        server.page = watched(server.page, _VISIT)
        dom, errors = visited(server.url + "#v=ada&hops=2", tmp_path)
    assert errors == []
    assert "nobody" in dom.split('data-trouble="')[1].split('"')[0]
    assert 'data-heading="a <graph>"' in dom
    assert 'data-drawn="4"' in dom
    assert 'data-rows="3"' in dom
    assert 'data-source="eve"' in dom
    assert 'data-state="bfs: done"' in dom
    assert 'data-report="bfs - Dromos report"' in dom
    assert 'data-shown="true,true,false"' in dom
    assert 'data-hash="#v=eve&hops=2"' in dom
    assert _EVIL in dom  # as text, with no element made of it
    assert "<b>x</b>" not in dom
