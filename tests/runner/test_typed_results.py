"""Results tell type checkers what they have, and numbers about a graph act as numbers."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dromos as dr

_ROOT = Path(__file__).parents[2]
_SNIPPETS = _ROOT / "tests" / "typing" / "results.py"
_SETTINGS = _SNIPPETS.with_name("snippets.ini")


def test_mypy_accepts_fields_that_are_there_and_refuses_others(tmp_path):
    text = _SNIPPETS.read_text(encoding="utf-8")
    bare = tmp_path / "bare.py"
    bare.write_text(re.sub(r"  # type: ignore.*", "", text), encoding="utf-8")
    settings = ["--config-file", str(_SETTINGS), "--cache-dir", str(_ROOT / ".mypy_cache" / "snippets")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *settings, str(_SNIPPETS), str(bare)],
        cwd=_ROOT, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "MYPYPATH": str(_ROOT / "src")},
    )  # fmt: skip
    expected = {number for number, line in enumerate(text.splitlines(), 1) if "# type: ignore" in line}
    found = {int(line) for line in re.findall(r"bare\.py:(\d+): error", done.stdout)}
    assert found == expected, done.stdout + done.stderr
    assert "results.py:" not in done.stdout
    assert '"BFSResult" has no attribute "levels"; maybe "level"?' in done.stdout


@pytest.fixture(scope="module")
def three():
    return dr.diameter(dr.generators.path(4), device="reference")


def test_a_number_compares_and_counts(three):
    assert three == 3 == three.diameter
    assert three + 1 != 3
    assert three != "3"
    assert three == dr.diameter(dr.generators.cycle(7), device="reference")
    assert (three < 4, three <= 2, three > 2, three >= 3) == (True, False, True, True)
    assert (three + 1, 1 + three, three - 1, 1 - three, three * 2, 2 * three) == (4, 4, 2, -2, 6, 6)
    assert (three / 2, 6 / three, three // 2, three % 2, three**2, -three, abs(three)) == (1.5, 2, 1, 1, 9, -3, 3)
    assert three + three == 6
    assert (int(three), float(three), bool(three), round(three), hash(three)) == (3, 3.0, True, 3, hash(3))
    assert (str(three), f"{three:04d}", [10, 20, 30, 40][three], sum([three, three])) == ("3", "0003", 40, 6)
    assert math.sqrt(three + 1) == 2
    with pytest.raises(TypeError):
        _ = three < "4"


def test_arrays_take_it_as_a_number(three):
    np.testing.assert_array_equal(np.arange(3) * three, [0, 3, 6])
    np.testing.assert_array_equal(np.asarray([three, 1], dtype=float), [3, 1])
    assert np.float64(2) * three == 6
    assert np.asarray(three).shape == ()


def test_it_is_a_result_all_the_same(three):
    assert list(three) == ["lower", "upper"]
    assert repr(three).startswith("<diameter of 4 vertices")
    three.verify()
    assert three.to_pandas().columns.tolist() == ["vertex", "lower", "upper"]


def test_a_share_is_no_index_and_zero_is_false():
    closed = dr.transitivity(dr.generators.path(4), device="reference")
    assert not closed
    assert round(closed, 2) == 0.0
    assert pytest.approx(0.0) == closed
    with pytest.raises(TypeError):
        range(closed)
