"""The command line as a user meets it: from its words to its exit code."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing

from dromos.cli import main

Run = Callable[..., "subprocess.CompletedProcess[str]"]
_built = cache(typer.main.get_command)


@pytest.fixture(autouse=True)
def _commands_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typer builds all commands anew for each call, which takes longer than most of them."""
    monkeypatch.setattr(typer.main, "get_command", _built)
    monkeypatch.setattr(typer.testing, "_get_command", _built)


@pytest.fixture
def dromos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Call ``dromos`` with words, in a folder of the test's own, without the second that a process takes to start."""

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        arguments = ["dromos", *map(str, words)]
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", arguments)
        said, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            try:
                code = main()  # type: ignore[func-returns-value]
            except SystemExit as done:
                code = done.code
        return subprocess.CompletedProcess(arguments, int(code or 0), said.getvalue(), told.getvalue())

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def dromos_process(tmp_path: Path) -> Run:
    """Call ``dromos`` with words in a process of its own, in a folder of the test's own."""

    def run(*words: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from dromos.cli import main; main()", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=timeout,
            check=False,
        )

    return run
