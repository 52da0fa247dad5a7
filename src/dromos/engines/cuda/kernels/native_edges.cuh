// The edges of a simple undirected graph once each, with the sum of what its two arcs have.
#pragma once
#include "row_search.cuh"

DEVICE i64 given(const vid* ids, vid v) { return ids ? ids[v] : v; }

// For each arc a key that both arcs of its edge have: the lesser given id above the greater one. Of the arcs of a block
// the rows are few, and only their range is searched for each.
extern "C" __global__ void edge_keys(const eid* offsets, const vid* targets, const vid* ids, i64 n, i64 arcs, u64* keys) {
    __shared__ vid rows[2];
    for (i64 begin = (i64)blockIdx.x * blockDim.x; begin < arcs; begin += (i64)threads_in_grid()) {
        const i64 end = begin + blockDim.x < arcs ? begin + blockDim.x : arcs;
        if (threadIdx.x == 0) rows[0] = row_of(offsets, 0, (vid)n, (eid)begin);
        if (threadIdx.x == 32) rows[1] = row_of(offsets, 0, (vid)n, (eid)(end - 1));
        __syncthreads();
        const i64 arc = begin + threadIdx.x;
        if (arc < end) {
            const i64 a = given(ids, row_of(offsets, rows[0], rows[1], (eid)arc)), b = given(ids, targets[arc]);
            keys[arc] = a < b ? (u64)a << 32 | (u64)b : (u64)b << 32 | (u64)a;
        }
        __syncthreads();
    }
}

// Two arcs behind each other in the order of the keys are one edge.
extern "C" __global__ void join_arcs(const u64* keys, const i64* order, const double* values, i64 edges, vid* source,
                                     vid* target, double* sums) {
    for (i64 edge = thread_in_grid(); edge < edges; edge += (i64)threads_in_grid()) {
        const i64 one = order[2 * edge], other = order[2 * edge + 1];
        source[edge] = (vid)(keys[one] >> 32);
        target[edge] = (vid)(keys[one] & FULL);
        sums[edge] = values[one] + values[other];
    }
}
