"""Errors say what was meant: names of other libraries, mistyped keywords, Python inside programs."""

from __future__ import annotations

import copy
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app, main
from dromos.errors import (
    FormatError,
    InvalidArgumentError,
    ProgramError,
    ResourceError,
    UnknownArgumentError,
    UnknownVertexError,
    UntraceableError,
)

PATH = dr.generators.path(4)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("betweenness_centrality", "betweenness"),
        ("core_number", "core_numbers"),
        ("weakly_connected_components", "connected_components"),
        ("pagerankk", "pagerank"),
    ],
)
def test_names_of_other_libraries_are_answered_with_ours(name, ours):
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; did you mean dromos\.{ours}\?"):
        getattr(dr, name)
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        dr.nonsense  # noqa: B018


def test_every_suggestion_exists():
    for ours in dr._ELSEWHERE.values():
        value = dr
        for part in ours.split("."):
            value = getattr(value, part)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dr.bfs(PATH, 0, devise="cpu"), UnknownArgumentError, "bfs has no argument 'devise'.*'device'"),
        (lambda: dr.pagerank(PATH, damping=0.9), UnknownArgumentError, "pagerank has no argument 'damping'.*'alpha'"),
        (lambda: dr.bfs(PATH, 0, zzz=1), TypeError, "it takes source, depth_limit, device"),
        (lambda: dr.bfs(PATH, np.array([1])), UnknownVertexError, "is not one vertex"),
        (lambda: dr.distances(PATH, np.array([[1]])), InvalidArgumentError, "sources has 2 dimensions"),
        (lambda: dr.betweenness(PATH, sources=[]), InvalidArgumentError, "sources is empty"),
        (lambda: dr.betweenness(PATH, sources=[1, 1]), InvalidArgumentError, "lists the vertex 1 twice"),
        (lambda: dr.bfs(PATH, 0, progress=True), InvalidArgumentError, "progress=True is not a function"),
        (lambda: dr.Graph.from_edges([], [], num_vertices=2**40), ResourceError, "does not fit into memory"),
    ],
)
def test_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_limits_beyond_all_machine_words():
    assert dr.bfs(PATH, 0, depth_limit=10**30, device="reference").level.tolist() == [0, 1, 2, 3]
    assert dr.bfs(PATH, 0, depth_limit=10**30, device="cpu").level.tolist() == [0, 1, 2, 3]
    assert dr.pagerank(PATH, max_iter=10**30).finished == "converged"


class Told(dr.Program):
    origin = dr.param(int, 0)
    x = dr.field(np.int32, init=1)
    combine = dr.SUM

    def compute(self, u, edge, v):
        return u.x

    def update(self, v, message):
        return message


TABLE = np.arange(4)


@pytest.mark.parametrize(
    ("compute", "error", "message"),
    [
        (lambda self, u, edge, v: TABLE[u.id], UntraceableError, "dr.vertex_param"),
        (lambda self, u, edge, v: self.orgin + u.x, ProgramError, "no self.orgin; is self.origin meant"),
        (lambda self, u, edge, v: round(u.x), UntraceableError, "floor"),
        (lambda self, u, edge, v: u.x @ u.x, UntraceableError, "sum"),
        (lambda self, u, edge, v: divmod(u.x, 2)[0], UntraceableError, "a // b"),
        (lambda self, u, edge, v: divmod(2, u.x)[0], UntraceableError, "a // b"),
        (lambda self, u, edge, v: len(u.x), UntraceableError, "len"),
        (lambda self, u, edge, v: [3, 1, 2][u.id], UntraceableError, "dr.vertex_param"),
        (lambda self, u, edge, v: max(u.x, 2), UntraceableError, "dr.maximum"),
        (lambda self, u, edge, v: np.sort(u.x), ProgramError, "np.sort cannot be traced"),
    ],
)
def test_python_inside_a_program(compute, error, message):
    program = type("Wrong", (Told,), {"compute": compute})
    with pytest.raises(error, match=message) as caught:
        dr.run(program(), PATH, device="reference")
    assert caught.value.file == __file__
    assert caught.value.line == compute.__code__.co_firstlineno


def test_numpy_where_is_a_choice():
    program = type("Chosen", (Told,), {"compute": lambda self, u, edge, v: np.where(u.x > 0, u.x, 2)})
    assert (
        repr(program.ir().message)
        == "(where(gt(field(source, x, 0), const(int, 0)), field(source, x, 0), const(int, 2)),)"
    )


def test_a_fault_in_one_of_several_files_is_told_of_that_file(tmp_path):
    (tmp_path / "g.v").write_text("1\n5\n7\n")
    (tmp_path / "g.e").write_text("1 5\n5 8\n")
    with pytest.raises(FormatError, match=r"g\.e: line 2: an edge names the vertex 8") as caught:
        dr.read(tmp_path / "g.v")
    assert caught.value.line == 2


def test_the_command_line_speaks_of_options(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dr.Graph.from_edges(["ada"], ["bob"]).write("g.drm")
    for words, said in (
        (("convert", "g.drm", "g.sg"), "--allow-loss"),
        (("pagerank", "g.drm", "--max-iter", "1", "--device", "reference"), "--on-limit return"),
        (("convert", "g.drm", "g.what"), "--to"),
    ):
        monkeypatch.setattr(sys, "argv", ["dromos", *words])
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            with pytest.raises(SystemExit):
                main()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        told = " ".join(capsys.readouterr().err.split())
        assert said in told
        assert "=" not in told, told
    assert CliRunner().invoke(app, ["info", "g.drm"]).exit_code == 0


def test_hello_world_needs_no_pandas(monkeypatch):
    monkeypatch.setenv("DROMOS_DEVICE", "reference")  # nothing to compile
    code = "import sys; sys.modules['pandas'] = None; import runpy; runpy.run_path(sys.argv[1], run_name='__main__')"
    example = Path(__file__).parents[2] / "examples" / "hello_world.py"
    done = subprocess.run(
        [sys.executable, "-c", code, str(example)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ada" in done.stdout


def test_a_mistyped_field_of_a_result():
    result = dr.bfs(dr.generators.path(3), 0)
    with pytest.raises(AttributeError, match="no 'levels'; it has level, parent"):
        _ = result.levels
    assert copy.copy(result).level.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "call", [dr.louvain, dr.random_walks, lambda graph, **how: dr.sample_neighbors(graph, [0], [2], **how)]
)
def test_a_kernel_for_graphs_in_memory_takes_no_budget(call):
    with pytest.raises(InvalidArgumentError, match="leave memory out"):
        call(dr.generators.path(5), memory="1M")


def test_a_function_that_is_no_command_tells_its_arguments():
    with pytest.raises(
        UnknownArgumentError, match=r"sample_neighbors has no argument 'fanout'; did you mean 'fanouts'\?"
    ):
        dr.sample_neighbors(dr.generators.path(5), [0], [2], fanout=[3])
