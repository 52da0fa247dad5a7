"""Machine code on disk: found again by later processes, and made again where it is damaged or no longer right."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.codegen import load
from dromos.compiler import LoweringError, kept
from dromos.engines.cpu.initial import only_compiled
from dromos.jit import kernel
from dromos.parallel import is_compiled, run_team
from tests.compiler import kernels, python_kernels


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))
    return tmp_path / "kernels"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that LLVM was given."""
    texts: list[str] = []
    compile_text = kept.object_code

    def note(text: str, **how: bool) -> bytes:
        texts.append(text)
        return compile_text(text, **how)

    monkeypatch.setattr(kept, "object_code", note)
    return texts


def anew(known: Any) -> Any:
    """A kernel as a new process has it."""
    return kernel(known.function)


def test_teams_find_their_machine_code(folder: Path, compilations: list[str]) -> None:
    args = (np.arange(5.0), np.ones(5), np.zeros((17, 5)))
    assert not is_compiled(kernels.fractions, *args)
    run_team(anew(kernels.fractions), *args, threads=1)
    assert is_compiled(kernels.fractions, *args)
    assert not is_compiled(kernels.fractions, *args[:2], np.zeros((17, 5), np.float32))
    assert len(compilations) == 1
    again = (*args[:2], np.zeros((17, 5)))
    run_team(anew(kernels.fractions), *again, threads=1)
    assert len(compilations) == 1
    np.testing.assert_array_equal(again[2], args[2])


@pytest.mark.parametrize("damage", [lambda code: code[:-1], lambda code: b"", lambda code: code[:40] + b"x" * 100])
def test_damaged_machine_code_is_made_again(folder: Path, compilations: list[str], damage: Any) -> None:
    assert anew(python_kernels.several)(True, 3, 5.0) == (True, (4, (2.5, False)), True)
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    for _ in range(2):
        assert anew(python_kernels.several)(True, 3, 5.0) == (True, (4, (2.5, False)), True)
    assert len(compilations) == 2


def test_the_forms_for_python_and_for_teams_are_kept_apart(folder: Path, compilations: list[str]) -> None:
    out = np.zeros(2, np.int64)
    for _ in range(2):
        note = anew(python_kernels.note_on_each)
        note(1, 7, 3, out)
        assert out.tolist() == [0, 3]
        run_team(note, 4, out, threads=1)
        assert out.tolist() == [4, 3]
        out[:] = 0
    assert len(compilations) == len(list(folder.iterdir())) == 2


def test_what_a_function_holds_is_not_taken_from_disk(folder: Path) -> None:
    def adding(number: int) -> Any:
        @kernel
        def add(value):  # type: ignore[no-untyped-def]
            return value + number

        return add

    assert [adding(number)(1) for number in (1, 2, 3)] == [2, 3, 4]
    assert not folder.exists()


def test_a_module_that_changes_is_compiled_again(folder: Path) -> None:
    script = folder.parent / "script.py"
    results = []
    for number in (1, 1, 2):
        script.write_text(
            "from dromos.jit import inline, kernel\nimport numpy as np\n"
            f"TABLE = np.array([{number}, 5])\n"
            "@inline\ndef part(i):\n    return TABLE[i]\n"
            "@kernel\ndef run(i):\n    return part(i)\nprint(run(0))\n"
        )
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=True)
        results.append((done.stdout.strip(), len(list(folder.iterdir()))))
    assert results == [("1", 1), ("1", 1), ("2", 2)]


def test_several_threads_compile_a_kernel_once(folder: Path, compilations: list[str]) -> None:
    run, found = anew(python_kernels.eight_times), []
    threads = [threading.Thread(target=lambda: found.append(run(3))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [24] * 6
    assert len(compilations) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_compiles(folder: Path) -> None:
    assert anew(python_kernels.eight_times)(3) == 24
    pid = os.fork()
    if pid == 0:
        os._exit(0 if anew(python_kernels.eight_times)(0.5) == 4.0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_numpy_with_another_layout_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "is_layout_known", lambda: False)
    with pytest.raises(LoweringError, match=f"arrays of NumPy {np.__version__} lie in memory otherwise"):
        anew(python_kernels.eight_times)(3)


def test_programs_run_on_compiled_kernels() -> None:
    random = np.random.default_rng(5)
    ends = random.integers(0, 60, (2, 300))
    graph = dr.Graph.from_edges(*ends, weight=random.random(300).astype(np.float32), num_vertices=60)
    with only_compiled():
        ranks = dr.pagerank(graph, device="cpu")
        levels = dr.bfs(graph, 0, device="cpu")
        paths = ["auto", "sync-push-dd", "async-push-dd", "sync-pull-td"]
        distances = [dr.sssp(graph, 0, device="cpu", path=path).distance for path in paths]
    np.testing.assert_allclose(ranks.rank, dr.pagerank(graph, device="reference").rank, rtol=1e-9)
    np.testing.assert_array_equal(levels.level, dr.bfs(graph, 0, device="reference").level)
    expected = dr.sssp(graph, 0, device="reference").distance
    for found in distances:
        np.testing.assert_allclose(found, expected, rtol=1e-6)


GREATEST = """from dromos.jit import kernel

IN_VECTORS = {says}

@kernel
def greatest(values, out):
    for row in range(values.size // 16):
{steps}"""


def test_kernels_of_vectors_are_compiled_in_vectors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what their module says; with the same answer either way."""
    asked: list[bool] = []
    compile_text = kept.object_code

    def note(text: str, *, in_vectors: bool) -> bytes:
        asked.append(in_vectors)
        return compile_text(text, in_vectors=in_vectors)

    monkeypatch.setattr(kept, "object_code", note)
    steps = "".join(f"        out[{i}] = max(out[{i}], values[16 * row + {i}])\n" for i in range(16))
    for says in (False, True):
        out = np.zeros(16, np.int8)
        load(GREATEST.format(says=says, steps=steps), f"vectors_{says}").greatest(np.arange(64, dtype=np.int8), out)
        assert out.tolist() == list(range(48, 64))
    assert asked == [False, True]
