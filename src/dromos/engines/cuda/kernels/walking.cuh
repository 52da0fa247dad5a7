// Walks over the arcs of a frontier, dealt evenly to lanes, warps and blocks; and sets of vertices as queues and bits.
#pragma once
#include "common.cuh"

#ifndef BLOCK_ROW
#define BLOCK_ROW 1024     // arcs of a row that a whole block walks
#endif
#ifndef GRID_ROW
#define GRID_ROW 65536     // arcs of a row that all blocks walk
#endif

DEVICE void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

DEVICE void clear_bits(unsigned* bits, i64 n) {
    for (i64 word = thread_in_grid(); word < (n + 31) >> 5; word += threads_in_grid()) bits[word] = 0;
}

DEVICE void move_bits(unsigned* from, unsigned* to, i64 n) {
    const i64 words = (n + 31) >> 5;
    for (i64 word = thread_in_grid(); word < words; word += threads_in_grid()) {
        to[word] = from[word];
        from[word] = 0;
    }
}

// A queue made from bits: a warp takes 32 words, and sums up how many vertices are before each.
DEVICE void enqueue_bits(const unsigned* bitmap, i64 n, vid* queue, unsigned* size) {
    const i64 words = (n + 31) >> 5;
    for (i64 base = 32 * (i64)warp_in_grid(); base < words; base += 32 * (i64)warps_in_grid()) {
        const i64 word = base + lane();
        unsigned bits = word < words ? bitmap[word] : 0;
        const unsigned end = warp_inclusive_sum(__popc(bits)), total = __shfl_sync(FULL, end, 31);
        if (total == 0) continue;
        unsigned place = 0;
        if (lane() == 31) place = atomicAdd(size, total);
        place = __shfl_sync(FULL, place, 31) + end - __popc(bits);
        for (; bits; bits &= bits - 1) queue[place++] = (vid)((word << 5) + __ffs(bits) - 1);
    }
}

#define HELD (sizeof(vid) > 4 ? 64 : 128)  // vertices that a warp gathers before it appends them: 16 KiB for 1024 threads

// A warp's part of a queue, gathered in shared memory, so that appending costs one atomic for many vertices.
struct Held {
    vid* held;
    unsigned count;
    vid* queue;
    unsigned* size;

    // `shared` has HELD places for each warp of the block.
    DEVICE Held make(vid* shared, vid* queue, unsigned* size) { return Held{shared + warp_in_block() * HELD, 0, queue, size}; }
    // All 32 lanes call this; each(v) is called once for every vertex that is appended, by some lane.
    template <class F>
    __device__ __forceinline__ void add(bool take, vid v, F&& each) {
        const unsigned takers = __ballot_sync(FULL, take);
        if (takers == 0) return;
        if (take) held[count + __popc(takers & lanes_below())] = v;
        count += __popc(takers);
        if (count > HELD - 32) flush(each);
    }
    template <class F>
    __device__ __forceinline__ void flush(F&& each) {
        if (count == 0) return;
        __syncwarp();
        unsigned base = 0;
        if (lane() == 0) base = atomicAdd(size, count);
        base = __shfl_sync(FULL, base, 0);
        for (unsigned i = lane(); i < count; i += 32) {
            const vid v = held[i];
            queue[base + i] = v;
            each(v);
        }
        __syncwarp();
        count = 0;
    }
};

// How many vertices of a frontier a warp takes at a time: fewer where there are not enough for all warps, since what a
// warp has beyond 32 arcs waits for what it had before.
DEVICE unsigned share_of(unsigned size) {
    const unsigned even = (size + warps_in_grid() - 1) / warps_in_grid();
    return even < 32 ? (even ? even : 1) : 32;
}

// The arcs of the rows that a warp's lanes hold, dealt out evenly to the lanes: lane by lane a sum of lengths says where
// a row begins, and a binary search among the lanes finds the row of an arc. All lanes call visit(valid, u, v, arc).
template <class F>
DEVICE void walk_rows(const vid* targets, vid u, eid begin, unsigned length, F&& visit) {
    const unsigned end = warp_inclusive_sum(length), total = __shfl_sync(FULL, end, 31);
    const eid shift = begin - (eid)(end - length);  // arc = shift + position
    for (unsigned base = 0; base < total; base += 32) {
        const unsigned position = base + lane();
        unsigned owner = 0;
        for (unsigned step = 16; step > 0; step >>= 1) {
            const unsigned before = __shfl_sync(FULL, end, owner + step - 1);
            if (before <= position) owner += step;
        }
        const vid source = __shfl_sync(FULL, u, owner & 31);
        const eid arc = __shfl_sync(FULL, shift, owner & 31) + (eid)position;
        const bool valid = position < total;
        visit(valid, source, valid ? __ldg(targets + arc) : (vid)0, arc);
    }
}

// Sort the rows of a warp's lanes by what walks them: long ones go to lists (for blocks from the front, for the grid from
// the back), the others are walked at once.
template <class F>
DEVICE void walk_or_defer(const eid* offsets, const vid* targets, i64 n, i64 max_degree, vid* hubs, unsigned* big, unsigned* huge,
                          bool active, vid u, F&& visit) {
    eid begin = 0;
    i64 length = 0;
    if (active) {
        begin = __ldg(offsets + u);
        length = (i64)(__ldg(offsets + u + 1) - begin);
    }
    if (max_degree >= BLOCK_ROW) {
        if (length >= GRID_ROW) {
            hubs[n - 1 - atomicAdd(huge, 1)] = u;
            length = 0;
        } else if (length >= BLOCK_ROW) {
            hubs[atomicAdd(big, 1)] = u;
            length = 0;
        }
    }
    walk_rows(targets, u, begin, (unsigned)length, visit);
}

// A row's arcs, dealt to `warps` warps of which this is number `warp`.
template <class F>
DEVICE void walk_row(const eid* offsets, const vid* targets, vid u, unsigned warp, unsigned warps, F&& visit) {
    const eid begin = __ldg(offsets + u), end = __ldg(offsets + u + 1);
    for (i64 base = (i64)begin + 32 * (i64)warp; base < (i64)end; base += 32 * (i64)warps) {
        const eid arc = (eid)(base + lane());
        const bool valid = arc < end;
        visit(valid, u, valid ? __ldg(targets + arc) : (vid)0, arc);
    }
}

// After a barrier: the rows that were put off.
template <class F>
DEVICE void walk_deferred(const eid* offsets, const vid* targets, i64 n, const vid* hubs, unsigned big, unsigned huge, unsigned warps,
                          F&& visit) {
    for (unsigned i = 0; i < huge; ++i) walk_row(offsets, targets, hubs[n - 1 - i], warp_in_grid(), warps_in_grid(), visit);
    for (unsigned i = blockIdx.x; i < big; i += gridDim.x) walk_row(offsets, targets, hubs[i], warp_in_block(), warps, visit);
}

// Rows that are too long for one lane to look through, those of the lanes `rows`: the whole warp looks for the first arc
// from a lane's `arc` to its `end` with sends(source, row, arc), one row after the other. Lane 0 has vertex `first`, the
// others those that follow. Whether this lane's row has one: then `source` and `arc` are it.
template <class F>
DEVICE bool find_first(const vid* sources, unsigned rows, vid first, vid& source, eid& arc, eid end, F&& sends) {
    bool hit = false;
    for (; rows; rows &= rows - 1) {
        const int owner = __ffs(rows) - 1;
        const eid last = __shfl_sync(FULL, end, owner);
        for (eid at = __shfl_sync(FULL, arc, owner); at < last; at += 32) {
            vid other = 0;
            bool found = false;
            if (at + lane() < last) {
                other = __ldg(sources + at + lane());
                found = sends(other, first + (vid)owner, at + lane());
            }
            const unsigned finders = __ballot_sync(FULL, found);
            if (!finders) continue;
            const int finder = __ffs(finders) - 1;
            const vid chosen = __shfl_sync(FULL, other, finder);
            if ((int)lane() == owner) {
                hit = true;
                source = chosen;
                arc = at + finder;
            }
            break;
        }
    }
    return hit;
}
