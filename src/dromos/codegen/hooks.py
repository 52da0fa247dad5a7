"""The hooks of a program, which the kernel skeletons call: described once, for every language.

:data:`HOOKS` lists the name, arguments and result of each hook; the methods of :class:`Printer` define what it does,
statement by statement. Subclasses add the syntax of a language: ``codegen/python/printer.py`` and
``codegen/cuda/printer.py``. A hook that only one device needs is in the ``hooks.py`` beside them.

Arguments of hooks have these names: S, O, D, P are the fields now, before, to be written, and as they were sent; E the
edge fields; A the merged messages; K the context; R the reductions; u, v vertices; ``arc`` a position among the arcs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from dromos.codegen.functions import Function, functions
from dromos.codegen.merging import BETTER, comes_first, way_to_share
from dromos.codegen.syntax import Syntax
from dromos.program import Analysis, TypedProgram
from dromos.program.monoid import ANY, MAX, MIN
from dromos.program.types import BOOL

__all__ = ["ADDRESSES", "CHANGE", "EDGE", "HOOKS", "VERTEX", "Hook", "Printer", "addresses"]

EDGE: Final = ("S", "E", "K", "u", "v", "arc", "weight")
VERTEX: Final = ("S", "K", "v")
CHANGE: Final = ("O", *VERTEX)
ADDRESSES: Final = {
    **dict.fromkeys(("compute", "sends", "edge_init", "edge_update"), EDGE),
    **dict.fromkeys(("init", "start", "wants", "sent"), VERTEX),
    **dict.fromkeys(("update", "claim"), (*VERTEX, "message")),
    "active": CHANGE,
    "converged": ("K",),
}
"""The arguments by which a program's functions find their symbols; functions of reductions get :data:`CHANGE`."""
_STORING: Final = ("init", "edge_init", "sent", "update", "edge_update")


class Hook(NamedTuple):
    """A function of the kernels: its name, its arguments, and its result."""

    name: str
    takes: tuple[str, ...]
    gives: Literal["Message", "Reduced", "bool", "void"]


HOOKS: Final = (
    # the message that changes nothing; merge two messages
    Hook("identity", (), "Message"),
    Hook("merge", ("a", "b"), "Message"),
    # the merged message of a vertex: load it, store it, merge another into it while other threads may do the same
    Hook("load_message", ("A", "v"), "Message"),
    Hook("store_message", ("A", "v", "message"), "void"),
    Hook("merge_shared", ("A", "locks", "v", "message"), "void"),
    # copy the fields that a program writes; whether a message would change them
    Hook("save_old", ("D", "S", "v"), "void"),
    Hook("changes", ADDRESSES["update"], "bool"),
    # the reductions: their initial values, and folding in a vertex
    Hook("reduce_start", (), "Reduced"),
    Hook("reduce_fold", ("R", *CHANGE), "Reduced"),
)


def addresses(function: Function) -> tuple[str, ...]:
    """The arguments by which a program's function finds its symbols."""
    return ADDRESSES.get(function.name, CHANGE)


class Printer(Syntax):
    """Prints the functions and hooks of a program; a subclass provides the syntax of its language."""

    def __init__(self, typed: TypedProgram, analysis: Analysis | None = None) -> None:
        """``analysis`` is needed for hooks, not for functions."""
        super().__init__(typed)
        self._analysis = analysis
        self.by_name = {function.name: function for function in functions(typed)}

    @property
    def analysis(self) -> Analysis:
        """The analysis of the program."""
        assert self._analysis is not None, "hooks need the analysis of the program"
        return self._analysis

    # ---- a program's own functions -------------------------------------------------------------------------------

    def functions(self) -> list[str]:
        """Every function of the program in three forms: on scalars, looking up its symbols, and storing its results."""
        texts = []
        for function in self.by_name.values():
            texts += [self.scalar(function), self.at(function)]
            if function.name in _STORING:
                texts.append(self.store(function))
        return texts

    def scalar(self, function: Function) -> str:
        """The function on scalars, with exactly the symbols that it uses as arguments."""
        statements, results = self.lower(function.roots, function.results, by_address=False)
        body = [*statements, *self.give_results(function, results)]
        return self.define(
            function.name, [self.argument(a) for a in function.arguments], self.result_type(function), body
        )

    def at(self, function: Function) -> str:
        """The same function, looking up its symbols."""
        call = f"{function.name}({', '.join(self.look_up(argument.leaf) for argument in function.arguments)})"
        result = self.result_type(function)
        body = [self.run(call)] if result == "void" else self.give(call)
        return self.define(f"{function.name}_at", addresses(function), result, body)

    def store(self, function: Function) -> str:
        """Store the results; return whether the integers among them fit, that is, are unchanged by the cast."""
        takes = (self.stored_into(function), *addresses(function))
        name, writes = f"{function.name}_store", function.writes
        if not writes:
            return self.define(name, takes, "bool", self.give(self.literal(True, BOOL)))
        fresh = self.let("fresh", f"{function.name}_at({', '.join(addresses(function))})")
        values = [self.item("fresh", i, len(writes)) for i in range(len(writes))]
        narrow = {field for where, field in self.typed.narrowing if where == function.name}
        checked = [i for i, (field, _) in enumerate(writes) if field in narrow]
        roots = [function.roots[i] for i in checked]
        # compute the uncast values before anything is stored, since D may be S
        statements, wide = self.lower(roots, [self.typed.typing.of(root).dtype for root in roots], by_address=True)
        tests = [f"({whole}) == {values[i]}" for whole, i in zip(wide, checked, strict=True)]
        stores = [self.store_field(function, *where, value) for where, value in zip(writes, values, strict=True)]
        fits = f" {self.both} ".join(tests) or self.literal(True, BOOL)
        return self.define(
            name, takes, "bool", [fresh, *statements, self.let("fits", fits, BOOL), *stores, *self.give("fits")]
        )

    # ---- hooks: what each of HOOKS does --------------------------------------------------------------------------

    def hooks(self) -> list[str]:
        """Every hook that all devices share."""
        return [self.define(*hook, getattr(self, f"_{hook.name}")()) for hook in HOOKS]

    @property
    def _components(self) -> range:
        return range(len(self.typed.accumulators))

    def _identity(self) -> list[str]:
        pairs = zip(self.typed.identities, self.typed.accumulators, strict=True)
        return self.give_all("Message", [self.literal(value, dtype) for value, dtype in pairs])

    def _merge(self) -> list[str]:
        monoid = self.ir.combine
        if monoid is ANY:
            return self.give("b")
        pairs = [(self.part("a", i), self.part("b", i)) for i in self._components]
        if not monoid.keyed:
            dtypes = self.typed.accumulators
            return self.give_all(
                "Message", [self.merged(monoid.part(i), dtypes[i], *pairs[i]) for i in self._components]
            )
        lines = []
        for a, b in pairs:
            lines += self.when(f"{b} != {a}", self.give(self.choose(f"{b} {BETTER[monoid.name]} {a}", "b", "a")))
        return [*lines, *self.give("a")]

    def _load_message(self) -> list[str]:
        return self.give_all("Message", [self.accumulator(i) for i in self._components])

    def _store_message(self) -> list[str]:
        return [self.store_accumulator(i, self.part("message", i)) for i in self._components]

    def _merge_shared(self) -> list[str]:
        """Merge component by component with atomics if possible, else whole messages under a lock."""
        monoid = self.ir.combine
        match way_to_share(monoid, len(self._components)):
            case "store":
                return [self.share_accumulator(0, self.part("message", 0))]
            case "lock":
                kept = "message" if monoid is ANY else f"merge({self.newest_message}(A, v), message)"
                return self.locked(f"store_message(A, v, {kept})")
        lines = []
        for i in self._components:
            own, value = monoid.part(i), self.part("message", i)
            merge = [self.atomic(own, i, value)]
            if own in (MIN, MAX):  # most messages improve nothing: compare before the atomic
                merge = self.when(f"{value} {BETTER[own.name]} {self.newest_accumulator(i)}", merge)
            lines += merge
        return lines

    def _save_old(self) -> list[str]:
        return [
            self.assign(self.field("D", spec.name, i), self.field_value("S", spec.name, i))
            for spec in self.ir.fields
            if spec.name in self.ir.written
            for i in range(spec.width)
        ]

    def _changes(self) -> list[str]:
        update = self.by_name["update"]
        count = len(update.writes)
        if not count:
            return self.give(self.literal(False, BOOL))
        lines, old = self.updated(update)
        tests = [f"{self.item('fresh', i, count)} != {old[i]}" for i in range(count)]
        return [*lines, *self.give(f" {self.either} ".join(tests))]

    def _reduce_start(self) -> list[str]:
        dtypes = [self.typed.reduction_type(r.name) for r in self.ir.reductions]
        starts = [self.literal(r.monoid.identity(d), d) for r, d in zip(self.ir.reductions, dtypes, strict=True)]
        return self.give_all("Reduced", starts or ["0"])

    def _reduce_fold(self) -> list[str]:
        return self.folded("R", [f"reduce_{r.name}_at(O, S, K, v)" for r in self.ir.reductions])

    def folded(self, into: str, values: Sequence[str]) -> list[str]:
        """Return the reductions ``into`` with the expressions ``values`` folded in."""
        if not values:
            return self.give(into)
        dtypes = [self.typed.reduction_type(r.name) for r in self.ir.reductions]
        old = [self.reduced(into, i) for i in range(len(values))]
        lines = [self.let(f"x{i}", value, dtypes[i]) for i, value in enumerate(values)]
        parts: dict[int, str] = {}
        for monoid, places in self.ir.joint_reductions:
            if not monoid.keyed:
                parts |= {i: self.merged(monoid, dtypes[i], old[i], f"x{i}") for i in places}
                continue
            wins = f"wins{places[0]}"
            test = comes_first(monoid, [(f"x{i}", old[i]) for i in places], either=self.either, both=self.both)
            lines.append(self.let(wins, test, BOOL))
            parts |= {i: f"({self.choose(wins, f'x{i}', old[i])})" for i in places}
        return [*lines, *self.give_all("Reduced", [parts[i] for i in range(len(values))])]
