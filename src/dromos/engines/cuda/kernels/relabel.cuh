// Rows of a graph under new vertex ids, a piece of the old rows at a time.
#pragma once
#include "common.cuh"

// The row of [first, last) that an arc belongs to.
DEVICE vid row_of(const eid* offsets, vid first, vid last, eid arc) {
    while (first < last) {
        const vid middle = first + (last - first) / 2;
        if (offsets[middle + 1] <= arc)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

// Keys that sort to the new order: new row in the high half, new target in the low one. The piece holds the arcs of
// the old rows [first, last), which begin at `base`.
extern "C" __global__ void keys_of(const eid* offsets, const vid* targets, const vid* rank, vid first, vid last,
                                   i64 base, i64 arcs, u64* keys) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid()) {
        const u64 row = (u64)rank[row_of(offsets, first, last, (eid)(base + arc))];
        keys[arc] = row << 32 | (u64)(unsigned)rank[targets[arc]];
    }
}

// Where the arc at a place of the sorted piece belongs: `shift` is the distance by row, none where the piece is all.
DEVICE i64 place_of(const u64* keys, const i64* shift, i64 arc) {
    return shift == nullptr ? arc : shift[keys[arc] >> 32] + arc;
}

extern "C" __global__ void place_targets(const u64* keys, const i64* shift, i64 arcs, vid* targets) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid())
        targets[place_of(keys, shift, arc)] = (vid)(keys[arc] & FULL);
}

// Weights of `bytes` bytes each, in the order of the sorted keys.
template <typename T>
DEVICE void place(const u64* keys, const i64* shift, const i64* order, const void* values, i64 arcs, void* placed) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += (i64)threads_in_grid())
        ((T*)placed)[place_of(keys, shift, arc)] = ((const T*)values)[order[arc]];
}

extern "C" __global__ void place_weights(const u64* keys, const i64* shift, const i64* order, const void* values,
                                         i64 arcs, int bytes, void* placed) {
    if (bytes == 8)
        place<u64>(keys, shift, order, values, arcs, placed);
    else if (bytes == 4)
        place<unsigned>(keys, shift, order, values, arcs, placed);
    else if (bytes == 2)
        place<unsigned short>(keys, shift, order, values, arcs, placed);
    else
        place<unsigned char>(keys, shift, order, values, arcs, placed);
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
