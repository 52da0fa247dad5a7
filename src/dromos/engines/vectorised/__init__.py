"""Programs on whole arrays, by NumPy alone: no compiler, so that a first call answers at once."""

from dromos.engines.vectorised.part import VectorisedLeaf, VectorisedPart

__all__ = ["VectorisedLeaf", "VectorisedPart"]
