// Rows of a graph under new vertex ids, a piece of the old rows at a time.
#pragma once
#include "row_search.cuh"

// Keys that sort vertices by falling degree, and those of one degree by their ids.
extern "C" __global__ void degree_keys(const eid* offsets, i64 vertices, u64* keys) {
    for (i64 v = thread_in_grid(); v < vertices; v += (i64)threads_in_grid()) {
        const u64 degree = (u64)(offsets[v + 1] - offsets[v]);
        keys[v] = ((u64)FULL - (degree < FULL ? degree : (u64)FULL)) << 32 | (u64)v;
    }
}

// The vertices in the order of their sorted keys, and the place of each.
extern "C" __global__ void order_of_keys(const u64* keys, i64 vertices, vid* ids, vid* rank) {
    for (i64 v = thread_in_grid(); v < vertices; v += (i64)threads_in_grid()) {
        const vid id = (vid)(keys[v] & FULL);
        ids[v] = id;
        rank[id] = (vid)v;
    }
}

// Keys that sort each row by its new targets: the given row in the high half, the new target in the low one. The piece
// holds the arcs of the rows [first, last), which begin at `base`; those of a block lie side by side, so that its rows
// are few, and only their range is searched for each.
extern "C" __global__ void keys_of(const eid* offsets, const vid* targets, const vid* rank, vid first, vid last,
                                   i64 base, i64 arcs, u64* keys) {
    __shared__ vid rows[2];
    for (i64 begin = (i64)blockIdx.x * blockDim.x; begin < arcs; begin += (i64)threads_in_grid()) {
        const i64 end = begin + blockDim.x < arcs ? begin + blockDim.x : arcs;
        if (threadIdx.x == 0) rows[0] = row_of(offsets, first, last, (eid)(base + begin));
        if (threadIdx.x == 32) rows[1] = row_of(offsets, first, last, (eid)(base + end - 1));
        __syncthreads();
        const i64 arc = begin + threadIdx.x;
        if (arc < end) {
            const u64 row = (u64)row_of(offsets, rows[0], rows[1], (eid)(base + arc));
            keys[arc] = row << 32 | (u64)(unsigned)rank[targets[arc]];
        }
        __syncthreads();
    }
}

// The new targets of sorted keys.
extern "C" __global__ void targets_of(const u64* keys, i64 arcs, vid* targets) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid()) targets[arc] = (vid)(keys[arc] & FULL);
}

// Rows as they were and as they are to be.
struct Moved {
    const eid* offsets;
    const eid* new_offsets;
    const vid* rank;
    i64 base;
};

// Where the arc at a place of the sorted piece belongs.
DEVICE i64 place_of(const Moved& moved, u64 key, i64 arc) {
    const vid row = (vid)(key >> 32);
    return (i64)moved.new_offsets[moved.rank[row]] + (moved.base + arc - (i64)moved.offsets[row]);
}

extern "C" __global__ void place_targets(const u64* keys, const eid* offsets, const eid* new_offsets, const vid* rank,
                                         i64 base, i64 arcs, vid* targets) {
    const Moved moved = {offsets, new_offsets, rank, base};
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid())
        targets[place_of(moved, keys[arc], arc)] = (vid)(keys[arc] & FULL);
}

// Weights of `bytes` bytes each, in the order of the sorted keys.
template <typename T>
DEVICE void place(const u64* keys, const Moved& moved, const i64* order, const void* values, i64 arcs, void* placed) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid())
        ((T*)placed)[place_of(moved, keys[arc], arc)] = ((const T*)values)[order[arc]];
}

extern "C" __global__ void place_weights(const u64* keys, const eid* offsets, const eid* new_offsets, const vid* rank,
                                         i64 base, i64 arcs, const i64* order, const void* values, int bytes,
                                         void* placed) {
    const Moved moved = {offsets, new_offsets, rank, base};
    if (bytes == 8)
        place<u64>(keys, moved, order, values, arcs, placed);
    else if (bytes == 4)
        place<unsigned>(keys, moved, order, values, arcs, placed);
    else if (bytes == 2)
        place<unsigned short>(keys, moved, order, values, arcs, placed);
    else
        place<unsigned char>(keys, moved, order, values, arcs, placed);
}

// Values of eight bytes by arc, from the new places to the given ones of a piece; `keys` are not sorted, `order` sorts
// them.
extern "C" __global__ void return_values(const u64* keys, const eid* offsets, const eid* new_offsets, const vid* rank,
                                         i64 base, i64 arcs, const i64* order, const u64* values, u64* given) {
    const Moved moved = {offsets, new_offsets, rank, base};
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid())
        given[order[arc]] = values[place_of(moved, keys[order[arc]], arc)];
}

// A plain copy by threads, of words and of the bytes that are left: the driver's own copies do not go from the device's
// memory on into the host's.
extern "C" __global__ void copy_words(const unsigned* values, i64 bytes, unsigned* placed) {
    const i64 words = bytes / 4;
    for (i64 at = thread_in_grid(); at < words; at += (i64)threads_in_grid()) placed[at] = values[at];
    if (thread_in_grid() < bytes % 4)
        ((unsigned char*)placed)[4 * words + thread_in_grid()] =
            ((const unsigned char*)values)[4 * words + thread_in_grid()];
}

// Values by vertex in another order.
template <typename T>
DEVICE void gather(const T* values, const vid* order, i64 count, T* gathered) {
    for (i64 at = thread_in_grid(); at < count; at += (i64)threads_in_grid()) gathered[at] = values[order[at]];
}

#define GATHER(NAME, T)                                                                                     \
    extern "C" __global__ void NAME(const T* values, const vid* order, i64 count, T* gathered) {            \
        gather(values, order, count, gathered);                                                             \
    }

GATHER(gather_1, unsigned char)
GATHER(gather_2, unsigned short)
GATHER(gather_4, unsigned)
GATHER(gather_8, u64)

// Whether a number is infinite or NaN; `found` may lie in the host's memory.
extern "C" __global__ void find_not_finite(const double* values, i64 count, unsigned* found) {
    for (i64 at = thread_in_grid(); at < count; at += (i64)threads_in_grid())
        if (!(values[at] - values[at] == 0.0)) *found = 1;
}
