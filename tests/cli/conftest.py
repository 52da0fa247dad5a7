"""The command line as a user meets it: in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def dromos(tmp_path: Path) -> Run:
    """Call ``dromos`` with words, in a folder of the test's own."""

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
