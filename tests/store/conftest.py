"""Settings for the tests of the store."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Do not wait for the disk in each of some thousand small files; tells which descriptors were to be waited for."""
    waited: list[int] = []
    monkeypatch.setattr(os, "fsync", waited.append)
    return waited
