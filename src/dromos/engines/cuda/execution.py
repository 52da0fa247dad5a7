"""A program on a GPU between two launches: a launch runs many supersteps; the host starts it and reads a record."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, caps_for, check_params, graph_types
from dromos.engines.arc_order import in_order
from dromos.engines.cuda import saving
from dromos.engines.cuda.compiler import Module, as_bytes
from dromos.engines.cuda.device_graph import DeviceGraph, device_graph, type_defines
from dromos.engines.cuda.layout import levels_of
from dromos.engines.cuda.memory import MAX_ROWS, Buffers, HostCopies, State, address, edge_params, fill_params
from dromos.engines.cuda.modules import Kernel, facts_of, kernel_for, module_of
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.cuda.out_of_memory import told_when_full
from dromos.engines.cuda.over_link import OverLink, clear_counters
from dromos.engines.cuda.packed_rows import PACK_ARCS, PackedRows, pack_table_bytes
from dromos.engines.cuda.residency import Need
from dromos.engines.cuda.transfers import to_host
from dromos.engines.saving import Saved
from dromos.errors import FieldOverflowError
from dromos.plan import Caps, Constants, Path, Stats, require_legal
from dromos.program import Program

__all__ = ["CudaExecution"]

_FINISHED = ("", "frontier empty", "converged")
_PUSH, _PULL, _SWITCH = range(3)
_FOREVER = 1 << 62
_SWITCHING = Constants(beta=24.0)  # a pull here is fast as long as the frontier is a bitmap: it turns back late
_WIDEST = 4.0  # the most by which a bucket may widen, relative to the first one
_WIDEST_OVER_LINK = 1.0  # a wide bucket sends some vertices twice, and rows in the host's memory cost ten times as much
_FIRST_ROWS = 64  # rows that are read together with the record, since most runs have no more


class CudaExecution:
    """See :class:`dromos.engines.Execution`."""

    def __init__(self, program: Program, graph: GraphLike, options: CudaOptions) -> None:
        check_params(program, graph)
        self.options = options
        self.typed = program.typed(graph_types(graph))
        self.ir = self.typed.ir
        self.known = known = facts_of(self.typed)
        self.analysis, self.always = known.analysis, known.always
        state = known.state_bytes(program, graph)
        if options.packed and self.always:
            state += pack_table_bytes(graph.num_vertices, graph.num_arcs)
        need = Need(options.memory, state, known.weights, options.share)
        renumber = options.renumber and not known.in_given_order
        self.on_device: DeviceGraph = device_graph(graph, renumber=renumber, need=need)
        self.memory = State(self.typed, graph.num_vertices, graph.num_arcs)
        self.buffers = Buffers(known, self.on_device)
        self.arguments = np.zeros(1, known.arguments)
        self._argument_bytes = as_bytes(self.arguments)  # the same memory
        self.high_diameter = graph.num_arcs < Constants().delta * graph.num_vertices
        self._kernels: dict[tuple[Path, bool], Kernel] = {}
        self._modules: dict[Kernel, Module] = {}
        self._by_arc: dict[bool, dict[str, Any]] = {}
        self._caps: dict[bool, Caps] = {}
        self.rows: Array = np.zeros(0)
        self._reduced: Any = {}
        self.program, self.graph = program, graph
        self._fill()
        self._start()

    def begin(self, program: Program, graph: GraphLike, copy: DeviceGraph) -> None:
        """Restart in the same memory, with a program of the same class on the same graph, and its copy there."""
        self.buffers.clear()
        self.program, self.graph, self.on_device = program, graph, copy
        self._fill_context(self.arguments["K"][0])
        self._start()

    def forget_inputs(self) -> None:
        """Keep only the memory, until :meth:`begin`."""
        del self.program, self.graph, self.on_device, self._params, self._tables, self._over_link

    # ---- the interface ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields in the given order, copied to the host one by one on access."""
        self._check_start()
        return HostCopies(self.memory.fields, lambda values: to_host(self.on_device.to_given_order(values)))

    @property
    def reductions(self) -> Mapping[str, Any]:
        """The reductions by name, from the record that the last launch left."""
        return {spec.name: self._reduced[f"r_{spec.name}"] for spec in self.ir.reductions}

    def result(self) -> Mapping[str, Array]:
        """The fields and edge fields in the given order: on the host, or left on the device if the options say so."""
        self._check_start()
        give = self.on_device.to_given_order
        with told_when_full(f"the result of {self.ir.name}"):
            fields = {name: give(values) for name, values in self.memory.fields.items()} | self.memory.edge_fields
        return fields if self.options.on_device else {name: to_host(values) for name, values in fields.items()}

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """Up to ``horizon`` supersteps on ``path`` (None: to the end)."""
        require_legal(path, self.analysis, self.ir.name)
        key = (path, self._claimed)
        if key not in self._kernels:
            self._kernels[key] = kernel_for(path, self.typed, self.analysis, claimed=self._claimed)
        return self._run(self._kernels[key], _PULL if path.direction == "pull" else _PUSH, horizon)

    def step_switching(self, horizon: int | None = None) -> Stats:
        """Up to ``horizon`` supersteps; the device switches the direction by the planner's own rule."""
        policy = _PUSH if self.caps.average_degree < self.caps.constants.delta else _SWITCH
        return self._run(Kernel("claiming"), policy, horizon)

    def restart(self, **params: Any) -> None:
        """Start again in the same memory, with other numbers as parameters."""
        program = type(self.program)(**{**self.program.params, **params})
        check_params(program, self.graph)
        self.begin(program, self.graph, self.on_device)

    why_not_saved = ""

    def save(self) -> Saved:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        self._check_start()
        return saving.save(self)

    def restore(self, saved: Saved, stats: Stats) -> None:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        saving.restore(self, saved, stats)

    def resume_at(self, stats: Stats) -> None:
        """Continue after that step; the data on the device is in place."""
        self._check_start()
        self._superstep, self.stats = stats.superstep, stats
        control, self.rows = self.buffers.read(0)
        self._reduced = control["reduced"]

    # ---- launches --------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._superstep, self._claimed = 0, False
        self._unread: Callable[[], Any] | None = None
        self._over_link = OverLink(self) if self.on_device.is_over_link(self.known.weights) else None
        self.rows = np.zeros(0)
        self._reduced = {  # over no vertices, until a launch folds them
            f"r_{spec.name}": spec.monoid.identity(self.typed.reduction_type(spec.name)) for spec in self.ir.reductions
        }
        self.stats = self._initialise()
        if self._claimed not in self._caps:
            self._caps[self._claimed] = caps_for(
                self.ir,
                self.analysis,
                self.graph,
                constants=_SWITCHING,
                ordered=self.known.ordered,
                dominated=self.known.dominated,
                switches=self._claimed,
            )
        self.caps = self._caps[self._claimed]
        if self._has_forced_way:
            self.caps = self.caps.in_supersteps()

    def _initialise(self) -> Stats:
        if self.graph.num_vertices == 0:
            return self._statistics(None, 0.0, 0)
        if self.known.starts_alike:  # the record's contents are known: the first step waits for both
            self._begin_launch(Kernel("supersteps"), "initialise", 1)
            self._unread = self.buffers.read_later()
            n, arcs = self.graph.num_vertices, self.graph.num_arcs
            return self._statistics({"size": n, "out": arcs, "in": arcs, "finished": 0}, 0.0, 0)
        control = self._launch(Kernel("supersteps"), "initialise", 1)
        self._superstep = 0
        if control["overflowed"]:
            self._raise_overflow("init")
        self._claimed = self.analysis.claimed is not None and not control["open"] and not self._has_forced_way
        return self._statistics(control, 0.0, 0)

    def _check_start(self) -> None:
        """Check the record of a start that was not waited for, if there is one."""
        if self._unread is not None:
            control, self._unread = self._unread(), None
            if control["overflowed"]:
                self._raise_overflow("init")

    def _run(self, kernel: Kernel, policy: int, horizon: int | None) -> Stats:
        with told_when_full(f"a step of {self.ir.name}"):
            choice = None if self._over_link is None else self._over_link.choose(kernel, policy == _PULL)
        in_ranges = choice is not None and choice.way != "in place"
        alone = in_ranges or (choice is not None and choice.expected is not None)  # the next superstep is chosen anew
        self._module(kernel.in_ranges() if in_ranges else kernel)
        begin = time.perf_counter()
        left = _FOREVER if horizon is None else horizon
        step = self.arguments["step"][0]
        step["policy"] = policy
        parts, messages = [], 0
        while True:
            for name, table in self._tables.items():
                table[...] = self.memory.fields[name]
            one = alone or self.options.fusion == "none" or bool(self._tables)
            with told_when_full(f"a step of {self.ir.name}"):
                if self._over_link is not None and choice is not None and in_ranges:
                    control = self._over_link.superstep(kernel.in_ranges(), choice)
                else:
                    control = self._launch(kernel, "run", 1 if one else left)
            ran = int(control["supersteps"])
            self._superstep += ran
            left -= ran
            parts.append(self.rows)
            messages += int(self.rows["messages"].sum())
            if control["overflowed"]:
                self._raise_overflow("update")
            if control["finished"] or left <= 0 or alone:
                break
        self.rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self.stats = self._statistics(control, time.perf_counter() - begin, messages, policy == _SWITCH)
        if self._over_link is not None and choice is not None:
            self._over_link.note(choice, policy == _PULL, self.stats.seconds)
            self.stats = replace(self.stats, way=choice.way, way_seconds=choice.expected)
        return self.stats

    def _launch(self, kernel: Kernel, name: str, horizon: int) -> Any:
        self._begin_launch(kernel, name, horizon)
        return self.read_record()

    def _begin_launch(self, kernel: Kernel, name: str, horizon: int) -> None:
        if name != "initialise":  # which sends no messages
            self.point_at_messages(kernel)
        clear_counters(self.buffers.report, all_of_them=True)
        self.start_kernel(kernel, name, horizon)

    def start_kernel(self, kernel: Kernel, name: str, horizon: int, *more: Any) -> None:
        """Start the kernel called ``name`` for up to ``horizon`` supersteps."""
        module, (block, most) = self._module(kernel), self._shape(kernel)
        self.arguments["step"]["horizon"] = horizon
        self.arguments["K"]["superstep"] = self._superstep
        grid = module.cooperative_grid(name, block, most=most)
        module.launch(name, grid, block, self._argument_bytes, *more, together=True)

    def _shape(self, kernel: Kernel) -> tuple[int, int]:
        return self.options.shape(self.high_diameter and kernel.by_queue)

    def read_record(self) -> Any:
        """Wait for the last launch, and return its record."""
        control, rows = self.buffers.read(_FIRST_ROWS)
        self._check_start()
        self._reduced = control["reduced"]
        ran = int(control["supersteps"])
        if ran > _FIRST_ROWS:
            rows = self.buffers.read(min(ran, MAX_ROWS))[1]
        self.rows = rows[:ran]
        return control

    def _module(self, kernel: Kernel) -> Module:
        """The compiled kernel for this graph; the graph caches it for the next run of the program."""
        if kernel in self._modules:
            return self._modules[kernel]
        graph, block = self.on_device, self._shape(kernel)[0]
        pack_arcs = PACK_ARCS if kernel.by_source and self._point_at_packs() else 0
        key = (self.known, kernel, block, pack_arcs, self.options.defines)
        module = graph.modules.get(key)
        if module is None:
            module = graph.modules[key] = module_of(
                self.typed, self.analysis, kernel, type_defines(graph), self.options, block,
                renamed=graph.ids is not None, over_link=graph.residency.share < 1 and not kernel.split,
                pack_arcs=pack_arcs,
            )  # fmt: skip
        self._modules[kernel] = module
        return module

    # ---- what kernels are given ------------------------------------------------------------------------------------

    def _fill(self) -> None:
        a, graph = self.arguments, self.on_device
        a["G"] = graph.record
        for part, arrays in (("S", self.memory.fields), ("O", self.memory.before)):
            for name, array in arrays.items():
                a[part][f"f_{name}"] = address(array)
        for name, array in self.memory.edge_fields.items():
            a["E"][f"e_{name}"] = address(array)
        self.buffers.fill(a["W"][0])
        self._fill_context(a["K"][0])
        step = a["step"][0]
        step["nanoseconds"] = int(self.options.launch_ms * 1e6)
        step["selective"] = self.options.fusion == "selective"
        step["alpha"], step["beta"] = _SWITCHING.alpha, _SWITCHING.beta
        widest = _WIDEST_OVER_LINK if graph.residency.share < 1 else _WIDEST
        step["delta"], step["widest"] = graph.bucket_width, widest * graph.bucket_width

    def _fill_context(self, context: Any) -> None:
        import cupy

        graph = self.on_device
        context["num_vertices"], context["num_arcs"] = self.graph.num_vertices, self.graph.num_arcs
        context["out_offsets"], context["in_offsets"] = address(graph.out.offsets), address(graph.into.offsets)
        context["ids"] = address(graph.ids)
        self._tables = {name: cupy.zeros_like(self.memory.fields[name]) for name in self.ir.tables}
        for name, table in self._tables.items():
            context[f"at_{name}"] = address(table)
        self._params = fill_params(context, self.program, self.typed, graph.to_device_order)

    def point_at_messages(self, kernel: Kernel) -> None:
        """Pass the accumulators, and the copy of what is sent, to kernels that use them."""
        if kernel.skeleton == "supersteps":
            for i, array in enumerate(self.memory.offers if kernel.by_source else self.memory.merged):
                self.arguments["A"][f"a{i}"] = address(array)
        for name, array in self._given_by_arc(kernel.pull).items():
            self.arguments["E"][f"e_{name}"] = address(array)
        if kernel.skeleton == "asynchronous" and self.ir.sent:
            for name, array in self.memory.sent.items():
                self.arguments["P"][f"f_{name}"] = address(array)

    def _point_at_packs(self) -> bool:
        """Whether rows are read in packs; if so, set their addresses in the arguments."""
        packed = self.packed_rows
        if packed is None:
            return False
        packed.fill(self.arguments["G"][0])
        return True

    @property
    def packed_rows(self) -> PackedRows | None:
        """The rows on the host in packs, if kernels that read all of them are to use these."""
        return self.on_device.packed if self.options.packed and self.always else None

    @property
    def _has_forced_way(self) -> bool:
        return self._over_link is not None and self.options.way in ("pages", "gathered")

    def frontier(self) -> Any:
        """The vertices of the frontier, on the device and in no order; for programs that keep a queue of them."""
        control, _ = self.buffers.read(0)
        return self.buffers.queues[int(control["flipped"])][: int(control["size"])]

    def _given_by_arc(self, pull: bool) -> Mapping[str, Any]:
        """The edge parameters on the device, in the order of the rows that a kernel traverses."""
        if pull not in self._by_arc:
            order = None
            if pull and self.ir.edge_params:
                order = in_order(self.graph, self.graph if self.on_device.symmetric else self.graph.transpose)
            self._by_arc[pull] = edge_params(self.program, self.typed, order)
        return self._by_arc[pull]

    # ---- after a launch --------------------------------------------------------------------------------------------

    def _raise_overflow(self, function: str) -> None:
        raise FieldOverflowError(
            f"{self.ir.name}.{function}: a value does not fit the integer type of its field; "
            "declare the field with a wider type"
        )

    def _statistics(self, control: Any, seconds: float, messages: int, switched: bool = False) -> Stats:
        size, out, inn = (0, 0, 0) if control is None else (int(control[name]) for name in ("size", "out", "in"))
        if self.always and control is not None:
            size, out, inn = self.graph.num_vertices, self.graph.num_arcs, self.graph.num_arcs
        code = 1 if control is None else int(control["finished"])
        finished: Any = _FINISHED[code] if size or code == 2 else "frontier empty"
        return Stats(
            superstep=self._superstep,
            frontier=size,
            out_degree=out,
            in_degree=inn,
            messages=messages,
            bytes=messages * (self.analysis.message_bytes + self.graph.targets.itemsize),
            seconds=seconds,
            finished=finished,
            levels=levels_of(self.rows, switched) if seconds else None,
        )
