"""Checkpoints: the state of a run, saved to disk at intervals; after a kill, the same call continues from there."""

from dromos.runner.checkpoint.checkpoint import Checkpoint

__all__ = ["Checkpoint"]
