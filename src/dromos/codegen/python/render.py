"""A program as a source module: its small functions on scalars, and the same functions addressed by vertex and edge.

The module depends on NumPy and the compiler only, and its text is a function of the program and the graph's types
alone. Kernels are appended to it and decorated with its ``kernel``. The text that names the module thus includes
everything that a kernel calls, so a cached kernel never calls stale code. The small functions are not cached
individually; they are inlined into the kernels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dromos.codegen.python.printer import PythonPrinter, context_names
from dromos.program import TypedProgram

__all__ = ["render"]

_HEADER: Final = '''"""Program {hash} for ids {id} and weights {weight}. Written by Dromos; changes are lost.

Functions of scalars take the symbols that they use; *_at and *_store look them up.
S, O, D: the fields now, before, to be written: {fields}
E: the edge fields, and what is given by edge: {edges}
K: {context}
*_store returns whether every integer fitted its field.
"""

import numpy as np
{prelude}
'''

_PRELUDE: Final = "from dromos.jit import inline, kernel"


def render(typed: TypedProgram, prelude: str = _PRELUDE, *, shared: str = "") -> str:
    """The text of the module that holds a program's functions; ``prelude`` defines the decorators.

    ``shared``: the atomic load for fields that other threads write concurrently, by relaxed stores; the prelude then
    provides both.

    >>> import numpy as np
    >>> import dromos.program as dr
    >>> class Spread(dr.Program):
    ...     x = dr.field(np.float32, init=1.0)
    ...     combine = dr.SUM
    ...     def compute(self, u, edge, v): return u.x / u.out_degree
    ...     def update(self, v, message): return message
    >>> text = render(Spread.typed(dr.GraphTypes()))
    >>> print(text[text.index("def compute(") : text.index("@inline", text.index("def compute("))].strip())
    def compute(u_x, u_out_degree):
        return np.float64(u_x) / np.float64(u_out_degree)
    """
    ir = typed.ir
    header = _HEADER.format(
        hash=ir.hash,
        id=typed.types.id,
        weight=typed.types.weight,
        fields=_tuple(spec.name for spec in ir.fields),
        edges=_tuple(spec.name for spec in (*ir.edge_fields, *ir.edge_params)),
        context=_tuple(context_names(typed)),
        prelude=prelude,
    )
    parts = [header, *PythonPrinter(typed, shared=shared).functions()]
    return "\n\n".join(part.strip("\n") + "\n" for part in parts)


def _tuple(names: Iterable[str]) -> str:
    return f"({', '.join(names)})"
