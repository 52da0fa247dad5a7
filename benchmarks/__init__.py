"""Measurements against peers within one run. A ``ratio`` is always ours over the peer's: below 1 ours is faster."""
