"""Checksums of many pieces: compiled code gives what zlib gives."""

from __future__ import annotations

import zlib
from itertools import pairwise

import numpy as np
import pytest

from dromos.graph.store import checksum_kernels, checksums


def test_compiled_checksums_are_those_of_zlib(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checksum_kernels.make_tables().size == 2048  # and the compiler is loaded
    monkeypatch.setattr(checksums, "_FEW_CORES", 0)
    draw = np.random.default_rng(5)
    data = draw.integers(0, 256, 50_000, dtype=np.uint8)
    for bounds in ([0, 0], [0, 50_000], [3, 3, 4, 11, 19, 1_000], [0, *np.sort(draw.integers(0, 50_000, 20)), 50_000]):
        expected = [zlib.crc32(data[begin:end].data) for begin, end in pairwise(bounds)]
        assert checksums.piece_checksums(data, np.array(bounds)).tolist() == expected
