// Rows under new vertex ids, each sorted by its new targets in registers: bitonic networks, in which a lane holds every
// 32nd key. A row that is not full is filled up with the greatest key.
//
// Up to 1,024 targets are one warp's, up to 32,768 one block's. Longer ones are only renamed here, and sorted later.
// With WEIGHTED defined a key also has the place of the arc in its row, so that its weight can be brought after it, and
// parallel arcs stay in their order. Such a key takes two registers, so there is room for half as many.
#pragma once
#include "row_search.cuh"

#ifdef WEIGHTED
typedef u64 Key;
#define WARP_ITEMS 16
#else
typedef unsigned Key;
#define WARP_ITEMS 32
#endif
#define WARP_KEYS (32u * WARP_ITEMS)
#define SHORT_ITEMS (WARP_ITEMS / 4)
#define SHORT_KEYS (32 * SHORT_ITEMS)

// The target of a key.
DEVICE vid target_of(Key key) {
#ifdef WEIGHTED
    return (vid)(key >> 32);
#else
    return (vid)key;
#endif
}

DEVICE constexpr int log2_of(int n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

// Compare and exchange all pairs of keys at a distance of 2^J: for a falling order in every other run of `run` keys. With
// no run (0) all of them get the order `falling`.
template <int J, int ITEMS>
DEVICE void compare(Key (&keys)[ITEMS], unsigned run, bool falling) {
    const unsigned own = lane();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const bool down = (((32u * i + own) & run) != 0) != falling;
        if constexpr (J >= 5) {
            constexpr int STEP = 1 << (J - 5);
            if ((i & STEP) == 0) {
                const Key least = min(keys[i], keys[i + STEP]), most = max(keys[i], keys[i + STEP]);
                keys[i] = down ? most : least;
                keys[i + STEP] = down ? least : most;
            }
        } else {
            const Key other = __shfl_xor_sync(FULL, keys[i], 1 << J);
            keys[i] = ((own >> J & 1) == 0) != down ? min(keys[i], other) : max(keys[i], other);
        }
    }
}

// All distances from 2^J down to 1, of those that are shorter than a run.
template <int J, int ITEMS>
DEVICE void compare_down(Key (&keys)[ITEMS], unsigned run, bool falling) {
    if (run == 0 || run > (1u << J)) compare<J>(keys, run, falling);
    if constexpr (J > 0) compare_down<J - 1>(keys, run, falling);
}

// Sort keys of which the first and the second half are sorted, one rising and one falling.
template <int ITEMS>
DEVICE void merge_keys(Key (&keys)[ITEMS], bool falling) {
    compare_down<4 + log2_of(ITEMS)>(keys, 0, falling);
}

template <int ITEMS>
DEVICE void sort_keys(Key (&keys)[ITEMS], bool falling) {
#pragma unroll 1  // unrolled it takes three times as long to compile
    for (unsigned run = 2; run < 32 * ITEMS; run *= 2) compare_down<3 + log2_of(ITEMS)>(keys, run, false);
    merge_keys(keys, falling);
}

// A row of a piece: its targets as they came, and its new place; where its arcs begin among those of the piece, and
// among all.
struct Row {
    const vid* given;
    i64 length;
    vid* placed;
    i64 from;
    i64 to;
};

// All rows: those of a piece, which begins with the arc `base`, and their new places. A weight has `bytes` bytes, or none.
struct Piece {
    const eid* offsets;
    const eid* new_offsets;
    const vid* targets;
    const vid* rank;
    i64 base;
    vid* placed;
    const void* weights;
    void* placed_weights;
    int bytes;
};

DEVICE Row row_at(const Piece& piece, i64 row) {
    const i64 begin = (i64)piece.offsets[row], from = begin - piece.base;
    const i64 to = (i64)piece.new_offsets[piece.rank[row]];
    return {piece.targets + from, (i64)piece.offsets[row + 1] - begin, piece.placed + to, from, to};
}

DEVICE void copy_weight(const void* from, i64 at, void* to, i64 place, int bytes) {
    if (bytes == 1)
        ((unsigned char*)to)[place] = ((const unsigned char*)from)[at];
    else if (bytes == 4)
        ((unsigned*)to)[place] = ((const unsigned*)from)[at];
    else if (bytes == 8)
        ((u64*)to)[place] = ((const u64*)from)[at];
    else
        ((unsigned short*)to)[place] = ((const unsigned short*)from)[at];
}

template <int ITEMS>
DEVICE void load_keys(Key (&keys)[ITEMS], const Piece& piece, const Row& row, i64 begin) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const i64 at = begin + 32 * i + lane();
        keys[i] = ~(Key)0;
        if (at < row.length) keys[i] = (Key)(unsigned)piece.rank[row.given[at]];
#ifdef WEIGHTED
        if (at < row.length) keys[i] = keys[i] << 32 | (Key)at;
#endif
    }
}

template <int ITEMS>
DEVICE void store_keys(const Key (&keys)[ITEMS], const Piece& piece, const Row& row, i64 begin) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const i64 at = begin + 32 * i + lane();
        if (at < row.length) {
            row.placed[at] = target_of(keys[i]);
#ifdef WEIGHTED
            const i64 given = row.from + (i64)(keys[i] & FULL);
            copy_weight(piece.weights, given, piece.placed_weights, row.to + at, piece.bytes);
#endif
        }
    }
}

template <int ITEMS>
DEVICE void sort_row(const Piece& piece, const Row& row) {
    Key keys[ITEMS];
    load_keys(keys, piece, row, 0);
    sort_keys(keys, false);
    store_keys(keys, piece, row, 0);
}

#define PIECE_PARAMETERS                                                                                               \
    const eid *offsets, const eid *new_offsets, const vid *targets, const vid *rank, i64 base, vid *placed,            \
        const void *weights, void *placed_weights, int bytes
#define PIECE {offsets, new_offsets, targets, rank, base, placed, weights, placed_weights, bytes}

// The rows [first, last) of a piece to their new places. Those that are longer than short ones are listed: they take many
// registers, and these rows, which wait for memory, want many warps.
extern "C" __global__ void __launch_bounds__(256, 8)
    sort_short_rows(PIECE_PARAMETERS, vid* longer, unsigned* longer_count, vid first, vid last) {
    const Piece piece = PIECE;
    for (i64 at = (i64)first + warp_in_grid(); at < last; at += warps_in_grid()) {
        const Row row = row_at(piece, at);
        if (row.length > SHORT_KEYS) {
            if (lane() == 0) longer[atomicAdd(longer_count, 1u)] = (vid)at;
        } else if (row.length > SHORT_KEYS / 2) {
            sort_row<SHORT_ITEMS>(piece, row);
        } else if (row.length > SHORT_KEYS / 4) {
            sort_row<SHORT_ITEMS / 2>(piece, row);
        } else if (row.length > SHORT_KEYS / 8) {
            sort_row<SHORT_ITEMS / 4>(piece, row);
        } else if (row.length > 0) {
            sort_row<1>(piece, row);
        }
    }
}

// The listed rows that fit a warp.
extern "C" __global__ void __launch_bounds__(256, 4)
    sort_middle_rows(PIECE_PARAMETERS, const vid* longer, const unsigned* longer_count) {
    const Piece piece = PIECE;
    for (unsigned at = warp_in_grid(); at < *longer_count; at += warps_in_grid()) {
        const Row row = row_at(piece, longer[at]);
        if (row.length <= WARP_KEYS / 2)
            sort_row<WARP_ITEMS / 2>(piece, row);
        else if (row.length <= WARP_KEYS)
            sort_row<WARP_ITEMS>(piece, row);
    }
}

// Each key beside that of the same place `distance` warps on: the lesser of the two, or the greater. Warps that do not
// `work` are there for the barriers alone.
DEVICE void exchange(Key (&keys)[WARP_ITEMS], unsigned distance, bool least, bool works) {
    constexpr int PART = WARP_ITEMS / 4;  // keys of a thread that go through shared memory at once
    __shared__ Key passed[32 * 32 * PART];
    const unsigned own = warp_in_block() * (32 * PART) + lane();
    const unsigned other = (warp_in_block() ^ distance) * (32 * PART) + lane();
#pragma unroll
    for (int part = 0; part < WARP_ITEMS; part += PART) {
        if (works) {
#pragma unroll
            for (int i = 0; i < PART; ++i) passed[own + 32 * i] = keys[part + i];
        }
        __syncthreads();
        if (works) {
#pragma unroll
            for (int i = 0; i < PART; ++i) {
                const Key key = passed[other + 32 * i];
                keys[part + i] = least ? min(keys[part + i], key) : max(keys[part + i], key);
            }
        }
        __syncthreads();
    }
}

// One row by all warps of a block, each with as many keys as fit it.
DEVICE void sort_by_block(const Piece& piece, const Row& row) {
    unsigned size = 2 * WARP_KEYS;
    while (size < row.length) size *= 2;
    const unsigned own = warp_in_block() * WARP_KEYS;
    const bool works = own < size;
    Key keys[WARP_ITEMS];
    if (works) {
        load_keys(keys, piece, row, own);
        sort_keys(keys, (own & WARP_KEYS) != 0);
    }
    for (unsigned run = 2 * WARP_KEYS; run <= size; run *= 2) {
        const bool falling = (own & run) != 0;
        for (unsigned stride = run / 2; stride >= WARP_KEYS; stride /= 2)
            exchange(keys, stride / WARP_KEYS, ((own & stride) == 0) != falling, works);
        if (works) merge_keys(keys, falling);
    }
    if (works) store_keys(keys, piece, row, own);
}

// The listed rows of more than `least` targets that fit the warps of the block. `rename`: longer ones are brought to
// their places unsorted.
extern "C" __global__ void __launch_bounds__(1024)
    sort_long_rows(PIECE_PARAMETERS, const vid* longer, const unsigned* longer_count, i64 least, int rename) {
    const Piece piece = PIECE;
    const i64 most = (i64)(blockDim.x / 32) * WARP_KEYS;
    for (unsigned at = blockIdx.x; at < *longer_count; at += gridDim.x) {
        const Row row = row_at(piece, longer[at]);
        if (row.length > least && row.length <= most) {
            sort_by_block(piece, row);
        } else if (row.length > most && rename) {
            for (i64 i = threadIdx.x; i < row.length; i += blockDim.x) {
                row.placed[i] = rank[row.given[i]];
#ifdef WEIGHTED
                copy_weight(weights, row.from + i, placed_weights, row.to + i, bytes);
#endif
            }
        }
    }
}

// Keys of rows that are only renamed so far, those with the arcs from `first` on in the list of all such rows: from the bit
// `row_bit` on the place of the row in the list, from `target_bit` on the target, and below it, if it is not 0, the place
// in the row. `begins`: where the arcs of each row begin in the list. `unsorted` gets the weights.
extern "C" __global__ void longest_keys(const vid* rows, const eid* begins, vid count, const eid* new_offsets,
                                        const vid* placed, i64 first, i64 arcs, int row_bit, int target_bit, u64* keys,
                                        const void* placed_weights, void* unsorted, int bytes) {
    for (i64 at = thread_in_grid(); at < arcs; at += (i64)threads_in_grid()) {
        const i64 arc = first + at;
        const vid index = row_of(begins, 0, count, (eid)arc);
        const i64 place = arc - (i64)begins[index], from = (i64)new_offsets[rows[index]] + place;
        keys[at] = (u64)index << row_bit | (u64)(unsigned)placed[from] << target_bit;
#ifdef WEIGHTED
        keys[at] |= (u64)place;
        copy_weight(placed_weights, from, unsorted, at, bytes);
#endif
    }
}

extern "C" __global__ void place_longest(const vid* rows, const eid* begins, const eid* new_offsets, const u64* keys,
                                         i64 first, i64 arcs, int row_bit, int target_bit, vid* placed,
                                         const void* unsorted, void* placed_weights, int bytes) {
    for (i64 at = thread_in_grid(); at < arcs; at += (i64)threads_in_grid()) {
        const vid index = (vid)(keys[at] >> row_bit);
        const i64 begin = (i64)begins[index] - first, to = (i64)new_offsets[rows[index]] + (at - begin);
        placed[to] = (vid)(keys[at] >> target_bit & (((u64)1 << (row_bit - target_bit)) - 1));
#ifdef WEIGHTED
        const i64 from = begin + (i64)(keys[at] & (((u64)1 << target_bit) - 1));
        copy_weight(unsorted, from, placed_weights, to, bytes);
#endif
    }
}
