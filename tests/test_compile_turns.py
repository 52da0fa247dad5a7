"""One process compiles a kernel while others wait, and none waits forever."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dromos import compile_turns
from dromos.compile_turns import compile_turn
from dromos.compiler import kept
from dromos.jit import inline, kernel

NAME = "kernels/test.code"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))


def never() -> bool:
    return False


def is_free() -> bool:
    """Whether the turn can be taken at once."""
    asked = False

    def go_on() -> bool:
        nonlocal asked
        asked = True
        return True

    with compile_turn(NAME, go_on):
        return not asked


def test_who_finds_the_turn_taken_goes_on_when_the_code_is_on_disk() -> None:
    answers = iter([False, False, True])
    with compile_turn(NAME, never):
        assert not is_free()
        with compile_turn(NAME, lambda: next(answers)):
            assert next(answers, None) is None  # all were asked for
    assert is_free()


def test_who_waits_too_long_goes_on_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_turns, "_PATIENCE", 0.02)
    with compile_turn(NAME, never), compile_turn(NAME, never):
        assert not is_free()  # of the one who has it


def test_an_error_gives_the_turn_back() -> None:
    with pytest.raises(ZeroDivisionError), compile_turn(NAME, never):
        raise ZeroDivisionError
    assert is_free()


def test_a_process_that_is_killed_holds_nothing() -> None:
    text = f"from dromos.compile_turns import *\nwith compile_turn({NAME!r}, bool): print('held', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"held\n"
            assert not is_free()
        finally:
            other.kill()
            other.wait()
    assert is_free()


@pytest.mark.parametrize("fault", ["open", "flock"])
def test_without_locks_everybody_compiles(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr("os.open" if fault == "open" else "fcntl.flock", fail)
    with compile_turn(NAME, never), compile_turn(NAME, never):
        pass


@inline
def part(value):  # type: ignore[no-untyped-def]
    return 2 * value


@kernel
def inner(value):  # type: ignore[no-untyped-def]
    return part(value)


@kernel
def outer(value):  # type: ignore[no-untyped-def]
    return inner(value) + 1


def test_a_kernel_takes_a_turn_unless_it_is_on_disk_or_part_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []

    @contextmanager
    def note(name: str, is_kept: Callable[[], bool]) -> Iterator[None]:
        turns.append(name)
        assert not is_kept()
        yield
        assert is_kept()

    monkeypatch.setattr(kept, "compile_turn", note)
    for _ in range(2):
        assert kernel(outer.function)(3) == 7  # type: ignore[attr-defined]
    assert len(turns) == 1
    assert "outer" in turns[0]
    assert outer(1.5) == 4.0
    assert len(turns) == 2
