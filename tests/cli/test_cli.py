"""The subcommands, their exit codes, and what they leave behind."""

from __future__ import annotations

import json
import logging
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import advice, app

from .conftest import Run

ROOT = Path(__file__).parent.parent
DATA = ROOT / "data"
COMMAND: str = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]["scripts"]["dromos"]


def test_the_package_can_be_run_as_a_module(dromos):
    asked = [sys.executable, "-m", "dromos", "--version"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == dromos("--version").stdout


def test_help_names_every_command(dromos: Run) -> None:
    done = dromos("--help")
    assert done.returncode == 0
    for word in ("generate", "convert", "info", "verify", "formats"):
        assert word in done.stdout
        assert CliRunner().invoke(app, [word, "--help"]).exit_code == 0  # a process takes a second to start


def test_version(dromos: Run) -> None:
    assert dromos("--version").stdout.strip() == f"dromos {dr.__version__}"


def test_generate_info_verify_convert(dromos: Run, dromos_process: Run, tmp_path: Path) -> None:
    made = dromos_process("generate", "rmat", "--scale", 8, "--dedupe", "--weights", "1..255", "--seed", 5, "kron.drm")
    assert made.returncode == 0, made.stderr
    assert made.stdout == ""
    assert made.stderr == ""  # quiet in pipes

    told = json.loads(dromos("info", "kron.drm", "--json").stdout)
    expected = dr.generators.with_random_weights(dr.generators.rmat(8, seed=5, dedupe=True), 1, 255, seed=5)
    assert (told["vertices"], told["edges"]) == (expected.num_vertices, expected.num_edges)
    assert told["weights"] == "int32"
    assert dr.read(tmp_path / "kron.drm") == expected

    checked = dromos("verify", "kron.drm")
    assert checked.returncode == 0
    assert re.search(r"kron\.drm: OK \(\d+ checks passed\)", checked.stdout)

    turned = dromos_process("convert", "kron.drm", "kron.mtx.gz")
    assert turned.returncode == 0, turned.stderr
    assert dr.read(tmp_path / "kron.mtx.gz") == expected
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kron.drm", "kron.mtx.gz"]


def test_info_for_people(dromos: Run) -> None:
    dromos("generate", "star", "-n", 9, "star.txt")
    done = dromos("info", "star.txt")
    assert done.returncode == 0
    assert "vertices" in done.stdout
    assert "cuda" in done.stdout


@pytest.mark.parametrize(
    ("words", "vertices"),
    [
        (("uniform", "-n", 100, "-m", 300), 100),
        (("grid", "--rows", 4, "--cols", 5), 20),
        (("grid", "--rows", 3, "--cols", 4, "--depth", 5, "--delete", 0.1), 60),
        (("barabasi-albert", "-n", 50, "-m", 3), 50),
        (("watts-strogatz", "-n", 40, "-k", 4, "-p", 0.2), 40),
        (("path", "-n", 7), 7),
        (("cycle", "-n", 7), 7),
        (("complete", "-n", 6), 6),
        (("binary-tree", "--depth", 3), 15),
    ],
)
def test_every_generator_writes_a_file(dromos: Run, tmp_path: Path, words: tuple[object, ...], vertices: int) -> None:
    done = dromos("generate", *words, "out.drm")
    assert done.returncode == 0, done.stderr
    assert dr.read(tmp_path / "out.drm").num_vertices == vertices


def test_convert_orders_by_degree(dromos: Run, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("0 3\n1 3\n2 3\n2 1\n")
    assert dromos("convert", "in.txt", "out.drm", "--symmetrize", "--order", "degree").returncode == 0
    graph = dr.read(tmp_path / "out.drm")
    assert [graph.vertex_id(label) for label in (3, 1, 2, 0)] == [0, 1, 2, 3]
    assert dr.bfs(graph, 0, device="reference").level[graph.vertex_id(2)] == 2
    assert "neither input nor degree" in dromos("convert", "in.txt", "out.drm", "--order", "size").stderr
    how = ("--symmetrize", "--order", "degree", "--memory", "32M")
    assert dromos("convert", "in.txt", "small.drm", *how).returncode == 0
    assert dromos("convert", "in.txt", "plain.drm", "--symmetrize").returncode == 0
    assert dromos("convert", "plain.drm", "again.drm", *how[1:]).returncode == 0
    for name in ("small.drm", "again.drm"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "out.drm").read_bytes()
    assert "give at least 4.1 MiB" in dromos("convert", "plain.drm", "again.drm", *how[1:-1], "1M").stderr
    assert dromos("convert", "plain.drm", "again.drm", *how[1:-1], "4.1M").returncode == 0


def test_largest_component(dromos: Run, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("5 7\n7 5\n7 9\n20 21\n")
    assert "`dromos largest-component --strong GRAPH OUT`" in dromos("diameter", "in.txt").stderr
    assert dromos("largest-component", "in.txt", "strong.drm", "--strong").returncode == 0
    assert dr.read(tmp_path / "strong.drm").labels.to_numpy().tolist() == [5, 7]
    assert dromos("convert", "in.txt", "both.drm", "--symmetrize").returncode == 0
    assert "`dromos largest-component GRAPH OUT`" in dromos("diameter", "both.drm").stderr
    for memory in ((), ("--memory", "32M")):
        assert dromos("largest-component", "both.drm", "out.drm", *memory).returncode == 0
        found = dr.read(tmp_path / "out.drm")
        assert found.labels.to_numpy().tolist() == [5, 7, 9]
        assert found.num_edges == 3
    assert dromos("diameter", "out.drm").returncode == 0
    before = (tmp_path / "both.drm").read_bytes()
    assert "are the same file" in dromos("largest-component", "both.drm", "both.drm").stderr
    assert (tmp_path / "both.drm").read_bytes() == before
    assert ".strange is not known" in dromos("largest-component", "both.drm", "out.strange").stderr
    assert "--memory reads a .drm store" in dromos("largest-component", "in.txt", "out.drm", "--memory", "1G").stderr


def test_convert_compresses(dromos: Run, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("".join(f"{u} {(u * 7 + k) % 90}\n" for u in range(90) for k in range(20)))
    assert dromos("convert", "in.txt", "plain.drm", "--order", "degree").returncode == 0
    assert dromos("convert", "in.txt", "small.drm", "--order", "degree", "--compress").returncode == 0
    assert dr.read(tmp_path / "small.drm") == dr.read(tmp_path / "plain.drm")
    assert "1 packs of targets and their checksums" in dromos("verify", "small.drm").stdout
    told = json.loads(dromos("info", "small.drm", "--json").stdout)["store"]
    assert (told["version"], told["packed"]) == (2, True)
    assert 0 < told["target_bytes"] < 2
    assert "version 1" in dromos("info", "plain.drm").stdout
    assert "--compress is for .drm stores" in dromos("convert", "in.txt", "out.mtx", "--compress").stderr


def test_convert_options(dromos: Run, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("0 1 5\n1 0 3\n1 1 9\n2 0 4\n")
    done = dromos(
        "convert", "in.txt", "out.drm", "--symmetrize", "--dedupe", "--merge-weights", "min", "--drop-self-loops",
        "--transpose",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    graph = dr.read(tmp_path / "out.drm")
    assert not graph.directed
    assert graph.num_edges == 2
    assert graph.weights is not None
    assert sorted(graph.weights.tolist()) == [3, 3, 4, 4]


def test_convert_takes_the_columns_of_a_table_and_how_ids_are_read(dromos: Run, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("row,to,from,km\n1,30,10,2.5\n2,10,20,1\n")
    assert dromos("convert", "in.csv", "a.drm", "--src", "from", "--dst", "to", "--weight", "km").returncode == 0
    graph = dr.read(tmp_path / "a.drm")
    assert graph.labels is not None
    assert graph.weights is not None
    assert graph.labels.to_numpy()[graph.neighbors(10)].tolist() == [30]
    assert sorted(graph.weights.tolist()) == [1, 2.5]
    (tmp_path / "in.txt").write_text("3 5 1 9\n")
    told = dromos("convert", "in.txt", "b.drm", "--extra-columns", "ignore", "--ids", "dense", "--memory", "64M")
    assert told.returncode == 0, told.stderr
    assert dr.read(tmp_path / "b.drm").num_vertices == 6


def test_what_a_format_cannot_hold_is_refused_unless_the_loss_is_allowed(dromos: Run, tmp_path: Path) -> None:
    dromos("generate", "path", "-n", 4, "path.drm")
    refused = dromos("convert", "path.drm", "path.el")
    assert refused.returncode == 1
    assert "undirected" in refused.stderr
    assert not (tmp_path / "path.el").exists()
    assert dromos("convert", "path.drm", "path.el", "--allow-loss").returncode == 0
    assert dr.read(tmp_path / "path.el", directed=False, symmetrize=False).num_edges == 3


def test_convert_within_a_memory_budget_gives_the_same_graph(dromos: Run, tmp_path: Path) -> None:
    dromos("generate", "rmat", "--scale", 10, "--directed", "g.txt")
    done = dromos("convert", "g.txt", "small.drm", "--memory", "64M")
    assert done.returncode == 0, done.stderr
    assert dr.read(tmp_path / "small.drm") == dr.read(tmp_path / "g.txt")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("info", "nowhere.drm"), 1, "No such file"),
        (("info", "in.strange"), 1, "in.strange"),
        (("info", "."), 1, "is a directory"),
        (("info", "/dev/null", "--format", "edges"), 1, "cannot read from a pipe or a terminal"),
        (("convert", "wide.txt", "out.drm"), 1, "pass --extra-columns ignore to skip the others"),
        (("info", "wide.txt"), 1, "pass `dromos convert --extra-columns ignore` to skip the others"),
        (("convert", "in.txt", "out.drm", "--src", "a"), 2, "the format 'edges' has no option 'src'"),
        (("convert", "in.txt", "nowhere/out.drm"), 1, "the folder nowhere does not exist"),
        (("generate", "path", "-n", "5", "nowhere/x.drm"), 1, "the folder nowhere does not exist"),
        (("generate", "path", "-n", "5", "x.el"), 1, "convert it with `dromos convert --allow-loss`"),
        (("reachable", "in.strange", "an.index", "0", "1"), 1, "pass --format with one of"),
        (("convert", "bad.txt", "out.drm"), 1, "line 2"),
        (("convert", "sparse.el", "out.drm"), 1, "--ids names, and --from edges if it is a .el"),
        (("convert", "sparse.el", "out.drm", "--memory", "16M"), 1, "--ids names (and --from edges if it is a .el"),
        (("convert", "in.txt", "in.txt"), 2, "same file"),
        (("convert", "in.txt", "out.mtx", "--transpose"), 2, "--transpose"),
        (("convert", "in.txt", "out.drm", "--memory", "lots"), 2, "Invalid value for --memory: 'lots' is not a size"),
        (("plan", "in.txt", "--memory", "1G", "--host-memory", "x"), 2, "for --host-memory: 'x' is not a size"),
        (("info", "text.drm"), 1, "reads other formats, by the extension or with --format edges"),
        (("convert", "text.drm", "out.drm"), 1, "with --from edges"),
        (("pagerank", "text.drm", "--memory", "1G"), 1, "--memory 2G --from edges text.drm text.store.drm`"),
        (("convert", "in.txt", "out.drm", "--memory", "1K"), 3, "--memory 1K is too little to convert with"),
        (("convert", "in.txt", "out.drm", "--merge-weights", "mean"), 2, "mean"),
        (("verify", "cut.drm"), 1, "cut.drm"),
        (("generate", "rmat", "--scale", "-3", "x.drm"), 2, "scale"),
        (("generate", "rmat", "--weights", "9..1", "x.drm"), 2, "range"),
        (("generate", "path", "-n", "5", "x.what"), 1, "name OUT as a file of one of these formats: drm"),
        (("frobnicate",), 2, "frobnicate"),
        (("shortest-path", "in.txt"), 2, "Did you mean 'sssp'?"),
        (("scc", "in.txt"), 2, "Did you mean 'strongly-connected-components'?"),
        (("bsf", "in.txt"), 2, "Did you mean 'bfs'?"),
    ],
)
def test_trouble_is_told_and_nothing_is_left_behind(
    dromos: Run, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "in.txt").write_text("0 1\n1 2\n")
    (tmp_path / "text.drm").write_text("0 1\n1 2\n")
    (tmp_path / "in.strange").write_text("0 1\n")
    (tmp_path / "sparse.el").write_text(f"0 {10**12}\n")
    (tmp_path / "bad.txt").write_text("0 1\n1\n")
    (tmp_path / "wide.txt").write_text("0 1 2 3\n1 2 2 3\n")
    dr.generators.path(50).write(tmp_path / "whole.drm")
    (tmp_path / "cut.drm").write_bytes((tmp_path / "whole.drm").read_bytes()[:-7])
    before = sorted(p.name for p in tmp_path.iterdir())
    done = dromos(*words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert "format=" not in done.stderr  # advice in the words of the command line
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_notes_of_compiling_are_for_terminals_only(capsys: pytest.CaptureFixture[str]) -> None:
    line = advice._Lines()
    for name in ("dromos", "dromos.compiling"):
        line.emit(logging.LogRecord(name, logging.INFO, __file__, 1, f"from {name}", None, None))
    assert capsys.readouterr().err == "note: from dromos\n"


def test_formats_lists_all(dromos: Run) -> None:
    listed = json.loads(dromos("formats", "--json").stdout)
    from dromos.graph.formats import FORMATS

    assert [entry["name"] for entry in listed] == list(FORMATS)
    assert all(entry["reads"] for entry in listed)
    assert dromos("formats").returncode == 0


@pytest.mark.parametrize(("words", "code"), [(("info", "nowhere.drm"), 1), (("frobnicate",), 2)])
def test_a_process_ends_with_the_code_of_its_trouble(dromos_process: Run, words: tuple[str, ...], code: int) -> None:
    done = dromos_process(*words)
    assert done.returncode == code
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_conversion_leaves_nothing_half_written(tmp_path: Path, sent: signal.Signals) -> None:
    # A pipe as input: the conversion waits in the middle of its work until it is interrupted.
    code = f"""
import signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored in tests that outlive their terminal, and then by children
from dromos.graph.formats import base, files, store
from dromos.cli import main
import dromos as dr
def slow(graph, path, *, progress):
    with files.atomic_output(path) as out:
        out.write(b"half")
        out.flush()
        print("writing", flush=True)
        time.sleep(60)
store.FORMATS += (base.Format("slow", "slow", (".slow",), write=slow),)
sys.argv = ["dromos", "generate", "path", "-n", "5", {str(tmp_path / "x.slow")!r}]
main()
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "writing"
        time.sleep(0.05)
        child.send_signal(sent)
        child.communicate(timeout=60)
    assert child.returncode == (130 if sent == signal.SIGINT else 128 + sent)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("imported", ["dromos.cli", "numpy", "dromos.algorithms.bfs"])
def test_ctrl_c_while_the_command_is_imported_ends_it_quietly(imported: str) -> None:
    code = f"""
import signal, sys
class Stop:
    def find_spec(self, name, *others):
        if name == {imported!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Stop())
from {COMMAND.partition(":")[0]} import {COMMAND.partition(":")[2]} as command
command()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_the_command_leaves_signals_as_it_found_them(monkeypatch: pytest.MonkeyPatch) -> None:
    from dromos import __main__, cli

    found: list[object] = []
    monkeypatch.setattr(cli, "main", lambda: found.append(signal.getsignal(signal.SIGINT)))
    for handler in (signal.default_int_handler, signal.SIG_IGN):
        previous = signal.signal(signal.SIGINT, handler)
        try:
            __main__.main()
        finally:
            signal.signal(signal.SIGINT, previous)
        assert found.pop() is handler


def test_an_error_before_mpi_is_started_names_the_rank(dromos: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    done = dromos("info", "nowhere.drm")
    assert done.returncode == 1
    assert done.stderr.startswith("error on rank 1: nowhere.drm")
