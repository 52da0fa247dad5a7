"""Checkpoints: the state of a run, saved to disk now and then; the same call goes on from there after a kill."""

from dromos.runner.checkpoint.checkpoint import Checkpoint

__all__ = ["Checkpoint"]
