// Synchronous supersteps, pushed or pulled: the form that every program can take.
//
// In the message phase fields are only read; messages are merged into A by atomics (push) or by the row's own lanes
// (pull). `got` marks who got one; whoever sets the mark puts the vertex into `touched`. Behind a barrier, each vertex is
// settled by one thread. PULL, TOPOLOGY, BY_SOURCE choose the form at compile time. With SPLIT the message phase is in
// launches of its own, one for each range of rows (send_rows), so that rows can be copied to the device in between.
#pragma once
#include "gathering.cuh"

#ifndef SPLIT
#define SPLIT 0
#endif

// ---- the start -----------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(BLOCK) initialise(const Arguments a) {
    __shared__ vid held[WARPS * HELD];
    Frame f;
    f.begin(a);
    Slot* slot = f.slot(a);
    Appender next = Appender::make(held, f.following, &slot->size, &a.G);
    Tally t = {0, true};
    Reduced R = reduce_start();
    for (i64 base = 32 * (i64)warp_in_grid(); base < a.G.n; base += 32 * (i64)warps_in_grid()) {
        const vid v = (vid)(base + lane());
        const bool valid = v < a.G.n;
        bool starts = false;
        if (valid) {
            t.fits &= init_store(a.S, a.S, f.K, v);
            R = reduce_fold(R, a.S, a.S, f.K, v);
            starts = start_at(a.S, f.K, v);
            if (starts && is_open(a.S, f.K, v)) slot->open = 1;
            if (HAS_EDGE_FIELDS) {
                for (eid arc = __ldg(a.G.offsets + v); arc < __ldg(a.G.offsets + v + 1); ++arc)
                    t.fits &= edge_init_store(a.E, a.S, a.E, f.K, v, __ldg(a.G.targets + arc), arc, weight_at(a.G.weights, arc));
            }
        }
        activate(f, next, starts, v);
    }
    next.flush();
    next.flush_counters(slot);
    flush_counters(t, slot);
    if (HAS_REDUCTIONS) reduce_leave(a.W, 0, R);
    f.clear_next_slot(a);
    f.barrier(a);
    if (HAS_REDUCTIONS) {
        R = reduce_all(a.W, 0);
        if (thread_in_grid() == 0) a.W.control->reduced = R;
    }
    if (thread_in_grid() == 0) {
        a.W.control->open = slot->open;
        a.W.control->untouched = (double)a.K.num_arcs;
    }
    f.advance(a, false);
}

// ---- messages ------------------------------------------------------------------------------------------------------

DEVICE void send(const Arguments& a, Frame& f, Appender& touched, Tally& t, bool valid, vid u, vid v, eid arc) {
    bool first = false;
    if (valid && (WANTS_ALWAYS || wants_at(a.S, f.K, v))) {
        const Weight w = weight_at(a.G.weights, arc);
        if (SENDS_ALWAYS || sends_at(a.S, a.E, f.K, u, v, arc, w)) {
            merge_shared(a.A, a.W.locks, v, compute_at(a.S, a.E, f.K, u, v, arc, w));
            t.messages += 1;
            if (!has_bit_now(a.W.got, v)) first = set_bit(a.W.got, v) && !UPDATE_ALL;
        }
    }
    touched.add(first, v);
}

// Every vertex of the frontier, or of the graph, from begin to end: visit(take, u) is called by whole warps.
template <class F>
DEVICE void each_active(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& visit) {
    const i64 first = TOPOLOGY || ALWAYS_ACTIVE ? begin : 0, count = TOPOLOGY || ALWAYS_ACTIVE ? end : (i64)f.size;
    for (i64 base = first + 32 * (i64)warp_in_grid(); base < count; base += 32 * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        bool take = i < count;
        vid u = 0;
        if (take) u = TOPOLOGY || ALWAYS_ACTIVE ? (vid)i : f.queue[i];
        if (TOPOLOGY && take) take = in_frontier(f, u);
        if (SPLIT && take) take = u >= begin && u < end;  // a queue is in no order
        visit(take, u);
    }
}

DEVICE void push_messages(const Arguments& a, Frame& f, Appender& touched, Tally& t, i64 begin, i64 end) {
    Slot* slot = f.slot(a);
    const auto visit = [&](bool valid, vid u, vid v, eid arc) { send(a, f, touched, t, valid, u, v, arc); };
    each_active(a, f, begin, end, [&](bool take, vid u) { walk_or_defer(a, slot, take, u, visit); });
    if (a.G.max_degree >= BLOCK_ROW) {
        f.barrier(a);
        walk_deferred(a, slot, visit);
    }
    touched.flush();
}

// The rows from `begin` to where the classes of the graph end.
DEVICE void pull_messages(const Arguments& a, Frame& f, Appender& touched, Tally& t, i64 begin) {
    const auto note = [&](bool take, vid v, const Gathered& g) {
        const bool got = take && g.found > 0;
        if (got) {
            store_message(a.A, v, g.message);
            t.messages += g.found;
            set_bit(a.W.got, v);
        }
        touched.add(got && !UPDATE_ALL, v);
    };
    gather_all(a, f, begin, note, wanting(a, f));
    touched.flush();
}

#if SPLIT
// The messages along the rows from `begin` to `end`, which lie where G says. Slot 0 and the touched go on from launch to
// launch; `run` is the last one of the superstep.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) send_rows(const Arguments a, const i64 begin, const i64 end) {
    __shared__ vid held[WARPS * HELD];
    Frame f;
    f.begin(a);
    Tally t = {0, true};
    Appender touched = Appender::make(held, a.W.touched, &f.slot(a)->touched);
#if PULL
    pull_messages(a, f, touched, t, begin);
#else
    push_messages(a, f, touched, t, begin, end);
#endif
    flush_counters(t, f.slot(a));
}
#endif

// ---- what becomes of the vertices ----------------------------------------------------------------------------------

DEVICE void keep_all(const Arguments& a) {
    for (i64 v = thread_in_grid(); v < a.G.n; v += threads_in_grid()) save_old(a.O, a.S, (vid)v);
}

DEVICE void settle_senders(const Arguments& a, Frame& f, Appender& next, Tally& t) {
    each_active(a, f, 0, a.G.n, [&](bool take, vid u) {
        activate(f, next, take && settle_sender(a, f, t, u, has_bit(a.W.got, u)), u);
    });
}

DEVICE Reduced settle_receivers(const Arguments& a, Frame& f, Appender& next, Tally& t, Reduced R) {
    const i64 count = UPDATE_ALL ? a.G.n : (i64)f.slot(a)->touched;
    for (i64 base = 32 * (i64)warp_in_grid(); base < count; base += 32 * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool valid = i < count;
        vid v = 0;
        bool active = false;
        if (valid) {
            v = UPDATE_ALL ? (vid)i : a.W.touched[i];
            active = settle_receiver(a, f, t, v);
            a.W.got[v >> 5] = 0;  // all of the word's vertices that are marked come by here
            if (UPDATE_ALL) R = reduce_fold(R, a.O, a.S, f.K, v);
        }
        activate(f, next, active, v);
    }
    return R;
}

DEVICE void settle_arcs(const Arguments& a, Frame& f, Tally& t) {
    each_active(a, f, 0, a.G.n, [&](bool take, vid u) {
        settle_row(a, f, t, take, u, [&](vid v) { return WANTS_ALWAYS || wants_at(a.O, f.K, v); });
    });
}

// The frontier before the last one is still marked where the next one will be; its queue has not been overwritten yet.
DEVICE void forget_members(const Arguments& a, Frame& f, unsigned before) {
    if (ALWAYS_ACTIVE) return;
    for (i64 i = thread_in_grid(); i < before; i += threads_in_grid()) f.next_member[f.following[i] >> 5] = 0;
}

#if BY_SOURCE
DEVICE Reduced gather_and_settle(const Arguments& a, Frame& f, Appender& next, Tally& t, Reduced R) {
    const auto settle = [&](bool take, vid v, const Gathered& g) {
        bool active = false;
        if (take) {
            t.messages += g.found;
            save_old(a.O, a.S, v);
            if (HAS_SENT && in_frontier(f, v)) t.fits &= sent_store(a.S, a.O, f.K, v);
            t.fits &= update_store(a.S, a.S, f.K, v, g.message);
            R = reduce_fold(R, a.O, a.S, f.K, v);
            if (!ALWAYS_ACTIVE) active = active_at(a.O, a.S, f.K, v);
        }
        activate(f, next, active, v);
    };
#if PACK_ARCS
    gather_all_packed(a, f, settle);
#else
    gather_all(a, f, 0, settle, wanting(a, f));
#endif
    for (i64 base = a.G.classes[7] + 32 * (i64)warp_in_grid(); base < a.G.n; base += 32 * (i64)warps_in_grid()) {
        const i64 v = base + lane();  // nobody sends to these
        settle(v < a.G.n, (vid)v, Gathered{identity(), 0});
    }
    return R;
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) run(const Arguments a) {
    __shared__ vid held[2 * WARPS * HELD];
    Frame f;
    f.begin(a);
    unsigned before = 0;
    for (bool more = true; more;) {
        Slot* slot = f.slot(a);
        Tally t = {0, true};
        Reduced R = reduce_start();
        Appender next = Appender::make(held, f.following, &slot->size, &a.G);
        Appender touched = Appender::make(held + WARPS * HELD, a.W.touched, &slot->touched);
        forget_members(a, f, before);
#if BY_SOURCE
        offer(a, f, 0, a.G.n);
        f.barrier(a);
        R = gather_and_settle(a, f, next, t, R);
#else
        if (HAS_EDGE_FIELDS || (HAS_REDUCTIONS && !UPDATE_ALL)) keep_all(a);
#if !SPLIT && PULL
        pull_messages(a, f, touched, t, 0);
#elif !SPLIT
        push_messages(a, f, touched, t, 0, a.G.n);
#endif
        f.barrier(a);
        if (HAS_SENT || REVISITS) {
            settle_senders(a, f, next, t);
            f.barrier(a);
        }
        R = settle_receivers(a, f, next, t, R);
        if (HAS_EDGE_FIELDS) {
            f.barrier(a);
            settle_arcs(a, f, t);
        }
        if (HAS_REDUCTIONS && !UPDATE_ALL) {
            f.barrier(a);
            for (i64 v = thread_in_grid(); v < a.G.n; v += threads_in_grid()) R = reduce_fold(R, a.O, a.S, f.K, (vid)v);
        }
#endif
        next.flush();
        next.flush_counters(slot);
        flush_counters(t, slot);
        if (HAS_REDUCTIONS) reduce_leave(a.W, f.done & 1, R);
        f.clear_next_slot(a);
        f.barrier(a);
        if (HAS_REDUCTIONS) {
            R = reduce_all(a.W, f.done & 1);
            if (thread_in_grid() == 0) a.W.control->reduced = R;
            reduce_show(f.K, R);
        }
        const bool converged = converged_at(f.K);
        before = f.size;
        more = f.advance(a, PULL, converged);
    }
    f.barrier(a);
    forget_members(a, f, before);
}
