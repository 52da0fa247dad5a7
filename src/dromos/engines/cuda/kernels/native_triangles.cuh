// Triangles of a simple undirected graph whose rows are sorted and whose hubs have the least ids.
//
// A triangle v > u > w is found at v: the arcs of v that lead down are the first low[v] of its row. Among them are mostly
// hubs, so the rows of the first HUBS vertices are kept as bits too, in blocks of 128. A warp marks the neighbours of v in
// shared memory: hubs in a bitmap, others in a hashed one. An arc (v, u) to a hub costs the conjunction of two rows of
// bits, and only of those blocks in which v has any. For the other u the row of u is read, and each w looked up among the
// marks; the hashed ones let few through to a binary search.
//
// For the total, a hub's row of bits holds its lesser neighbours. For the counts of each vertex it holds all hubs next to
// it: then the conjunction says how many triangles the arc (v, u) is in, and nobody has to ask which ones they are. Each
// triangle of v and two hubs comes up at both of them, so all counts are kept doubled.
#pragma once
#include "common.cuh"

#ifndef HUBS
#define HUBS 16384  // a multiple of 4096, at most 32768
#endif
#ifndef COUNTS
#define COUNTS 1  // 0: the total alone
#endif
#define FAR_BITS 4096
#define BLOCKS (HUBS / 128)
#define WARP_WORDS (HUBS / 32 + FAR_BITS / 32 + BLOCKS / 4)  // a warp's share of shared memory
#define LONG_ROW 1024        // more arcs down than that are cut into items
#define BATCH 8

DEVICE unsigned far_bit(vid w) { return ((unsigned)w * 0x9E3779B1u) >> 20; }

// low[v]: how many neighbours have lesser ids. Long ones are cut into items: vertex << 24 | piece.
extern "C" __global__ void measure_rows(
    const eid* offsets, const vid* targets, vid n, eid* low, u64* items, unsigned* num_items
) {
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
        const vid v = (vid)i;
        const eid begin = offsets[v];
        eid from = begin, to = offsets[v + 1];
        while (from < to) {
            const eid middle = from + (to - from) / 2;
            if (targets[middle] < v)
                from = middle + 1;
            else
                to = middle;
        }
        const eid length = from - begin;
        low[v] = length;
        if (length > LONG_ROW) {
            const unsigned count = (unsigned)((length + LONG_ROW - 1) / LONG_ROW);
            const unsigned place = atomicAdd(num_items, count);
            for (unsigned piece = 0; piece < count; ++piece) items[place + piece] = (u64)v << 24 | piece;
        }
    }
}

// The rows of the hubs as bits; `bits` is zero before.
extern "C" __global__ void mark_hubs(const eid* offsets, const vid* targets, const eid* low, vid hubs, unsigned* bits) {
    for (i64 u = warp_in_grid(); u < hubs; u += warps_in_grid())
        for (eid i = lane(); i < low[u]; i += 32) {
            const vid w = targets[offsets[u] + i];
            atomicOr(bits + (u64)u * (HUBS / 32) + (w >> 5), bit_of(w));
            if (COUNTS) atomicOr(bits + (u64)w * (HUBS / 32) + (u >> 5), bit_of((vid)u));
        }
}

// Whether w is among the first `to` of a row that goes on with something else.
DEVICE bool is_in_row(const vid* row, eid to, vid w) {
    eid from = 0;
    while (from < to) {
        const eid middle = from + (to - from) / 2;
        if (row[middle] < w)
            from = middle + 1;
        else
            to = middle;
    }
    return row[from] == w;
}

struct Counter {
    const eid* offsets;
    const vid* targets;
    const eid* low;
    const uint4* bits;
    u64* counts;
    unsigned* near;
    unsigned* far;
    unsigned char* blocks;  // those of `near` that are not empty, rising
    unsigned* seen;         // of each hub as a triangle's w, by this block
    unsigned num_blocks;
    u64 total;  // of this lane

    __device__ __forceinline__ void credit(vid u, unsigned found) {
        const unsigned sum = __reduce_add_sync(FULL, found);
        if (lane() == 0 && sum) atomicAdd(counts + u, 2 * (u64)sum);
    }

    __device__ __forceinline__ void find_blocks() {
        num_blocks = 0;
        for (unsigned block = lane(); block < BLOCKS; block += 32) {
            const uint4 own = ((const uint4*)near)[block];
            const unsigned used = __ballot_sync(FULL, own.x | own.y | own.z | own.w);
            if (used >> lane() & 1) blocks[num_blocks + __popc(used & lanes_below())] = (unsigned char)block;
            num_blocks += __popc(used);
        }
        __syncwarp();
    }

    // Four hubs at a time, so that four loads are on their way; lanes from `count` on hold none.
    __device__ __forceinline__ unsigned meet_hubs(vid mine, unsigned count) {
        unsigned sum = 0;
        for (unsigned j = 0; j < count; j += 4) {
            unsigned u[4], found[4] = {0, 0, 0, 0};
#pragma unroll
            for (int q = 0; q < 4; ++q) u[q] = (unsigned)__shfl_sync(FULL, mine, j + q < count ? j + q : j);
            const unsigned last = (unsigned)__shfl_sync(FULL, mine, j + 3 < count ? j + 3 : count - 1) >> 7;
            for (unsigned base = 0; base < num_blocks; base += 32) {
                if (!COUNTS && blocks[base] > last) break;
                const bool inside = base + lane() < num_blocks;
                const unsigned block = inside ? blocks[base + lane()] : 0;
                const uint4 none = make_uint4(0, 0, 0, 0), own = inside ? ((const uint4*)near)[block] : none;
                uint4 row[4];
#pragma unroll
                for (int q = 0; q < 4; ++q) {
                    const bool wanted = inside && j + q < count && (COUNTS || block <= u[q] >> 7);
                    row[q] = wanted ? __ldg(bits + u[q] * BLOCKS + block) : none;
                }
#pragma unroll
                for (int q = 0; q < 4; ++q)
                    found[q] += __popc(row[q].x & own.x) + __popc(row[q].y & own.y) + __popc(row[q].z & own.z) +
                                __popc(row[q].w & own.w);
            }
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                sum += found[q];
                if (COUNTS) credit((vid)u[q], found[q]);
            }
        }
        return sum;
    }

    // The row of a vertex that is no hub, against the marks of v; `row` is that of v, and u its item `upto`.
    __device__ __forceinline__ unsigned meet_row(vid u, eid first, eid length, const vid* row, eid upto) {
        unsigned found = 0;
        for (eid base = 0; base < length; base += 128) {
            vid w[4];
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                const eid at = base + 32 * q + lane();
                w[q] = at < length ? targets[first + at] : (vid)-1;
            }
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                if (w[q] < 0) continue;
                if (w[q] < HUBS) {
                    const bool hit = has_bit(near, w[q]);
                    found += hit;
                    if (COUNTS && hit) atomicAdd(seen + w[q], 1u);
                } else if (has_bit(far, far_bit(w[q])) && is_in_row(row, upto, w[q])) {
                    ++found;
                    if (COUNTS) atomicAdd(counts + w[q], 2ull);
                }
            }
        }
        if (COUNTS) credit(u, found);
        return found;
    }

    // The arcs [from, to) of those of v that lead down.
    __device__ __forceinline__ void count(vid v, eid from, eid to) {
        const vid* row = targets + offsets[v];
        const eid length = low[v];
        for (eid i = lane(); i < length; i += 32) {
            const vid w = row[i];
            if (w < HUBS)
                atomicOr(near + (w >> 5), bit_of(w));
            else
                atomicOr(far + (far_bit(w) >> 5), 1u << (far_bit(w) & 31));
        }
        __syncwarp();
        find_blocks();
        u64 found = 0;
        for (eid base = from; base < to; base += 32) {
            const bool inside = base + lane() < to;
            const vid u = inside ? row[base + lane()] : 0;
            const bool far_away = inside && u >= HUBS;
            const unsigned others = __ballot_sync(FULL, far_away);
            const unsigned here = to - base < 32 ? (unsigned)(to - base) : 32u;
            const unsigned hubs = here - __popc(others);
            if (hubs) found += meet_hubs(u, hubs);
            if (others) {
                const eid first = far_away ? offsets[u] : 0, last = far_away ? low[u] : 0;
                for (unsigned j = hubs; j < here; ++j)
                    found += (COUNTS ? 2 : 1) * meet_row(
                        __shfl_sync(FULL, u, j), __shfl_sync(FULL, first, j), __shfl_sync(FULL, last, j), row, base + j
                    );
            }
        }
        if (COUNTS) {
            found = warp_sum(found);
            if (lane() == 0 && found) atomicAdd(counts + v, found);
        } else {
            total += found;
        }
        __syncwarp();
        for (eid i = lane(); i < length; i += 32) {
            const vid w = row[i];
            if (w < HUBS)
                near[w >> 5] = 0;
            else
                far[far_bit(w) >> 5] = 0;
        }
        __syncwarp();
    }
};

// Warps take the items, then the vertices, BATCH at a time, until all are taken or `cycles` have passed; `cursor` says
// where to go on. Shared memory: WARP_WORDS per warp, and with COUNTS one word per hub.
extern "C" __global__ void __launch_bounds__(512, 2) count_triangles(
    const eid* offsets, const vid* targets, const eid* low, vid n, const uint4* bits, const u64* items,
    const unsigned* num_items, u64* cursor, u64* counts, u64* total, i64 cycles
) {
    extern __shared__ uint4 room[];
    unsigned* marks = (unsigned*)room;
    const unsigned words = (blockDim.x >> 5) * WARP_WORDS + (COUNTS ? HUBS : 0);
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) marks[i] = 0;
    __syncthreads();
    unsigned* near = marks + warp_in_block() * WARP_WORDS;
    unsigned* far = near + HUBS / 32;
    unsigned* seen = marks + (blockDim.x >> 5) * WARP_WORDS;
    Counter counter = {offsets, targets, low, bits, counts, near, far, (unsigned char*)(far + FAR_BITS / 32), seen, 0, 0};
    const i64 began = clock64();
    const u64 pieces = *num_items;
    for (bool first_turn = true;; first_turn = false) {
        u64 turn = ~0ull;
        if (lane() == 0 && (first_turn || clock64() - began < cycles)) turn = atomicAdd(cursor, 1ull);
        turn = __shfl_sync(FULL, turn, 0);
        if (turn == ~0ull) break;
        if (turn < pieces) {
            const vid v = (vid)(items[turn] >> 24);
            const eid from = (eid)(items[turn] & 0xffffffu) * LONG_ROW, length = low[v];
            counter.count(v, from, length - from < LONG_ROW ? length : from + LONG_ROW);
            continue;
        }
        const u64 first = (turn - pieces) * BATCH;
        if (first >= (u64)n) break;
        const eid length = lane() < BATCH && first + lane() < (u64)n ? low[first + lane()] : 0;
        for (unsigned rest = __ballot_sync(FULL, length >= 2 && length <= LONG_ROW); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            counter.count((vid)(first + owner), 0, __shfl_sync(FULL, length, owner));
        }
    }
    if (!COUNTS) {
        const u64 found = warp_sum(counter.total);
        if (lane() == 0 && found) atomicAdd(total, found);
    } else {
        __syncthreads();
        for (unsigned w = threadIdx.x; w < HUBS && w < n; w += blockDim.x)
            if (seen[w]) atomicAdd(counts + w, 2 * (u64)seen[w]);
    }
}
