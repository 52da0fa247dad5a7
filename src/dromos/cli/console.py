"""How the command line talks: results to standard output, progress and trouble to standard error."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["err", "out", "print_json", "work"]

out = Console(highlight=False, emoji=False)  # a name such as ":abacus:" is no picture
err = Console(stderr=True, highlight=False, emoji=False)

_QUIET_SECONDS = 0.8  # shorter work shows no bar


def print_json(value: Any) -> None:
    """One JSON document on standard output, for programs to read."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


class Work:
    """A line of progress; pass it where a progress function is asked for."""

    def __init__(self, bar: Progress, title: str, then: str = "") -> None:
        self._bar, self._title, self._then, self._counted = bar, title, then, True
        self._task = bar.add_task(title, total=None)

    def __call__(self, done: int, total: int) -> None:
        if not self._counted:
            return
        if self._then and 0 < total <= done:  # what follows is not counted: a bar that is full would stand still
            self._bar.remove_task(self._task)
            self._title, self._counted = self._then, False
            self._task = self._bar.add_task(self._title, total=None)
        else:
            self._bar.update(self._task, completed=done, total=total or None)

    def note(self, text: str) -> None:
        """Tell something beside the title, such as what was read and how fast."""
        self._bar.update(self._task, description=f"{self._title}: {text}")


class _Share(ProgressColumn):
    """How much is done, where it is known how much there is."""

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.percentage:>3.0f}%")


@contextmanager
def work(title: str, then: str = "") -> Iterator[Work]:
    """Show a bar while the work goes on, if it takes more than a moment and somebody watches the terminal.

    ``then`` is the title of what follows when all that is counted has been done.
    """
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        _Share(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
    timer = threading.Timer(_QUIET_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield Work(bar, title, then)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
