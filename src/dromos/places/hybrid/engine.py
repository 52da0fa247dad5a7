"""CPUs and GPUs on one graph: TOTEM as a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeGuard

from dromos.engines import GraphLike, NativeKernel, check_params, graph_types
from dromos.engines.direction import along
from dromos.engines.parts import Leaf
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.parting import SPLITS
from dromos.places.hybrid.components import can_link, components
from dromos.places.hybrid.dealing import dealt
from dromos.places.hybrid.execution import HybridExecution
from dromos.places.hybrid.model import choose
from dromos.places.hybrid.split import SplitGraph, split_graph
from dromos.program import Program
from dromos.program.renumber import renumbered

__all__ = ["HybridEngine"]


class _DeviceLeaf(Leaf, Protocol):
    """A leaf on a GPU; ``memory``: the bytes that a part may take there."""

    device: int
    memory: int | None

    def can_hold(self, graph: GraphLike, share: float) -> bool: ...


def _is_device(leaf: Leaf) -> TypeGuard[_DeviceLeaf]:
    return hasattr(leaf, "device")


class HybridEngine:
    """Runs programs on one graph that is split over several leaf engines, which work at the same time.

    ``share``: the fraction of the edges that the first leaf gets; the others get equal parts of the rest. ``split``:
    which vertices the first leaf gets, those of the highest degrees (``"high"``), of the lowest (``"low"``), or any
    (``"random"``). The model of :mod:`dromos.places.hybrid.model` chooses what is None or ``"auto"``.

    >>> import dromos as dr
    >>> from dromos.engines.vectorised import VectorisedLeaf
    >>> engine = HybridEngine([VectorisedLeaf(), VectorisedLeaf()], share=0.25, split="high")
    >>> engine.name
    'numpy+numpy'
    >>> dr.bfs(dr.generators.path(4), 0, device=engine).level.tolist()
    [0, 1, 2, 3]
    """

    def __init__(
        self, leaves: Sequence[Leaf], *, share: float | Literal["auto"] | None = None, split: str | None = None
    ) -> None:
        if len(leaves) < 2:
            raise InvalidArgumentError("a graph is split over two or more devices; name them, as in device='cpu+cuda'")
        share, split = None if share == "auto" else share, None if split == "auto" else split
        if share is not None and (
            isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1
        ):
            raise InvalidArgumentError(
                f"share={share!r} is not a number from 0 to 1 (the first device's part of the edges), or 'auto'"
            )
        known = {name: name for name in SPLITS}
        if split is not None and split not in known:
            raise InvalidArgumentError(f"split={split!r} is not one of {', '.join(map(repr, SPLITS))}, 'auto'")
        self.leaves, self.share, self.split = tuple(leaves), share, None if split is None else known[split]
        self.name = "+".join(leaf.name for leaf in leaves)

    def prepare(self, program: Program, graph: GraphLike) -> HybridExecution:
        """Set up the program in its initial state on every part; the first program on a graph splits it."""
        check_params(program, graph)
        program, graph = along(program, graph)
        assert isinstance(graph, Graph)
        by_edge = bool(program.ir().edge_fields or program.ir().edge_params)
        made = self._split(graph, arcs=by_edge)
        types, renamed = graph_types(graph), renumbered(program, made.given_ids, made.given_arcs)
        ranges = zip(made.bounds, made.bounds[1:], strict=False)
        parts = [
            leaf.part(renamed, made.graph, types, first, last)
            for leaf, (first, last) in zip(self.leaves, ranges, strict=True)
        ]
        return HybridExecution(renamed, made, types, parts, [leaf.name for leaf in self.leaves])

    def _split(self, graph: Graph, *, arcs: bool = False) -> SplitGraph:
        share, split = choose(graph, self.leaves, self.share, self.split)
        others = len(self.leaves) - 1
        shares = (share, *((1 - share) / others,) * others)
        devices = {number: leaf for number, leaf in enumerate(self.leaves) if _is_device(leaf)}
        device = next((leaf.device for leaf in devices.values()), None)
        stay = [
            number for number, leaf in devices.items() if leaf.device == device and leaf.can_hold(graph, shares[number])
        ]
        memory = min((leaf.memory for leaf in devices.values() if leaf.memory is not None), default=None)
        return split_graph(graph, shares, split, arcs=arcs, device=device, stay=stay, memory=memory)

    @property
    def workers(self) -> int:
        """The number of processors that groups of sources are dealt over."""
        return len(self.leaves)

    def native(self, name: str) -> NativeKernel | None:
        """The kernel of this name over several processors; None if there is none and a program has to do the work."""
        return self._kernels().get(name) or dealt(self.leaves, name, self.share)

    def _kernels(self) -> dict[str, NativeKernel]:
        """Components, by one forest that passes from processor to processor."""
        leaves = self.leaves
        return {"components": lambda graph: components(self._split(graph), leaves)} if can_link(leaves) else {}
