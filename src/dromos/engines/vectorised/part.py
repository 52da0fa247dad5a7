"""A part of a graph on which a program runs on whole arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape, NativeKernel
from dromos.engines.parts import fold_reductions
from dromos.engines.vectorised.arcs import Arcs, arcs_of, rows_of
from dromos.engines.vectorised.natives import KERNELS
from dromos.engines.vectorised.uniform import distinguished_ids
from dromos.engines.vectorised.values import EVERY, ArcValues, EvaluatingPart, Vertices
from dromos.graph.slices import GraphSlice
from dromos.parallel import in_blocks
from dromos.plan import Path
from dromos.program import Expr, GraphTypes, Program
from dromos.program.expr import TRUE
from dromos.program.monoid import ANY

__all__ = ["VectorisedLeaf", "VectorisedPart"]

_BLOCK: Final = 1 << 13  # vertices that get their first state together


class VectorisedLeaf:
    """Runs parts with NumPy."""

    name = "numpy"

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> VectorisedPart:
        """See :class:`dromos.engines.parts.Leaf`."""
        return VectorisedPart(program, shape, types, first, last)

    def native(self, name: str) -> NativeKernel | None:
        """The kernel called ``name`` for whole graphs; None if there is none."""
        return KERNELS.get(name)


class VectorisedPart(EvaluatingPart):
    """See :class:`dromos.engines.parts.Part`."""

    def _start(self) -> tuple[Array, tuple[Any, ...]]:
        started, own = self.initialise(), self._own()
        return started, self._reduced(own, own)

    def initialise(self) -> Array:
        """Give all vertices of the graph their initial state; return the part's first frontier."""
        few = self._few()
        if few is not None:
            return self._initialise_like(*few)
        with self._keeping_degrees():
            for some in self._blocks(0, self.shape.num_vertices):
                self._store(self.state, some.at, self._stored("init", {"vertex": some}, some.ids))
            if self.always:
                return np.empty(0, dtype=np.int64)
            if self.ir.start is TRUE:
                return np.arange(self.first, self.last)
            started = [
                some.ids[self._truths(self.ir.start, {"vertex": some}, len(some.ids))]
                for some in self._blocks(self.first, self.last)
            ]
        return np.concatenate([np.empty(0, dtype=np.int64), *started])

    def _blocks(self, first: int, last: int) -> Iterator[Vertices]:
        """The vertices ``first..last`` in blocks, so that temporary arrays do not grow with the graph."""
        for begin in range(first, last, _BLOCK):
            end = min(begin + _BLOCK, last)
            yield Vertices(np.arange(begin, end), self.state, slice(begin, end))

    def _few(self) -> tuple[Array, int] | None:
        """A few vertices that have all values of the initial state, and the index of one that stands for all others."""

        def number(node: Expr) -> Any:
            return node.value if node.op == "const" else self.global_value(node)

        init = [expr for _, exprs in self.ir.init for expr in exprs]
        special = distinguished_ids(init, number)
        started = distinguished_ids([self.ir.start], number, fields_are_uniform=True)
        if special is None or started is None:
            return None
        ids = {vertex for vertex in special | started if 0 <= vertex < self.shape.num_vertices}
        if len(ids) >= self.shape.num_vertices:
            return None
        usual = next(vertex for vertex in range(len(ids) + 1) if vertex not in ids)
        few = sorted({*ids, usual})
        return np.array(few, dtype=np.int64), few.index(usual)

    def _initialise_like(self, few: Array, usual: int) -> Array:
        """As :meth:`initialise`, if all vertices but a ``few`` are like the one at index ``usual`` among these."""
        stored = self._stored("init", {"vertex": Vertices(few, self.state, few)}, few)
        for name, rows in stored.items():
            self.state[name][:] = rows[usual]
            self.state[name][few] = rows
        if self.always:
            return np.empty(0, dtype=np.int64)
        truths = self._truths(self.ir.start, {"vertex": Vertices(few, self.state, few)}, len(few))
        if truths[usual]:
            own = np.arange(self.first, self.last)
            return own if truths.all() else own[~np.isin(own, few[~truths])]
        inside = (few >= self.first) & (few < self.last)
        started: Array = few[truths & inside]
        return started

    def _own(self) -> Vertices:
        at = slice(self.first, self.last)
        return Vertices(np.arange(self.first, self.last), {name: a[at] for name, a in self.state.items()}, EVERY)

    def wanting(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        wants = self.analysis.wants
        if wants is None:
            return None
        own = self._own()
        return own.ids[self._truths(wants, {"vertex": own}, len(own.ids))]

    # ---- messages --------------------------------------------------------------------------------------------------

    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        if path.direction == "push":
            for arcs in arcs_of(piece, self._rows_in(piece, self.sending)):
                self._merge(piece, arcs.rows, arcs.ends, arcs, pushed=True)
            return
        self.mark_own_frontier()
        if self._asked_at != self.superstep:
            self._wanted, self._asked_at = self.wanting(), self.superstep
            self._offers = self._offered()
        if self._offers is not None:
            self._gather(piece, self._offers)
            return
        wanted = self._wanted_elsewhere(piece) if self.in_grid else self._wanted
        for arcs in arcs_of(piece, self._rows_in(piece, wanted)):
            if not self.always:
                arcs = self._kept(arcs, self.member[arcs.ends])
            self._merge(piece, arcs.ends, arcs.rows, arcs, pushed=False)

    def _wanted_elsewhere(self, piece: GraphSlice) -> Array | None:
        """The vertices of a slice that want a message, own or not; all of other parts if copies may be outdated."""
        if self._wanted is None:
            return None
        ids = np.arange(piece.start, piece.stop)
        if self.ir.wants is TRUE:
            return np.union1d(self._wanted, ids[(ids < self.first) | (ids >= self.last)])
        return ids[self._truths(self.ir.wants, {"vertex": Vertices(ids, self.state, ids)}, len(ids))]

    _asked_at = -1
    _wanted: Array | None = None
    _offers: tuple[Array, ...] | None = None

    def _offered(self) -> tuple[Array, ...] | None:
        """What each vertex sends along all of its arcs; None if messages depend on more than the vertex, or not all
        vertices send to all."""
        combine = self.ir.combine
        everyone = self.always and self._wanted is None and self.ir.sends is TRUE and self.ir.wants is TRUE
        if not (everyone and self.analysis.source_only) or combine is ANY or combine.keyed:
            return None
        count = self.shape.num_vertices
        sources = Vertices(np.arange(count), self.state, EVERY)
        found = self._values(self.ir.message, {"source": sources})
        return tuple(
            np.ascontiguousarray(np.broadcast_to(values, count).astype(dtype, copy=False))
            for values, dtype in zip(found, self.typed.accumulators, strict=True)
        )

    def _gather(self, piece: GraphSlice, offers: tuple[Array, ...]) -> None:
        """Merge the offers along the rows of a slice; all threads look them up, since that mostly waits for memory."""
        self._messages += piece.num_arcs
        blocks = list(rows_of(piece))
        found: list[list[Array]] = [[] for _ in blocks]

        def reduce(begin: int, end: int) -> None:
            for number in range(begin, end):
                rows = blocks[number]
                found[number] = self.merged.reduced(rows.starts, [offer.take(rows.ends) for offer in offers])

        in_blocks(reduce, len(blocks), 1)
        for rows, messages in zip(blocks, found, strict=True):
            self.merged.add_distinct(rows.ids, messages)

    @staticmethod
    def _rows_in(piece: GraphSlice, vertices: Array | None) -> Array | None:
        if vertices is None:
            return None
        begin, end = np.searchsorted(vertices, np.array((piece.start, piece.stop), vertices.dtype))
        return vertices[begin:end]

    @staticmethod
    def _kept(arcs: Arcs, keep: Array) -> Arcs:
        if keep.all():
            return arcs
        places = arcs.places
        if isinstance(places, slice):
            places = np.arange(places.start, places.stop)
        return Arcs(arcs.rows[keep], arcs.ends[keep], places[keep])

    def _used(self, piece: GraphSlice, arcs: Arcs, state: Mapping[str, Array], pushed: bool) -> Arcs:
        """The arcs that carry a message: the target wants one, and the source sends it."""
        if pushed and self.ir.wants is not TRUE:  # a derived condition only saves work, and copies may be outdated
            targets = Vertices(arcs.ends, state, arcs.ends)
            arcs = self._kept(arcs, self._truths(self.ir.wants, {"vertex": targets}, len(arcs.ends)))
        if self.ir.sends is not TRUE:
            roles = self._ends(arcs, state, pushed)
            values = self._arc_values(piece, arcs.places, pushed)
            sends = self._truths(self.ir.sends, roles, len(arcs.ends), values)
            arcs = self._kept(arcs, sends)
        return arcs

    @staticmethod
    def _ends(arcs: Arcs, state: Mapping[str, Array], pushed: bool) -> dict[str, Vertices]:
        near, far = Vertices(arcs.rows, state, arcs.rows), Vertices(arcs.ends, state, arcs.ends)
        return {"source": near, "target": far} if pushed else {"source": far, "target": near}

    def _merge(self, piece: GraphSlice, sources: Array, targets: Array, arcs: Arcs, *, pushed: bool) -> None:
        arcs = self._used(piece, arcs, self.state, pushed)
        count = len(arcs.ends)
        if not count:
            return
        self._messages += count
        roles = self._ends(arcs, self.state, pushed)
        found = self._values(self.ir.message, roles, self._arc_values(piece, arcs.places, pushed))
        messages = tuple(
            np.broadcast_to(values, count).astype(dtype, copy=False)
            for values, dtype in zip(found, self.typed.accumulators, strict=True)
        )
        if pushed:
            self.merged.add(arcs.ends, messages)
        else:
            self.merged.add_runs(arcs.rows, messages)

    # ---- the second half -------------------------------------------------------------------------------------------

    def _settle(self) -> tuple[Array, Array, tuple[Any, ...]]:
        got, messages = self._received()
        senders = self.frontier
        if self.ir.update_on == "all" or (self.always and (self.ir.sent or self.analysis.activity != "changed")):
            ids: Array = np.arange(self.first, self.last)
            at: Any = slice(self.first, self.last)
        elif self.ir.sent or self.analysis.activity != "changed":
            assert senders is not None
            ids = at = np.union1d(senders, got)
        else:
            ids = at = got
        written = self.analysis.written_fields
        before = {name: a[at].copy() if name in written else a[at] for name, a in self.state.items()}
        now = {name: a.copy() if name in written else a for name, a in before.items()}
        old, new = Vertices(ids, before, EVERY), Vertices(ids, now, EVERY)
        if self.ir.sent:
            where = EVERY if senders is None else np.searchsorted(ids, senders)
            chosen = Vertices(ids[where], before, where)
            self._store(now, where, self._stored("sent", {"vertex": chosen}, chosen.ids))
        where = EVERY if len(got) == len(ids) else np.searchsorted(ids, got)
        chosen = Vertices(got, now, where)
        self._store(now, where, self._stored("update", {"vertex": chosen}, got, messages=messages))
        following = np.empty(0, dtype=np.int64)
        if not self.always:
            following = ids[self._truths(self.ir.active, {"old": old, "new": new}, len(ids))]
        past = self._own() if self.ir.reductions else old
        if self.ir.reductions:
            past = past._replace(state={name: a.copy() for name, a in past.state.items()})
        for name in written:
            self.state[name][at] = now[name]
        return ids, following, self._reduced(past, self._own()) if self.ir.reductions else ()

    def _received(self) -> tuple[Array, tuple[Array, ...]]:
        """The vertices to update and their messages; all vertices, some with the identity, if the program says so."""
        if self.ir.update_on != "all":
            return self.merged.take(self.first, self.last)
        values = self.merged.take_block(self.first, self.last)  # blocks from other parts mark no vertices
        self.merged.take(self.first, self.last)
        return np.arange(self.first, self.last), values

    def _reduced(self, old: Vertices, new: Vertices) -> tuple[Any, ...]:
        return fold_reductions(self.typed, self._columns(old, new))

    def _columns(self, old: Vertices, new: Vertices) -> list[Array]:
        """The input of each reduction: one value per vertex."""
        roles = {"old": old, "new": new, "vertex": new}
        found = self._values([spec.expr for spec in self.ir.reductions], roles)
        count = len(new.ids)
        return [
            np.broadcast_to(values, count).astype(self.typed.reduction_type(spec.name))
            for spec, values in zip(self.ir.reductions, found, strict=True)
        ]

    # ---- edge fields -----------------------------------------------------------------------------------------------

    def _start_edges(self, piece: GraphSlice) -> None:
        for arcs in arcs_of(piece, None):
            self._write_arcs("edge_init", piece, arcs)

    def _write_edges(self, piece: GraphSlice) -> None:
        for arcs in arcs_of(piece, self._rows_in(piece, self._senders)):
            used = self._used(piece, arcs, self._before, pushed=True)
            if len(used.ends):
                self._write_arcs("edge_update", piece, used)

    def _write_arcs(self, function: str, piece: GraphSlice, arcs: Arcs) -> None:
        values = self._arc_values(piece, arcs.places, pushed=True)
        roles = self._ends(arcs, self.state, pushed=True)
        places = values.places
        numbers = np.arange(places.start, places.stop) if isinstance(places, slice) else places
        self._store(self.edge_state, places, self._stored(function, roles, numbers, values))

    def _arc_values(self, piece: GraphSlice, places: Any, pushed: bool) -> ArcValues:
        weights: Any = 1 if piece.weights is None else piece.weights[places]
        base = int(piece.offsets[0])
        given = self.given_by_arc("push" if pushed else "pull")
        chosen = {name: values[_moved(places, base)] for name, values in given.items()}
        if not self.ir.edge_fields:
            return ArcValues(weights, None, chosen)
        return ArcValues(weights, _moved(places, base - int(self.shape.offsets[self.first])), chosen)


def _moved(places: Any, base: int) -> Any:
    return slice(places.start + base, places.stop + base) if isinstance(places, slice) else places + base
