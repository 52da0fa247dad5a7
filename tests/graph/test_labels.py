"""Labels and factorize: the pyarrow path, the plain path and the compiled path agree with a dictionary."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dromos import Graph, Labels
from dromos.errors import GraphDataError, UnknownVertexError
from dromos.graph import factorizing, label_arrays, labels
from dromos.graph.factorizing import factorize
from dromos.graph.labels import as_label_array

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=5)  # surrogates, NUL and the empty string included
MANY = label_arrays.MANY


def objects(values: list) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.fixture(params=["python", "pyarrow"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run small inputs through the path that large ones take, and the plain path without pyarrow."""
    if request.param == "python":
        monkeypatch.setattr(label_arrays, "pyarrow_or_none", lambda: None)
        monkeypatch.setattr(labels, "pyarrow_or_none", lambda: None)
        monkeypatch.setattr(factorizing, "pyarrow_or_none", lambda: None)
    else:
        monkeypatch.setattr(label_arrays, "MANY", 1)
        monkeypatch.setattr(labels, "MANY", 1)
        monkeypatch.setattr(factorizing, "MANY", 1)
    return str(request.param)


class TestStrings:
    @pytest.mark.parametrize(
        "texts", [["", "a\0", "a", "a\0b"], ["ö", "日本", "🙂", "o"], ["\ud800", "x", "\udfff"], []]
    )
    def test_round_trip(self, path: str, texts: list[str]) -> None:
        names = Labels.from_values(objects(texts))
        assert names.to_numpy().tolist() == texts
        assert len(names) == len(texts)
        assert names.ids_of(objects(texts[::-1])).tolist() == list(range(len(texts)))[::-1]

    def test_duplicates_are_refused(self, path: str) -> None:
        with pytest.raises(GraphDataError, match="'b' is given to more than one"):
            Labels.from_values(objects(["a", "b", "c", "b"]))

    def test_unknown_label(self, path: str) -> None:
        with pytest.raises(UnknownVertexError, match="'z'"):
            Labels.from_values(objects(["a", "b"])).ids_of(objects(["b", "z", "y"]))

    def test_a_number_is_no_string_label(self, path: str) -> None:
        with pytest.raises(UnknownVertexError, match="7"):
            Labels.from_values(objects(["a", "7"])).ids_of([7])

    def test_factorize_by_first_appearance(self, path: str) -> None:
        src, dst, names = factorize(objects(["b", "a", "b"]), objects(["c", "b", "d"]))
        assert src.tolist() == [0, 1, 0]
        assert dst.tolist() == [2, 0, 3]
        assert names.to_numpy().tolist() == ["b", "a", "c", "d"]

    @given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT), min_size=1, max_size=30))
    def test_factorize_gives_the_labels_back(self, edges: list[tuple[str, str]]) -> None:
        src, dst, names = factorize(objects([u for u, _ in edges]), objects([v for _, v in edges]))
        assert list(zip(names.values_of(src).tolist(), names.values_of(dst).tolist(), strict=True)) == edges

    def test_many(self) -> None:
        texts = [f"vertex {i % 3000}" for i in range(2 * MANY)]
        src, dst, names = factorize(objects(texts), objects(texts[::-1]))
        assert len(names) == 3000
        assert src.dtype == np.int32
        assert names.values_of(src).tolist() == texts
        assert names.values_of(dst).tolist() == texts[::-1]
        assert np.array_equal(names.ids_of(objects(texts)), src)
        with pytest.raises(UnknownVertexError, match="nobody"):
            names.ids_of(objects([*texts, "nobody"]))
        with pytest.raises(GraphDataError, match="vertex 0"):
            Labels.from_values(texts)

    def test_many_with_one_surrogate(self) -> None:
        texts = [*map(str, range(2 * MANY)), "\ud800"]
        names = Labels.from_values(texts)
        assert names.to_numpy().tolist() == texts
        assert names.ids_of(objects(texts[::-1])).tolist() == list(range(len(texts)))[::-1]
        with pytest.raises(GraphDataError, match="surrogate"):
            names.to_arrow()

    @pytest.mark.parametrize(
        "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
    )
    def test_from_arrow(self, kind: pa.DataType) -> None:
        whole = pa.array(["skipped", "ada", "", "eve"])
        whole = whole.dictionary_encode() if pa.types.is_dictionary(kind) else whole.cast(kind)
        names = Labels.from_values(whole[1:])
        assert names.to_numpy().tolist() == ["ada", "", "eve"]
        assert names.to_arrow().to_pylist() == ["ada", "", "eve"]
        assert Labels.from_values(pa.chunked_array([whole[1:2], whole[2:]])) == names
        assert len(Labels.from_values(whole[:0])) == 0

    def test_nulls_from_arrow_are_refused(self) -> None:
        with pytest.raises(GraphDataError, match="1 labels are missing"):
            Labels.from_values(pa.array(["a", None]))


class TestIntegers:
    @pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
    def test_any_width(self, dtype: type) -> None:
        names = Labels.from_values(np.array([7, 3, 100], dtype=dtype))
        assert names.integers is not None
        assert names.integers.dtype == np.int64
        assert names.ids_of([100, 7]).tolist() == [2, 0]

    def test_from_arrow(self) -> None:
        assert Labels.from_values(pa.array([5, 2])).to_numpy().tolist() == [5, 2]

    def test_out_of_int64(self) -> None:
        with pytest.raises(GraphDataError, match="int64"):
            Labels.from_values([2**63])
        with pytest.raises(GraphDataError, match="int64"):
            Labels.from_values(np.array([2**63], dtype=np.uint64))

    def test_duplicates_are_refused(self) -> None:
        with pytest.raises(GraphDataError, match="label 4 is given"):
            Labels.from_values([9, 4, 1, 4])

    def test_unknown_label(self) -> None:
        with pytest.raises(UnknownVertexError, match="labelled 6"):
            Labels.from_values([5, 7]).ids_of([7, 6])
        with pytest.raises(UnknownVertexError, match="integers"):
            Labels.from_values([5, 7]).ids_of(["5"])

    @settings(max_examples=50)
    @given(
        st.sampled_from([(-5, 5), (0, 200), (-(2**63), 2**63 - 1), (10**12, 10**12 + 300)]).flatmap(
            lambda bounds: st.lists(st.tuples(*[st.integers(*bounds)] * 2), min_size=1, max_size=80)
        )
    )
    def test_factorize_matches_sorting(self, edges: list[tuple[int, int]]) -> None:
        given_src, given_dst = np.array(edges, dtype=np.int64).T.copy()
        src, dst, names = factorize(given_src, given_dst)
        values = sorted({value for edge in edges for value in edge})
        assert names.to_numpy().tolist() == values
        assert [values[i] for i in src] == given_src.tolist()
        assert [values[i] for i in dst] == given_dst.tolist()

    def test_dense_ids_come_back_as_they_are(self) -> None:
        src, dst = np.array([0, 2], dtype=np.int32), np.array([1, 0], dtype=np.int32)
        assert factorize(src, dst)[0] is src
        assert factorize(src, dst)[1] is dst

    @pytest.mark.parametrize("stride", [3, 10**9])
    def test_many_on_several_threads(self, stride: int) -> None:
        rng = np.random.default_rng(5)
        given_src, given_dst = rng.integers(0, 20_000, size=(2, 50_000)) * stride - 7
        src, dst, names = factorize(given_src, given_dst, threads=3)
        expected, inverse = np.unique(np.concatenate([given_src, given_dst]), return_inverse=True)
        assert np.array_equal(names.to_numpy(), expected)
        assert np.array_equal(np.concatenate([src, dst]), inverse)
        assert src.dtype == np.int32


class TestRefused:
    @pytest.mark.parametrize("values", [[1, "a"], [True, False], [1.5], [(1, 2)], [b"raw"], [None]])
    def test_other_types(self, values: list) -> None:
        with pytest.raises(GraphDataError, match="integers"):
            as_label_array(values)

    def test_mixed_columns(self) -> None:
        with pytest.raises(GraphDataError, match="different kinds"):
            factorize(np.array([1]), objects(["a"]))

    def test_two_dimensions(self) -> None:
        with pytest.raises(GraphDataError, match="one-dimensional"):
            as_label_array(np.zeros((2, 2), dtype=int))


class TestSearchWithoutIndex:
    @pytest.fixture(autouse=True)
    def few_at_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dromos.graph.labels._MANY_TO_INDEX", 0)
        monkeypatch.setattr("dromos.graph.label_search._BLOCK", 3)

    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.text("ab\0ö\ud800", max_size=4), min_size=1, max_size=20, unique=True), st.data())
    def test_strings(self, texts: list[str], data: st.DataObject) -> None:
        built = Labels.from_values(objects(texts))
        stored = Labels(utf8=built.utf8, offsets=built.offsets)
        wanted = data.draw(st.lists(st.sampled_from(texts), max_size=5))
        assert stored.ids_of(wanted).tolist() == [texts.index(text) for text in wanted]
        assert stored.index_bytes == 0
        with pytest.raises(UnknownVertexError, match="bbbbb"):
            stored.ids_of([*wanted, "bbbbb"])
        with pytest.raises(UnknownVertexError, match="7"):
            stored.ids_of([7])

    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20, unique=True), st.data())
    def test_integers(self, numbers: list[int], data: st.DataObject) -> None:
        stored = Labels(np.array(numbers))
        wanted = data.draw(st.lists(st.sampled_from(numbers), max_size=5))
        assert stored.ids_of(wanted).tolist() == [numbers.index(number) for number in wanted]
        assert stored.index_bytes == 0
        with pytest.raises(UnknownVertexError, match=str(2**63)):
            stored.ids_of([2**63])

    @pytest.mark.parametrize("texts", [[5, 9, 7], ["a", "c", "b"]])
    def test_an_index_is_made_for_many_lookups(self, texts: list) -> None:
        built = Labels.from_values(texts)
        stored = Labels(built.integers, utf8=built.utf8, offsets=built.offsets)
        assert [stored.id_of(texts[number % 3]) for number in range(90)] == [number % 3 for number in range(90)]
        assert stored.index_bytes > 0


def test_large_unsigned_labels_are_not_rounded() -> None:
    labels = Labels.from_values([2**62 + 1, 2**62 + 3])
    assert labels.ids_of(np.array([2**62 + 3], dtype=np.uint64)).tolist() == [1]


def test_labels_of_edges_keep_trailing_nuls() -> None:
    assert Graph.from_edges(["a\0", "a"], ["a", "b"]).num_vertices == 3


@pytest.mark.parametrize("values", [["ada", "bob", "eve"], [30, 10, 20]])
def test_labels_are_taken_by_ids(values):
    labels = Labels.from_values(values)
    assert labels[1] == labels[np.int32(1)] == values[1]
    assert labels[[2, 0]].tolist() == labels[np.array([2, 0], np.int32)].tolist() == [values[2], values[0]]
    assert labels[1:].tolist() == labels[np.array([False, True, True])].tolist() == values[1:]
    assert labels[[]].tolist() == []
    assert list(labels) == values
    assert values[0] in labels
    for wrong in (3, -1, [0, -1], [3]):
        with pytest.raises(IndexError, match=r"the ids are 0\.\.2"):
            labels[wrong]
    with pytest.raises(TypeError, match="vertex_id"):
        labels["ada"]
