"""Stores whose bytes are distributed over several folders."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app
from dromos.cli.advice import in_options
from dromos.errors import CorruptFileError, FileError, InvalidArgumentError, UnsupportedFormatError
from dromos.graph.store import stripe_store
from tests.stream.stores import PAGE, random_graph, stored


def striped(graph: dr.Graph, folder: Path, *, count: int = 3, stripe_bytes: int = 2 * PAGE) -> Path:
    whole = Path(stored(graph, folder).origin.path)
    folders = [folder / f"disk{number}" for number in range(count)]
    for place in folders:
        place.mkdir()
    stripe_store(whole, folder / "striped.drm", folders, stripe_bytes=stripe_bytes)
    whole.unlink()
    return folder / "striped.drm"


def parts_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("disk*/*.stripe"))


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("stripe_bytes", [PAGE, 7 * PAGE, 1 << 20])
def test_a_striped_store_gives_the_answers_of_a_whole_one(count: int, stripe_bytes: int, tmp_path: Path) -> None:
    graph = random_graph(3)
    file = dr.open(striped(graph, tmp_path, count=count, stripe_bytes=stripe_bytes))
    assert (file.num_vertices, file.num_arcs) == (graph.num_vertices, graph.num_arcs)
    how = {"memory": "64M", "device": "numpy"}
    np.testing.assert_array_equal(dr.bfs(file, 7, **how).level, dr.bfs(graph, 7, device="numpy").level)
    found = dr.sssp(file, 7, **how).distance
    np.testing.assert_array_equal(found, dr.sssp(graph, 7, device="numpy").distance)
    assert len(parts_of(tmp_path)) == count


def test_labels_and_slices_are_read_through_the_stripes(tmp_path: Path) -> None:
    src = np.array([f"v{number}" for number in range(2_000)])
    graph = dr.Graph.from_edges(src, np.roll(src, 1))
    file = dr.open(striped(graph, tmp_path))
    assert dr.bfs(file, "v7", memory="64M", device="numpy").level.max() == 1999
    assert sum(piece.num_arcs for piece in file.arc_slices()) == 2_000


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        ("removed", FileError, r"disk1.*No such file; it is stripe 1 of .*striped\.drm: put it back"),
        ("cut", CorruptFileError, r"disk1.*stripe 1 of .* has [\d,]+ bytes, not [\d,]+"),
        ("exchanged", CorruptFileError, "disk0.*is not stripe 0 of 3"),
        ("flipped", CorruptFileError, r"striped\.drm: section targets, pages 0\.\.0 \(bytes"),
        ("list", CorruptFileError, r"the list of stripes \(bytes .* fails its checksum"),
    ],
)
def test_a_damaged_stripe_is_refused(fault: str, error: type[Exception], text: str, tmp_path: Path) -> None:
    path = striped(random_graph(3), tmp_path, stripe_bytes=PAGE)
    parts = parts_of(tmp_path)
    if fault == "removed":
        parts[1].unlink()
    elif fault == "cut":
        os.truncate(parts[1], parts[1].stat().st_size - 1)
    elif fault == "exchanged":
        one, other = parts[0].read_bytes(), parts[1].read_bytes()
        parts[0].write_bytes(other)
        parts[1].write_bytes(one)
    elif fault == "flipped":
        section = dr.open(path).header.section("targets")
        assert section is not None
        row, number = divmod(section.offset // PAGE, 3)
        with parts[number].open("r+b") as out:
            out.seek(PAGE + row * PAGE)
            out.write(b"\x7f")
    else:
        path.write_bytes(path.read_bytes().replace(b"disk", b"disc"))
    with pytest.raises(error, match=text):
        dr.bfs(dr.open(path), 7, memory="64M", device="numpy")


def test_a_stripe_that_changes_after_the_store_was_opened_is_refused(tmp_path: Path) -> None:
    file = dr.open(striped(random_graph(3), tmp_path))
    part = parts_of(tmp_path)[2]
    part.write_bytes(part.read_bytes())
    os.utime(part, ns=(1, 1))
    with pytest.raises(FileError, match=r"disk2.*changed, replaced or removed"):
        dr.bfs(file, 7, memory="64M", device="numpy")


def test_what_needs_one_file_says_so(tmp_path: Path) -> None:
    path = striped(random_graph(3), tmp_path)
    with pytest.raises(UnsupportedFormatError, match="is striped"):
        dr.read(path)
    with pytest.raises(UnsupportedFormatError, match="is striped"):
        dr.open(path).load()
    with pytest.raises(InvalidArgumentError, match="two or more different folders"):
        stripe_store(path, tmp_path / "other.drm", [tmp_path])


def test_the_command_line_makes_one(tmp_path: Path) -> None:
    edges, out = tmp_path / "edges.el", tmp_path / "out.drm"
    edges.write_text("0 1\n1 2\n")
    folders = [tmp_path / "a", tmp_path / "b"]
    options = [text for folder in folders for text in ("--stripe", str(folder))]
    missing = CliRunner().invoke(app, ["convert", str(edges), str(out), *options])
    assert missing.exit_code != 0
    for folder in folders:
        folder.mkdir()
    done = CliRunner().invoke(app, ["convert", str(edges), str(out), *options])
    assert done.exit_code == 0, done.output
    assert dr.open(out).num_arcs == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "edges.el", "out.drm"]


def test_replacing_a_striped_store_removes_the_old_stripes_and_nothing_else(tmp_path: Path) -> None:
    path = striped(random_graph(3), tmp_path)
    folders = sorted(tmp_path.glob("disk*"))
    kept, old = folders[0] / "kept.stripe", parts_of(tmp_path)
    kept.write_text("of somebody else")
    whole = Path(stored(random_graph(4), tmp_path).origin.path)
    stripe_store(whole, path, folders[:2])
    new = sorted(set(parts_of(tmp_path)) - {kept})
    assert len(new) == 2
    assert not set(new) & set(old)
    stripe_store(whole, path, folders[:2])
    assert len(parts_of(tmp_path)) == 3
    assert CliRunner().invoke(app, ["convert", str(whole), str(path)]).exit_code == 0  # now it is one file
    assert parts_of(tmp_path) == [kept]
    assert dr.read(path) == random_graph(4)
    stripe_store(whole, path, folders[:2])
    dr.write(random_graph(5), path)
    assert parts_of(tmp_path) == [kept]
    assert dr.read(path) == random_graph(5)


def test_stores_of_one_graph_and_name_share_no_stripes(tmp_path: Path) -> None:
    first = striped(random_graph(3), tmp_path)
    folders = sorted(tmp_path.glob("disk*"))
    whole = Path(stored(random_graph(3), tmp_path).origin.path)
    (tmp_path / "other").mkdir()
    stripe_store(whole, tmp_path / "other" / first.name, folders)
    dr.write(random_graph(4), tmp_path / "other" / first.name)  # removes the stripes of this store alone
    assert dr.bfs(dr.open(first), 7, memory="64M", device="numpy").level[7] == 0
    assert len(parts_of(tmp_path)) == 3


@pytest.mark.parametrize("command", ["convert", "convert --memory 64M"])
def test_a_conversion_that_fails_leaves_no_stripes(command: str, tmp_path: Path) -> None:
    edges, out = tmp_path / "edges.el", tmp_path / "out.drm"
    edges.write_text("0 1\n1 2\n")
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in (*folders, out):
        folder.mkdir()
    options = [text for folder in folders for text in ("--stripe", str(folder))]
    done = CliRunner().invoke(app, [*command.split(), str(edges), str(out), *options])
    assert isinstance(done.exception, FileError)
    assert "is a directory" in str(done.exception)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "edges.el", "out.drm"]


def test_stripes_are_removed_if_their_list_gets_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = striped(random_graph(3), tmp_path)
    whole, before = Path(stored(random_graph(4), tmp_path).origin.path), sorted(tmp_path.rglob("*"))
    rename = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if target == path:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stripe_store(whole, path, sorted(tmp_path.glob("disk*")))
    assert sorted(tmp_path.rglob("*")) == before
    assert dr.bfs(dr.open(path), 7, memory="64M", device="numpy").level[7] == 0


def test_info_of_a_striped_store_is_that_of_a_whole_one_and_writes_nothing(tmp_path: Path) -> None:
    src, dst = np.random.default_rng(1).integers(0, 300, (2, 200))
    graph = dr.Graph.from_edges(src, dst, num_vertices=400)
    dr.write(graph, tmp_path / "whole.drm")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    stripe_store(tmp_path / "whole.drm", tmp_path / "striped.drm", [tmp_path / "a", tmp_path / "b"])
    path = tmp_path / "striped.drm"
    before = sorted(tmp_path.rglob("*"))
    told = [
        json.loads(CliRunner().invoke(app, ["info", str(file), "--json"]).stdout)
        for file in (tmp_path / "whole.drm", path)
    ]
    assert told[1]["isolated_vertices"] == told[0]["isolated_vertices"] > 0
    assert [facts.keys() for facts in told] == [told[0].keys()] * 2
    assert sorted(tmp_path.rglob("*")) == before


def test_what_cannot_stream_a_striped_store_does_not_advise_to(tmp_path: Path) -> None:
    path = striped(random_graph(3), tmp_path)
    for command, advice in (
        ("serve", "in one file; make one file"),
        ("degree-distribution", "give --memory, or make"),
    ):
        done = CliRunner().invoke(app, [command, str(path)])
        assert advice in in_options(str(done.exception))
