"""A byte order mark at the start of a text file, as programs on Windows write it, is no part of the first line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import dromos as dr

TEXTS = {
    "edges.txt": "0 1\n1 2\n",
    "comment.txt": "# a comment\n0 1\n1 2\n",
    "counts.txt": "3 2\n0 1\n1 2\n",
    "names.txt": "ada bob\nbob ada\n",
    "gap.el": "0 1\n1 2\n",
    "gap.wel": "0 1 5\n1 2 6\n",
    "matrix.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1.5\n",
    "metis.graph": "3 2\n2\n1 3\n2\n",
    "roads.gr": "p sp 3 1\na 1 2 5\n",
    "table.csv": "src,dst,weight\n0,1,2.5\n",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_graph_is_that_of_the_text_without_the_mark(tmp_path: Path, name: str, end: str, line_end: str) -> None:
    text = TEXTS[name].replace("\n", line_end).encode()
    pack = gzip.compress if end else bytes
    plain, marked = tmp_path / f"plain-{name}{end}", tmp_path / f"marked-{name}{end}"
    plain.write_bytes(pack(text))
    marked.write_bytes(pack(b"\xef\xbb\xbf" + text))
    assert dr.read(marked) == dr.read(plain)


def test_a_mark_alone_is_a_file_without_edges(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_bytes(b"\xef\xbb\xbf")
    assert dr.read(tmp_path / "g.txt").num_edges == 0


def test_within_the_text_it_is_a_letter_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("ada bob\n\ufeffeve bob\n", encoding="utf-8")
    assert "\ufeffeve" in dr.read(tmp_path / "g.txt").labels.to_numpy().tolist()
