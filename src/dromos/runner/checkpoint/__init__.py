"""Checkpoints: the state of a run, saved to disk regularly; after a kill, the same call resumes from there."""

from dromos.runner.checkpoint.checkpoint import Checkpoint

__all__ = ["Checkpoint"]
