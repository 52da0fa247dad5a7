"""How large the parts of split R-MAT graphs are: ``python -m benchmarks.gpu.split_sizes --out FILE``.

The model of a hybrid needs of each part what :class:`dromos.places.hybrid.part_sizes.PartSize` holds. Here that is
computed for the splits of kron21 and kron24 that ``benchmarks/results/h200/hybrid.json`` has times of, by NumPy on the
host: no device is needed, and the edges are those that ``kernels/generate.cuh`` draws. ``cut_arcs`` and
``inner_arcs`` are counted along all arcs; the model does not use them, they say how good its guesses are. kron24 takes
some minutes and 7 GB.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu.graphs import EDGE_FACTOR, SEED
from dromos.dtypes import Array
from dromos.graph.parting import SPLITS, Split, order_of
from dromos.places.hybrid.part_sizes import PartSize, part_sizes

__all__ = ["flat_sizes", "rmat_edges", "sizes_of_splits"]

_SHARES = (0.05, 0.1, 0.25, 0.5, 0.75)
MEASURED: dict[int, tuple[tuple[Split, float], ...]] = {
    21: tuple((split, share) for split in SPLITS for share in _SHARES),
    24: (("high", 0.25),),
}
"""The splits of each scale that there are times of."""
_QUADRANTS = (0.57, 0.19, 0.19)
_AT_ONCE = 1 << 18  # edges that are drawn at a time: they fit a core's own cache
_COUNTED_AT_ONCE = 1 << 24


def mixed(word: Array) -> Array:
    """The finaliser of SplitMix64, as in ``kernels/generate.cuh``.

    >>> hex(int(mixed(np.zeros(1, np.uint64))[0]))
    '0xe220a8397b1dcdaf'
    """
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def drawn(seed: int, stream: int, at: Array) -> Array:
    """Words ``at`` of a random stream of a seed."""
    return mixed(mixed(np.array([seed ^ stream << 56], np.uint64)) + at)


def permuted_ids(scale: int, seed: int) -> Array:
    """The id that each vertex gets.

    >>> sorted(permuted_ids(4, 27).tolist()) == list(range(16))
    True
    """
    ids, mask, half = np.arange(1 << scale, dtype=np.uint64), np.uint64((1 << scale) - 1), np.uint64((scale + 1) // 2)
    for word in drawn(seed, 1, np.arange(4, dtype=np.uint64)):
        ids = (ids * (word << np.uint64(1) | np.uint64(1)) + (word >> np.uint64(32))) & mask
        ids ^= ids >> half
    return ids


def rmat_edges(scale: int, seed: int = SEED, edge_factor: int = EDGE_FACTOR) -> tuple[Array, Array]:
    """The ends of the edges of ``kron<scale>``, the lesser ones first; no loops, and no edge twice.

    >>> low, high = rmat_edges(6)
    >>> bool((low < high).all()), len(low) == len(set(zip(low.tolist(), high.tolist())))
    (True, True)
    """
    ids, edges = permuted_ids(scale, seed), edge_factor << scale
    keys = np.empty(edges, np.uint64)
    for first in range(0, edges, _AT_ONCE):
        numbers = np.arange(first, min(first + _AT_ONCE, edges), dtype=np.uint64)
        ends = [ids[end] for end in _quadrants(numbers, scale, seed)]
        keys[first : first + len(numbers)] = np.minimum(*ends) << np.uint64(32) | np.maximum(*ends)
    keys.sort()
    is_first = np.ones(edges, bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    keys = keys[is_first]
    low, high = (keys >> np.uint64(32)).astype(np.uint32), keys.astype(np.uint32)
    del keys
    no_loop = low != high
    return low[no_loop], high[no_loop]


def _quadrants(numbers: Array, scale: int, seed: int) -> tuple[Array, Array]:
    """The ends of edges before ids are permuted: a quadrant for each level, by 32 random bits."""
    a, ab, abc = (np.uint32(round(part * 2**32)) for part in np.cumsum(_QUADRANTS).tolist())
    u, v, word = np.zeros(len(numbers), np.uint32), np.zeros(len(numbers), np.uint32), numbers
    for level in range(scale):
        word = word >> np.uint64(32) if level % 2 else drawn(seed, 2, numbers * np.uint64(32) + np.uint64(level // 2))
        draw = word.astype(np.uint32)
        below = draw >= ab
        u = u << 1 | below
        v = v << 1 | (draw >= abc) | ((draw >= a) & ~below)
    return u, v


def sizes_of_splits(scale: int, splits: Sequence[tuple[Split, float]]) -> Iterator[dict[str, Any]]:
    """A row for each split of ``kron<scale>``: the sizes of its two parts.

    >>> (row,) = sizes_of_splits(8, [("high", 0.25)])
    >>> row["first_hubs"], row["first_arcs"] == row["inner_arcs"] + row["cut_arcs"]
    (True, True)
    """
    low, high = rmat_edges(scale)
    degree = np.bincount(low, minlength=1 << scale) + np.bincount(high, minlength=1 << scale)
    for split, share in splits:
        order = order_of(degree, split)
        before = np.concatenate([[0], np.cumsum(degree[order])])
        first = int(np.searchsorted(before, round(share * int(before[-1]))))
        in_first = np.zeros(1 << scale, bool)
        in_first[order[:first]] = True
        inner, cut = _counted(low, high, in_first)
        sizes = flat_sizes(part_sizes(degree[order], (0, first, 1 << scale)))
        yield {"graph": f"kron{scale}", "split": split, "share": share, **sizes, "inner_arcs": inner, "cut_arcs": cut}


def _counted(low: Array, high: Array, in_first: Array) -> tuple[int, int]:
    """Arcs with both ends in the first part, and those of its arcs that leave it."""
    inner = cut = 0
    for begin in range(0, len(low), _COUNTED_AT_ONCE):
        one, other = (in_first[ends[begin : begin + _COUNTED_AT_ONCE]] for ends in (low, high))
        inner += 2 * int(np.count_nonzero(one & other))
        cut += int(np.count_nonzero(one ^ other))
    return inner, cut


def flat_sizes(parts: Sequence[PartSize]) -> dict[str, Any]:
    """The sizes of two parts as columns of a row.

    >>> flat_sizes([PartSize(4, 1, 1, 1, 1, True), PartSize(2, 3, 2, 2, 1, False)])["second_joined"]
    2
    """
    both = zip(("first", "second"), parts, strict=True)
    return {f"{which}_{name}": value for which, part in both for name, value in asdict(part).items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the sizes of all splits that there are times of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args(arguments)
    rows = [row for scale, splits in MEASURED.items() for row in sizes_of_splits(scale, splits)]
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    asked.out.write_text('{"command": "python -m benchmarks.gpu.split_sizes", "rows": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
