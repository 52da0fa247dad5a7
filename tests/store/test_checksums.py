"""Checksums of many pieces: compiled code gives what zlib gives."""

from __future__ import annotations

import zlib
from itertools import pairwise

import numpy as np
import pytest

from dromos import io_intrinsics
from dromos.compiler.compile import argument_shapes, kernel_text
from dromos.graph.store import checksum_kernels, checksums


def test_compiled_checksums_are_those_of_zlib(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checksum_kernels.make_tables().size == 2048  # and the compiler is loaded
    monkeypatch.setattr(checksums, "_FEW_CORES", 0)
    draw = np.random.default_rng(5)
    data = draw.integers(0, 256, 50_000, dtype=np.uint8)
    for bounds in ([0, 0], [0, 50_000], [3, 3, 4, 11, 19, 1_000], [0, *np.sort(draw.integers(0, 50_000, 20)), 50_000]):
        expected = [zlib.crc32(data[begin:end].data) for begin, end in pairwise(bounds)]
        assert checksums.piece_checksums(data, np.array(bounds)).tolist() == expected


def test_the_checksum_step_of_the_processor_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = argument_shapes(
        (np.zeros(8, np.uint8), np.zeros(2, np.int64), checksum_kernels.make_tables(), np.zeros(1, np.uint32))
    )
    for there in (False, True):
        monkeypatch.setattr(io_intrinsics.platform, "machine", lambda: "aarch64")
        monkeypatch.setattr(io_intrinsics.machine, "has_crc", lambda there=there: there)
        text = kernel_text(checksum_kernels.checksums.__wrapped__, shapes, for_team=True).text
        assert ("crc32x" in text) == there
