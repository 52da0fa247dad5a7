// What the host passes to joint searches, and what they leave for it; and how a level's finds are made known.
#pragma once
#include "joint_bits.cuh"

struct JointSlot {
    unsigned size, listed, queued, big, huge, stop;
    u64 out, closed;
};

struct Control {
    unsigned arrivals, unused;
    JointSlot slots[3];
    unsigned counts[3][SEARCHES];  // up to here cleared before every launch
    unsigned size, flipped, level, finished, pulled, in_queue;
    u64 out, open, joint;
    u64 live[WORDS];
    u64 reached[SEARCHES], far[SEARCHES], depth[SEARCHES];
    double near[SEARCHES];
};

struct Joint {
    const eid* offsets;
    const vid* targets;
    const eid* in_offsets;
    const vid* sources;
    const vid* ids;
    const vid* rank;
    i64 n, arcs, max_degree, limit, nanoseconds;
    i64 classes[8];
    Bits* seen;
    Bits* table[2];
    vid* queue[2];
    vid* hubs;
    unsigned* listed;
    DISTANCE* distance;  // one row per search in the given order; may be null
    Control* control;
};

DEVICE void note_distances(const Joint& j, const Bits& fresh, vid v, unsigned level) {
    if (!j.distance) return;
    const i64 at = j.ids ? (i64)__ldg(j.ids + v) : (i64)v;
    const i64 first = 64 * PART_WORDS * (lane() % PARTS);
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) {
        for (u64 rest = fresh.word[w]; rest; rest &= rest - 1)
            j.distance[(first + 64 * w + __ffsll((i64)rest) - 1) * j.n + at] = (DISTANCE)level;
    }
}

// Make what is fresh at a vertex known; lanes that hold no part of one say so. All lanes call it.
DEVICE void settle(const Joint& j, JointTally& t, bool valid, vid v, const Bits& seen, const Bits& fresh, const Bits& live,
                   unsigned level) {
    const bool mine = valid && any(fresh);
    const unsigned votes = __ballot_sync(FULL, mine) >> (lane() / PARTS * PARTS);
    const Bits left = without(live, seen | fresh);
    const unsigned lacking = __ballot_sync(FULL, valid && any(left)) >> (lane() / PARTS * PARTS);
    if (mine) {
        j.seen[(i64)v * PARTS + lane() % PARTS] = seen | fresh;
        note_distances(j, fresh, v, level);
    }
    const unsigned row = (1u << PARTS) - 1;
    if (valid && (votes & row) && lane() % PARTS == 0) {
        t.size += 1;
        t.out += (u64)(__ldg(j.offsets + v + 1) - __ldg(j.offsets + v));
        if (!(lacking & row)) t.closed += (u64)(__ldg(j.in_offsets + v + 1) - __ldg(j.in_offsets + v));
    }
}

DEVICE void flush_counters(const JointTally& t, JointSlot* slot, unsigned* counts) {
    __shared__ unsigned block[SEARCHES];
    for (int s = threadIdx.x; s < SEARCHES; s += BLOCK) block[s] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2 * WORDS; ++k)
        if (t.searches[k]) atomicAdd(block + 32 * k + lane(), t.searches[k]);
    const u64 out = warp_sum(t.out), closed = warp_sum(t.closed);
    const unsigned size = warp_sum(t.size);
    if (lane() == 0 && size) {
        atomicAdd(&slot->size, size);
        atomicAdd(&slot->out, out);
        atomicAdd(&slot->closed, closed);
    }
    __syncthreads();
    for (int s = threadIdx.x; s < SEARCHES; s += BLOCK)
        if (block[s]) atomicAdd(counts + s, block[s]);
}
