// Which vertices a pass takes: those whose surroundings changed, by batch, and in a batch by the number of their arcs.
#pragma once
#include "community_records.cuh"

#define CLASSES 5
#define PIECE 2048
#define CHUNK 4096
#define MOST_BINS 512

DEVICE int class_of(eid length) {
    return length <= 8 ? 0 : length <= 32 ? 1 : length <= 256 ? 2 : length <= PIECE ? 3 : 4;
}

// The batch and class of a vertex as one number, or -1 if nothing around it changed since it was looked at.
DEVICE int bin_of(const Level& level, i64 v, u64 seed, unsigned batches) {
    const eid length = level.offsets[v + 1] - level.offsets[v];
    if (length == 0 || level.changed[v] < level.visited[v]) return -1;
    return (int)((drawn(seed, (u64)v) >> 32) * batches >> 32) * CLASSES + class_of(length);
}

// A level's batches for so many vertices: as many as `most` for all, and not fewer than `least`.
DEVICE unsigned batches_for(unsigned due, i64 n, unsigned most, unsigned least) {
    const u64 wanted = ((u64)due * most + n - 1) / n;
    return wanted > most ? most : wanted < least ? least : (unsigned)wanted;
}

// `counts`: moves of all passes, vertices that are due, the sizes of the bins, and cursors.
DEVICE void count_due(const Level& level) {
    unsigned due = 0;
    for (i64 v = thread_in_grid(); v < level.n; v += threads_in_grid()) due += bin_of(level, v, 0, 1) >= 0;
    due = warp_sum(due);
    if (lane() == 0 && due) atomicAdd(level.counts + 1, due);
}

DEVICE void count_bins(const Level& level, u64 seed, unsigned batches, unsigned* counts) {
    const unsigned bins = batches * CLASSES;
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (i64 v = thread_in_grid(); v < level.n; v += threads_in_grid()) {
        const int bin = bin_of(level, v, seed, batches);
        if (bin >= 0) atomicAdd(counts + bin, 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)
        if (counts[i]) atomicAdd(level.counts + 2 + i, counts[i]);
}

// `begins` gets where each bin begins.
DEVICE void list_due(const Level& level, u64 seed, unsigned batches, unsigned* begins, unsigned* taken) {
    const unsigned bins = batches * CLASSES;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < bins; ++i) {
            begins[i] = sum;
            sum += level.counts[2 + i];
        }
        begins[bins] = sum;
    }
    for (i64 first = (i64)blockIdx.x * CHUNK; first < level.n; first += (i64)gridDim.x * CHUNK) {
        const i64 last = first + CHUNK < level.n ? first + CHUNK : level.n;
        __syncthreads();
        for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) taken[i] = 0;
        __syncthreads();
        for (i64 v = first + threadIdx.x; v < last; v += blockDim.x) {
            const int bin = bin_of(level, v, seed, batches);
            if (bin >= 0) atomicAdd(taken + bin, 1u);
        }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)
            if (taken[i]) taken[i] = begins[i] + atomicAdd(level.counts + 2 + MOST_BINS + i, taken[i]);
        __syncthreads();
        for (i64 v = first + threadIdx.x; v < last; v += blockDim.x) {
            const int bin = bin_of(level, v, seed, batches);
            if (bin >= 0) level.list[atomicAdd(taken + bin, 1u)] = (vid)v;
        }
    }
    __syncthreads();
}
