"""Kernels that say what the compiler does not know."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add
from dromos.jit import inline, kernel

NAME = "text"


@kernel
def makes_an_array(out):
    own = np.empty(4, np.int64)
    out[0] = own[0]


@kernel
def raises(out):
    if out[0] > 1:
        raise ValueError("too large")


@kernel
def makes_a_list(out):
    values = [out[0], 1]
    out[0] = values[0]


@kernel
def of_two_types(out):
    value = 1
    out[0] = value // 2
    value = 1.5
    out[1] = value


@kernel
def inverts_a_truth(out):
    value = out[0] == 0
    if not ~value:
        out[1] = 1
    value = 6
    out[2] = ~value


@kernel
def whole_arrays(out):
    return out + 1


@kernel
def returns_an_array(out):
    return out


@kernel  # noqa: RET503
def returns_at_times(out):
    if out[0] > 0:
        return 1
    out[0] = 1


@kernel
def reads_too_early(out):
    out[0] = later  # noqa: F821
    later = 1  # noqa: F841


@kernel
def by_name(out):
    out[0] = max(a=1, b=2)


@kernel
def with_text(out):
    out[0] = NAME


@kernel
def of_arrays(out):
    out[0] = np.sum(out)


@kernel
def no_such_attribute(out):
    return out.mean


@kernel
def assigns_a_slice(out):
    out[1:3] = 0


@kernel
def slice_with_a_step(out):
    return out[::2].size


@kernel
def numbers_by_or(out):
    return out[0] or 5


@kernel
def unknown(out):
    return missing(out)  # noqa: F821


@kernel
def tries(out):
    try:
        out[0] = 1
    finally:
        out[0] = 2


@kernel
def comprehends(out):
    return sum(x for x in out)


@kernel
def atomic_of_a_number(out):
    atomic_add(5, 0, 1)


@inline
def wrong_part(out):
    return out[0] ** 2


@kernel
def calls_what_is_wrong(out):
    out[0] = 1
    out[1] = wrong_part(out)


@kernel
def endless(out):
    return endless(out)


@inline
def of_two(a, b):
    return a + b


@kernel
def too_few(out):
    return of_two(out[0])


@kernel
def defaults(out, value=1):
    return value


@kernel
def breaks_in_a_tuple(out):
    for part in (1, 2):
        if part > out[0]:
            break


@kernel
def parts_that_are_not_there(out):
    first, second = (1, 2, 3)
    return first + second
