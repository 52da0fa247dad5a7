"""Settings of MPI for the tests of this folder, whose jobs run on one machine."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_fabrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open MPI looks for fabrics between machines for a second whenever a rank starts."""
    if "OMPI_MCA_btl" not in os.environ:
        monkeypatch.setenv("OMPI_MCA_btl", "^ofi")
