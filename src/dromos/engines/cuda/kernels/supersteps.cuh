// Synchronous supersteps, pushed or pulled: the form that every program can take.
//
// In the message phase fields are only read; messages are merged into A by atomics (push) or by the row's own lanes
// (pull). `got` marks who got one; whoever sets the mark puts the vertex into `touched`. Behind a barrier, each vertex is
// settled by one thread. PULL, TOPOLOGY, BY_SOURCE choose the form at compile time; SLICED leaves out the kernels of
// whole graphs, for slices.cuh.
#pragma once
#include "frame.cuh"

#define AT_ONCE 4  // arcs of a row that a lane looks at before the row's lanes ask each other

#ifndef OVER_LINK
#define OVER_LINK 0  // whether arcs lie in the host's memory
#endif
#ifndef PACK_ARCS
#define PACK_ARCS 0  // whether rows that lie there are packed for a pull of all of them, and how many arcs a pack has
#endif

struct Tally {
    u64 messages;
    bool fits;
};

DEVICE void flush_counters(const Tally& t, Slot* slot) {
    add_to_slot(&slot->messages, t.messages);
    if (!__all_sync(FULL, t.fits) && lane() == 0) slot->overflowed = 1;
}

// Put v into the next frontier.
DEVICE void activate(Frame& f, Appender& next, bool take, vid v) {
    if (ALWAYS_ACTIVE) return;
    if (take) atomicOr(f.next_member + (v >> 5), bit_of(v));
    next.add(take, v);
}

// ---- the start -----------------------------------------------------------------------------------------------------

#if !SLICED
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
#endif

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

DEVICE bool in_frontier(const Frame& f, vid v) { return ALWAYS_ACTIVE || has_bit(f.member, v); }

// Every vertex of the frontier, or of the graph: visit(take, u) is called by whole warps.
template <class F>
DEVICE void each_active(const Arguments& a, const Frame& f, F&& visit) {
    const i64 count = TOPOLOGY || ALWAYS_ACTIVE ? a.G.n : (i64)f.size;
    for (i64 base = 32 * (i64)warp_in_grid(); base < count; base += 32 * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        bool take = i < count;
        vid u = 0;
        if (take) u = TOPOLOGY || ALWAYS_ACTIVE ? (vid)i : f.queue[i];
        if (TOPOLOGY && take) take = in_frontier(f, u);
        visit(take, u);
    }
}

DEVICE void push_messages(const Arguments& a, Frame& f, Appender& touched, Tally& t) {
    Slot* slot = f.slot(a);
    const auto visit = [&](bool valid, vid u, vid v, eid arc) { send(a, f, touched, t, valid, u, v, arc); };
    each_active(a, f, [&](bool take, vid u) { walk_or_defer(a, slot, take, u, visit); });
    if (a.G.max_degree >= BLOCK_ROW) {
        f.barrier(a);
        walk_deferred(a, slot, visit);
    }
    touched.flush();
}

struct Gathered {
    Message message;
    unsigned found;
};

DEVICE Gathered both(Gathered x, Gathered y) {
    if (y.found == 0) return x;
    if (x.found == 0) return y;
    return Gathered{merge(x.message, y.message), x.found + y.found};
}

DEVICE Gathered exchange(Gathered g, int step) {
    return Gathered{exchange(FULL, g.message, step), __shfl_xor_sync(FULL, g.found, step)};
}

// One message is as good as all, so the lanes of a row stop together when one of them has found a source: a row's first
// arcs lead to hubs, where most searches end. Several arcs are looked at before they ask each other.
DEVICE Gathered gather_one(const Arguments& a, const Frame& f, vid v, eid arc, eid end, unsigned parts) {
    Gathered g = {identity(), 0};
    const unsigned lanes = parts < 32 ? parts : 32, mine = lane() % lanes;
    const unsigned group = lanes == 32 ? FULL : ((1u << lanes) - 1) << (lane() - mine);
    for (eid base = arc - mine; base < end; base += AT_ONCE * parts) {
        vid u[AT_ONCE];
        bool sends[AT_ONCE];
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; ++i) {
            sends[i] = base + mine + i * parts < end;
            u[i] = sends[i] ? __ldg(a.G.sources + base + mine + i * parts) : 0;
        }
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; ++i) sends[i] = sends[i] && in_frontier(f, u[i]);
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; ++i) {
            if (!sends[i] || g.found) continue;
            const eid at = base + mine + i * parts;
            const Weight w = weight_at(a.G.in_weights, at);
            if (!SENDS_ALWAYS && !sends_at(a.S, a.E, f.K, u[i], v, at, w)) continue;
            g = Gathered{compute_at(a.S, a.E, f.K, u[i], v, at, w), 1};
        }
        if (__any_sync(group, g.found)) break;
    }
    return g;
}

// What one of `parts` lanes gathers of v's in-arcs, from `arc` on.
DEVICE Gathered gather(const Arguments& a, const Frame& f, vid v, eid arc, eid end, unsigned parts) {
    if (VOTE && !BY_SOURCE && !OVER_LINK) return gather_one(a, f, v, arc, end, parts);
    Gathered g = {identity(), 0};
#if OVER_LINK
    // What lies in the host's memory comes in requests of 128 bytes if a warp's reads begin at a multiple of them.
    const eid begin = arc - threadIdx.x % parts;
    if (parts >= 32) arc -= begin % 32;
#endif
#pragma unroll 4
    for (; arc < end; arc += parts) {
#if OVER_LINK
        if (parts >= 32 && arc < begin) continue;
#endif
        const vid u = __ldg(a.G.sources + arc);
#if BY_SOURCE
        g.message = merge(g.message, load_message(a.A, u));
        g.found += 1;
#else
        if (!in_frontier(f, u)) continue;
        const Weight w = weight_at(a.G.in_weights, arc);
        if (!SENDS_ALWAYS && !sends_at(a.S, a.E, f.K, u, v, arc, w)) continue;
        const Message m = compute_at(a.S, a.E, f.K, u, v, arc, w);
        g.message = g.found ? merge(g.message, m) : m;
        g.found += 1;
        if (VOTE) break;
#endif
    }
    return g;
}

template <unsigned parts>
DEVICE Gathered gathered_by(Gathered g) {
    __syncwarp();
    for (unsigned step = parts / 2; step > 0; step >>= 1) g = both(g, exchange(g, step));
    return g;
}

// Long rows: a warp each, settled by one lane. settle(take, v, gathered) is called by whole warps.
template <class F>
DEVICE void gather_by_warps(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle) {
    for (i64 v = begin + warp_in_grid(); v < end; v += warps_in_grid()) {
        Gathered g = {identity(), 0};
        if (WANTS_ALWAYS || wants_at(a.S, f.K, (vid)v))
            g = gather(a, f, (vid)v, __ldg(a.G.in_offsets + v) + lane(), __ldg(a.G.in_offsets + v + 1), 32);
        settle(lane() == 0, (vid)v, gathered_by<32>(g));
    }
}

// Short rows: a warp takes 32 of them, gathers them one after the other (several at once where few lanes do a row), and
// then each lane settles one. What a row costs beside its arcs is so paid once for 32, and neighbours are read together.
template <unsigned parts, class F>
DEVICE void gather_class(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle) {
    const unsigned rows = 32 / parts;  // at once
    for (i64 base = begin + 32 * (i64)warp_in_grid(); base < end; base += 32 * (i64)warps_in_grid()) {
        const i64 v = base + lane();
        eid first = 0, last = 0;
        if (v < end && (WANTS_ALWAYS || wants_at(a.S, f.K, (vid)v))) {
            first = __ldg(a.G.in_offsets + v);
            last = __ldg(a.G.in_offsets + v + 1);
        }
        Gathered mine = {identity(), 0};
        for (unsigned turn = 0; turn < parts; ++turn) {
            const unsigned row = turn * rows + lane() / parts;
            const eid from = __shfl_sync(FULL, first, row), to = __shfl_sync(FULL, last, row);
            Gathered g = gather(a, f, (vid)(base + row), from + lane() % parts, to, parts);
            g = gathered_by<parts>(g);
            const unsigned source = (lane() - turn * rows) * parts & 31u;
            g = Gathered{fetch(g.message, source), __shfl_sync(FULL, g.found, source)};
            if (lane() / rows == turn) mine = g;
        }
        settle(v < end, (vid)v, mine);
    }
}

template <class F>
DEVICE void gather_by_blocks(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle) {
    __shared__ Gathered parts[WARPS];
    for (i64 v = begin + blockIdx.x; v < end; v += gridDim.x) {
        Gathered g = {identity(), 0};
        if (WANTS_ALWAYS || wants_at(a.S, f.K, (vid)v)) 
            g = gather(a, f, (vid)v, __ldg(a.G.in_offsets + v) + threadIdx.x, __ldg(a.G.in_offsets + v + 1), BLOCK);
        __syncwarp();
        for (unsigned step = 16; step > 0; step >>= 1) g = both(g, exchange(g, step));
        if (lane() == 0) parts[warp_in_block()] = g;
        __syncthreads();
        g = parts[0];
        for (unsigned w = 1; w < WARPS; ++w) g = both(g, parts[w]);
        if (warp_in_block() == 0) settle(lane() == 0, (vid)v, g);
        __syncthreads();
    }
}

// All rows from `begin` on, by the classes of their lengths.
template <class F>
DEVICE void gather_all(const Arguments& a, const Frame& f, i64 begin, F&& settle) {
    const i64* ends = a.G.classes;
    gather_by_blocks(a, f, begin, ends[0], settle);
    gather_by_warps(a, f, ends[0], ends[1], settle);
    gather_class<32>(a, f, ends[1], ends[2], settle);
    gather_class<16>(a, f, ends[2], ends[3], settle);
    gather_class<8>(a, f, ends[3], ends[4], settle);
    gather_class<4>(a, f, ends[4], ends[5], settle);
    gather_class<2>(a, f, ends[5], ends[6], settle);
    gather_class<1>(a, f, ends[6], ends[7], settle);
}

#if PACK_ARCS
#include "packed.cuh"
#endif

DEVICE void pull_messages(const Arguments& a, Frame& f, Appender& touched, Tally& t) {
    gather_all(a, f, 0, [&](bool take, vid v, const Gathered& g) {
        const bool got = take && g.found > 0;
        if (got) {
            store_message(a.A, v, g.message);
            t.messages += g.found;
            set_bit(a.W.got, v);
        }
        touched.add(got && !UPDATE_ALL, v);
    });
    touched.flush();
}

// ---- what becomes of the vertices ----------------------------------------------------------------------------------

DEVICE void keep_all(const Arguments& a) {
    for (i64 v = thread_in_grid(); v < a.G.n; v += threads_in_grid()) save_old(a.O, a.S, (vid)v);
}

// A sender: what was sent is taken away; one that `got` no message may yet stay active.
DEVICE bool settle_sender(const Arguments& a, const Frame& f, Tally& t, vid u, bool got) {
    if (HAS_SENT) {
        save_old(a.O, a.S, u);
        t.fits &= sent_store(a.S, a.O, f.K, u);
    }
    if (UPDATE_ALL || ALWAYS_ACTIVE || got) return false;
    if (!HAS_SENT) save_old(a.O, a.S, u);
    return active_at(a.O, a.S, f.K, u);
}

DEVICE void settle_senders(const Arguments& a, Frame& f, Appender& next, Tally& t) {
    each_active(a, f, [&](bool take, vid u) {
        activate(f, next, take && settle_sender(a, f, t, u, has_bit(a.W.got, u)), u);
    });
}

// A receiver: updated by what was merged for it; whether it is active then.
DEVICE bool settle_receiver(const Arguments& a, const Frame& f, Tally& t, vid v) {
    if (!(HAS_SENT && in_frontier(f, v))) save_old(a.O, a.S, v);
    t.fits &= update_store(a.S, a.S, f.K, v, load_message(a.A, v));
    store_message(a.A, v, identity());
    return !ALWAYS_ACTIVE && active_at(a.O, a.S, f.K, v);
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

#define LONGEST (1 << 26)  // arcs of a row that are walked at once; 32 of them fit 32 bits

// The arcs of u that were sent along; wanted(v) tells who could use a message. Whole warps call it.
template <class F>
DEVICE void settle_row(const Arguments& a, const Frame& f, Tally& t, bool take, vid u, F&& wanted) {
    eid begin = take ? __ldg(a.G.offsets + u) : 0;
    i64 left = take ? degree(a.G.offsets, u) : 0;
    const auto write = [&](bool valid, vid s, vid v, eid arc) {
        const Weight w = valid ? weight_at(a.G.weights, arc) : (Weight)1;
        if (valid && wanted(v) && (SENDS_ALWAYS || sends_at(a.O, a.E, f.K, s, v, arc, w)))
            t.fits &= edge_update_store(a.E, a.S, a.E, f.K, s, v, arc, w);
    };
    while (__any_sync(FULL, left > 0)) {  // in pieces: the lengths of a warp's rows are summed up in 32 bits
        const unsigned length = (unsigned)(left < LONGEST ? left : LONGEST);
        walk_rows(a.G.targets, u, begin, length, write);
        begin += length;
        left -= length;
    }
}

DEVICE void settle_arcs(const Arguments& a, Frame& f, Tally& t) {
    each_active(a, f, [&](bool take, vid u) {
        settle_row(a, f, t, take, u, [&](vid v) { return WANTS_ALWAYS || wants_at(a.O, f.K, v); });
    });
}

// The frontier before the last one is still marked where the next one will be; its queue has not been overwritten yet.
DEVICE void forget_members(const Arguments& a, Frame& f, unsigned before) {
    if (ALWAYS_ACTIVE) return;
    for (i64 i = thread_in_grid(); i < before; i += threads_in_grid()) f.next_member[f.following[i] >> 5] = 0;
}

#if BY_SOURCE
// Messages that depend on their source alone are made once per vertex; a vertex outside the frontier offers the identity.
// Since rows then read only offers, a vertex is updated in place as soon as its row is gathered.
DEVICE void offer(const Arguments& a, Frame& f, i64 begin, i64 end) {
    for (i64 u = begin + thread_in_grid(); u < end; u += threads_in_grid()) {
        const bool sends = in_frontier(f, (vid)u);
        store_message(a.A, (vid)u, sends ? compute_at(a.S, a.E, f.K, (vid)u, (vid)u, 0, (Weight)1) : identity());
    }
}

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
    gather_all(a, f, 0, settle);
#endif
    for (i64 base = a.G.classes[7] + 32 * (i64)warp_in_grid(); base < a.G.n; base += 32 * (i64)warps_in_grid()) {
        const i64 v = base + lane();  // nobody sends to these
        settle(v < a.G.n, (vid)v, Gathered{identity(), 0});
    }
    return R;
}
#endif

#if !SLICED
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
#if PULL
        pull_messages(a, f, touched, t);
#else
        push_messages(a, f, touched, t);
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
#endif
