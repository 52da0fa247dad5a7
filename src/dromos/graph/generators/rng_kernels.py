"""Random words, bounded numbers and permutations of ids inside compiled kernels; see :mod:`.rng` for the method."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from dromos.graph.generators.rng import GAMMA
from dromos.graph.wide_product import high_product
from dromos.jit import kernel

_GAMMA = np.uint64(GAMMA)


@kernel
def random_word(index, low, high):
    """The 64-bit random word number ``index`` of the key ``(low, high)``."""
    z = np.uint64(index) * _GAMMA + low
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z ^= high
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def below(word, bound):
    """``word`` scaled to ``0..bound``: off from uniform by less than ``bound / 2^64``."""
    return np.int64(high_product(word, np.uint64(bound)))


@kernel
def unit_float(word):
    """``word`` as a double in ``[0, 1)``, a multiple of 2^-53."""
    return np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def permute(ids, constants, half, mask):
    """Apply a keyed bijection of the numbers of ``2 * half`` (or one fewer) bits to ``ids``; all are unsigned.

    Each round adds without carry, multiplies by an odd number, and folds the upper half of the bits onto the lower: all
    three can be undone, so that no two ids meet. There is no table, whatever the number of vertices; the inner loop
    works on one array alone, so that it becomes vector code.
    """
    for i in range(0, constants.size, 2):
        addend, factor = constants[i], constants[i + 1]
        for j in range(ids.size):
            ids[j] = ((ids[j] ^ addend) * factor) & mask
            ids[j] ^= ids[j] >> half
