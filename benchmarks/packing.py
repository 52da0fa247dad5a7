"""Packed targets of a store: bytes per arc and the speed of unpacking, beside the rejected candidate.

The candidate is a byte code of the same gaps with the length of each (1 to 4 bytes) in two bits, as in Stream VByte.
Both are unpacked by compiled code on one thread into existing memory; the processor time of the best of several passes
counts, since other work may share the cores. *Checked* also compares the checksum of every pack. *Loaded* is
``dr.read(mmap=False)`` of the packed store, on all threads, and *plain* that of the plain one.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.record import say
from dromos.dtypes import Array
from dromos.graph.store.layout import Section
from dromos.graph.store.packs import PACK_ARCS, PackIndex, PackWriter, gap_mask, unpack
from dromos.intrinsics import load, load_unaligned, store
from dromos.jit import kernel

__all__ = ["run"]

KEY = ("graph", "order")
_REPEATS = 7


def run(scale: int = 20, quick: bool = False, graphs: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """One row per graph and order."""
    scale = 14 if quick else scale
    makers: dict[str, Callable[[], dr.Graph]] = {
        f"kron{scale - 2}": lambda: dr.generators.rmat(scale - 2, 16, dedupe=True, drop_self_loops=True),
        f"kron{scale}": lambda: dr.generators.rmat(scale, 16, dedupe=True, drop_self_loops=True),
        f"urand{scale}": lambda: dr.generators.uniform(1 << scale, 16 << scale, directed=False),
    }
    for name, make in makers.items():
        if not chosen(name, graphs):
            continue
        graph = make()
        for order in ("input", "degree"):
            say(f"packing {name} in the order of {order}")
            yield {"graph": name, "order": order, **_measured(graph)}
            graph = graph.relabel_by_degree().graph


def _measured(graph: dr.Graph) -> dict[str, Any]:
    targets, arcs = np.ascontiguousarray(graph.targets), graph.num_arcs
    list(PackWriter(graph.num_vertices).packed([targets[:PACK_ARCS]]))  # compiles
    writer = PackWriter(graph.num_vertices)
    start = time.process_time()
    data = np.concatenate(list(writer.packed([targets]))).view(np.uint8)
    packing = time.process_time() - start
    section = Section("targets", targets.dtype, 0, data.size, packed=True)
    index = PackIndex.of(writer.index, section, PACK_ARCS, Path("benchmark"))
    out = np.zeros_like(targets)

    def unpacked() -> None:
        unpack(
            data, index, 0, len(index.sums), out,
            section=section, num_vertices=graph.num_vertices, path=None, threads=1,
        )  # fmt: skip

    def checked() -> None:
        index.check(data.data, 0, len(index.sums), section, Path("benchmark"))
        unpacked()

    best, best_checked = _best(unpacked), _best(checked)
    assert np.array_equal(out, targets)
    lengths, values = _with_lengths(targets, int(gap_mask(graph.num_vertices)))
    out[:] = 0
    masks = np.array([(1 << (8 * size)) - 1 for size in range(1, 5)], dtype=np.uint64)
    mask = gap_mask(graph.num_vertices)
    best_bytes = _best(lambda: _unpack_bytes(lengths, values, masks, mask, out))
    assert np.array_equal(out, targets)
    return {
        "arcs": arcs,
        "packed_bytes_per_arc": (data.size + writer.index.nbytes) / arcs,
        "unpack_gb_s": targets.nbytes / best / 1e9,
        "unpack_checked_gb_s": targets.nbytes / best_checked / 1e9,
        "pack_gb_s": targets.nbytes / packing / 1e9,
        "vbyte_bytes_per_arc": (lengths.size + values.size - 8) / arcs,
        "vbyte_gb_s": targets.nbytes / best_bytes / 1e9,
        "copy_gb_s": targets.nbytes / _best(lambda: np.copyto(out, targets)) / 1e9,
        **_loading(graph),
    }


def _loading(graph: dr.Graph) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, compress in (("loaded_s", True), ("plain_s", False)):
            file = Path(folder) / f"{name}.drm"
            dr.write(graph, file, compress=compress)
            times = []
            for _ in range(3):
                start = time.perf_counter()
                dr.read(file, mmap=False)
                times.append(time.perf_counter() - start)
            found[name] = min(times)
        return found


def _best(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(_REPEATS):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return min(times)


# ---- the other candidate -------------------------------------------------------------------------------------------


def _with_lengths(targets: Array, mask: int) -> tuple[Array, Array]:
    """Four lengths per byte, and the bytes of all gaps in sequence, with eight to spare."""
    gaps = np.diff(targets.astype(np.int64), prepend=0) & mask
    sizes = 1 + (gaps >= 1 << 8) + (gaps >= 1 << 16) + (gaps >= 1 << 24)
    codes = np.zeros(-(-len(gaps) // 4) * 4, dtype=np.uint8)
    codes[: len(gaps)] = sizes - 1
    codes = codes.reshape(-1, 4)
    parts = gaps.astype("<u4").view(np.uint8).reshape(-1, 4)
    values = parts[np.arange(4) < sizes[:, None]]
    return codes[:, 0] | codes[:, 1] << 2 | codes[:, 2] << 4 | codes[:, 3] << 6, np.append(
        values, np.zeros(8, np.uint8)
    )


@kernel
def _unpack_bytes(lengths, values, masks, mask, out):
    at, value = 0, np.uint64(0)
    for group in range(out.size // 4):
        code = np.int64(load(lengths, group))
        first, second, third, fourth = code & 3, (code >> 2) & 3, (code >> 4) & 3, code >> 6
        to = 4 * group
        value += load_unaligned(values, at) & load(masks, first)
        store(out, to, value & mask)
        at += first + 1
        value += load_unaligned(values, at) & load(masks, second)
        store(out, to + 1, value & mask)
        at += second + 1
        value += load_unaligned(values, at) & load(masks, third)
        store(out, to + 2, value & mask)
        at += third + 1
        value += load_unaligned(values, at) & load(masks, fourth)
        store(out, to + 3, value & mask)
        at += fourth + 1
    for i in range(out.size // 4 * 4, out.size):
        size = (np.int64(load(lengths, i // 4)) >> (2 * (i % 4))) & 3
        value += load_unaligned(values, at) & load(masks, size)
        store(out, i, value & mask)
        at += size + 1
