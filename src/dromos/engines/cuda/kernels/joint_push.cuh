// A level of joint searches from above: each vertex of the joint frontier gives its bits to its out-neighbours.
#pragma once
#include "joint_records.cuh"

DEVICE void push_level(const Joint& j, unsigned* arrivals, unsigned& met, JointSlot* slot, unsigned size, const vid* queue,
                       vid* following, const Bits* front, Bits* next, vid* held) {
    Held found = Held::make(held, following, &slot->listed);
    const auto nothing_more = [](vid) {};
    const auto visit = [&](bool valid, vid u, vid v, eid) {
        bool fresh = false;
        for (int p = 0; p < PARTS && valid; ++p) {
            const Bits offered = without(front[(i64)u * PARTS + p], j.seen[(i64)v * PARTS + p]);
            if (!any(offered)) continue;
            // words of this level from the cache may lack bits, which costs an atomic that changes nothing
            const Bits lacking = without(offered, next[(i64)v * PARTS + p]);
#pragma unroll
            for (int w = 0; w < PART_WORDS; ++w)
                if (lacking.word[w]) atomicOr(next[(i64)v * PARTS + p].word + w, lacking.word[w]);
            fresh |= any(lacking);
        }
        const bool first = fresh && !has_bit(j.listed, v) && set_bit(j.listed, v);
        __syncwarp();
        found.add(first, v, nothing_more);
    };
    const unsigned share = share_of(size);
    for (i64 base = share * (i64)warp_in_grid(); base < size; base += share * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool take = lane() < share && i < size;
        walk_or_defer(j.offsets, j.targets, j.n, j.max_degree, j.hubs, &slot->big, &slot->huge, take,
                      take ? queue[i] : (vid)0, visit);
    }
    if (j.max_degree >= BLOCK_ROW) {
        grid_barrier(arrivals, met);
        walk_deferred(j.offsets, j.targets, j.n, j.hubs, slot->big, slot->huge, WARPS, visit);
    }
    found.flush(nothing_more);
}

DEVICE void settle_pushed(const Joint& j, JointTally& t, unsigned listed, const vid* queue, unsigned size, const vid* following,
                          Bits* front, const Bits* next, const Bits& live, unsigned level) {
    for (i64 i = thread_in_grid(); i < (i64)size * PARTS; i += threads_in_grid())
        front[(i64)queue[i / PARTS] * PARTS + i % PARTS] = none();
    const i64 items = (i64)listed * PARTS;
    for (i64 base = 32 * (i64)warp_in_grid(); base < items; base += 32 * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool valid = i < items;
        const vid v = valid ? following[i / PARTS] : (vid)0;
        const i64 at = (i64)v * PARTS + lane() % PARTS;
        const Bits fresh = valid ? next[at] : none();
        if (valid) j.listed[v >> 5] = 0;  // all that are listed come by here
        settle(j, t, valid, v, j.seen[at], fresh, live, level);
        count_lanes(t, fresh);
    }
}
