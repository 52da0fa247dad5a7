"""Which skeleton runs a program on which path: one table for both the CPU and the CUDA engine.

A skeleton knows how to walk a graph and nothing of the program. It is a module of ``engines/cpu/skeletons`` or a file
of ``engines/cuda/kernels``. The first row that matches the path and one of the program's forms applies.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from dromos.plan import Path
from dromos.program import Analysis, TypedProgram
from dromos.program.forms import is_offered, is_offered_in_place, is_ordered

__all__ = ["TABLE", "Form", "Row", "Skeleton", "forms_of", "skeleton_for"]

Skeleton = Literal["claiming", "ordered", "offering", "asynchronous", "supersteps"]
Form = Literal["any", "claimed", "ordered", "offered", "offered in place"]


class Row(NamedTuple):
    """A skeleton, the form that a program must have for it, and the paths that it runs."""

    skeleton: Skeleton
    form: Form
    paths: tuple[str, ...]


TABLE: Final = (
    # a vertex receives one message and is done: BFS
    Row("claiming", "claimed", ("sync-push-dd", "sync-pull-dd")),
    # one field decreases by a minimum, and vertices are processed in its order: shortest paths
    Row("ordered", "ordered", ("async-push-dd",)),
    # messages depend on their source alone, and a field changes monotonically: components
    Row("offering", "offered in place", ("async-pull-dd", "async-pull-td")),
    # messages depend on their source alone: PageRank
    Row("offering", "offered", ("sync-pull-dd", "sync-pull-td")),
    Row("asynchronous", "any", ("async-push-dd", "async-push-td", "async-pull-dd", "async-pull-td")),
    Row("supersteps", "any", ("sync-push-dd", "sync-push-td", "sync-pull-dd", "sync-pull-td")),
)


def forms_of(typed: TypedProgram, analysis: Analysis, *, claimed: bool) -> frozenset[Form]:
    """The forms of a program; whether it is ``claimed`` also depends on its initial state."""
    found: dict[Form, bool] = {
        "any": True,
        "claimed": claimed,
        "ordered": is_ordered(typed, analysis),
        "offered in place": is_offered_in_place(typed.ir, analysis),
        "offered": is_offered(typed.ir, analysis),
    }
    return frozenset(form for form, has in found.items() if has)


def skeleton_for(path: Path, forms: frozenset[Form]) -> Skeleton:
    """The skeleton that runs a program of these forms on ``path``.

    >>> skeleton_for(Path("sync", "pull", "td"), frozenset({"any", "offered"}))
    'offering'
    >>> skeleton_for(Path("sync", "push", "td"), frozenset({"any", "offered"}))
    'supersteps'
    """
    return next(row.skeleton for row in TABLE if row.form in forms and str(path) in row.paths)
