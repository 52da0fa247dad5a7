"""Measurements against peers, each a ratio within one run."""
