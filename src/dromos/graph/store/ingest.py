"""The first half of a conversion: read the edges once, write them to disk, and record facts about them."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dromos.dtypes import Array, weight_dtype
from dromos.errors import FormatError, GraphDataError, ResourceError
from dromos.graph.columns import id_column
from dromos.graph.formats.base import EdgeBlock, EdgeSource
from dromos.graph.formats.both_directions import Reverses
from dromos.graph.label_arrays import objects
from dromos.graph.labels import Labels
from dromos.graph.store.budget import Budget
from dromos.graph.store.spill import SpillFile
from dromos.graph.store.workspace import Workspace
from dromos.graph.summary import human_bytes

__all__ = ["KEPT_FILES", "RAW_FILE", "Ingested", "ingest", "load_labels"]

RAW_FILE = "raw.edges"
KEPT_FILES = {RAW_FILE, "label_integers.npy", "label_utf8.npy", "label_offsets.npy", "text_ids.npy"}
_TEXT_OVERHEAD = 160  # a dictionary slot, its growth, and the number, in addition to the string itself


@dataclass
class Ingested:
    """Facts about the whole input; kept in the manifest, so of plain types only."""

    count: int = 0
    low: int = 0
    high: int = -1
    weight_type: str | None = None
    text: bool = False
    has_labels: bool = False
    directed: bool = True
    both_directions: bool = False
    num_vertices: int | None = None
    sparse_ids: bool = False
    listing_unsure: bool = False
    reverses_there: bool = False
    """Whether every edge has its reverse; determined only on request."""

    def plain(self) -> dict[str, Any]:
        """The facts as a dictionary for the manifest."""
        return asdict(self)


def ingest(
    source: EdgeSource, workspace: Workspace, budget: Budget, *, weighted: bool | None, find_reverses: bool = False
) -> Ingested:
    """Write all blocks of ``source`` to the workspace's file of raw edges; strings become numbers on the way."""
    intake = _Intake(workspace, budget, weighted, Reverses() if find_reverses else None)
    for block in source.blocks:
        intake.take(block)
    facts = intake.facts
    if source.num_edges is not None and source.num_edges != facts.count:
        raise FormatError(f"the header promises {source.num_edges:,} edges, and the file has {facts.count:,}")
    if weighted and facts.weight_type is None:
        raise FormatError("the file has no weights, and weighted=True asks for them")
    facts.directed, facts.both_directions = source.directed, source.both_directions
    facts.listing_unsure = source.listing_unsure
    facts.reverses_there = intake.reverses is not None and intake.reverses.all_there
    facts.num_vertices, facts.sparse_ids = source.num_vertices, source.sparse_ids
    labels = source.labels
    if intake.texts is not None:
        facts.text = True
        order, names = intake.texts.in_final_order()
        table = np.empty(len(order), dtype=np.int64)
        if labels is None:
            labels = Labels.from_values(names)
            table[order] = np.arange(len(order))
        else:
            table[order] = source.vertices_named(labels, objects(names))
        np.save(workspace.path("text_ids.npy"), table)
    if labels is not None:
        facts.has_labels = True
        _save_labels(workspace, labels)
    return facts


def load_labels(workspace: Workspace) -> Labels:
    """The labels that came with the input, mapped."""
    if workspace.path("label_integers.npy").exists():
        return Labels(_mapped(workspace, "label_integers.npy"))
    utf8, offsets = (_mapped(workspace, name) for name in ("label_utf8.npy", "label_offsets.npy"))
    return Labels(utf8=utf8, offsets=offsets)


def _mapped(workspace: Workspace, name: str) -> Array:
    path = workspace.path(name)
    try:
        return np.asarray(np.load(path, mmap_mode="r"))
    except ValueError:  # an empty array cannot be mapped
        return np.asarray(np.load(path))


def _save_labels(workspace: Workspace, labels: Labels) -> None:
    parts = {"integers": labels.integers, "utf8": labels.utf8, "offsets": labels.offsets}
    for name, array in parts.items():
        if array is not None:
            np.save(workspace.path(f"label_{name}.npy"), array)


class _Intake:
    """Checks incoming blocks and cuts them into frames of a bounded size."""

    def __init__(self, workspace: Workspace, budget: Budget, weighted: bool | None, reverses: Reverses | None) -> None:
        self.facts = Ingested()
        self.reverses = reverses
        self.texts: _TextIds | None = None
        self._raw = SpillFile(workspace.path(RAW_FILE))
        self._raw.path.touch()
        self._budget, self._weighted = budget, weighted
        self._weights: _WeightType | None = None

    def take(self, block: EdgeBlock) -> None:
        weight = None if self._weighted is False else block.weight
        self._budget.check_block(sum(column.nbytes for column in block if column is not None))
        if len(block.src) != len(block.dst) or (weight is not None and len(weight) != len(block.src)):
            raise GraphDataError("the columns of source ids, target ids and weights are not equally long")
        if weight is not None and not len(weight):  # a graph without edges may have weights all the same
            self._note_weights(weight)
        step = self._budget.frame_edges
        for begin in range(0, len(block.src), step):
            part = slice(begin, begin + step)
            self._take_frame(block.src[part], block.dst[part], None if weight is None else weight[part])

    def _take_frame(self, src: Array, dst: Array, weight: Array | None) -> None:
        facts = self.facts
        src, dst = id_column(src, "src"), id_column(dst, "dst")
        text = src.dtype == object
        if text != (dst.dtype == object) or (facts.count and text != (self.texts is not None)):
            raise GraphDataError("some ids are integers and some are strings; they must all be of one kind")
        if text:
            if self.texts is None:
                self.texts = _TextIds(self._budget.table_bytes)
            src, dst = self.texts.encode_sources(src), self.texts.encode(dst)
        low, high = min(int(src.min()), int(dst.min())), max(int(src.max()), int(dst.max()))
        if (facts.count or self._weights is not None) and (weight is None) != (self._weights is None):
            raise GraphDataError("some edges have a weight and some have none; give all or none")
        facts.low, facts.high = (min(facts.low, low), max(facts.high, high)) if facts.count else (low, high)
        if weight is not None:
            self._note_weights(weight)
        if self.reverses is not None:
            self.reverses.take(src, dst, weight)
        dtype = np.dtype(np.int32 if low >= -(2**31) and high < 2**31 else np.int64)
        self._raw.append(src.astype(dtype, copy=False), dst.astype(dtype, copy=False), weight)
        facts.count += len(src)

    def _note_weights(self, weight: Array) -> None:
        self._weights = self._weights or _WeightType()
        self._weights.take(weight, self.facts.count)
        self.facts.weight_type = self._weights.chosen().name


class _WeightType:
    """The type that holds all weights, as if they had come in one array."""

    def __init__(self) -> None:
        self._dtype: np.dtype[Any] | None = None
        self._extremes = [0, 0]

    def take(self, weight: Array, count: int) -> None:
        if weight.dtype.kind == "f" and np.isnan(weight).any():
            raise GraphDataError(f"the weight of edge {count + int(np.argmax(np.isnan(weight)))} is not a number (NaN)")
        if weight.dtype.kind in "iu" and len(weight):
            self._extremes = [min(self._extremes[0], int(weight.min())), max(self._extremes[1], int(weight.max()))]
        self._dtype = weight.dtype if self._dtype is None else np.result_type(self._dtype, weight.dtype)

    def chosen(self) -> np.dtype[Any]:
        assert self._dtype is not None
        return weight_dtype(np.array(self._extremes, dtype=self._dtype))


class _TextIds:
    """Numbers strings in the order that the in-memory reader uses: sources first, then targets."""

    def __init__(self, limit: int) -> None:
        self._numbers: dict[str, int] = {}
        self._is_source = bytearray()
        self._sources: list[int] = []
        self._held, self._limit = 0, limit

    def encode_sources(self, texts: Array) -> Array:
        numbers = self.encode(texts)
        for number in numbers.tolist():
            if not self._is_source[number]:
                self._is_source[number] = 1
                self._sources.append(number)
        return numbers

    def in_final_order(self) -> tuple[Array, list[str]]:
        """The numbers in the order of their final ids, and the strings in that order."""
        only_targets = [number for number, source in enumerate(self._is_source) if not source]
        order = np.array(self._sources + only_targets, dtype=np.int64)
        names = list(self._numbers)
        return order, [names[number] for number in order.tolist()]

    def encode(self, texts: Array) -> Array:
        numbers = np.empty(len(texts), dtype=np.int64)
        for position, text in enumerate(texts.tolist()):
            number = self._numbers.get(text)
            if number is None:
                number = self._numbers[text] = len(self._numbers)
                self._is_source.append(0)
                self._held += sys.getsizeof(text) + _TEXT_OVERHEAD
                if self._held > self._limit:
                    raise ResourceError(
                        f"the ids are strings, and a dictionary of the first {number + 1:,} different ones takes "
                        f"{human_bytes(self._held)}, more than the quarter of memory={human_bytes(4 * self._limit)} "
                        "that it may: give more memory, or number the vertices first"
                    )
            numbers[position] = number
        return numbers
