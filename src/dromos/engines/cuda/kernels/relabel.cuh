// Rows of a graph under new vertex ids.
#pragma once
#include "common.cuh"

// The arc of each new position: row `v` of the new order is row `given[v]` of the old one.
// Arcs are cut evenly; a warp finds its first row by binary search and walks on from there.
DEVICE vid row_of(const eid* offsets, vid n, eid arc) {
    vid low = 0, high = n;
    while (low < high) {
        const vid middle = low + (high - low) / 2;
        if (offsets[middle + 1] <= arc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Keys that sort to the new order: new row in the high half, new target in the low one.
extern "C" __global__ void keys_of(const eid* offsets, const vid* targets, const vid* rank, vid n, i64 arcs, u64* keys) {
    const i64 stride = (i64)threads_in_grid();
    for (i64 arc = thread_in_grid(); arc < arcs; arc += stride) {
        const u64 row = (u64)rank[row_of(offsets, n, (eid)arc)];
        keys[arc] = row << 32 | (u64)(unsigned)rank[targets[arc]];
    }
}

extern "C" __global__ void targets_of(const u64* keys, i64 arcs, vid* targets) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += threads_in_grid()) targets[arc] = (vid)(keys[arc] & FULL);
}

