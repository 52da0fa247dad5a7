"""What is written to a store comes back, whatever the graph."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import FileError, UnsupportedFormatError
from dromos.graph.store import changed_underneath, identity, load, read_header, verify, write
from dromos.graph.store.layout import ALIGNMENT
from tests.store.graphs import graphs, sample

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(graph=graphs(), transpose=st.booleans(), mmap=st.booleans())
def test_every_graph_comes_back(tmp_path: Path, graph: dr.Graph, transpose: bool, mmap: bool) -> None:
    file = tmp_path / "g.drm"
    write(graph, file, transpose=transpose)
    verify(file)
    back = load(file, mmap=mmap)
    assert back == graph
    assert back.known_flags == graph.flags
    assert back.targets.dtype == graph.targets.dtype
    assert back.transpose == graph.transpose
    header = read_header(file)
    assert (header.num_vertices, header.num_edges) == (graph.num_vertices, graph.num_edges)
    assert all(section.offset % ALIGNMENT == 0 for section in header.sections)


@quick
@given(graph=graphs())
def test_the_same_graph_gives_the_same_bytes(tmp_path: Path, graph: dr.Graph) -> None:
    write(graph, tmp_path / "a.drm")
    write(load(tmp_path / "a.drm"), tmp_path / "b.drm")
    assert (tmp_path / "a.drm").read_bytes() == (tmp_path / "b.drm").read_bytes()


def test_the_stored_transpose_is_used(tmp_path: Path) -> None:
    graph = sample()
    write(graph, tmp_path / "g.drm", transpose=True)
    back = load(tmp_path / "g.drm")
    assert back._transpose is not None
    assert back._transpose._transpose is back
    assert back.transpose == graph.transpose


def test_unsorted_rows_are_kept_as_they_are(tmp_path: Path) -> None:
    graph = dr.Graph.from_csr(np.array([0, 3, 3, 4]), np.array([2, 1, 2, 0]))
    write(graph, tmp_path / "g.drm")
    back = load(tmp_path / "g.drm")
    assert back == graph
    assert not back.sorted
    assert back.has_parallel_edges
    assert verify(tmp_path / "g.drm").header.num_edges == 4


def test_wide_ids_are_kept(tmp_path: Path) -> None:
    graph = dr.Graph._make(np.array([0, 1, 1]), np.array([1], dtype=np.int64))
    write(graph, tmp_path / "g.drm")
    assert load(tmp_path / "g.drm").targets.dtype == np.int64


def test_arrays_are_views_of_the_file_and_read_only(tmp_path: Path) -> None:
    write(sample(), tmp_path / "g.drm")
    back = load(tmp_path / "g.drm")
    assert _is_mapped(back.targets)
    assert not back.targets.flags.writeable
    assert not _is_mapped(load(tmp_path / "g.drm", mmap=False).targets)


def _is_mapped(array: np.ndarray | None) -> bool:
    while array is not None and not isinstance(array, np.memmap):
        array = array.base
    return array is not None


def test_through_the_format_registry(tmp_path: Path) -> None:
    graph = sample()
    graph.write(tmp_path / "g.drm", transpose=True)
    back = dr.read(tmp_path / "g.drm")
    assert back == graph
    assert back.source_file == str(tmp_path / "g.drm")


def test_a_mapped_graph_is_pickled_as_a_whole(tmp_path: Path) -> None:
    write(sample(), tmp_path / "g.drm")
    copy = pickle.loads(pickle.dumps(load(tmp_path / "g.drm")))
    (tmp_path / "g.drm").unlink()
    assert copy == sample()


def test_the_identity_tells_graphs_apart_and_not_files(tmp_path: Path) -> None:
    graph = sample()
    write(graph, tmp_path / "a.drm")
    write(graph, tmp_path / "b.drm")
    weights = np.array(graph.weights)
    weights[7] += 1
    write(graph.with_weights(weights), tmp_path / "c.drm")
    a, b, c = (identity(load(tmp_path / name)) for name in ("a.drm", "b.drm", "c.drm"))
    assert a == b
    assert a is not None
    assert a != c
    assert identity(graph) is None


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "g.drm"
    write(sample(), file)
    graph = load(file)
    assert not changed_underneath(graph)
    write(sample(), file)
    assert changed_underneath(graph)
    assert graph == sample()  # the old file lives on under its map
    graph = load(file)
    file.unlink()
    assert changed_underneath(graph)
    assert not changed_underneath(sample())


def test_an_open_graph_survives_being_written_over_itself(tmp_path: Path) -> None:
    file = tmp_path / "g.drm"
    write(sample(), file)
    write(load(file), file)
    assert load(file) == sample()


def test_many_readers_at_once(tmp_path: Path) -> None:
    write(sample(), tmp_path / "g.drm", transpose=True)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: load(tmp_path / "g.drm", verify=True) == sample(), range(32)))


def test_progress_reaches_the_whole_file(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    write(sample(), tmp_path / "g.drm", progress=lambda done, total: seen.append((done, total)))
    size = (tmp_path / "g.drm").stat().st_size
    assert seen[-1] == (size, size)
    seen.clear()
    verify(tmp_path / "g.drm", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_the_file_is_on_the_disk_before_it_gets_its_name(
    tmp_path: Path, quick_disk: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited_at_renaming: list[int] = []
    replace = os.replace

    def renaming(source: str, target: str) -> None:
        waited_at_renaming.append(len(quick_disk))
        replace(source, target)

    monkeypatch.setattr(os, "replace", renaming)
    write(sample(), tmp_path / "g.drm")
    assert waited_at_renaming == [1]


def test_a_store_is_not_compressed(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormatError, match=r"\.gz"):
        write(sample(), tmp_path / "g.drm.gz")
    assert list(tmp_path.iterdir()) == []


def _python(script: str, *args: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)  # type: ignore[call-overload,no-any-return]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write(sample(), tmp_path / "g.drm")
    before = (tmp_path / "g.drm").read_bytes()
    done = _python(
        """
        import resource, sys
        import dromos as dr
        from dromos.graph.store import write
        graph = dr.Graph.from_edges([0, 1], [1, 2], num_vertices=100_000)
        graph.flags
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        try:
            write(graph, sys.argv[1])
        except dr.DromosError as error:
            print(type(error).__name__, error)
        """,
        str(tmp_path / "g.drm"),
    )
    assert done.stdout.startswith("FileError"), done.stderr
    assert "File too large" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["g.drm"]
    assert (tmp_path / "g.drm").read_bytes() == before


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(sample(), tmp_path / "g.drm", progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    graph = sample()
    with pytest.raises(FileError, match=r"the folder .*missing does not exist"):
        write(graph, tmp_path / "missing" / "g.drm")
    (tmp_path / "d.drm").mkdir()
    with pytest.raises(FileError, match="directory"):
        write(graph, tmp_path / "d.drm")
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    script = """
        import os, sys
        import dromos as dr
        from dromos.graph.store import write
        graph = dr.Graph.from_edges([0], [1])
        graph.flags
        folder = os.open(sys.argv[1], os.O_RDONLY)
        os.fchdir(folder)
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)  # root may write everywhere
        try:
            write(graph, "g.drm")
        except dr.DromosError as error:
            print(type(error).__name__, error)
        """
    done = _python(script, str(locked))
    assert "FileError" in done.stdout, done.stderr
    assert "Permission denied" in done.stdout
    assert list(locked.iterdir()) == []
