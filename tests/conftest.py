"""Settings for all tests: the same examples in every run, and no deadline, since a first call compiles kernels."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("dromos", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("dromos")
