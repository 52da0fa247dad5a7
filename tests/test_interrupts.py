"""Ctrl-C while LLVM waits for a callback into Python is not lost."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dromos import interrupts
from dromos.interrupts import remembered_interrupts
from dromos.parallel import run_team


@pytest.fixture(autouse=True)
def unraisable(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What Python could not raise, and would have printed."""
    found: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", found.append)
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield found
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, previous)


def called_back(function: Callable[[], None]) -> None:
    """Call ``function`` as C code would: what it raises goes nowhere."""
    ctypes.CFUNCTYPE(None)(function)()


def _raw_object_cache_notify(signals: int = 1) -> None:
    """Has the name of llvmlite's callback."""
    for _ in range(signals):
        signal.raise_signal(signal.SIGINT)


class Compiled:
    """Stands for a kernel of Numba's; ``work`` is what its compiler does."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work, self.compilations, self.calls = work, 0, 0

    def typeof_pyval(self, value: object) -> type:
        return type(value)

    def compile(self, types: tuple[type, ...]) -> None:
        self.compilations += 1
        if self.compilations == 1:
            self.work()

    def __call__(self, thread: int, threads: int) -> None:
        self.calls += 1


@pytest.mark.parametrize(
    "work",
    [
        _raw_object_cache_notify,
        lambda: called_back(_raw_object_cache_notify),
        lambda: called_back(lambda: signal.raise_signal(signal.SIGINT)),
        lambda: signal.raise_signal(signal.SIGINT),
    ],
    ids=["in the callback", "in the callback, from C", "in another callback from C", "in Python"],
)
def test_a_stop_during_a_compilation_is_raised(work: Callable[[], None]) -> None:
    kernel = Compiled(work)
    with pytest.raises(KeyboardInterrupt):
        run_team(kernel, threads=1)
    assert kernel.calls == 0
    run_team(kernel, threads=1)  # and the next call compiles
    assert (kernel.compilations, kernel.calls) == (2, 1)


def test_llvm_is_not_disturbed_in_its_callback(unraisable: list[Any]) -> None:
    went_on = []

    def compile_module() -> None:
        called_back(_raw_object_cache_notify)
        went_on.append(True)

    with pytest.raises(KeyboardInterrupt):
        run_team(Compiled(compile_module), threads=1)
    assert went_on == [True]
    assert unraisable == []


def test_a_stop_goes_before_the_error_that_it_caused() -> None:
    def cut_short() -> None:
        called_back(lambda: signal.raise_signal(signal.SIGINT))
        raise RuntimeError("no compiled object yet")

    with pytest.raises(KeyboardInterrupt) as caught:
        run_team(Compiled(cut_short), threads=1)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_error_without_a_stop_goes_through() -> None:
    def fails() -> None:
        raise RuntimeError("cannot compile")

    with pytest.raises(RuntimeError, match="cannot compile"):
        run_team(Compiled(fails), threads=1)


def test_a_handler_of_the_callers_own_is_told_once() -> None:
    told: list[int] = []
    signal.signal(signal.SIGINT, lambda signum, frame: told.append(signum))
    try:
        with remembered_interrupts():
            signal.raise_signal(signal.SIGINT)
        assert told == [signal.SIGINT]
        with remembered_interrupts():
            called_back(_raw_object_cache_notify)
        assert told == [signal.SIGINT] * 2
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_other_ways_to_take_ctrl_c_are_left_alone(handler: Any) -> None:
    signal.signal(signal.SIGINT, handler)
    try:
        with remembered_interrupts():
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads_compile_as_before() -> None:
    kernel = Compiled(lambda: None)
    thread = threading.Thread(target=run_team, args=(kernel,), kwargs={"threads": 1})
    thread.start()
    thread.join()
    assert kernel.calls == 1


def test_the_second_stop_ends_a_command_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    acted: list[int] = []
    monkeypatch.setattr(interrupts, "on_second_interrupt", [lambda: acted.append(1)])
    with pytest.raises(KeyboardInterrupt):
        run_team(Compiled(lambda: called_back(lambda: _raw_object_cache_notify(1))), threads=1)
    assert acted == []
    with pytest.raises(KeyboardInterrupt):
        run_team(Compiled(lambda: called_back(lambda: _raw_object_cache_notify(2))), threads=1)
    assert acted == [1]


def test_the_compiler_of_this_numba_calls_back_as_we_think(tmp_path: Any) -> None:
    """A real compilation, stopped inside llvmlite's callback: the names that we look for are the ones it has."""
    code = """
import signal
from llvmlite.binding.executionengine import ExecutionEngine
from numba import njit
from numba.core.codegen import CPUCodeLibrary
from dromos.parallel import run_team
original = CPUCodeLibrary._object_compiled_hook.__func__
def hook(cls, module, buffer):
    signal.raise_signal(signal.SIGINT)
    return original(cls, module, buffer)
CPUCodeLibrary._object_compiled_hook = classmethod(hook)
signal.signal(signal.SIGINT, signal.default_int_handler)
@njit(nogil=True)
def kernel(thread, threads):
    return thread + threads
try:
    run_team(kernel, threads=1)
except KeyboardInterrupt:
    print("stopped")
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert done.stdout.strip() == "stopped", done.stderr
    assert "Exception ignored" not in done.stderr
