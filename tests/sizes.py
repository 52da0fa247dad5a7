"""How many examples a test of random graphs takes."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

__all__ = ["examples"]


def examples(count: int, **more: Any) -> settings:
    """So many graphs; ``DROMOS_TEST_EXAMPLES=200`` in the environment asks for more (``make test-deep``)."""
    return settings(max_examples=int(os.environ.get("DROMOS_TEST_EXAMPLES", count)), **more)
