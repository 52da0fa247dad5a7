"""Machine code that an installation brings is taken before anything is compiled; what is damaged or absent is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dromos.compiler import shipped
from dromos.compiler.levels import Level, own_level
from dromos.compiler.shipped import shipped_code, write_shipped

pytestmark = pytest.mark.skipif(own_level() is None, reason="no machine code is brought to systems such as this")

GRAPH = """
import sys
from pathlib import Path
import numpy as np
import dromos as dr
from dromos.compiler import shipped
folder = Path(sys.argv[1])
graph = dr.Graph.from_edges(np.arange(100), np.append(np.arange(1, 100), 0), [0.5] * 100)
"""
COMPILING = """
from dromos.compiler.kept import code_for, watched
from dromos.compiler.levels import own_level
from dromos.compiler.machine import compiling_for
wanted = []
with watched(wanted.append):
    dr.bfs(graph, 0, device="cpu", path="sync-push-dd")
with compiling_for(own_level()):
    shipped.write_shipped(own_level(), {kernel.key(): code_for(kernel) for kernel in wanted}, folder)
"""
FROM_DISK = """
dr.bfs(graph, 0, device="cpu", path="sync-push-dd")
print("llvmlite" in sys.modules)
"""
WITHOUT_A_COMPILER = """
sys.modules["llvmlite"] = None
shipped.FOLDER = folder
assert dr.bfs(graph, 0, device="cpu", path="sync-push-dd").level[-1] == 99
try:
    dr.sssp(graph, 0, device="cpu", path="sync-push-dd")
except dr.errors.MissingDependencyError as error:
    print(error)
"""


def _run(text: str, *arguments: str) -> str:
    command = [sys.executable, "-c", GRAPH + text, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_kernels_on_disk_need_no_compiler_and_others_say_what_to_install(tmp_path: Path) -> None:
    _run(COMPILING, str(tmp_path))
    assert _run(FROM_DISK, str(tmp_path)) == "False"
    told = _run(WITHOUT_A_COMPILER, str(tmp_path))
    assert told == (
        "Dromos has no machine code for this and compiles it, which needs llvmlite: pip install 'dromos[compiler]'"
    )


@pytest.fixture
def brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of two kernels, in the place of what the installation has."""
    level = own_level()
    assert level is not None
    path = write_shipped(level, {b"a" * 32: b"None\nfirst", b"b" * 32: b"'i64'\nsecond"}, tmp_path)
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(shipped, "_index", shipped._index.__wrapped__)
    return path


def test_code_is_found_by_its_key(brought: Path) -> None:
    assert shipped_code(b"a" * 32) == b"None\nfirst"
    assert shipped_code(b"b" * 32) == b"'i64'\nsecond"
    assert shipped_code(b"c" * 32) is None


def test_what_is_damaged_is_as_good_as_absent(brought: Path) -> None:
    whole = brought.read_bytes()
    for at in range(len(whole)):
        brought.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert shipped_code(b"a" * 32) in (b"None\nfirst", None)
    for length in range(len(whole)):
        brought.write_bytes(whole[:length])
        assert shipped_code(b"b" * 32) is None
    brought.unlink()
    assert shipped_code(b"a" * 32) is None


def test_other_processors_find_nothing(brought: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "own_level", lambda: None)
    assert shipped_code(b"a" * 32) is None
    monkeypatch.setattr(shipped, "own_level", lambda: Level("other", "", "", frozenset()))
    assert shipped_code(b"a" * 32) is None
