"""Bad text files: a typed error with the file and the line, and nothing left behind."""

from __future__ import annotations

import gzip
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos import Graph
from dromos.errors import (
    CorruptFileError,
    DromosError,
    FileError,
    FormatError,
    InvalidArgumentError,
    ResourceError,
    UnsupportedFormatError,
)
from tests.files import overwrite

NOTE = "# dromos graph: vertices={} edges={} directed=yes weights=none labels={}\n"
MTX = "%%MatrixMarket matrix coordinate real general\n"

BAD = [
    # a name of the file, its text, the line, what the message says
    ("g.txt", "0 1\n1\n", 2, "a column is missing"),
    ("g.txt", "0 1\n1 \r\n", 2, "a column is missing"),
    ("g.txt", "0 1 3\n1 2\n", 2, "a column is missing"),
    ("g.txt", "0 1 3\n1 2 # 4\n", 2, "a column is missing"),
    ("g.txt", "0 1\n0 1\n\n# c\n1 2 3\n", 5, "more columns"),
    ("g.txt", "0 1\n\n# c\n1 2 3\n", 1, "the first line, which lacks the column of weights that the next has,"),
    ("g.txt", "0 1\n1,,2\n", 2, "not a whole number"),
    ("g.txt", "0 1\n1 2\n1 2,\n", 3, "more columns"),
    ("g.txt", "0.0 1.0\n1.0 2.0\n", 1, "'0.0' is not a whole number"),
    ("g.txt", "0 1\n1 2.5\n", 2, "'2.5' is not a whole number"),
    ("g.txt", "0 1\n1e3 2\n", 2, "'1e3' is not a whole number"),
    ("g.txt", "0 1\n99999999999999999999 1\n", 2, "99999999999999999999 overflows 64 bits"),
    ("g.txt", "0 1\n9223372036854775808 1\n", 2, "overflows 64 bits"),
    ("g.txt", "0 1\n-9223372036854775809 1\n", 2, "overflows 64 bits"),
    ("g.txt", "0 1 2\n1 2 nan\n", 2, "the weight 'nan' is not a number (NaN)"),
    ("g.txt", "0 1 2\n1 2 heavy\n", 2, "the weight 'heavy' is not a number"),
    ("g.txt", "0 1 2\n1 2 1_000\n", 2, "the weight '1_000' is not a number"),
    ("g.txt", "0 1 2\n1 2 1.5x\n", 2, "the weight '1.5x' is not a number"),
    ("g.txt", "0 1 2\n1 2 1e\n", 2, "the weight '1e' is not a number"),
    ("g.txt", "0 1 2\n1 2 9007199254740993\n", 2, "not exact in float64"),
    ("g.txt", "0 1 2\n1 2 100000000000000000000000001\n", 2, "not exact in float64"),
    ("g.txt", "a b\nc\n", 2, "a column is missing"),
    ("g.txt", "a b 1\nc d nan\n", 2, "is not a number (NaN)"),
    ("g.txt", "a b\n\ufffd \udcff\n".encode("utf-8", "surrogateescape"), 2, "not UTF-8"),
    ("g.txt", NOTE.format(2, 2, "none") + "0 1\n", None, "promises 2 edges"),
    ("g.txt", NOTE.format(2, 1, "none") + "0 2\n", 2, "outside 0..1"),
    ("g.txt", NOTE.format(2, 0, "int") + "# vertex 1\n", 3, "promises 2 lines"),
    ("g.txt", NOTE.format(1, 0, "int") + "# vertex x\n", 2, "not an integer"),
    ("g.el", "0 1\n-1 2\n", 2, "the id -1 is below 0"),
    ("g.el", "0 1\n2 99999999999999999999\n", 2, "overflows"),
    ("g.wel", "0 1\n", 1, "a column is missing"),
    ("g.mtx", "hello\n", 1, "the first line must be"),
    ("g.mtx", MTX + "2 3 1\n1 1 1\n", 2, "needs a square one"),
    ("g.mtx", MTX + "2 2\n1 1 1\n", 2, "expected the numbers of rows"),
    ("g.mtx", MTX, 2, "expected the numbers of rows"),
    ("g.mtx", MTX + "% c\n2 2 2\n1 1 1.5\n", 3, "promises 2 edges, and the file has 1"),
    ("g.mtx", MTX + "2 2 1\n1 1 1.5\n2 2 1\n", 2, "promises 1 edges, and the file has 2"),
    ("g.mtx", MTX + "2 2 2\n1 1 1.5\n0 1 1\n", 4, "the id 0 is outside 1..2"),
    ("g.mtx", MTX + "2 2 2\n1 1 1.5\n1 3 1\n", 4, "the id 3 is outside 1..2"),
    ("g.mtx", MTX + "2 2 1\n1 1 nan\n", 3, "NaN"),
    ("g.mtx", MTX + "2 2 1\n1 1\n", 3, "a column is missing; expected a row, a column and a value"),
    ("g.mtx", MTX.replace("real", "integer") + "2 2 1\n1 1 1.5\n", 3, "not a whole number"),
    ("g.gr", "c x\na 1 2 3\n", 2, "expected 'p sp VERTICES ARCS'"),
    ("g.gr", "p sp 2 1\na 1 2\n", 2, "a column is missing"),
    ("g.gr", "p sp 2 1\n1 2 3\n", 2, "does not begin with 'a'"),
    ("g.gr", "p sp 2 1\nc x\nb 1 2 3\n", 3, "does not begin with 'a'"),
    ("g.gr", "p sp 2 1\na 1 3 1\n", 2, "outside 1..2"),
    ("g.gr", "c\np sp 2 2\na 1 2 1\n", 2, "promises 2 edges"),
    ("g.graph", "x\n", 1, "expected the header"),
    ("g.graph", "2 1 7\n2\n1\n", 1, "expected the header"),
    ("g.graph", "2 1\n2\n3\n", 3, "the id 3 is outside 1..2"),
    ("g.graph", "2 1\n2\n0\n", 3, "the id 0 is outside 1..2"),
    ("g.graph", "% c\n3 2\n2\n1 3\n", 2, "promises 3 vertices, and the file has 2 rows"),
    ("g.graph", "3 2\n2\n% c\n1\n\n", 1, "promises 2 edges, so 4 neighbors, and the rows list 2"),
    ("g.graph", "3 2\n2\n% c\n1 3\n1\n", 5, "vertex 3 lists 1 as a neighbor, and 1 does not list 3 so"),
    ("g.graph", "2 1 1\n2 5\n1 6\n", 2, "vertex 1 lists 2 with the weight 5"),
    ("g.graph", "2 1 1\n2 5\n1\n", 3, "a weight is missing"),
    ("g.graph", "2 1\n1 2\n1\n", 1, "promises 1 edges, so 2 neighbors, and the rows list 3"),
    ("g.graph", "2 1\n1\n2\n", 2, "vertex 1 is listed as its own neighbor"),
    ("g.graph", "2 1\n2\n1\n1\n", 4, "row 3 of neighbors, where the header promises 2"),
    ("g.graph", "2 1 10\n\n1 1\n", 2, "sizes or weights of the vertex are missing"),
    ("g.graph", "2 1\n2.5\n1\n", 2, "'2.5' is not a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line", "message"), BAD)
def test_bad_lines(tmp_path: Path, name: str, text: str | bytes, line: int | None, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError) as caught:
        dr.read(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}: " + (f"line {line}: " if line else ""))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("end", ["", ".gz"])
def test_the_line_is_right_far_into_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr("dromos.graph.formats.text_file.BLOCK_BYTES", 1000)
    monkeypatch.setattr("dromos.graph.formats.text_rows._SMALL_FILE", 0)
    lines = [f"{i} {i + 1}" if i % 7 else f"# {i}" for i in range(5000)]
    lines[4321] = "17 x"
    path = tmp_path / f"g.txt{end}"
    path.write_bytes(gzip.compress("\n".join(lines).encode()) if end else "\n".join(lines).encode())
    with pytest.raises(FormatError, match="'x' is not a whole number") as caught:
        dr.read(path, threads=3)
    assert caught.value.line == 4322


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("%%MatrixMarket matrix array real general\n1 1\n1\n", "matrix array"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", "complex general"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", "skew-symmetric"),
    ],
)
def test_matrices_that_are_no_graphs(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "g.mtx").write_text(text)
    with pytest.raises(UnsupportedFormatError, match=what):
        dr.read(tmp_path / "g.mtx")


def _ldbc(folder: Path, vertices: str, edges: str, properties: str | None = None) -> Path:
    (folder / "g.v").write_text(vertices)
    (folder / "g.e").write_text(edges)
    if properties is not None:
        (folder / "g.properties").write_text(properties)
    return folder / "g.e"


@pytest.mark.parametrize(
    ("vertices", "edges", "properties", "file", "line", "message"),
    [
        ("1\n2\n", "1 2\n1 7\n", None, "g.e", 2, "an edge names the vertex 7"),
        ("0\n1\n", "0 1\n0 7\n", None, "g.e", 2, "the id 7 is outside 0..1"),
        ("5\n7\n5\n", "5 7\n", None, "g.v", 3, "the vertex 5 is listed twice"),
        ("5\nx\n", "5 7\n", None, "g.v", 2, "'x' is not a whole number"),
        ("5\n99999999999999999999\n", "5 7\n", None, "g.v", 2, "overflows"),
        ("1\n2\n", "1 2\n1\n", None, "g.e", 2, "a column is missing"),
        (
            "1\n2\n",
            "1 2\n",
            "graph.g.meta.edges = 5\n",
            "g.properties",
            1,
            "meta.edges is 5, and the files hold 1 edges",
        ),
        ("1\n2\n", "1 2\n", "#\ngraph.g.meta.vertices = 5\n", "g.properties", 2, "hold 2 vertices"),
        ("1\n2\n", "1 2\n", "graph.g.directed = maybe\n", "g.properties", 1, "expected true or false"),
    ],
)
def test_bad_ldbc(
    tmp_path: Path, vertices: str, edges: str, properties: str | None, file: str, line: int, message: str
) -> None:
    path = _ldbc(tmp_path, vertices, edges, properties)
    with pytest.raises(FormatError) as caught:
        dr.read(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.path == str(tmp_path / file)


def test_ldbc_needs_its_vertices(tmp_path: Path) -> None:
    (tmp_path / "g.e").write_text("1 2\n")
    with pytest.raises(FileError, match=r"g\.v is missing"):
        dr.read(tmp_path / "g.e")


NAMES = ["g.txt", "g.el", "g.wel", "g.mtx", "g.gr", "g.graph"]


@pytest.mark.parametrize("name", NAMES)
def test_empty_missing_and_directory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(FileError, match="No such file"):
        dr.read(path)
    path.write_bytes(b"")
    with pytest.raises(CorruptFileError, match="empty"):
        dr.read(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(FileError, match="is a directory"):
        dr.read(path)
    graph = Graph.from_edges([0], [1], [1] if name == "g.wel" else None, directed=name != "g.graph")
    with pytest.raises(FileError, match="is a directory"):
        graph.write(path)
    with pytest.raises(FileError, match=r"the folder .*nowhere does not exist"):
        graph.write(tmp_path / "nowhere" / name)
    assert [p.name for p in tmp_path.rglob("*")] == [name]


@pytest.mark.parametrize("end", [".gz", ".zst", ".bz2", ".xz"])
def test_compressed_files_cut_short(tmp_path: Path, end: str) -> None:
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(*rng.integers(0, 1000, (2, 5000)))
    path = tmp_path / f"g.txt{end}"
    graph.write(path)
    whole = path.read_bytes()
    for size in (len(whole) // 2, len(whole) - 1, 10):
        path.write_bytes(whole[:size])
        with pytest.raises(CorruptFileError):
            dr.read(path)
    path.write_bytes(whole[:100] + b"\xff" * 20 + whole[120:])
    with pytest.raises((CorruptFileError, FormatError)):
        dr.read(path)


def test_a_header_that_promises_more_than_memory(tmp_path: Path) -> None:
    (tmp_path / "g.mtx").write_text(
        "%%MatrixMarket matrix coordinate pattern general\n99999999999999 99999999999999 1\n1 1\n"
    )
    with pytest.raises(ResourceError, match="does not fit"):
        dr.read(tmp_path / "g.mtx")


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    for seed, name in enumerate(NAMES * 3):
        (tmp_path / name).write_bytes(np.random.default_rng(seed).bytes(5000))
        with pytest.raises(DromosError):
            dr.read(tmp_path / name)


def test_damaged_text_is_an_error_or_another_text_but_never_a_crash(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    graph = Graph.from_edges(
        *rng.integers(0, 30, (2, 60)), rng.integers(1, 9, 60), directed=False, drop_self_loops=True
    )
    for name in ["g.txt", "g.mtx", "g.gr", "g.graph"]:
        path = tmp_path / name
        graph.write(path)
        whole = path.read_bytes()
        for _ in range(150):
            data = bytearray(whole)
            for at in rng.integers(0, len(data), 3).tolist():
                data[at] = int(rng.integers(0, 256))
            overwrite(path, data[: int(rng.integers(1, len(data) + 1))])
            try:
                dr.read(path, ids="dense") if name == "g.txt" else dr.read(path)
            except (FileError, ResourceError, InvalidArgumentError):
                continue


RUN_AS_NOBODY = """
    import os, sys
    import dromos as dr
    from dromos.errors import FileError
    from dromos.graph.formats import text_kernels  # compiled and cached while still allowed to write the cache
    folder = sys.argv[1]
    graph = dr.Graph.from_edges([0], [1])
    graph.write(folder + "/mine.txt"); dr.read(folder + "/mine.txt")
    os.setgid(65534); os.setuid(65534)
    for act in (lambda: dr.read(folder + "/secret.txt"), lambda: graph.write(folder + "/closed/g.txt")):
        try:
            act()
        except FileError as error:
            print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_no_permission_as_another_user(tmp_path: Path) -> None:
    secret, closed = tmp_path / "secret.txt", tmp_path / "closed"
    secret.write_text("0 1\n")
    secret.chmod(0o600)
    closed.mkdir(mode=0o700)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and str(folder).startswith(tempfile.gettempdir() + os.sep):
            folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RUN_AS_NOBODY), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert lines[0] == f"{secret}: cannot read the file: Permission denied"
    assert lines[1] == f"{closed}/g.txt: cannot write the file: Permission denied"
    assert list(closed.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("0 1\n")
    path.chmod(0)
    with pytest.raises(FileError, match="Permission denied"):
        dr.read(path)


@pytest.mark.parametrize("name", ["g.txt", "g.txt.gz", "g.txt.zst", "g.mtx", "g.gr", "g.graph", "g.e"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(4)
    graph = Graph.from_edges(*rng.integers(0, 5000, (2, 100_000)), directed=False, drop_self_loops=True)
    Graph.from_edges([0], [1], directed=False).write(tmp_path / name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        with pytest.raises(FileError, match="cannot write the file") as caught:
            graph.write(tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert not isinstance(caught.value, FormatError)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.txt"
    path.write_text("old")

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Graph.from_edges([0], [1]).write(path, progress=interrupted)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("g.txt", "old")]


@pytest.mark.parametrize(
    ("name", "graph", "reason"),
    [
        ("g.graph", Graph.from_edges([0], [1]), "is directed"),
        ("g.graph", Graph.from_edges([0], [0], directed=False), "no self-loops"),
        ("g.graph", Graph.from_edges([0], [1], [0.5], directed=False), "float64"),
        ("g.gr", Graph.from_edges([0], [1], [0.5]), "float64"),
        ("g.e", Graph.from_edges(["a"], ["b"]), "string labels"),
        ("g.txt", Graph.from_edges(["a\tb"], ["c"]), "has a tab"),
        ("g.txt", Graph.from_edges(["#a"], ["c"]), "begins like a comment"),
        ("g.txt", Graph.from_edges([""], ["c"]), "is empty"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(tmp_path: Path, name: str, graph: Graph, reason: str) -> None:
    with pytest.raises(UnsupportedFormatError, match=reason):
        graph.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_labels_given_twice_in_a_note(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    note = "# dromos graph: vertices=2 edges=0 directed=yes weights=none labels=int\n"
    path.write_text(note + "# vertex 4\n# vertex 4\n")
    with pytest.raises(FormatError, match="the label 4 is given to more than one vertex"):
        dr.read(path)
