"""Copies from the host's memory to a device through pinned buffers, by threads that run only compiled code.

Python threads wait for each other at every call, so they need large buffers, and also delay the thread that starts
kernels. These threads call the driver by the addresses of its functions. Their buffers are small enough to stay in a
core's cache, where the device reads them.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from dromos.compiler.arguments import number_as, pointer_to
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.values import Value
from dromos.compiler.writer import Writer
from dromos.intrinsics import atomic_add, store_release
from dromos.jit import kernel
from dromos.parallel import NO_MORE_WORK

__all__ = [
    "CHUNK", "CONTEXT", "COPY", "PLAN_WORDS", "RECORD", "SET_CONTEXT", "SIZE", "SLOTS", "SOURCE", "STAGED", "TARGET",
    "WAIT", "lane_words", "send_chunks",
]  # fmt: skip

# words of a plan: driver functions, source and destination of the bytes, their number, and the sizes of pieces
CONTEXT, SET_CONTEXT, COPY, RECORD, WAIT, SOURCE, TARGET, STAGED, SIZE, CHUNK, SLOTS = range(11)
PLAN_WORDS = 11


def lane_words(slots: int) -> int:
    """Words for each thread: its stream, then for each of its buffers an event and the chunk in flight."""
    return 1 + 2 * slots


@intrinsic
def _call_at(writer: Writer, function: Value, *words: Value) -> Value:
    """Call the C function at an address, which takes words and returns an ``int``."""
    given = ", ".join(f"i64 {number_as(writer, word, 'i64')}" for word in words)
    code = writer.register(f"call i32 {pointer_to(writer, function)}({given})")
    return writer.new("i64", f"sext i32 {code} to i64")


@intrinsic
def _copy_bytes(writer: Writer, target: Value, source: Value, length: Value) -> None:
    """``memcpy`` between two addresses."""
    function = writer.declare("llvm.memcpy.p0.p0.i64", "void", "ptr", "ptr", "i64", "i1")
    into, out_of, size = pointer_to(writer, target), pointer_to(writer, source), number_as(writer, length, "i64")
    writer.lines.append(f"call void {function}(ptr {into}, ptr {out_of}, i64 {size}, i1 false)")


@kernel
def send_chunks(thread, threads, plan, lanes, progress, arrived):
    """Take chunks in turn until all are on the device; ``arrived`` becomes 1 for each that is there.

    ``progress``: the next chunk, and the code of a driver call that failed.
    """
    # Why this is correct without a lock: - An atomic counter deals out the chunks: each is copied once, by one thread,
    # to its own place. - A thread has its own buffers and events: no other thread writes to them. - A buffer is written
    # again only after waiting for the event after the copy from it, so no data is overwritten that the device has yet
    # to read. - ``arrived`` is set only after that wait, or the one at the end. A thread that sees it starts a kernel
    # afterwards, and a kernel sees all that was on the device before it was started. - Every thread waits for its last
    # copies before it leaves, also after Ctrl-C (then no more chunks are dealt out), so buffers and source are free
    # when the team returns. Only a call that fails ends the threads without these waits, and then the caller keeps both
    # from being reused. - The context stays with the thread: it is the caller's, and other threads of a team call the
    # driver only here.
    chunk, slots, size = plan[CHUNK], plan[SLOTS], plan[SIZE]
    own = thread * (1 + 2 * slots)
    staged, stream, turn = plan[STAGED] + thread * slots * chunk, lanes[own], 0
    code = _call_at(plan[SET_CONTEXT], plan[CONTEXT])
    while code == 0:
        number = atomic_add(progress, 0, 1)
        if number >= arrived.size:
            break
        slot = turn % slots
        event = lanes[own + 1 + slot]
        if turn >= slots:  # the device may still read this buffer
            code = _call_at(plan[WAIT], event)
            if code != 0:
                break
            store_release(arrived, lanes[own + 1 + slots + slot], 1)
        begin = number * chunk
        length = min(chunk, size - begin)
        _copy_bytes(staged + slot * chunk, plan[SOURCE] + begin, length)
        code = _call_at(plan[COPY], plan[TARGET] + begin, staged + slot * chunk, length, stream)
        if code == 0:
            code = _call_at(plan[RECORD], event, stream)
        lanes[own + 1 + slots + slot] = number
        turn += 1
    for last in range(max(turn - slots, 0), turn):
        slot = last % slots
        if code == 0:
            code = _call_at(plan[WAIT], lanes[own + 1 + slot])
        if code == 0:
            store_release(arrived, lanes[own + 1 + slots + slot], 1)
    if code != 0:
        store_release(progress, 1, code)
        store_release(progress, 0, NO_MORE_WORK)
