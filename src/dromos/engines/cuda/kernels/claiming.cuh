// Traversals that take each vertex once: one bit per vertex tells whether it is taken, and whoever sets it writes the
// state. Levels are pushed from a queue or pulled through bitmaps, in one launch; the direction is switched here, by
// the same rule as in the planner (Beamer's and SEP-Graph's Algorithm 2).
#pragma once
#include "stretch.cuh"

#ifndef PROBES
#define PROBES 8  // neighbours that a lane looks at alone before its warp helps
#endif

#ifndef FILTER
#define FILTER 0  // how a frontier is made. 0: online in a push, by ballot in a pull; 1: always online; 2: always by ballot
#endif
#ifndef HUB_WORDS
#define HUB_WORDS 0  // words of the frontier's bits, those of the greatest hubs, that a pull keeps in shared memory
#endif

// What such a program stores fits its fields, or it would not be run like this.
DEVICE void claim(const Arguments& a, Frame& f, vid u, vid v, eid arc, const StoredWeight* weights) {
    claim_store(a.S, a.S, f.K, v, compute_at(a.S, a.E, f.K, u, v, arc, weight_at(weights, arc)));
}

// Who needs no look any more: whoever takes no message, and whoever gets none.
DEVICE void mark_taken(const Arguments& a, const Frame& f) {
    for (i64 base = 32 * (i64)warp_in_grid(); base < a.G.n; base += 32 * (i64)warps_in_grid()) {
        const vid v = (vid)(base + lane());
        bool taken = true;
        if (v < a.G.n) {
            taken = !(WANTS_ALWAYS || wants_at(a.S, f.K, v));
            if (a.G.in_offsets) taken |= degree(a.G.in_offsets, v) == 0;
        }
        const unsigned word = __ballot_sync(FULL, taken);
        if (lane() == 0) a.W.visited[base >> 5] = word;
    }
}

DEVICE void push_level(const Arguments& a, Frame& f, vid* held) {
    Slot* slot = f.slot(a);
    // degrees are summed up only for a rule that asks for them
    Appender next = Appender::make(held, f.following, &slot->size, a.step.policy == 2 ? &a.G : nullptr);
    u64 messages = 0;
    const bool thin = f.size < THIN;
    const auto visit = [&](bool valid, vid u, vid v, eid arc) {
        bool won = false;
        // A stale bit from the cache costs an atomic that fails, nothing else. In a thin level everything waits for one
        // chain of accesses after the other, and the look before the atomic is one more.
        if (valid && (thin || !has_bit(a.W.visited, v))) won = set_bit(a.W.visited, v);
        if (won) {
            prefetch(a.G.offsets + v);
            claim(a, f, u, v, arc, a.G.weights);
        }
        messages += valid;
#if FILTER == 2
        if (won) atomicOr(f.next_member + (v >> 5), bit_of(v));
#else
        next.add(won, v);
#endif
    };
#if FILTER == 2
    clear_bits(f.next_member, a.G.n);
    f.barrier(a);
#endif
    const unsigned share = share_of(f.size);
    for (i64 base = share * (i64)warp_in_grid(); base < f.size; base += share * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool take = lane() < share && i < f.size;
        walk_or_defer(a, slot, take, take ? f.queue[i] : (vid)0, visit);
    }
    if (a.G.max_degree >= BLOCK_ROW) {
        f.barrier(a);
        walk_deferred(a, slot, visit);
    }
#if FILTER == 2
    f.barrier(a);
    for (i64 base = 32 * (i64)warp_in_grid(); base < a.G.n; base += 32 * (i64)warps_in_grid())
        next.add(f.next_member[base >> 5] >> lane() & 1, (vid)(base + lane()));
#endif
    next.flush();
    next.flush_counters(slot);
    add_to_slot(&slot->messages, messages);
}

DEVICE bool in_front(const unsigned* hubs, const unsigned* member, vid u) {
    return HUB_WORDS && u < 32 * HUB_WORDS ? hubs[u >> 5] & bit_of(u) : has_bit(member, u);
}

DEVICE void pull_level(const Arguments& a, Frame& f) {
    Slot* slot = f.slot(a);
    __shared__ unsigned hubs[HUB_WORDS + 1];
    if (HUB_WORDS) {
        for (i64 word = threadIdx.x; word < HUB_WORDS && word < (a.G.n + 31) >> 5; word += BLOCK) hubs[word] = f.member[word];
        __syncthreads();
    }
    u64 messages = 0, out = 0, in = 0, size = 0;
    const bool symmetric = a.G.in_offsets == a.G.offsets;
    const i64 words = (a.G.n + 31) >> 5;
    for (i64 word = warp_in_grid(); word < words; word += warps_in_grid()) {
        const unsigned taken = a.W.visited[word];
        unsigned found = 0;
        if (taken != FULL) {
            const vid v = (vid)(word << 5) + (vid)lane();
            bool looking = !(taken & (1u << lane())), hit = false;
            eid arc = 0, end = 0;
            vid u = 0;
            i64 length = 0;
            if (looking) {
                arc = __ldg(a.G.in_offsets + v);
                end = __ldg(a.G.in_offsets + v + 1);
                length = (i64)(end - arc);
#pragma unroll 1
                for (int probe = 0; probe < PROBES && arc < end; ++probe, ++arc) {
                    u = __ldg(a.G.sources + arc);
                    if (in_front(hubs, f.member, u)) {
                        hit = true;
                        break;
                    }
                }
                messages += length - (i64)(end - arc);
                looking = !hit && arc < end;
            }
            const unsigned rows = __ballot_sync(FULL, looking);
            hit |= find_first(a.G.sources, rows, (vid)(word << 5), u, arc, end, [&](vid source, vid, eid) {
                return in_front(hubs, f.member, source);
            });
            if (lane() == 0) messages += 32 * __popc(rows);
            if (hit) {
                claim(a, f, u, v, arc, a.G.in_weights);
                out += symmetric ? (u64)length : (u64)degree(a.G.offsets, v);
                in += length;
            }
            found = __ballot_sync(FULL, hit);
            if (lane() == 0) {
                size += __popc(found);
                if (found) a.W.visited[word] = taken | found;
            }
#if FILTER == 1
            warp_append(f.following, &slot->size, hit, v);
#endif
        }
        if (FILTER != 1 && lane() == 0) f.next_member[word] = found;
    }
    add_to_slot(&slot->out, out);
    add_to_slot(&slot->in, in);
    add_to_slot(&slot->messages, messages);
    if (FILTER != 1 && lane() == 0 && size) atomicAdd(&slot->size, (unsigned)size);
}

// The frontier in bits, made from the queue.
DEVICE void queue_to_bits(const Arguments& a, Frame& f) {
    clear_bits(f.member, a.G.n);
    f.barrier(a);
    for (i64 i = thread_in_grid(); i < f.size; i += threads_in_grid()) atomicOr(f.member + (f.queue[i] >> 5), bit_of(f.queue[i]));
    f.barrier(a);
}

DEVICE void bits_to_queue(const Arguments& a, Frame& f) {
    enqueue_bits(f.member, a.G.n, f.queue, &f.slot(a)->listed);
    f.barrier(a);
}

DEVICE bool wants_pull(const Arguments& a, const Frame& f, bool first, bool pulled, double& untouched) {
    if (a.step.policy < 2) return a.step.policy == 1;
    if (first) return false;
    if (pulled) return (double)f.size >= (double)a.G.n / a.step.beta;
    untouched -= (double)f.out;
    return (double)f.out > untouched / a.step.alpha;
}

// Supersteps of thin frontiers, where a push is all that is asked for.
DEVICE bool push_thin(const Arguments& a, Frame& f, Stretch& stretch) {
    const Slot now = stretch.run(a, f, [&](bool valid, vid u, vid v, eid arc) {
        if (!valid) return false;
        // before it is known whether anybody gets it: what it is made of is loaded while other things are waited for
        const Message message = compute_at(a.S, a.E, f.K, u, v, arc, weight_at(a.G.weights, arc));
        if (!set_bit(a.W.visited, v)) return false;
        claim_store(a.S, a.S, f.K, v, message);
        return true;
    });
    return f.continue_or_report(a, now, false);
}

extern "C" __global__ void __launch_bounds__(BLOCK) run(const Arguments a) {
    __shared__ vid held[WARPS * HELD];
    __shared__ Gathered gathered;
    Stretch stretch = Stretch::make(a, &gathered, held);
    Frame f;
    f.begin(a);
    double untouched = a.W.control->untouched;
    bool pulled = a.W.control->pulled, in_bits = true, in_queue = true;
    mark_taken(a, f);
    f.barrier(a);
    for (bool more = true; more;) {
        double rest = untouched;
        const bool pull = wants_pull(a, f, f.K.superstep == 0, pulled, rest);
        if (a.step.selective && f.done && pull != pulled) {  // another kernel's turn: the host starts it
            f.report(a, Slot{}, pulled, 0);
            break;
        }
        untouched = rest;
        if (FILTER != 2 && a.step.policy == 0 && stretch.suits(a, f)) {
            more = push_thin(a, f, stretch);
            in_bits = pulled = false;
            continue;
        }
        if (pull) {
            if (!in_bits) queue_to_bits(a, f);
            pull_level(a, f);
        } else {
            if (!in_queue) bits_to_queue(a, f);
            push_level(a, f, held);
        }
        f.clear_next_slot(a);
        f.barrier(a);
        in_bits = FILTER == 2 || (pull && FILTER != 1);
        in_queue = !pull || FILTER == 1;
        pulled = pull;
        more = f.advance(a, pull);
    }
    // leave the frontier in both forms, and nothing in the other bitmap
    f.barrier(a);
    Stretch::copy_to_queue(a, f);
    if (thread_in_grid() == 0) a.W.control->untouched = untouched;
    if (f.size && !in_queue) {
        if (thread_in_grid() == 0) f.slot(a)->listed = 0;
        f.barrier(a);
        bits_to_queue(a, f);
    }
    if (!in_bits) queue_to_bits(a, f);
    clear_bits(f.next_member, a.G.n);
}
