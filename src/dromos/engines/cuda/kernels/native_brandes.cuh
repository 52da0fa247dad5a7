// Dependencies of many sources, one block per source (Brandes, "A faster algorithm for betweenness centrality", 2001). Each
// block has a search of its own, with levels, path counts and sums in memory of its own, so nothing waits for the grid;
// it pays where one search is too little for the whole device.
//
// Where path counts grow beyond MOST, those of the next level are scaled down by a power of two, the same for all of
// the level, so that a lattice is counted too; what that takes out of a float's range is left to the sweeps.
//
// EDGES: what is gathered back along an arc is added to that arc's sum instead of its vertex's.
#pragma once
#ifndef EDGES
#define EDGES 0
#endif
#define GRID_ROW (1 << 30)  // no row is for more than a block
#include "walking.cuh"

#define BLOCK 512
#define WARPS (BLOCK / 32)
#define LANES 8        // of a row that is gathered
#define MOST 1000      // the power of two up to which paths are counted without scaling
#define LEAST 0x1p-1000
#define DEEP 16384     // where EDGES, levels from which on a search is left alone
#define THIN 32        // if they have fewer vertices than that, one with the other
#define TOO_DEEP 2
#define INFINITE 0x1p1020  // beyond, a dependency divided by it may leave the range of normal floats

struct Batch {
    const eid* offsets;
    const vid* targets;
    const vid* sources;
    i64 n, arcs, max_degree, count;
    double on_path;  // what the ends of a path count
    // n of each for every block
    int* level;       // -1 everywhere between searches
    double* paths;    // 0 everywhere between searches
    double* spread;   // (1 + dependency) / paths
    double* sum;      // of the dependencies of this block's sources
    vid* order;       // the vertices by level
    vid* hubs;
    unsigned* bounds; // n + 2: where each level begins in the order
    unsigned* scaled; // n + 2: by which power of two the path counts of the next level are scaled down
    double* through;  // where EDGES, one per arc for every block: the sums of this block's sources
    unsigned* failed; // one per source: 1 where there are more paths than can be counted, or TOO_DEEP
};

struct Block {
    int* level;
    double *paths, *spread, *sum, *through;
    vid *order, *hubs;
    unsigned *bounds, *scaled;
};

DEVICE double scale_of(unsigned power) { return __longlong_as_double((i64)(1023 - power) << 52); }

// From the vertices of level `depth`, which are begin..end of the order, to those behind them.
DEVICE void forward(const Batch& b, const Block& m, int depth, double scale, unsigned begin, unsigned end, unsigned* size,
                    unsigned* big, unsigned* huge, vid* held) {
    Held found = Held::make(held, m.order, size);
    const auto nothing_more = [](vid) {};
    const auto visit = [&](bool valid, vid u, vid v, eid) {
        bool first = false;
        if (valid) {
            int there = m.level[v];
            if (there < 0) {
                there = atomicCAS(m.level + v, -1, depth + 1);
                first = there < 0;
            }
            if (first || there == depth + 1) atomicAdd(m.paths + v, m.paths[u] * scale);
        }
        __syncwarp();
        found.add(first, v, nothing_more);
    };
    const unsigned even = (end - begin + WARPS - 1) / WARPS, share = even < 32 ? even : 32;
    for (unsigned base = begin + share * warp_in_block(); base < end; base += share * WARPS) {
        const unsigned i = base + lane();
        const bool take = lane() < share && i < end;
        walk_or_defer(b.offsets, b.targets, b.n, b.max_degree, m.hubs, big, huge, take, take ? m.order[i] : (vid)0, visit);
    }
    __syncthreads();
    const unsigned deferred = *big;
    for (unsigned i = 0; i < deferred; ++i) walk_row(b.offsets, b.targets, m.hubs[i], warp_in_block(), WARPS, visit);
    found.flush(nothing_more);
    __syncthreads();
    if (threadIdx.x == 0) *big = 0;
}

// What the vertices behind one with so many scaled `paths` have to give, at arcs arc, arc + step, ...
DEVICE double gather(const Batch& b, const Block& m, double paths, i64 arc, i64 last, unsigned step, int behind) {
    double all = 0.0;
    for (; arc < last; arc += step) {
        const vid v = __ldg(b.targets + arc);
        if (m.level[v] == behind) {
            const double brought = m.spread[v];
#if EDGES
            m.through[arc] += paths * brought;
#endif
            all += brought;
        }
    }
    return all;
}

DEVICE void settle(const Batch& b, const Block& m, vid u, double scale, double gathered) {
    const double paths = m.paths[u], dependency = paths * scale * gathered;
    m.spread[u] = (1.0 + dependency) / paths;
#if !EDGES
    m.sum[u] += dependency + b.on_path;
#endif
}

DEVICE void backward(const Batch& b, const Block& m, int depth, unsigned begin, unsigned end, unsigned* big, double* parts) {
    const unsigned rows = 32 / LANES;
    const double scale = scale_of(m.scaled[depth]);
    for (unsigned base = begin + rows * warp_in_block(); base < end; base += rows * WARPS) {
        const unsigned i = base + lane() / LANES;
        double all = 0.0;
        bool mine = false;
        vid u = 0;
        if (i < end) {
            u = m.order[i];
            const i64 first = b.offsets[u], last = b.offsets[u + 1];
            mine = last - first < BLOCK_ROW;
            if (mine)
                all = gather(b, m, m.paths[u] * scale, first + lane() % LANES, last, LANES, depth + 1);
            else if (lane() % LANES == 0)
                m.hubs[atomicAdd(big, 1)] = u;
        }
        __syncwarp();
        for (unsigned step = LANES / 2; step > 0; step >>= 1) all += __shfl_xor_sync(FULL, all, step);
        if (mine && lane() % LANES == 0) settle(b, m, u, scale, all);
    }
    __syncthreads();
    const unsigned deferred = *big;
    for (unsigned i = 0; i < deferred; ++i) {
        const vid u = m.hubs[i];
        const i64 first = b.offsets[u], last = b.offsets[u + 1];
        const double all = warp_sum(gather(b, m, m.paths[u] * scale, first + threadIdx.x, last, BLOCK, depth + 1));
        if (lane() == 0) parts[warp_in_block()] = all;
        __syncthreads();
        if (threadIdx.x == 0) {
            double gathered = 0.0;
            for (int w = 0; w < WARPS; ++w) gathered += parts[w];
            settle(b, m, u, scale, gathered);
        }
        __syncthreads();
    }
    if (deferred && threadIdx.x == 0) *big = 0;  // after the last barrier of the loop, which all have read it before
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(BLOCK) by_blocks(const Batch b) {
    __shared__ vid held[WARPS * HELD];
    __shared__ double parts[WARPS];
    __shared__ unsigned size, big, huge, overflow;
    __shared__ unsigned above[2];  // by how many powers of two counts are beyond MOST; levels take turns
    const i64 at = (i64)blockIdx.x * b.n;
    const Block m = {b.level + at, b.paths + at, b.spread + at, b.sum + at, b.through + (i64)blockIdx.x * b.arcs,
                     b.order + at, b.hubs + at,  b.bounds + at + 2 * blockIdx.x, b.scaled + at + 2 * blockIdx.x};
    if (threadIdx.x == 0) big = huge = 0;
    for (i64 s = blockIdx.x; s < b.count; s += gridDim.x) {
        const vid source = b.sources[s];
        if (threadIdx.x == 0) {
            m.order[0] = source;
            m.level[source] = 0;
            m.paths[source] = 1.0;
            m.bounds[0] = 0;
            m.bounds[1] = size = 1;
            m.scaled[0] = above[0] = above[1] = overflow = 0;
        }
        __syncthreads();
        int depth = 0;
        unsigned power = 0;
        for (unsigned begin = 0, end = 1; begin < end && !overflow; ++depth) {
            forward(b, m, depth, scale_of(power), begin, end, &size, &big, &huge, held);
            begin = end;
            end = size;
            for (unsigned i = begin + threadIdx.x; i < end; i += BLOCK) {
                const double paths = m.paths[m.order[i]];
                if (!(paths >= LEAST && paths < INFINITE)) overflow = 1;
                const int over = (int)(__double_as_longlong(paths) >> 52) - 1023 - MOST;
                if (over > 0) atomicMax(above + (depth & 1), (unsigned)over);
            }
#if EDGES
            if (threadIdx.x == 0 && depth == DEEP && end < THIN * DEEP) overflow = TOO_DEEP;
#endif
            __syncthreads();
            power = above[depth & 1];
            if (threadIdx.x == 0) {
                m.bounds[depth + 2] = end;
                m.scaled[depth + 1] = power;
                above[~depth & 1] = 0;
            }
        }
        __syncthreads();
        if (overflow) {
            if (threadIdx.x == 0) b.failed[s] = overflow;
        } else {
            for (int d = depth - 1; d >= (EDGES ? 0 : 1); --d) backward(b, m, d, m.bounds[d], m.bounds[d + 1], &big, parts);
#if !EDGES
            if (threadIdx.x == 0) m.sum[source] += b.on_path * (size - 1);
#endif
        }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < size; i += BLOCK) {
            m.level[m.order[i]] = -1;
            m.paths[m.order[i]] = 0.0;
        }
        __syncthreads();
    }
}
