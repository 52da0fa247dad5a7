"""Copies and pickles of results."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from dromos.errors import InvalidArgumentError
from dromos.runner.host import on_host

if TYPE_CHECKING:
    from dromos.runner.result import Result

    R = TypeVar("R", bound=Result)

__all__ = ["deep", "shallow", "state_for_pickle"]


def state_for_pickle(result: Result) -> dict[str, Any]:
    """The state of a result for pickle: all fields and numbers, computed now and held by the host.

    Functions that would compute or check fields later belong to the process that made the result.

    >>> import pickle
    >>> import dromos as dr
    >>> pickle.loads(pickle.dumps(dr.bfs(dr.generators.path(3), 0, device="numpy"))).parent.tolist()
    [0, 0, 1]
    """
    state = dict(result.__dict__)
    state["_columns"] = {name: on_host(result[name]) for name in result}
    state["_values"] = dict(result.values_of_graph)
    state["_verifier"] = None if state["_verifier"] is None else _refuse_to_verify
    return state


def _refuse_to_verify(result: Result) -> NoReturn:
    raise InvalidArgumentError(
        f"this result of {result.name} was made by another or an earlier process, so it can no longer be verified; "
        "call verify() before the result is pickled"
    )


def shallow(result: R) -> R:
    """A copy that shares the arrays, for ``copy.copy``."""
    made = object.__new__(type(result))
    made.__dict__.update(result.__dict__)
    return made


def deep(result: R, memo: dict[int, Any]) -> R:
    """A copy with its own arrays, for ``copy.deepcopy``; unlike a pickle, it can still check itself."""
    made = object.__new__(type(result))
    memo[id(result)] = made
    made.__dict__.update(copy.deepcopy(result.__dict__, memo))
    return made
