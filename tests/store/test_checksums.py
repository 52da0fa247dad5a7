"""Checksums of many pieces: compiled code gives what zlib gives, by every way to compute them."""

from __future__ import annotations

import platform
import zlib
from itertools import pairwise

import numpy as np
import pytest

from dromos import io_intrinsics
from dromos.compiler import Kernel
from dromos.compiler.compile import argument_shapes, kernel_text
from dromos.compiler.levels import Level, levels
from dromos.compiler.levels import _features as own_features
from dromos.compiler.machine import compiling_for
from dromos.graph.store import checksum_kernels, checksums
from dromos.parallel import run_team

DATA = np.random.default_rng(5).integers(0, 256, 50_000, dtype=np.uint8)
BOUNDS = [
    np.array([0, 0]),
    np.array([0, 50_000]),
    np.array([3, 3, 4, 11, 19, 1_000]),
    np.sort(np.random.default_rng(6).integers(0, 50_000, 200)),
    np.concatenate(([0], np.cumsum(np.arange(300)))),  # every length up to 299, from every place in a word
]


def _expected(bounds: np.ndarray) -> list[int]:
    return [zlib.crc32(DATA[begin:end].data) for begin, end in pairwise(bounds.tolist())]


@pytest.mark.parametrize("level", levels(), ids=lambda level: level.name)
def test_compiled_checksums_are_those_of_zlib(level: Level) -> None:
    if not level.needs <= own_features():
        pytest.skip("this processor is older")
    kernel = Kernel(checksum_kernels.checksums.__wrapped__)  # has no machine code yet
    for bounds in BOUNDS:
        sums = np.zeros(len(bounds) - 1, np.uint32)
        with compiling_for(level):
            run_team(kernel, DATA, bounds, checksum_kernels.make_tables(), sums, np.zeros(1, np.int64), threads=2)
        assert sums.tolist() == _expected(bounds)


@pytest.mark.parametrize("loaded", [False, True])
def test_checksums_are_the_same_with_and_without_compiled_code(loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "kernels_are_loaded", lambda: loaded)
    for bounds in BOUNDS:
        assert checksums.piece_checksums(DATA, bounds).tolist() == _expected(bounds)
    for size in (64, 100, 1 << 20):
        bounds = np.append(np.arange(0, len(DATA), size), len(DATA))
        assert checksums.chunk_checksums(DATA, size).tolist() == _expected(bounds)
    assert checksums.chunk_checksums(DATA[:0], 64).tolist() == []


@pytest.mark.parametrize(("processor", "function"), [("aarch64", "crc32x"), ("x86_64", "pclmulqdq")])
def test_a_processors_instructions_are_used_where_it_has_them(
    processor: str, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = DATA, BOUNDS[0], checksum_kernels.make_tables(), np.zeros(1, np.uint32), np.zeros(1, np.int64)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    for there in (False, True):
        monkeypatch.setattr(io_intrinsics.machine, "has_crc", lambda there=there: there)
        text = kernel_text(checksum_kernels.checksums.__wrapped__, argument_shapes(given), for_team=True).text
        assert (function in text) == there
