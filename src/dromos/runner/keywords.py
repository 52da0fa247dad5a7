"""Keywords that people type and no function takes: which one did they mean?"""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Mapping
from typing import Final

from dromos.errors import UnknownArgumentError

__all__ = ["unknown_argument"]

_HOW: Final = (
    "device", "path", "threads", "progress", "slices", "parts", "memory", "host_memory", "share", "split",
    "deal", "keep_on_device", "gather", "checkpoint", "checkpoint_every", "explain",
)  # fmt: skip
_ELSEWHERE: Final[Mapping[str, str]] = {  # what NetworkX, igraph, NetworKit and others call the same
    "damping": "alpha",
    "damping_factor": "alpha",
    "d": "alpha",
    "max_iterations": "max_iter",
    "maxiter": "max_iter",
    "niter": "max_iter",
    "tolerance": "tol",
    "eps": "tol",
    "epsilon": "tol",
    "cutoff": "depth_limit",
    "max_depth": "depth_limit",
    "root": "source",
    "start": "source",
    "weights": "weight",
    "num_threads": "threads",
    "n_jobs": "threads",
    "gpu": "device",
    "backend": "device",
}


def unknown_argument(function: str, keyword: str) -> UnknownArgumentError:
    """The error for a keyword that ``function`` does not take, with the one that was probably meant.

    >>> str(unknown_argument("bfs", "devise"))
    "bfs has no argument 'devise'; did you mean 'device'?"
    """
    known = [*_own_arguments(function), *_HOW]
    meant = _ELSEWHERE.get(keyword)
    if meant not in known:
        meant = next(iter(difflib.get_close_matches(keyword, known, n=1)), None)
    hint = f"did you mean {meant!r}?" if meant else f"it takes {', '.join(known)}"
    return UnknownArgumentError(f"{function} has no argument {keyword!r}; {hint}")


def _own_arguments(function: str) -> list[str]:
    """The arguments of one of our algorithms; none for a program of a user's own."""
    called = getattr(sys.modules.get("dromos.algorithms"), function, None)
    if inspect.ismodule(called):  # of a function that is no algorithm of the command line
        called = getattr(called, function, None)
    if called is None:
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(called).parameters.values() if p.kind in kinds and p.name != "graph"]
