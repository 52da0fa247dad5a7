// Asynchronous execution: a message is applied as soon as it is made, and a vertex sends its newest state.
//
// `member` marks who waits to send, `next_member` who does after the next barrier. Whoever changes a vertex marks it for
// then, whether or not it is yet to send in this pass: a change is never lost, at most sent twice. A pass over all
// vertices (TOPOLOGY) uses one bitmap: it clears a mark before it reads the state, and marks after a change, so that it
// comes upon changes made in the pass itself. Where one atomic applies a message (CAN_IMPROVE) no lock is needed;
// otherwise a vertex is written under its lock.
#pragma once
#include "frame.cuh"

DEVICE bool deliver(const Arguments& a, const Context& K, vid v, Message message, bool& fits) {
    if (CAN_IMPROVE) return improve(a.S, K, v, message, true);
    if (!HAS_SENT && !changes(a.S, K, v, message)) return false;
    bool active = false;
    under_lock(a.W.locks, v, [&] {
        save_old(a.O, a.S, v);
        fits &= update_store(a.S, a.S, K, v, message);
        active = active_at(a.O, a.S, K, v);
    });
    return active;
}

// What u sends: its state, or, where sending changes it, a copy.
DEVICE void pop(const Arguments& a, const Context& K, vid u, bool& fits) {
    if (!HAS_SENT) return;
    if (CAN_IMPROVE) {
        take_delta(a.P, a.S, K, u);
    } else {
        under_lock(a.W.locks, u, [&] {
            save_old(a.P, a.S, u);
            fits &= sent_store(a.S, a.P, K, u);
        });
    }
}

DEVICE void push_now(const Arguments& a, Frame& f, vid* held) {
    Slot* slot = f.slot(a);
    const Fields& sources = HAS_SENT ? a.P : a.S;
    Appender next = Appender::make(held, f.following, &slot->size, &a.G);
    u64 messages = 0;
    bool fits = true;
    const auto visit = [&](bool valid, vid u, vid v, eid arc) {
        bool fresh = false;
        if (valid && (WANTS_ALWAYS || wants_at(a.S, f.K, v))) {
            const Weight w = weight_at(a.G.weights, arc);
            if (SENDS_ALWAYS || sends_at(sources, a.E, f.K, u, v, arc, w)) {
                if (deliver(a, f.K, v, compute_at(sources, a.E, f.K, u, v, arc, w), fits)) {
                    if (TOPOLOGY) __threadfence();  // the change before the mark
                    fresh = set_bit(TOPOLOGY ? f.member : f.next_member, v);
                }
            }
        }
        messages += valid;
        if (!TOPOLOGY) next.add(fresh, v);
    };
    const i64 count = TOPOLOGY ? a.G.n : (i64)f.size;
    const unsigned share = TOPOLOGY ? 32 : share_of(f.size);
    for (i64 base = share * (i64)warp_in_grid(); base < count; base += share * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        bool take = lane() < share && i < count;
        vid u = 0;
        if (take) u = TOPOLOGY ? (vid)i : f.queue[i];
        if (TOPOLOGY && take) take = has_bit_now(f.member, u) && clear_bit(f.member, u);
        if (!TOPOLOGY && take) clear_bit(f.member, u);
        if (take) {
            if (TOPOLOGY) __threadfence();  // the mark before the state
            pop(a, f.K, u, fits);
        }
        __syncwarp();
        walk_or_defer(a, slot, take, u, visit);
    }
    if (a.G.max_degree >= BLOCK_ROW) {
        f.barrier(a);
        walk_deferred(a, slot, visit);
    }
    if (TOPOLOGY) {
        f.barrier(a);
        for (i64 base = 32 * (i64)warp_in_grid(); base < a.G.n; base += 32 * (i64)warps_in_grid()) {
            const vid v = (vid)(base + lane());
            next.add(v < a.G.n && has_bit_now(f.member, v), v);
        }
    }
    next.flush();
    next.flush_counters(slot);
    add_to_slot(&slot->messages, messages);
    if (!__all_sync(FULL, fits) && lane() == 0) slot->overflowed = 1;
}

// Every vertex that wants messages gathers them from active sources, one warp per vertex, and is updated at once. Whoever
// changed in this pass is a source in it too: next_member marks it.
DEVICE void pull_now(const Arguments& a, Frame& f, vid* held) {
    Slot* slot = f.slot(a);
    Appender next = Appender::make(held, f.following, &slot->size, &a.G);
    u64 messages = 0;
    bool fits = true;
    for (i64 at = warp_in_grid(); at < a.G.n; at += warps_in_grid()) {
        const vid v = (vid)at;
        bool active = false;
        if (WANTS_ALWAYS || wants_at(a.S, f.K, v)) {
            Message message = identity();
            unsigned found = 0;
            const eid end = __ldg(a.G.in_offsets + v + 1);
            for (eid arc = __ldg(a.G.in_offsets + v) + lane(); arc < end; arc += 32) {
                const vid u = __ldg(a.G.sources + arc);
                if (!has_bit_now(f.member, u) && !has_bit_now(f.next_member, u)) continue;
                const Weight w = weight_at(a.G.in_weights, arc);
                if (!SENDS_ALWAYS && !sends_at(a.S, a.E, f.K, u, v, arc, w)) continue;
                const Message m = compute_at(a.S, a.E, f.K, u, v, arc, w);
                message = found ? merge(message, m) : m;
                found += 1;
                if (VOTE) break;
            }
            messages += found;
            __syncwarp();
            for (int step = 16; step > 0; step >>= 1) {
                const Message other = exchange(FULL, message, step);
                const unsigned others = __shfl_xor_sync(FULL, found, step);
                if (others) message = found ? merge(message, other) : other;
                found += others;
            }
            if (lane() == 0 && found && changes(a.S, f.K, v, message)) {  // nobody else writes v
                save_old(a.O, a.S, v);
                fits &= update_store(a.S, a.S, f.K, v, message);
                active = active_at(a.O, a.S, f.K, v);
                __threadfence();
                if (active) set_bit(f.next_member, v);
            }
        }
        next.add(active, v);
    }
    next.flush();
    next.flush_counters(slot);
    add_to_slot(&slot->messages, messages);
    if (!__all_sync(FULL, fits) && lane() == 0) slot->overflowed = 1;
    f.barrier(a);
    for (i64 i = thread_in_grid(); i < f.size; i += threads_in_grid()) f.member[f.queue[i] >> 5] = 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK) run(const Arguments a) {
    __shared__ vid held[WARPS * HELD];
    Frame f;
    f.begin(a);
#if TOPOLOGY
    unsigned* marked = f.member;
#endif
    for (bool more = true; more;) {
#if PULL
        pull_now(a, f, held);
#else
        push_now(a, f, held);
#endif
        f.clear_next_slot(a);
        f.barrier(a);
        more = f.advance(a, PULL);
#if TOPOLOGY
        f.member = marked;
#endif
    }
#if TOPOLOGY
    if (marked != a.W.member[f.flipped]) {  // the marks belong where the queue is
        f.barrier(a);
        move_bits(marked, a.W.member[f.flipped], a.G.n);
    }
#endif
}
