// The halves of a superstep on a part of a graph: messages along the arcs of a slice, then the part's own vertices.
//
// A slice looks like a whole graph whose other rows nobody asks for: its arrays are given by addresses that were moved
// so that offsets[v] and targets[arc] are those of the whole graph. Fields have a row for every vertex; those of other
// parts are copies. `received` has a byte for each vertex that got a message; its messages are merged in A. Both the
// frontier's queue and its bits name own vertices; other parts' bits are set by mark_members before a pull. In a grid of
// parts a slice has rows of others' vertices too: before a push they follow the own ones in the queue, and a pull leaves
// messages to others as a push does.
#pragma once
#define ANY_ORDER 1  // slices of graphs on disk have the order of their file
#include "gathering.cuh"

#define LONE_PROBES 8  // arcs that a lane looks at alone before its warp helps

struct Piece {
    i64 first, last;            // the part's own vertices
    i64 start, stop;            // the rows of the slice
    i64 size;                   // of the frontier
    unsigned char* received;
    unsigned char* changed;     // own vertices that were looked at since others were told; may be null
    i64 once;                   // whether a vertex takes one message and then wants none
    i64 away;                   // whether a push leaves out the own vertices, which pull
};

// What `received` has for a vertex of another part that needs no message from this one any more; only where p.once.
constexpr unsigned char TOLD = 2;

// Slot 0 belongs to a launch; slot 1 gathers what a superstep comes to, over all its launches.
DEVICE Frame frame_of(const Arguments& a) {
    Frame f;
    f.K = a.K;
    f.met = f.done = f.flipped = 0;
    f.aim(a);
    return f;
}
DEVICE Slot* superstep_slot(const Arguments& a) { return a.W.control->slots + 1; }

// Every vertex of the frontier in begin..end that the queue names, all of them, or none: visit(take, u) is called by
// whole warps.
template <class F>
DEVICE void each_sender(const Frame& f, const Piece& p, i64 begin, i64 end, F&& visit) {
    const i64 count = ALWAYS_ACTIVE ? end - begin : p.size;
    const unsigned share = ALWAYS_ACTIVE ? 32 : share_of((unsigned)count);
    for (i64 base = share * (i64)warp_in_grid(); base < count; base += share * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool valid = lane() < share && i < count;
        vid u = 0;
        if (valid) u = ALWAYS_ACTIVE ? (vid)(begin + i) : f.queue[i];
        visit(valid && u >= begin && u < end, u);
    }
}

template <class F>
DEVICE void each_row(i64 begin, i64 end, F&& visit) {
    for (i64 base = begin + 32 * (i64)warp_in_grid(); base < end; base += 32 * (i64)warps_in_grid()) {
        const i64 v = base + lane();
        visit(v < end, (vid)v);
    }
}

// A derived wish is asked of own vertices only: a copy may be too old for it, and the owner asks again.
DEVICE bool is_wanted(const Fields& S, const Frame& f, const Piece& p, vid v) {
    return WANTS_ALWAYS || (!WANTS_DECLARED && (v < p.first || v >= p.last)) || wants_at(S, f.K, v);
}

// ---- the start -----------------------------------------------------------------------------------------------------

DEVICE void reduce_part(const Arguments& a, Frame& f, Reduced R) {
    if (!HAS_REDUCTIONS) return;
    reduce_leave(a.W, 0, R);
    f.barrier(a);
    if (blockIdx.x != 0) return;
    R = reduce_all(a.W, 0);
    if (threadIdx.x == 0) a.W.control->reduced = R;
}

extern "C" __global__ void __launch_bounds__(BLOCK) start_part(const Arguments a, const Piece p) {
    __shared__ vid held[WARPS * HELD];
    Frame f = frame_of(a);
    Slot* slot = superstep_slot(a);
    Appender next = Appender::make(held, f.following, &slot->size, &a.G);
    Tally t = {0, true};
    Reduced R = reduce_start();
    each_row(0, a.G.n, [&](bool valid, vid v) {
        bool starts = false;
        if (valid) {
            t.fits &= init_store(a.S, a.S, f.K, v);
            if (v >= p.first && v < p.last) {
                R = reduce_fold(R, a.S, a.S, f.K, v);
                starts = start_at(a.S, f.K, v);
            }
        }
        activate(f, next, starts, v);
    });
    next.flush();
    next.flush_counters(slot);
    flush_counters(t, slot);
    reduce_part(a, f, R);
}

extern "C" __global__ void __launch_bounds__(BLOCK) start_edges(const Arguments a, const Piece p) {
    Tally t = {0, true};
    each_row(p.start, p.stop, [&](bool valid, vid u) {
        if (!valid) return;
        for (eid arc = __ldg(a.G.offsets + u); arc < __ldg(a.G.offsets + u + 1); ++arc)
            t.fits &= edge_init_store(a.E, a.S, a.E, a.K, u, __ldg(a.G.targets + arc), arc, weight_at(a.G.weights, arc));
    });
    __syncwarp();
    flush_counters(t, superstep_slot(a));
}

// ---- messages ------------------------------------------------------------------------------------------------------

DEVICE void push_along(const Arguments& a, const Frame& f, const Piece& p, Tally& t, vid u, vid v, eid arc) {
    if ((VOTE && newest(p.received + v)) || !is_wanted(a.S, f, p, v)) return;
    const Weight w = weight_at(a.G.weights, arc);
    if (!SENDS_ALWAYS && !sends_at(a.S, a.E, f.K, u, v, arc, w)) return;
    merge_shared(a.A, a.W.locks, v, compute_at(a.S, a.E, f.K, u, v, arc, w));
    t.messages += 1;
    if (!newest(p.received + v)) p.received[v] = 1;
}

extern "C" __global__ void __launch_bounds__(BLOCK) push_slice(const Arguments a, const Piece p) {
    Frame f = frame_of(a);
    Slot* launch = f.slot(a);
    Tally t = {0, true};
    const auto visit = [&](bool valid, vid u, vid v, eid arc) {
        if (valid && !(p.away && v >= p.first && v < p.last)) push_along(a, f, p, t, u, v, arc);
    };
    const i64 rows = p.stop - p.start;  // there is room for as many hubs
    each_sender(f, p, p.start, p.stop, [&](bool take, vid u) {
        walk_or_defer(a.G.offsets, a.G.targets, rows, a.G.max_degree, a.W.hubs, &launch->big, &launch->huge, take, u, visit);
    });
    if (a.G.max_degree >= BLOCK_ROW) {
        f.barrier(a);
        walk_deferred(a.G.offsets, a.G.targets, rows, a.W.hubs, launch->big, launch->huge, WARPS, visit);
    }
    __syncwarp();
    flush_counters(t, superstep_slot(a));
}

// As push_slice where targets ascend in a row and the other parts' vertices come first: a row is walked as far as they
// go. Rows are short, since a warp walks its own.
extern "C" __global__ void __launch_bounds__(BLOCK) push_below(const Arguments a, const Piece p) {
    Frame f = frame_of(a);
    Tally t = {0, true};
    each_sender(f, p, p.start, p.stop, [&](bool take, vid u) {
        eid begin = 0, low = 0, high = 0;
        if (take) {
            begin = low = __ldg(a.G.offsets + u);
            high = __ldg(a.G.offsets + u + 1);
        }
        while (low < high) {
            const eid middle = low + (high - low) / 2;
            if (__ldg(a.G.targets + middle) < p.first) low = middle + 1;
            else high = middle;
        }
        __syncwarp();
        walk_rows(a.G.targets, u, begin, (unsigned)(low - begin), [&](bool valid, vid s, vid v, eid arc) {
            if (valid) push_along(a, f, p, t, s, v, arc);
        });
    });
    __syncwarp();
    flush_counters(t, superstep_slot(a));
}

// Messages to own vertices along rows of other parts' vertices, whose fields are known here: the row of sources[i] is
// starts[i]..starts[i + 1] of `targets`, and of the weights.
extern "C" __global__ void __launch_bounds__(BLOCK)
push_rows(const Arguments a, const Piece p, const vid* sources, const i64* starts, const vid* targets, i64 count) {
    Frame f = frame_of(a);
    Tally t = {0, true};
    const i64 arcs = starts[count];
    for (i64 arc = thread_in_grid(); arc < arcs; arc += threads_in_grid()) {
        const vid v = targets[arc];
        if (v < p.first || v >= p.last) continue;
        i64 low = 0, high = count;
        while (high - low > 1) {
            const i64 middle = (low + high) / 2;
            if (starts[middle] <= arc) low = middle;
            else high = middle;
        }
        push_along(a, f, p, t, sources[low], v, (eid)arc);
    }
    __syncwarp();
    flush_counters(t, superstep_slot(a));
}

#if BY_SOURCE
// Messages of p.start..p.stop that depend on their source alone: A holds the offers.
extern "C" __global__ void __launch_bounds__(BLOCK) offer_part(const Arguments a, const Piece p) {
    Frame f = frame_of(a);
    offer(a, f, p.start, p.stop);
}
#endif

// Messages are merged in `box`; where they are offered, A holds the offers.
extern "C" __global__ void __launch_bounds__(BLOCK) pull_slice(const Arguments a, const Piece p, const Merged box) {
    Frame f = frame_of(a);
    Tally t = {0, true};
    const auto store = [&](bool taken, vid v, const Gathered& g) {
        if (!taken || g.found == 0) return;
        t.messages += g.found;
        store_message(box, v, p.received[v] ? merge(load_message(box, v), g.message) : g.message);
        p.received[v] = 1;
    };
    gather_all(a, f, p.start, store, [&](vid v) { return is_wanted(a.S, f, p, v); });
    __syncwarp();
    flush_counters(t, superstep_slot(a));
}

// As pull_slice where one message is as good as all: a lane looks at the first arcs of its row, which lead to hubs, and
// its warp helps with the rest of those rows that found nobody.
extern "C" __global__ void __launch_bounds__(BLOCK) search_slice(const Arguments a, const Piece p, const Merged box) {
    Frame f = frame_of(a);
    Tally t = {0, true};
    const auto sends = [&](vid u, vid v, eid arc) {
        if (!in_frontier(f, u)) return false;
        return SENDS_ALWAYS || sends_at(a.S, a.E, f.K, u, v, arc, weight_at(a.G.in_weights, arc));
    };
    each_row(p.start, p.stop, [&](bool valid, vid v) {
        bool looking = valid && !p.received[v] && is_wanted(a.S, f, p, v), hit = false;
        eid arc = 0, end = 0;
        vid u = 0;
        if (looking) {
            arc = __ldg(a.G.in_offsets + v);
            end = __ldg(a.G.in_offsets + v + 1);
#pragma unroll 1
            for (int probe = 0; probe < LONE_PROBES && arc < end; ++probe, ++arc) {
                u = __ldg(a.G.sources + arc);
                hit = sends(u, v, arc);
                if (hit) break;
            }
            looking = !hit && arc < end;
        }
        const unsigned rows = __ballot_sync(FULL, looking);
        hit |= find_first(a.G.sources, rows, v - (vid)lane(), u, arc, end, sends);
        if (!hit) return;
        t.messages += 1;
        store_message(box, v, compute_at(a.S, a.E, f.K, u, v, arc, weight_at(a.G.in_weights, arc)));
        p.received[v] = 1;
    });
    __syncwarp();
    flush_counters(t, superstep_slot(a));
}

// ---- what becomes of the vertices ----------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(BLOCK) settle_part(const Arguments a, const Piece p) {
    __shared__ vid held[WARPS * HELD];
    Frame f = frame_of(a);
    Slot* slot = superstep_slot(a);
    Appender next = Appender::make(held, f.following, &slot->size, &a.G);
    Tally t = {0, true};
    Reduced R = reduce_start();
    if (!ALWAYS_ACTIVE) clear_bits(f.next_member, a.G.n);
    if (HAS_REDUCTIONS && !UPDATE_ALL) each_row(p.first, p.last, [&](bool valid, vid v) { if (valid) save_old(a.O, a.S, v); });
    f.barrier(a);
    const auto looked_at = [&](vid v) { if (p.changed) p.changed[v] = 1; };
    if (HAS_SENT || REVISITS) {
        each_sender(f, p, p.first, p.last, [&](bool take, vid u) {
            if (take && HAS_SENT) looked_at(u);
            activate(f, next, take && settle_sender(a, f, t, u, p.received[u]), u);
        });
        f.barrier(a);
    }
    each_row(p.first, p.last, [&](bool valid, vid v) {
        bool active = false;
        if (valid && (UPDATE_ALL || p.received[v])) {
            active = settle_receiver(a, f, t, v);
            p.received[v] = 0;
            looked_at(v);
            if (HAS_REDUCTIONS && UPDATE_ALL) R = reduce_fold(R, a.O, a.S, f.K, v);
        }
        activate(f, next, active, v);
    });
    if (HAS_REDUCTIONS && !UPDATE_ALL) {
        f.barrier(a);
        each_row(p.first, p.last, [&](bool valid, vid v) { if (valid) R = reduce_fold(R, a.O, a.S, f.K, v); });
    }
    next.flush();
    next.flush_counters(slot);
    flush_counters(t, slot);
    reduce_part(a, f, R);
}

extern "C" __global__ void __launch_bounds__(BLOCK) write_edges(const Arguments a, const Piece p) {
    Frame f = frame_of(a);
    Tally t = {0, true};
    each_sender(f, p, p.start, p.stop, [&](bool take, vid u) {
        settle_row(a, f, t, take, u, [&](vid v) { return is_wanted(a.O, f, p, v); });
    });
    flush_counters(t, superstep_slot(a));
}

// ---- what parts tell each other ------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(BLOCK) list_wanting(const Arguments a, const Piece p, unsigned char* wanting) {
    each_row(p.first, p.last, [&](bool valid, vid v) {
        if (valid) wanting[v - p.first] = WANTS_ALWAYS || wants_at(a.S, a.K, v);
    });
}

// The pages of 2^page_bits arcs that hold rows of active vertices, or in a pull of vertices that want a message.
extern "C" __global__ void __launch_bounds__(BLOCK)
mark_pages(const Arguments a, const Piece p, const eid* offsets, int pull, int page_bits, unsigned char* marks) {
    const auto mark = [&](vid v) {
        const i64 begin = (i64)__ldg(offsets + v), end = (i64)__ldg(offsets + v + 1);
        if (begin == end) return;
        for (i64 page = begin >> page_bits; page <= (end - 1) >> page_bits; ++page) marks[page] = 1;
    };
    const Frame f = frame_of(a);
    const i64 count = pull ? p.last - p.first : p.size;
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        const vid v = pull ? (vid)(p.first + i) : f.queue[i];
        if (!pull || WANTS_ALWAYS || wants_at(a.S, a.K, v)) mark(v);
    }
}

// Members of the frontier among p.start..p.stop, which belong to another part: all of them, `ids`, or those whose bits
// are set in `marks`, which begin at a multiple of 64 vertices.
extern "C" __global__ void __launch_bounds__(BLOCK)
mark_members(const Arguments a, const Piece p, int everyone, const vid* ids, i64 count, const unsigned* marks) {
    Frame f = frame_of(a);
    const bool settled = p.once && a.K.superstep > 0;  // in the first frontier some may still want a message
    for (i64 word = (p.start >> 5) + thread_in_grid(); 32 * word < p.stop; word += threads_in_grid()) {
        unsigned range = FULL;
        if (32 * word < p.start) range &= FULL << (p.start & 31);
        if (32 * (word + 1) > p.stop) range &= FULL >> (32 - (p.stop & 31));
        const unsigned others = f.member[word] & ~range;
        const unsigned members = everyone ? range : marks ? marks[word - (p.start >> 6) * 2] & range : 0;
        f.member[word] = others | members;
        if (settled)
            for (unsigned rest = members; rest; rest &= rest - 1) p.received[32 * word + __ffs(rest) - 1] = TOLD;
    }
    if (everyone || marks) return;
    f.barrier(a);
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        set_bit(f.member, ids[i]);
        if (settled) p.received[ids[i]] = TOLD;
    }
}

// The messages to p.start..p.stop, which belong to another part, as a list of *count; they are forgotten here. Where a
// vertex takes one message, it is told one: its owner takes it, or has no use for any.
extern "C" __global__ void __launch_bounds__(BLOCK)
pack_box(const Arguments a, const Piece p, vid* ids, const Merged values, unsigned* count) {
    each_row(p.start, p.stop, [&](bool valid, vid v) {
        const bool got = valid && p.received[v] == 1;
        const unsigned all = __ballot_sync(FULL, got);
        if (!all) return;
        unsigned place = 0;
        if (lane() == 0) place = atomicAdd(count, __popc(all));
        place = __shfl_sync(FULL, place, 0) + __popc(all & ((1u << lane()) - 1));
        if (!got) return;
        ids[place] = v;
        store_message(values, (vid)place, load_message(a.A, v));
        store_message(a.A, v, identity());
        p.received[v] = p.once ? TOLD : 0;
    });
}

// Merged messages from another part, to the own vertices `ids`; or, where there are none, to those of p.start..p.stop
// whose bit is set. Who sent them may not have known whether they are wanted.
extern "C" __global__ void __launch_bounds__(BLOCK)
merge_box(const Arguments a, const Piece p, const vid* ids, const unsigned char* bits, i64 count, const Merged values) {
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        if (!ids && !(bits[i >> 3] >> (i & 7) & 1)) continue;
        const vid v = ids ? ids[i] : (vid)(p.start + i);
        if (!WANTS_ALWAYS && !wants_at(a.S, a.K, v)) continue;
        const Message message = load_message(values, (vid)i);
        store_message(a.A, v, p.received[v] ? merge(load_message(a.A, v), message) : message);
        p.received[v] = 1;
    }
}

// ---- a part that led ----------------------------------------------------------------------------------------------

// Rows of a field, of `size` bytes each, to the vertices `ids`.
extern "C" __global__ void __launch_bounds__(BLOCK) place_rows(
    const Arguments a, const Piece p, const vid* ids, i64 count, i64 size, const unsigned char* rows, unsigned char* field) {
    for (i64 i = thread_in_grid(); i < count * size; i += threads_in_grid()) field[ids[i / size] * size + i % size] = rows[i];
}

// The own vertices ids[0..p.size], each of them once, are the frontier; nobody's bit is set yet.
extern "C" __global__ void __launch_bounds__(BLOCK) make_frontier(const Arguments a, const Piece p, const vid* ids) {
    Frame f = frame_of(a);
    for (i64 i = thread_in_grid(); i < p.size; i += threads_in_grid()) {
        f.queue[i] = ids[i];
        set_bit(f.member, ids[i]);
    }
}
