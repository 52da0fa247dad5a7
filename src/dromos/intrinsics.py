"""What Numba lacks for kernels that share memory: atomics with a memory order, prefetch, bit counts, a spin hint.

All array functions take ``(array, index, …)`` on a one-dimensional array; the relaxed load and store also take
``(row, column)`` on one of two dimensions. No index wraps round and none is checked.
Orders have LLVM's names: *relaxed* (monotonic) is a plain load or store on ARM and x86 that the compiler may neither
tear nor move out of a loop; *unordered* is not torn either, but two such loads may become one, and one whose value is
not used none; *acquire* and *release* order what stands after and before them. Operations are relaxed unless their name
or text says more.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import platform

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_swap",
    "atomic_swap_acq_rel",
    "compare_and_swap",
    "compare_and_swap_relaxed",
    "count_bits",
    "load",
    "load_acquire",
    "load_relaxed",
    "load_unaligned",
    "load_unordered",
    "nanoseconds",
    "prefetch",
    "prefetch_to_write",
    "sched_yield",
    "spin_hint",
    "store",
    "store_relaxed",
    "store_release",
    "trailing_zeros",
]


def _is_column(array):
    return isinstance(array, types.Array) and array.ndim == 1


def _has_place(array, index):
    """Whether ``index`` names one element of ``array``: a whole number, or as many as there are dimensions."""
    return isinstance(array, types.Array) and array.ndim == (len(index) if isinstance(index, types.BaseTuple) else 1)


def _place(index):
    """The type that an index is converted to."""
    return types.UniTuple(types.intp, len(index)) if isinstance(index, types.BaseTuple) else types.intp


def _pointer(context, builder, sig, args):
    array_type, index_type = sig.args[:2]
    array = context.make_array(array_type)(context, builder, args[0])
    indices = cgutils.unpack_tuple(builder, args[1]) if isinstance(index_type, types.BaseTuple) else [args[1]]
    return cgutils.get_item_pointer(context, builder, array_type, array, indices, wraparound=False)


def _bits_pointer(builder, pointer, dtype):
    """The element as an integer of its width: LLVM moves floats atomically as their bits."""
    if isinstance(dtype, types.Float):
        return builder.bitcast(pointer, ir.IntType(dtype.bitwidth).as_pointer())
    return pointer


def _bytes(dtype):
    return 1 if isinstance(dtype, types.Boolean) else max(1, dtype.bitwidth // 8)


def _load(order):
    def typing(typingctx, array, index):
        if not _has_place(array, index):
            return None
        dtype = array.dtype

        def generate(context, builder, sig, args):
            pointer = _pointer(context, builder, sig, args)
            value = builder.load_atomic(_bits_pointer(builder, pointer, dtype), order, _bytes(dtype))
            if isinstance(dtype, types.Float):
                return builder.bitcast(value, pointer.type.pointee)
            # a truth value is a byte in memory and a bit in a register
            return context.data_model_manager[dtype].from_data(builder, value)

        return dtype(array, _place(index)), generate

    return intrinsic(typing)


def _store(order):
    def typing(typingctx, array, index, value):
        if not _has_place(array, index):
            return None
        dtype = array.dtype

        def generate(context, builder, sig, args):
            pointer = _bits_pointer(builder, _pointer(context, builder, sig, args), dtype)
            if isinstance(dtype, types.Float):
                value = builder.bitcast(args[2], pointer.type.pointee)
            else:
                value = context.data_model_manager[dtype].as_data(builder, args[2])
            builder.store_atomic(value, pointer, order, _bytes(dtype))
            return context.get_dummy_value()

        return types.void(array, _place(index), dtype), generate

    return intrinsic(typing)


def _plain_load(typingctx, array, index):
    """``array[index]`` without the test for a negative index that counts from the end."""
    if not _is_column(array):
        return None

    def generate(context, builder, sig, args):
        return context.unpack_value(builder, array.dtype, _pointer(context, builder, sig, args))

    return array.dtype(array, types.intp), generate


def _plain_store(typingctx, array, index, value):
    """``array[index] = value``, likewise."""
    if not _is_column(array):
        return None

    def generate(context, builder, sig, args):
        context.pack_value(builder, array.dtype, args[2], _pointer(context, builder, sig, args))
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), generate


def _unaligned_load(typingctx, array, index):
    """Eight bytes of an array of bytes from ``index`` on, wherever that is, as an unsigned integer."""
    if not _is_column(array) or array.dtype != types.uint8:
        return None

    def generate(context, builder, sig, args):
        pointer = builder.bitcast(_pointer(context, builder, sig, args), ir.IntType(64).as_pointer())
        value = builder.load(pointer)
        value.align = 1
        return value

    return types.uint64(array, types.intp), generate


load = intrinsic(_plain_load)
load_unaligned = intrinsic(_unaligned_load)
store = intrinsic(_plain_store)
load_unordered = _load("unordered")
load_relaxed = _load("monotonic")
load_acquire = _load("acquire")
store_relaxed = _store("monotonic")
store_release = _store("release")


def _integer_operation(builder, name, pointer, value, dtype):
    if name in ("min", "max") and not dtype.signed:
        name = "u" + name
    return builder.atomic_rmw(name, pointer, value, ordering="monotonic")


def _float_extreme(builder, name, pointer, value, dtype):
    """Minimum or maximum of floats in one instruction: non-negative floats order as their bits do as signed integers,
    negative ones the other way round as unsigned; the sign of the new value picks which. A NaN must not come here."""
    bits_pointer = _bits_pointer(builder, pointer, dtype)
    bits_type = bits_pointer.type.pointee
    bits = builder.bitcast(value, bits_type)
    negative = builder.icmp_signed("<", bits, ir.Constant(bits_type, 0))
    for_positive, for_negative = ("min", "umax") if name == "min" else ("max", "umin")
    with builder.if_else(negative) as (then, otherwise):
        with then:
            a = builder.atomic_rmw(for_negative, bits_pointer, bits, ordering="monotonic")
            from_a = builder.block
        with otherwise:
            b = builder.atomic_rmw(for_positive, bits_pointer, bits, ordering="monotonic")
            from_b = builder.block
    old = builder.phi(bits_type)
    old.add_incoming(a, from_a)
    old.add_incoming(b, from_b)
    return builder.bitcast(old, pointer.type.pointee)


def _float_add(builder, name, pointer, value, dtype):
    """No processor adds floats in one atomic instruction that LLVM would use here: a compare-and-swap loop."""
    bits_pointer = _bits_pointer(builder, pointer, dtype)
    bits_type = bits_pointer.type.pointee
    first = builder.load_atomic(bits_pointer, "monotonic", _bytes(dtype))
    entry = builder.block
    again = builder.append_basic_block("add.again")
    done = builder.append_basic_block("add.done")
    builder.branch(again)
    builder.position_at_end(again)
    seen = builder.phi(bits_type)
    seen.add_incoming(first, entry)
    new = builder.bitcast(builder.fadd(builder.bitcast(seen, pointer.type.pointee), value), bits_type)
    pair = builder.cmpxchg(bits_pointer, seen, new, "monotonic", "monotonic")
    seen.add_incoming(builder.extract_value(pair, 0), again)
    builder.cbranch(builder.extract_value(pair, 1), done, again)
    builder.position_at_end(done)
    return builder.bitcast(seen, pointer.type.pointee)


def _float_swap(builder, name, pointer, value, dtype):
    bits_pointer = _bits_pointer(builder, pointer, dtype)
    bits = builder.bitcast(value, bits_pointer.type.pointee)
    return builder.bitcast(builder.atomic_rmw("xchg", bits_pointer, bits, ordering="monotonic"), pointer.type.pointee)


def _operation(name, on_floats):
    """``old = array[index]; array[index] = old ∘ value; return old``, as one step for all threads."""

    def typing(typingctx, array, index, value):
        if not _is_column(array):
            return None
        dtype = array.dtype
        if isinstance(dtype, types.Float):
            operate = on_floats
        elif isinstance(dtype, types.Integer):
            operate = _integer_operation
        else:
            operate = None
        if operate is None:
            return None

        def generate(context, builder, sig, args):
            return operate(builder, name, _pointer(context, builder, sig, args), args[2], dtype)

        return dtype(array, types.intp, dtype), generate

    return intrinsic(typing)


atomic_add = _operation("add", _float_add)
atomic_min = _operation("min", _float_extreme)
atomic_max = _operation("max", _float_extreme)
atomic_or = _operation("or", None)
atomic_and = _operation("and", None)
atomic_swap = _operation("xchg", _float_swap)


@intrinsic
def atomic_swap_acq_rel(typingctx, array, index, value):
    """``atomic_swap`` of integers that acquires and releases.

    Who swaps later sees all that the one before had written: two threads that each write, then swap the same element,
    cannot both miss what the other wrote.
    """
    if not _is_column(array) or not isinstance(array.dtype, types.Integer):
        return None

    def generate(context, builder, sig, args):
        return builder.atomic_rmw("xchg", _pointer(context, builder, sig, args), args[2], ordering="acq_rel")

    return array.dtype(array, types.intp, array.dtype), generate


def _compare_and_swap(order):
    """Whether ``array[index]`` was ``expected`` (by its bits), and is now ``new``."""

    def typing(typingctx, array, index, expected, new):
        if not _is_column(array):
            return None
        dtype = array.dtype

        def generate(context, builder, sig, args):
            pointer = _bits_pointer(builder, _pointer(context, builder, sig, args), dtype)
            old, new = args[2], args[3]
            if isinstance(dtype, types.Float):
                old, new = (builder.bitcast(value, pointer.type.pointee) for value in (old, new))
            pair = builder.cmpxchg(pointer, old, new, order, "monotonic")
            return builder.extract_value(pair, 1)

        return types.boolean(array, types.intp, dtype, dtype), generate

    return intrinsic(typing)


compare_and_swap = _compare_and_swap("acq_rel")
compare_and_swap_relaxed = _compare_and_swap("monotonic")


@intrinsic
def spin_hint(typingctx):
    """What a waiting thread executes: ``isb`` on ARM, where ``yield`` does nothing; ``pause`` on x86."""
    machine = platform.machine().lower()

    def generate(context, builder, sig, args):
        if machine in ("aarch64", "arm64"):
            function_type = ir.FunctionType(ir.VoidType(), [ir.IntType(32)])
            function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.aarch64.isb")
            builder.call(function, [ir.IntType(32)(15)])
        elif machine in ("x86_64", "amd64"):
            function_type = ir.FunctionType(ir.VoidType(), [])
            function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.x86.sse2.pause")
            builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def sched_yield(typingctx):
    """Give the core to another thread: the C library's ``sched_yield``."""

    def generate(context, builder, sig, args):
        function_type = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, function_type, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def nanoseconds(typingctx):
    """The monotonic clock of the C library, as an ``int64``; some 40 ns."""
    monotonic = 6 if platform.system() == "Darwin" else 1

    def generate(context, builder, sig, args):
        word = ir.IntType(64)
        moment = cgutils.alloca_once(builder, ir.LiteralStructType([word, word]))
        function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(32), moment.type])
        function = cgutils.get_or_insert_function(builder.module, function_type, "clock_gettime")
        builder.call(function, [ir.IntType(32)(monotonic), moment])
        now = builder.load(moment)
        seconds, rest = builder.extract_value(now, 0), builder.extract_value(now, 1)
        return builder.add(builder.mul(seconds, word(1_000_000_000)), rest)

    return types.int64(), generate


def _prefetch(is_written):
    """Ask for the cache line of ``array[index]``, to read it or to write to it; the index may lie outside."""

    def typing(typingctx, array, index):
        if not _is_column(array):
            return None

        def generate(context, builder, sig, args):
            address = ir.IntType(8).as_pointer()
            word = ir.IntType(32)
            function_type = ir.FunctionType(ir.VoidType(), [address, word, word, word])
            function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
            pointer = builder.bitcast(_pointer(context, builder, sig, args), address)
            builder.call(function, [pointer, word(is_written), word(3), word(1)])
            return context.get_dummy_value()

        return types.void(array, types.intp), generate

    return intrinsic(typing)


prefetch = _prefetch(0)
prefetch_to_write = _prefetch(1)


@intrinsic
def trailing_zeros(typingctx, value):
    """How many low bits of a ``uint64`` are zero (64 for 0)."""

    def generate(context, builder, sig, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def count_bits(typingctx, value):
    """How many bits of a ``uint64`` are set."""

    def generate(context, builder, sig, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate
