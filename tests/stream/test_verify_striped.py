"""Verifying stores in stripes: all that is checked of a store in one file, and which stripe is damaged."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app
from dromos.errors import CorruptFileError, FileError
from dromos.graph.store import read_header, stripe_store, verify, write
from dromos.graph.store.paged.stripes import StripedFiles
from dromos.graph.store.striped import pieces_of
from tests.store.graphs import graphs, sample
from tests.stream.stores import PAGE, random_graph

FOLDERS = ("a", "b", "c")


def striped(graph: dr.Graph, folder: Path, **options: bool) -> Path:
    """``striped.drm`` in three stripes, and ``whole.drm``, the same store in one file."""
    write(graph, folder / "whole.drm", **options)
    for name in FOLDERS:
        (folder / name).mkdir(exist_ok=True)
    stripe_store(
        folder / "whole.drm", folder / "striped.drm", [folder / name for name in FOLDERS], stripe_bytes=2 * PAGE
    )
    return folder / "striped.drm"


def parts_of(folder: Path) -> list[Path]:
    return sorted(part for name in FOLDERS for part in (folder / name).glob("*.stripe"))


def flip(path: Path, at: int) -> Path:
    """Flip a bit of the byte ``at`` of a striped store; the stripe that holds it."""
    stripes = dr.open(path).origin.stripes
    assert stripes is not None
    ((number, place, _, _),) = pieces_of(stripes, at, 1)
    part = Path(stripes.files[number].path)
    with part.open("r+b") as file:
        file.seek(place)
        old = file.read(1)
        file.seek(place)
        file.write(bytes([old[0] ^ 4]))
    return part


@pytest.mark.parametrize("compress", [False, True])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), transpose=st.booleans())
def test_the_checks_of_a_striped_store_are_those_of_a_whole_one(
    graph: dr.Graph, transpose: bool, compress: bool, tmp_path: Path
) -> None:
    path = striped(graph, tmp_path, transpose=transpose, compress=compress)
    report, whole = verify(path), verify(tmp_path / "whole.drm")
    assert (report.checks, report.identity) == (whole.checks, whole.identity)


def test_a_graph_is_checked_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(3, arcs=40_000)
    path = striped(graph, tmp_path, transpose=True)
    whole, read = verify(tmp_path / "whole.drm").checks, []
    inner = StripedFiles.read_into

    def counted(self: StripedFiles, buffer: memoryview, position: int) -> None:
        read.append(len(buffer))
        inner(self, buffer, position)

    monkeypatch.setattr(StripedFiles, "read_into", counted)
    module = sys.modules["dromos.graph.store.verify"]  # its name in the package is that of the function
    monkeypatch.setattr(module, "_SLICE_ARCS", 1_000)
    monkeypatch.setattr(module, "_SLICE_ROWS", 50)
    monkeypatch.setattr("dromos.graph.store.sections._STEP_CHUNKS", 1)
    assert verify(path).checks == verify(tmp_path / "whole.drm").checks == whole
    longest = 4 * int(graph.out_degree.max())
    assert max(read) <= longest + 2 * PAGE < graph.num_arcs * 4 / 2


@pytest.mark.parametrize("compress", [False, True])
def test_a_flipped_bit_in_any_section_is_named_with_its_stripe(compress: bool, tmp_path: Path) -> None:
    path = striped(sample(), tmp_path, transpose=True, compress=compress)
    sections = read_header(tmp_path / "whole.drm").sections
    assert len(sections) == (10 if compress else 8)
    for section in sections:
        for at in (section.offset, section.end - 1):
            part = flip(path, at)
            with pytest.raises(CorruptFileError) as caught:
                verify(path)
            assert f"section {section.name}, chunk " in caught.value.message
            assert f"bytes {section.offset:,}.." in caught.value.message
            assert f"of {part})" in caught.value.message
            assert "and" not in caught.value.message.split("which are", 1)[1].split(")")[0]
            flip(path, at)
    assert len(verify(path).checks) > 5


def test_a_flipped_bit_anywhere_is_found(tmp_path: Path) -> None:
    path = striped(sample(), tmp_path, transpose=True)
    rng = np.random.default_rng(4)
    for part in (path, *parts_of(tmp_path)):
        whole = part.read_bytes()
        for at in rng.choice(len(whole), 60, replace=False).tolist():
            part.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(FileError):
                verify(path)
        part.write_bytes(whole)
    verify(path)


def test_a_chunk_in_two_stripes_names_both(tmp_path: Path) -> None:
    path = striped(random_graph(3), tmp_path)
    section = read_header(tmp_path / "whole.drm").section("targets")
    assert section is not None
    flip(path, section.offset + 3 * PAGE)
    with pytest.raises(CorruptFileError, match=r"which are bytes .* of .*\.stripe and bytes .* of .*\.stripe\)"):
        verify(path)


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        ("removed", FileError, "b/striped.*: No such file"),
        ("cut", CorruptFileError, r"b/striped.*stripe 1 of .* has [\d,]+ bytes, not [\d,]+"),
        ("exchanged", CorruptFileError, "a/striped.*is not stripe 0 of 3"),
        ("of another store", CorruptFileError, "b/striped.*is not stripe 1 of 3"),
    ],
)
def test_stripes_that_are_not_there(fault: str, error: type[Exception], text: str, tmp_path: Path) -> None:
    path = striped(sample(), tmp_path)
    parts = parts_of(tmp_path)
    if fault == "removed":
        parts[1].unlink()
    elif fault == "cut":
        os.truncate(parts[1], parts[1].stat().st_size - 1)
    elif fault == "exchanged":
        parts[0].rename(tmp_path / "away")
        parts[1].rename(parts[0])
        (tmp_path / "away").rename(parts[1])
    else:
        (tmp_path / "other").mkdir()
        striped(random_graph(4), tmp_path / "other")
        parts_of(tmp_path / "other")[1].replace(parts[1])
    with pytest.raises(error, match=text):
        verify(path)


def test_the_command_line_verifies_one(tmp_path: Path) -> None:
    path = striped(sample(), tmp_path)
    done = CliRunner().invoke(app, ["verify", str(path)])
    assert done.exit_code == 0, done.output
    assert "OK (" in done.output
