"""The compiled kernel of the uniform generator; see :mod:`.uniform`."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from dromos.graph.generators.rng_kernels import below, random_word
from dromos.jit import kernel


@kernel
def uniform_edges(thread, num_threads, low, high, num_vertices, first, src, dst):
    """Fill ``src`` and ``dst`` with the edges numbered from ``first`` on."""
    bound = np.uint64(num_vertices)
    for i in range(src.size * thread // num_threads, src.size * (thread + 1) // num_threads):
        src[i] = below(random_word(2 * (first + i), low, high), bound)
        dst[i] = below(random_word(2 * (first + i) + 1, low, high), bound)
