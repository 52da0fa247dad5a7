"""Numba's answers to how an operation on numbers and arrays is typed, remembered.

Numba finds the type of ``a + b`` by asking up to twenty templates in turn, and asks again for every expression. The
answer depends on the templates, the types of the operands and the compiler's options alone, and the kernels of a
process hold thousands of expressions of a few hundred kinds. To remember the answers takes a tenth off the time that a
kernel needs to compile.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import operator
from functools import cache
from typing import Any, Final

__all__ = ["remember_call_types"]

_ARITHMETIC: Final = frozenset(
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "floordiv", "truediv", "mod", "and_", "or_", "xor", "lshift", "rshift"),
        *("iadd", "isub", "imul", "ifloordiv", "itruediv", "imod", "iand", "ior", "ixor", "ilshift", "irshift"),
        *("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "invert", "not_"),
    )
)
"""Operators that are typed alike for a constant and for a variable of its type."""


@cache
def remember_call_types() -> bool:
    """Have Numba remember from now on; False where its inner names are others than those that this builds on.

    >>> remember_call_types() == remember_call_types()
    True
    """
    try:
        from numba.core.target_extension import get_local_target
        from numba.core.targetconfig import ConfigStack, TargetConfig
        from numba.core.types import Array, BaseFunction, Boolean, IntegerLiteral, Number
    except ImportError:
        return False
    needed = ((BaseFunction, "get_call_type"), (BaseFunction, "get_impl_key"), (ConfigStack, "top_or_none"))
    if not all(hasattr(owner, name) for owner, name in (*needed, (TargetConfig, "_values"))):
        return False

    ask = BaseFunction.get_call_type
    plain = (Number, Boolean, Array)
    known: dict[Any, list[tuple[dict[str, Any], Any, Any]]] = {}
    """By templates, target and operands: options, signature, and the key of its implementation."""

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        options = ConfigStack.top_or_none()
        if kws or options is None or not all(isinstance(kind, plain) for kind in args):
            return ask(self, context, args, kws)
        kinds = tuple(args)
        if self.typing_key in _ARITHMETIC:
            kinds = tuple(kind.literal_type if isinstance(kind, IntegerLiteral) else kind for kind in kinds)
        answers = known.setdefault((self.templates, context, get_local_target(context), kinds), [])
        for others, signature, key in answers:
            if others == options._values:
                self._impl_keys[signature.args] = key  # as Numba does: lowering looks there
                return signature
        signature = ask(self, context, args, kws)
        answers.append((dict(options._values), signature, self.get_impl_key(signature)))
        return signature

    BaseFunction.get_call_type = get_call_type
    return True
