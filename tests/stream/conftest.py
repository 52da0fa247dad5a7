"""The ways to read pages, for tests of what is computed on them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dromos.graph.store.paged.ways import READS


@pytest.fixture(scope="module", params=["threads", "compiled"])
def way_to_read(request: pytest.FixtureRequest) -> Iterator[None]:
    """Small files, too, are read by compiled code, and to slots where their pages will not stay."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(READS, request.param)
        yield
