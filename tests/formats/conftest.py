"""A folder for files that are written and read thousands of times."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """In memory where the system offers that: a disk would be most of the test's time."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as made:
        yield Path(made)
