"""Compiling is measured apart from the work, and announced once to a waiting user."""

from __future__ import annotations

import gc
import logging
import sys
import threading

import pytest

import dromos as dr
from dromos import compiling


def test_time_in_the_compiler_is_taken_off_the_watch() -> None:
    clock = compiling.Stopwatch()
    before = compiling.compile_seconds()
    waited = threading.Event()
    with compiling.compiling("a kernel"):
        waited.wait(0.2)
    spent = compiling.compile_seconds() - before
    assert spent >= 0.2
    assert clock.seconds() < spent


def test_another_thread_has_a_count_of_its_own() -> None:
    with compiling.compiling("a kernel"):
        pass
    seen: list[float] = []
    thread = threading.Thread(target=lambda: seen.append(compiling.compile_seconds()))
    thread.start()
    thread.join()
    assert seen == [0.0]


def test_no_garbage_is_collected_meanwhile() -> None:
    with compiling.compiling("a kernel"):
        assert not gc.isenabled()
        with compiling.compiling("another"):
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_who_waits_is_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(compiling, "_told", False)
    monkeypatch.setattr(sys, "stderr", None)  # without a terminal, a log record is written
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    with caplog.at_level(logging.INFO, logger="dromos"):
        compiling._tell("the kernel 'push'")
        compiling._tell("the kernel 'pull'")
    assert [record.getMessage() for record in caplog.records] == [
        "compiling the kernel 'push' for this machine, once: compiled code is kept for the next time"
    ]


def test_results_tell_the_compiler_apart() -> None:
    result = dr.bfs(dr.generators.path(5), 0, device="cpu")
    assert 0 <= result.compile_seconds <= result.seconds
    assert result.to_host().compile_seconds == result.compile_seconds
    assert dr.bfs(dr.generators.path(5), 0, device="reference").compile_seconds == 0
