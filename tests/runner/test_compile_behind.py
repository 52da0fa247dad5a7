"""After a first call that NumPy answered, another process compiles for the next ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos import disk_cache
from dromos.algorithms.bfs import BFS
from dromos.errors import FileError, InvalidArgumentError
from dromos.program import Program
from dromos.runner import compile_behind, first_calls

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are started by a shell, and lock files")


_GRAPH = dr.Graph.from_edges(*np.random.default_rng(1).integers(0, 64, (2, 1024)), directed=False)
_SMALL = dr.Graph.from_edges([0], [1], directed=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv(compile_behind.VARIABLE, "1")
    monkeypatch.setattr(compile_behind, "_COMMAND", '"$@"')  # which is waited for
    monkeypatch.setattr(compile_behind, "_LONGEST_START", 200.0)
    monkeypatch.setattr(compile_behind, "_started", float("-inf"))
    return tmp_path / "cache"


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "_is_cold", lambda: True)
    monkeypatch.setattr(first_calls, "_spent", 0.0)
    monkeypatch.setattr(first_calls, "_SMALL_ARCS", 10)
    monkeypatch.setattr(first_calls, "_COMPILING_PROGRAM", 600.0)
    monkeypatch.delenv("DROMOS_DEVICE", raising=False)


def test_machine_code_is_there_afterwards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_behind.start("spmv", _SMALL)
    assert list((folder / "kernels").iterdir())
    assert compile_behind.is_running()  # it might have no lock yet
    monkeypatch.setattr(compile_behind, "_BEGINNING", 0.0)
    assert not compile_behind.is_running()


def test_none_is_started_where_it_must_not_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with compile_behind.sole() as is_sole:
        assert is_sole
        assert compile_behind.is_running()
        assert not compile_behind.start("spmv", _SMALL)
    monkeypatch.setattr(sys, "executable", "/opt/application")
    assert not compile_behind.start("spmv", _SMALL)
    monkeypatch.setattr(sys, "executable", sys._base_executable)  # type: ignore[attr-defined]
    monkeypatch.setattr(compile_behind, "_SHELL", "/no/such/shell")
    assert not compile_behind.start("spmv", _SMALL)
    monkeypatch.undo()
    monkeypatch.setenv(compile_behind.VARIABLE, "0")
    assert not compile_behind.start("spmv", _SMALL)
    assert not (folder / "kernels").exists()


def test_a_folder_that_has_gone_is_not_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_cache, "_makes_folder", True)
    disk_cache.use_only_existing()
    with pytest.raises(FileError):
        disk_cache.save("kernels/any", b"")
    assert not folder.exists()


class Hops(dr.Program):
    level = dr.field(np.int32, init=1000)
    combine = dr.MIN

    def init(self, v: Any) -> Any:
        return dr.where(v.id == 0, 0, 1000)

    def start(self, v: Any) -> Any:
        return v.id == 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.level + 1

    def update(self, v: Any, message: Any) -> Any:
        return dr.minimum(v.level, message)


@pytest.mark.usefixtures("cold")
def test_who_is_compiled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Algorithms of Dromos on larger graphs; another process may have no way to import what a user wrote."""
    started: list[tuple[str, str]] = []
    monkeypatch.setattr(compile_behind, "start", lambda name, g: started.append((name, compile_behind.kind_of(g))))
    results = [dr.bfs(_GRAPH, 0), dr.pagerank(_GRAPH), dr.run(Hops(), _GRAPH), dr.bfs(_SMALL, 0)]
    assert {result.device for result in results} == {"numpy"}
    assert started == [("bfs", "undirected"), ("pagerank", "undirected")]


@pytest.mark.usefixtures("cold")
def test_numpy_works_on_while_another_process_compiles(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program: Program = BFS(source=0)
    folder.mkdir(mode=0o700)
    (folder / "BFS_claiming_0123456789abcdef.py").touch()
    monkeypatch.setattr(first_calls, "_PATIENCE", 0.0)
    execution: Any = None
    has_lasted = first_calls.limit("BFS")
    with compile_behind.sole():
        assert first_calls.begins_at_once(_GRAPH, program)
        assert not has_lasted(execution, execution)
        monkeypatch.setattr(first_calls, "_spent", first_calls._COMPILING_BEHIND)
        assert not first_calls.begins_at_once(_GRAPH, program)
    monkeypatch.setattr(first_calls, "_spent", 0.0)
    assert not first_calls.begins_at_once(_GRAPH, program)
    assert first_calls.limit("BFS")(execution, execution)


@pytest.mark.usefixtures("cold")
def test_a_wrong_variable_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compile_behind.VARIABLE, "maybe")
    with pytest.raises(InvalidArgumentError, match="DROMOS_COMPILE_BEHIND='maybe' is neither 0"):
        dr.bfs(dr.generators.rmat(6, 8, seed=1, symmetrize=True), 0)
