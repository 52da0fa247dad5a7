"""Whether two arrays are the same answer."""

from __future__ import annotations

import numpy as np

__all__ = ["same"]


def same(got: object, expected: object, *where: object) -> None:
    """Fail where two arrays differ; ``where`` becomes text only then: to describe itself, a graph counts its loops."""
    ours, theirs = np.asarray(got), np.asarray(expected)
    exact = ours.dtype.kind != "f"
    fine = np.array_equal(ours, theirs) if exact else np.allclose(ours, theirs, rtol=1e-5, atol=1e-8, equal_nan=True)
    assert fine, f"{', '.join(map(str, where))}: {ours.tolist()} instead of {theirs.tolist()}"
