"""Ctrl-C while a kernel is compiled is raised, and the next call compiles."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dromos import disk_cache
from dromos.compiler import kept
from dromos.jit import kernel
from dromos.parallel import run_team


@pytest.fixture(autouse=True)
def unraisable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Exceptions that Python could not raise, and would have printed."""
    found: list[Any] = []
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "unraisablehook", found.append)
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield found
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, previous)
    assert found == []


def noting() -> Any:
    @kernel
    def note(thread, threads, out):  # type: ignore[no-untyped-def]
        out[thread] += 1

    return note


@kernel
def note_in_module(thread, threads, out):  # type: ignore[no-untyped-def]
    out[thread] += 1


STAGES = {
    "before it is written": (kept, "kernel_text"),
    "while LLVM works": (kept, "object_code"),
    "while it is kept": (disk_cache, "save"),
    "while it is loaded": (kept, "addresses_of"),
}


@pytest.mark.parametrize("when", ["begin", "end"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("by", ["python", "team"])
def test_a_stop_during_a_compilation_is_raised(stage: str, when: str, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name = STAGES[stage]
    original = getattr(owner, name)
    stops = 0

    def stopped(*args: Any, **kwargs: Any) -> Any:
        nonlocal stops
        stops += 1
        if when == "begin":
            signal.raise_signal(signal.SIGINT)
        result = original(*args, **kwargs)
        signal.raise_signal(signal.SIGINT)
        return result

    out = np.zeros(1, np.int64)
    note = kernel(note_in_module.function)  # type: ignore[attr-defined]

    def call() -> None:
        if by == "team":
            run_team(note, out, threads=1)
        else:
            note(0, 1, out)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stopped)
        with pytest.raises(KeyboardInterrupt):
            call()
    assert (stops, out[0]) == (1, 0)
    call()
    assert out[0] == 1


def test_other_threads_compile_after_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(text: str, **how: bool) -> bytes:
        raise KeyboardInterrupt

    out, note = np.zeros(1, np.int64), noting()
    with monkeypatch.context() as patch:
        patch.setattr(kept, "object_code", stop)
        with pytest.raises(KeyboardInterrupt):
            run_team(note, out, threads=1)
    thread = threading.Thread(target=run_team, args=(note, out), kwargs={"threads": 1})
    thread.start()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert out[0] == 1


def test_an_error_of_the_compiler_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(text: str, **how: bool) -> bytes:
        raise RuntimeError("cannot compile")

    monkeypatch.setattr(kept, "object_code", fails)
    with pytest.raises(RuntimeError, match="cannot compile"):
        noting()(0, 1, np.zeros(1))


def test_a_stop_at_any_moment_of_llvms_work_is_raised() -> None:
    """Signals from another thread, at many moments of real compilations."""
    code = """
import os, signal, sys, threading, time
import numpy as np
from dromos.compiler.compile import argument_shapes, kernel_text
from dromos.compiler.machine import addresses_of, object_code
from tests.compiler.kernels import integers

signal.signal(signal.SIGINT, signal.default_int_handler)
values = np.arange(5)
shapes = argument_shapes((values, values, np.zeros((17, 5), np.int64)))
text = kernel_text(integers.function, shapes, for_team=True).text

def work():
    addresses_of(object_code(text), "kernel", "fits")

work()
begin = time.perf_counter()
work()
whole = time.perf_counter() - begin

def interrupt(after):
    time.sleep(after)
    os.kill(os.getpid(), signal.SIGINT)

for part in range(20):
    try:
        thread = threading.Thread(target=interrupt, args=(whole * part / 18,))
        thread.start()
        while True:  # until it comes
            work()
    except KeyboardInterrupt:
        thread.join()
other = threading.Thread(target=work)  # nothing is locked
other.start()
other.join()
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout.strip(), done.stderr) == ("done", "")
