"""Programs on whole arrays, in NumPy alone: no compiler, so that a first call returns at once."""

from dromos.engines.vectorised.part import VectorisedLeaf, VectorisedPart

__all__ = ["VectorisedLeaf", "VectorisedPart"]
