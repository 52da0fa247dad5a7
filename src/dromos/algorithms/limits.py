"""What happens at the limit of an iteration: an error that has the result, or the result."""

from __future__ import annotations

from typing import TypeVar

from dromos.errors import ConvergenceError, InvalidArgumentError
from dromos.runner import Result

__all__ = ["check_on_limit", "settled"]

Answer = TypeVar("Answer", bound=Result)

_RULES = ("raise", "return")


def check_on_limit(on_limit: str) -> str:
    """``on_limit`` if it is one of the two words.

    >>> check_on_limit("return")
    'return'
    """
    if on_limit not in _RULES:
        raise InvalidArgumentError(
            f"on_limit={on_limit!r} is neither 'raise' (a ConvergenceError) nor 'return' (the result so far)"
        )
    return on_limit


def settled(result: Answer, on_limit: str, limit: int, trouble: str, advice: str) -> Answer:
    """``result`` if its run converged or need not; otherwise a ConvergenceError that has it."""
    if result.finished == "converged" or on_limit == "return":
        return result
    raise ConvergenceError(
        f"{trouble} after {limit} iterations; {advice}, or get the result so far with on_limit='return'",
        iterations=limit,
        result=result,
    )
