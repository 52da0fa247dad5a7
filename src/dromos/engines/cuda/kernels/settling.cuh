// What becomes of vertices and edges behind a superstep's messages, whichever way those came. In the message phase fields
// are only read; then each vertex is settled by one thread.
#pragma once
#include "frame.cuh"

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

DEVICE bool in_frontier(const Frame& f, vid v) { return ALWAYS_ACTIVE || has_bit(f.member, v); }

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

// A receiver: updated by what was merged for it; whether it is active then.
DEVICE bool settle_receiver(const Arguments& a, const Frame& f, Tally& t, vid v) {
    if (!(HAS_SENT && in_frontier(f, v))) save_old(a.O, a.S, v);
    t.fits &= update_store(a.S, a.S, f.K, v, load_message(a.A, v));
    store_message(a.A, v, identity());
    return !ALWAYS_ACTIVE && active_at(a.O, a.S, f.K, v);
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
