"""Every text format gives back the graph that was written, or says before it writes that it cannot hold it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dromos as dr
from dromos import Graph
from dromos.errors import UnsupportedFormatError

from .random_graphs import graphs


def _float_weights(graph: Graph) -> bool:
    return graph.weights is not None and graph.weights.dtype.kind == "f"


def _string_labels(graph: Graph) -> bool:
    return graph.labels is not None and graph.labels.kind == "str"


def _gap_loses(graph: Graph) -> bool:
    last_is_isolated = graph.num_arcs == 0 or (
        graph.out_degree[-1] == 0 and graph.in_degree[-1] == 0
    )  # fmt: skip
    return graph.labels is not None or not graph.directed or last_is_isolated


REFUSES: dict[str, Callable[[Graph], bool]] = {
    "g.txt": _string_labels,
    "g.tsv": _string_labels,
    "g.mtx": lambda g: False,
    "g.gr": _float_weights,
    "g.graph": lambda g: g.directed or g.has_self_loops or _float_weights(g),
    "g.e": _string_labels,
    "g.el": lambda g: _gap_loses(g) or g.weights is not None,
    "g.wel": lambda g: _gap_loses(g) or g.weights is None,
}


@pytest.mark.parametrize("name", REFUSES)
@given(data=st.data(), compression=st.sampled_from(["", "", "", ".gz", ".zst", ".bz2", ".xz"]))
@settings(max_examples=120)
def test_round_trip(name: str, data: st.DataObject, compression: str) -> None:
    shapes: dict[str, Any] = {
        "g.graph": {"directed": (False,), "weights": (None, "int32")},
        "g.el": {"labels": (None,), "directed": (True,), "weights": (None,)},
        "g.wel": {"labels": (None,), "directed": (True,), "weights": ("int32", "float32", "float64")},
    }
    anything = data.draw(st.integers(0, 9)) == 0
    graph = data.draw(graphs() if anything else graphs(**shapes.get(name, {})))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (name + compression)
        try:
            graph.write(path)
        except UnsupportedFormatError:
            assert REFUSES[name](graph)
            assert list(Path(folder).iterdir()) == []
            return
        options = {"weight_dtype": graph.weights.dtype} if name == "g.wel" and graph.weights is not None else {}
        assert dr.read(path, **options) == graph


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)


@given(st.lists(st.tuples(NAMES, NAMES).map(" ".join), unique=True, min_size=2, max_size=6), st.booleans())
@settings(max_examples=60)
@example(["New York", "São Paulo, BR", "12", "-7"], False)
def test_names_with_blanks_and_letters_of_all_scripts(names: list[str], directed: bool) -> None:
    names = [name for name in names if not name.startswith(("#", "%", "//"))]
    graph = Graph.from_edges(
        np.arange(len(names) - 1) if names else [], np.arange(1, len(names)) if names else [],
        num_vertices=len(names), labels=names or None, directed=directed,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for name in ("g.txt", "g.mtx", "g.gr"):
            graph.write(Path(folder) / name)
            assert dr.read(Path(folder) / name) == graph


@pytest.mark.parametrize("name", ["g.txt", "g.txt.zst", "g.mtx", "g.gr", "g.e", "g.graph"])
@pytest.mark.parametrize("weights", [None, "int32"])
def test_files_of_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, weights: str | None) -> None:
    monkeypatch.setattr("dromos.graph.formats.text_file.BLOCK_BYTES", 5000)
    monkeypatch.setattr("dromos.graph.formats.text_writer._ARCS_A_BLOCK", 1000)
    monkeypatch.setattr("dromos.graph.formats.text_writer._SMALL", 0)
    monkeypatch.setattr("dromos.graph.formats.text_rows._SMALL_FILE", 0)
    monkeypatch.setattr("dromos.graph.formats.text_lists._ITEMS_A_BLOCK", 1000)
    rng = np.random.default_rng(7)
    src, dst = rng.integers(0, 3000, (2, 20_000))
    values = rng.integers(-9, 10**6, 20_000).astype(weights) if weights else None
    graph = Graph.from_edges(src, dst, values, num_vertices=3001, directed=False, drop_self_loops=True)
    path = tmp_path / name
    graph.write(path)
    assert dr.read(path, threads=3) == graph
    assert dr.read(path, threads=1) == graph


def test_weights_of_random_bits_come_back_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    doubles = rng.integers(-(2**63), 2**63 - 1, 40_000).view(np.float64)
    singles = rng.integers(-(2**31), 2**31 - 1, 40_000, dtype=np.int32).view(np.float32)
    uniform = np.concatenate([rng.random(20_000), rng.integers(0, 10**6, 20_000) / 100])
    for values in (doubles[np.isfinite(doubles)], singles[np.isfinite(singles)], uniform, uniform.astype(np.float32)):
        ids = np.arange(len(values))
        graph = Graph.from_edges(ids, ids, values)
        graph.write(tmp_path / "g.txt")
        again = dr.read(tmp_path / "g.txt").weights
        assert again is not None
        assert again.dtype == values.dtype
        assert again.tobytes() == np.asarray(graph.weights).tobytes()


def test_an_existing_file_is_replaced_and_nothing_is_left_beside(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("old")
    Graph.from_edges([0], [1]).write(path)
    assert [p.name for p in tmp_path.iterdir()] == ["g.txt"]
    assert path.read_text().endswith("0 1\n")


@pytest.mark.parametrize("names", [["a", "b", "c"], None], ids=["strings", "ids"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("name", ["g.csv", "g.csv.gz", "g.txt", "g.tsv", "g.mtx", "g.wel"])
def test_whole_weights_keep_their_kind(tmp_path: Path, name: str, dtype: str, names: list[str] | None) -> None:
    """Formats that say nothing of types give ``float64`` for ``float32``, but integers for integers only."""
    weights = np.array([1, -2, 100_000, 2**31 - 128], dtype)
    graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 1], weights, labels=None if name == "g.wel" else names)
    graph.write(tmp_path / name)
    back = dr.read(tmp_path / name).weights
    assert back is not None
    says_types = name in ("g.txt", "g.tsv", "g.mtx")
    assert back.dtype == ("float64" if dtype == "float32" and not says_types else dtype)
    assert sorted(back.tolist()) == sorted(weights.tolist())


@pytest.mark.parametrize("without", [[], ["decimal64"]], ids=["decimal64", "decimal128"])
@pytest.mark.parametrize("weights", [[1.0, 2.0], [-(2.0**31), 0.0], [2.0**31, 1.0], [np.inf, 1.0], [1e300, 1.0]])
def test_a_csv_file_of_whole_floats_is_read_as_floats(
    tmp_path: Path, weights: list[float], without: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in without:  # as in an older pyarrow
        monkeypatch.delattr(f"pyarrow.{kind}", raising=False)
    Graph.from_edges([0, 1], [1, 0], np.array(weights)).write(tmp_path / "g.csv")
    back = dr.read(tmp_path / "g.csv").weights
    assert back is not None
    assert back.dtype == np.float64
    assert back.tolist() == weights
