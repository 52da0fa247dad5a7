"""SciPy's sparse matrices in .npz archives."""

from __future__ import annotations

import io
import pickle
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dromos as dr
from dromos import Graph
from dromos.errors import CorruptFileError, FormatError, UnsupportedFormatError

from .random_graphs import graphs


@given(graph=graphs(), compress=st.booleans())
def test_there_and_back(folder: Path, graph: Graph, compress: bool) -> None:
    file = folder / "g.npz"
    graph.write(file, compress=compress)
    assert dr.read(file) == graph


@given(graph=graphs(labels=(None,)))
def test_scipy_reads_ours(folder: Path, graph: Graph) -> None:
    file = folder / "g.npz"
    graph.write(file)
    matrix = sp.load_npz(file)
    assert matrix.format == "csr"
    assert np.array_equal(matrix.indptr, graph.offsets)
    assert np.array_equal(matrix.indices, graph.targets)
    assert np.array_equal(matrix.data, graph.to_scipy().data)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("family", [sp.csr_array, sp.csr_matrix])
@settings(max_examples=15)
@given(data=st.data())
def test_we_read_scipys(folder: Path, kind: str, compressed: bool, family: type, data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([0, 1, 4, 6]))
    dense = np.array(data.draw(st.lists(st.sampled_from([0, 0, 1, 2.5]), min_size=size**2, max_size=size**2)))
    matrix = family(dense.reshape(size, size)).asformat(kind)
    sp.save_npz(folder / "m.npz", matrix, compressed=compressed)
    g = dr.read(folder / "m.npz")
    assert g.num_vertices == size
    assert np.array_equal(g.to_scipy().toarray(), dense.reshape(size, size))
    assert g == Graph.from_scipy(matrix)


def test_bsr_with_blocks(tmp_path: Path) -> None:
    dense = np.kron(np.array([[0, 1], [1, 0]]), np.array([[1, 0, 2], [0, 0, 3]]))[:, :4]
    sp.save_npz(tmp_path / "m.npz", sp.bsr_array(dense, blocksize=(2, 1)))
    assert dr.read(tmp_path / "m.npz") == Graph.from_scipy(sp.csr_array(dense))


def test_bool_is_unweighted_and_index_types(tmp_path: Path) -> None:
    matrix = sp.csr_array(np.array([[0, 1], [1, 1]], dtype=bool))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    sp.save_npz(tmp_path / "m.npz", matrix)
    assert dr.read(tmp_path / "m.npz") == Graph.from_edges([0, 1, 1], [1, 0, 1])


def test_options_of_read_apply(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "m.npz", sp.csr_array([[0, 2], [2, 0]]))
    g = dr.read(tmp_path / "m.npz", directed=False, symmetrize=False, weighted=False)
    assert g == Graph.from_edges([0], [1], directed=False)


def test_labels_that_only_python_holds(tmp_path: Path) -> None:
    g = Graph.from_edges([0], [1], labels=["\ud800", "a\0"])
    g.write(tmp_path / "g.npz")
    assert dr.read(tmp_path / "g.npz").labels.to_numpy().tolist() == ["\ud800", "a\0"]


def test_the_same_graph_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        Graph.from_edges([0], [1], [0.5]).write(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


CSR = {
    "format": np.array(b"csr"),
    "shape": np.array([2, 2]),
    "indptr": np.array([0, 1, 2]),
    "indices": np.array([1, 0]),
    "data": np.array([1.0, 2.0]),
}
COO = {
    "format": np.array("coo"),
    "shape": np.array([2, 2]),
    "data": np.ones(2),
    "row": np.arange(2),
    "col": np.arange(2),
}
BSR = {**CSR, "format": np.array("bsr"), "data": np.ones((2, 1, 1))}
NAMED = {**CSR, "dromos": np.frombuffer(b'{"version":1,"directed":true,"weighted":true,"labels":"str"}', np.uint8)}
BYTES, ENDS = np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "no array 'format'"),
        ({"a": np.arange(3)}, "no array 'format'"),
        ({**CSR, "format": np.array("dia")}, "'dia' matrix"),
        ({**CSR, "format": np.array([1])}, "does not name"),
        ({**CSR, "shape": np.array([2, 3])}, "as many columns"),
        ({**CSR, "shape": np.array([-1, -1])}, "as many columns"),
        ({**CSR, "shape": np.array([2.0, 2.0])}, "'shape' should be a column of integers"),
        ({**CSR, "indptr": np.array([0, 1])}, "indptr has 2 entries"),
        ({**CSR, "indptr": np.array([0, 2, 1])}, "indptr does not rise"),
        ({**CSR, "indices": np.array([1, 2])}, "outside 0..1"),
        ({**CSR, "indices": np.array([1, -1])}, "outside 0..1"),
        ({**CSR, "data": np.array([1.0])}, "1 values for 2 entries"),
        ({**CSR, "data": np.array([1.0, np.nan])}, "NaN"),
        ({**CSR, "data": np.array([1j, 2])}, "real numbers; it is complex"),
        ({**CSR, "data": np.array(["a", "b"])}, "real numbers"),
        ({**CSR, "data": np.array(1.0)}, "real numbers"),
        ({**COO, "row": np.array([0, 5])}, "outside"),
        ({**COO, "row": np.array([0])}, "do not match"),
        ({**COO, "shape": np.array([10**12, 10**12])}, "only 2 entries"),
        ({**BSR, "data": np.ones((2, 3, 1))}, "do not fit"),
        ({**BSR, "data": np.ones((2, 0, 1))}, "do not fit"),
        ({**BSR, "data": np.ones((3, 1, 1))}, "2 places for 3 blocks"),
        ({**CSR, "dromos": np.frombuffer(b"{", np.uint8)}, "metadata is damaged"),
        ({**CSR, "dromos": np.frombuffer(b'{"version": 1}', np.uint8)}, "metadata is damaged"),
        ({**NAMED, "dromos": np.frombuffer(NAMED["dromos"].tobytes().replace(b"1", b"9"), np.uint8)}, "later Dromos"),
        (NAMED, "no array 'dromos_label_offsets'"),
        ({**NAMED, "dromos_label_bytes": BYTES, "dromos_label_offsets": ENDS[:-1]}, "do not match their bytes"),
        ({**NAMED, "dromos_label_bytes": BYTES[:1], "dromos_label_offsets": ENDS[:-1]}, "1 labels for 2"),
        ({**NAMED, "dromos_label_bytes": BYTES | 128, "dromos_label_offsets": ENDS}, "not UTF-8"),
        ({**NAMED, "dromos_label_bytes": BYTES * 0, "dromos_label_offsets": ENDS}, "more than one vertex"),
    ],
)
def test_arrays_that_are_no_graph(tmp_path: Path, arrays: dict, message: str) -> None:
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises((FormatError, UnsupportedFormatError), match=message) as caught:
        dr.read(tmp_path / "m.npz")
    assert caught.value.path == str(tmp_path / "m.npz")


class Trap:
    def __reduce__(self) -> tuple:
        return pytest.fail, ("a pickle was loaded",)


def test_pickles_are_not_loaded(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.savez(tmp_path / "m.npz", **CSR | {"data": np.array([Trap(), Trap()], dtype=object)})
    with pytest.raises(CorruptFileError, match="allow_pickle=False"):
        dr.read(tmp_path / "m.npz")
    (tmp_path / "p.npz").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(CorruptFileError, match=r"no \.npz"):
        dr.read(tmp_path / "p.npz")


def npy_bytes(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def test_a_header_that_promises_too_much(tmp_path: Path) -> None:
    honest = npy_bytes(np.zeros(2))
    lying = honest.replace(b"'shape': (2,), }        ", b"'shape': (9999999999,),}")
    assert lying != honest
    assert len(lying) == len(honest)
    with zipfile.ZipFile(tmp_path / "m.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in CSR.items():
            archive.writestr(f"{name}.npy", lying if name == "data" else npy_bytes(array))
    with pytest.raises(CorruptFileError, match="the array 'data' is damaged"):
        dr.read(tmp_path / "m.npz")


def test_a_member_that_promises_too_much(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", **CSR)
    data = bytearray((tmp_path / "m.npz").read_bytes())
    entry = data.index(b"PK\1\2")
    data[entry + 24 : entry + 28] = (2**31).to_bytes(4, "little")  # the uncompressed size in the directory
    (tmp_path / "m.npz").write_bytes(data)
    with pytest.raises(CorruptFileError, match="claims 2,147,483,648 bytes"):
        dr.read(tmp_path / "m.npz")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "m.npz", "w", method) as archive:
        for name, array in CSR.items():
            archive.writestr(f"{name}.npy", npy_bytes(array))
    with pytest.raises(UnsupportedFormatError, match="compressed in a way"):
        dr.read(tmp_path / "m.npz")


def test_undirected_that_is_not(tmp_path: Path) -> None:
    extra = np.frombuffer(b'{"version":1,"directed":false,"weighted":true,"labels":null}', np.uint8)
    np.savez(tmp_path / "m.npz", **CSR, dromos=extra)
    with pytest.raises(FormatError, match="lacks its reverse"):
        dr.read(tmp_path / "m.npz")
