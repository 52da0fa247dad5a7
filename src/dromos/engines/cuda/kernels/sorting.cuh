// Rows under new vertex ids, each sorted by its new targets in registers: bitonic networks, in which a lane holds every
// 32nd key. A row that is not full is filled up with the greatest key.
//
// Up to 1,024 targets are one warp's, up to 32,768 one block's. Longer ones are only renamed here, and sorted later.
#pragma once
#include "row_search.cuh"

#define WARP_KEYS 1024u

DEVICE constexpr int log2_of(int n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

// Compare and exchange all pairs of keys at a distance of 2^J: for a falling order in every other run of `run` keys. With
// no run (0) all of them get the order `falling`.
template <int J, int ITEMS>
DEVICE void compare(unsigned (&keys)[ITEMS], unsigned run, bool falling) {
    const unsigned own = lane();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const bool down = (((32u * i + own) & run) != 0) != falling;
        if constexpr (J >= 5) {
            constexpr int STEP = 1 << (J - 5);
            if ((i & STEP) == 0) {
                const unsigned least = min(keys[i], keys[i + STEP]), most = max(keys[i], keys[i + STEP]);
                keys[i] = down ? most : least;
                keys[i + STEP] = down ? least : most;
            }
        } else {
            const unsigned other = __shfl_xor_sync(FULL, keys[i], 1 << J);
            keys[i] = ((own >> J & 1) == 0) != down ? min(keys[i], other) : max(keys[i], other);
        }
    }
}

// All distances from 2^J down to 1, of those that are shorter than a run.
template <int J, int ITEMS>
DEVICE void compare_down(unsigned (&keys)[ITEMS], unsigned run, bool falling) {
    if (run == 0 || run > (1u << J)) compare<J>(keys, run, falling);
    if constexpr (J > 0) compare_down<J - 1>(keys, run, falling);
}

// Sort keys of which the first and the second half are sorted, one rising and one falling.
template <int ITEMS>
DEVICE void merge_keys(unsigned (&keys)[ITEMS], bool falling) {
    compare_down<4 + log2_of(ITEMS)>(keys, 0, falling);
}

template <int ITEMS>
DEVICE void sort_keys(unsigned (&keys)[ITEMS], bool falling) {
#pragma unroll 1  // unrolled it takes three times as long to compile
    for (unsigned run = 2; run < 32 * ITEMS; run *= 2) compare_down<3 + log2_of(ITEMS)>(keys, run, false);
    merge_keys(keys, falling);
}

template <int ITEMS>
DEVICE void load_keys(unsigned (&keys)[ITEMS], const vid* targets, const vid* rank, i64 begin, i64 length) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const i64 at = begin + 32 * i + lane();
        keys[i] = at < length ? (unsigned)rank[targets[at]] : FULL;
    }
}

template <int ITEMS>
DEVICE void store_keys(const unsigned (&keys)[ITEMS], vid* placed, i64 begin, i64 length) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const i64 at = begin + 32 * i + lane();
        if (at < length) placed[at] = (vid)keys[i];
    }
}

template <int ITEMS>
DEVICE void sort_row(const vid* targets, const vid* rank, i64 length, vid* placed) {
    unsigned keys[ITEMS];
    load_keys(keys, targets, rank, 0, length);
    sort_keys(keys, false);
    store_keys(keys, placed, 0, length);
}

// A row of a piece: its targets as they came, and its new place. The piece begins with the arc `base`.
struct Row {
    const vid* given;
    i64 length;
    vid* placed;
};

DEVICE Row row_at(i64 row, const eid* offsets, const eid* new_offsets, const vid* targets, const vid* rank, i64 base,
                  vid* placed) {
    const i64 begin = (i64)offsets[row];
    return {targets + (begin - base), (i64)offsets[row + 1] - begin, placed + (i64)new_offsets[rank[row]]};
}

// The rows [first, last) of a piece to their new places. Those of more than 256 targets are listed: they take many
// registers, and these rows, which wait for memory, want many warps.
extern "C" __global__ void __launch_bounds__(256, 8) sort_short_rows(
    const eid* offsets, const eid* new_offsets, const vid* targets, const vid* rank, i64 base, vid* placed, vid* longer,
    unsigned* longer_count, vid first, vid last) {
    for (i64 at = (i64)first + warp_in_grid(); at < last; at += warps_in_grid()) {
        const Row row = row_at(at, offsets, new_offsets, targets, rank, base, placed);
        if (row.length > 256) {
            if (lane() == 0) longer[atomicAdd(longer_count, 1u)] = (vid)at;
        } else if (row.length > 128) {
            sort_row<8>(row.given, rank, row.length, row.placed);
        } else if (row.length > 64) {
            sort_row<4>(row.given, rank, row.length, row.placed);
        } else if (row.length > 32) {
            sort_row<2>(row.given, rank, row.length, row.placed);
        } else if (row.length > 0) {
            sort_row<1>(row.given, rank, row.length, row.placed);
        }
    }
}

// The listed rows that fit a warp.
extern "C" __global__ void __launch_bounds__(256, 4) sort_middle_rows(
    const eid* offsets, const eid* new_offsets, const vid* targets, const vid* rank, i64 base, vid* placed,
    const vid* longer, const unsigned* longer_count) {
    for (unsigned at = warp_in_grid(); at < *longer_count; at += warps_in_grid()) {
        const Row row = row_at(longer[at], offsets, new_offsets, targets, rank, base, placed);
        if (row.length <= 512)
            sort_row<16>(row.given, rank, row.length, row.placed);
        else if (row.length <= WARP_KEYS)
            sort_row<32>(row.given, rank, row.length, row.placed);
    }
}

// Each key beside that of the same place `distance` warps on: the lesser of the two, or the greater. Warps that do not
// `work` are there for the barriers alone.
DEVICE void exchange(unsigned (&keys)[32], unsigned distance, bool least, bool works) {
    constexpr int PART = 8;  // keys of a thread that go through shared memory at once
    __shared__ unsigned passed[32 * 32 * PART];
    const unsigned own = warp_in_block() * (32 * PART) + lane();
    const unsigned other = (warp_in_block() ^ distance) * (32 * PART) + lane();
#pragma unroll
    for (int part = 0; part < 32; part += PART) {
        if (works) {
#pragma unroll
            for (int i = 0; i < PART; ++i) passed[own + 32 * i] = keys[part + i];
        }
        __syncthreads();
        if (works) {
#pragma unroll
            for (int i = 0; i < PART; ++i) {
                const unsigned key = passed[other + 32 * i];
                keys[part + i] = least ? min(keys[part + i], key) : max(keys[part + i], key);
            }
        }
        __syncthreads();
    }
}

// One row by all warps of a block, each with 1,024 keys.
DEVICE void sort_by_block(const vid* targets, const vid* rank, i64 length, vid* placed) {
    unsigned size = 2 * WARP_KEYS;
    while (size < length) size *= 2;
    const unsigned own = warp_in_block() * WARP_KEYS;
    const bool works = own < size;
    unsigned keys[32];
    if (works) {
        load_keys(keys, targets, rank, own, length);
        sort_keys(keys, (own & WARP_KEYS) != 0);
    }
    for (unsigned run = 2 * WARP_KEYS; run <= size; run *= 2) {
        const bool falling = (own & run) != 0;
        for (unsigned stride = run / 2; stride >= WARP_KEYS; stride /= 2)
            exchange(keys, stride / WARP_KEYS, ((own & stride) == 0) != falling, works);
        if (works) merge_keys(keys, falling);
    }
    if (works) store_keys(keys, placed, own, length);
}

// The listed rows of more than `least` targets and at most 1,024 for each warp of the block. `rename`: longer ones are
// brought to their places unsorted.
extern "C" __global__ void __launch_bounds__(1024) sort_long_rows(
    const eid* offsets, const eid* new_offsets, const vid* targets, const vid* rank, i64 base, vid* placed,
    const vid* longer, const unsigned* longer_count, i64 least, int rename) {
    const i64 most = (i64)(blockDim.x / 32) * WARP_KEYS;
    for (unsigned at = blockIdx.x; at < *longer_count; at += gridDim.x) {
        const Row row = row_at(longer[at], offsets, new_offsets, targets, rank, base, placed);
        if (row.length > least && row.length <= most)
            sort_by_block(row.given, rank, row.length, row.placed);
        else if (row.length > most && rename)
            for (i64 i = threadIdx.x; i < row.length; i += blockDim.x) row.placed[i] = rank[row.given[i]];
    }
}

// Keys of the rows that are only renamed so far: the place of the row in their list, and the target. `begins`: where
// the keys of each begin.
extern "C" __global__ void longest_keys(const vid* rows, const eid* begins, vid count, const eid* new_offsets,
                                        const vid* placed, i64 arcs, u64* keys) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid()) {
        const vid index = row_of(begins, 0, count, (eid)arc);
        const i64 at = (i64)new_offsets[rows[index]] + (arc - (i64)begins[index]);
        keys[arc] = (u64)index << 32 | (u64)(unsigned)placed[at];
    }
}

extern "C" __global__ void place_longest(const vid* rows, const eid* begins, const eid* new_offsets, const u64* keys,
                                         i64 arcs, vid* placed) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid()) {
        const vid index = (vid)(keys[arc] >> 32);
        placed[(i64)new_offsets[rows[index]] + (arc - (i64)begins[index])] = (vid)(keys[arc] & FULL);
    }
}
