"""The number of examples of a test of random graphs."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

__all__ = ["examples"]


def examples(count: int, **more: Any) -> settings:
    """Settings for ``count`` graphs; ``DROMOS_TEST_EXAMPLES=200`` in the environment raises it (``make test-deep``)."""
    return settings(max_examples=int(os.environ.get("DROMOS_TEST_EXAMPLES", count)), **more)
