// Weakly connected components by linking and compressing (Afforest: Sutton, Ben-Nun, Barak, IPDPS 2018).
//
// `parent` is a forest: a root is its own parent, and a parent is never greater than its child. Two trees are joined
// by hooking the greater root under the lesser one, so that the root of a whole component is its least id.
//
// A graph on the device takes three launches: `sample_trees` and `name_trees` have grid barriers between their passes, since on a
// small graph the host would take longer to launch the passes than the device to run them. A pass is also a kernel of
// its own where slices of a graph need it.
#pragma once
#include "common.cuh"

#define FIRST_NEIGHBOURS 2  // linked before the greatest tree is looked for
#define THREAD_ROW 32       // arcs that one thread may walk
#define WARP_ROW 4096       // arcs that one warp may walk
#define PIECE 16384         // longer rows are cut into pieces of so many arcs, for a block each
#define SAMPLES 512
#define BLOCK_THREADS 1024  // of the kernels with barriers
#define BLOCKS 2            // of them on a multiprocessor

DEVICE vid seen(const vid* values, vid v) { return *(const volatile vid*)(values + v); }
DEVICE int swap_if(int* p, int expected, int value) { return atomicCAS(p, expected, value); }
DEVICE i64 swap_if(i64* p, i64 expected, i64 value) { return (i64)atomicCAS((u64*)p, (u64)expected, (u64)value); }

DEVICE vid root_of(const vid* parent, vid v) {
    for (vid up = seen(parent, v); up != v; up = seen(parent, v)) v = up;
    return v;
}

DEVICE void link(vid* parent, vid v, vid w) {
    vid a = seen(parent, v), b = seen(parent, w);
    while (a != b) {
        const vid high = a > b ? a : b, low = a > b ? b : a;
        const vid above = seen(parent, high);
        if (above == low) return;
        if (above == high && swap_if(parent + high, high, low) == high) return;
        a = seen(parent, seen(parent, high));
        b = seen(parent, low);
    }
}

// In a symmetric graph each vertex may simply take its first neighbour for a parent if that is less: no one else writes.
DEVICE void plant(const eid* offsets, const vid* targets, vid n, int symmetric, vid* parent, vid* least) {
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
        const vid v = (vid)i;
        const eid begin = offsets[v];
        vid up = v;
        if (symmetric && begin < offsets[v + 1]) {
            const vid first = targets[begin];
            up = first < v ? first : v;
        }
        parent[v] = up;
        if (least) least[v] = n;
    }
}

DEVICE void link_few(const eid* offsets, const vid* targets, vid from, vid to, int symmetric, vid* parent) {
    for (i64 i = (i64)from + thread_in_grid(); i < to; i += threads_in_grid()) {
        const vid v = (vid)i;
        const eid begin = offsets[v], end = offsets[v + 1];
        for (eid at = begin; at < end && at < begin + FIRST_NEIGHBOURS; ++at) {
            const vid w = targets[at];
            if (!symmetric || at > begin || w > v) link(parent, v, w);
        }
    }
}

extern "C" __global__ void link_first(
    const eid* offsets, const vid* targets, vid from, vid to, int symmetric, vid* parent
) {
    link_few(offsets, targets, from, to, symmetric, parent);
}

// As root_of, in passes that hook no trees together. What the L1 cache still holds of a parent is an ancestor too, and
// the root stays the same, so it may be read from there; most chains end at a few vertices that stay in it.
DEVICE vid settled_root(const vid* parent, vid v) {
    for (vid up = __ldca(parent + v); up != v; up = __ldca(parent + v)) v = up;
    return v;
}

// Let v point to its root; whether it is one.
DEVICE bool compress_path(vid* parent, vid v) {
    const vid up = seen(parent, v), root = settled_root(parent, up);
    if (root != up) parent[v] = root;
    return root == v;
}

DEVICE void compress_all(vid n, vid* parent) {
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) compress_path(parent, (vid)i);
}

extern "C" __global__ void compress(vid n, vid* parent) { compress_all(n, parent); }

// Add what each thread has counted, by one atomic for each block; all its threads call it.
DEVICE void add_trees(u64* trees, unsigned mine) {
    __shared__ unsigned of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    mine = warp_sum(mine);
    if (lane() == 0 && mine) atomicAdd(&of_block, mine);
    __syncthreads();
    if (threadIdx.x == 0 && of_block) atomicAdd(trees, (u64)of_block);
}

DEVICE void compress_and_count(vid n, vid* parent, u64* trees) {
    unsigned mine = 0;
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) mine += compress_path(parent, (vid)i);
    add_trees(trees, mine);
}

// The most frequent root among some vertices, by one block of SAMPLES threads or more.
DEVICE void sample_roots(vid n, const vid* parent, vid* giant) {
    __shared__ vid sample[SAMPLES];
    __shared__ unsigned most;
    const bool draws = threadIdx.x < SAMPLES;
    const u64 draw = (threadIdx.x * 0x9E3779B97F4A7C15ull) >> 11;
    const vid mine = parent[draw % (u64)n];
    if (threadIdx.x == 0) most = 0;
    if (draws) sample[threadIdx.x] = mine;
    __syncthreads();
    if (draws) {
        unsigned count = 0;
        for (unsigned i = 0; i < SAMPLES; ++i) count += sample[i] == mine;
        atomicMax(&most, count << 16 | threadIdx.x);
    }
    __syncthreads();
    if ((most & 0xffffu) == threadIdx.x) *giant = mine;
}

extern "C" __global__ void find_giant(vid n, const vid* parent, vid* giant) { sample_roots(n, parent, giant); }

// The passes up to the giant tree. A few vertices join most of the trees: the others then find one root on both sides,
// and climb no chains. `arrivals` is zero.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS) sample_trees(
    const eid* offsets, const vid* targets, vid n, int symmetric, vid* parent, vid* least, vid* giant,
    unsigned* arrivals
) {
    unsigned met = 0;
    plant(offsets, targets, n, symmetric, parent, least);
    grid_barrier(arrivals, met);
    compress_all(n, parent);
    for (int part = 0; part < 2; ++part) {
        grid_barrier(arrivals, met);
        link_few(offsets, targets, part ? n / 8 : 0, part ? n : n / 8, symmetric, parent);
        grid_barrier(arrivals, met);
        compress_all(n, parent);
    }
    grid_barrier(arrivals, met);
    if (blockIdx.x == 0) sample_roots(n, parent, giant);
}

// All arcs but the first ones, of every vertex that is not in the giant tree; if the graph is symmetric, an arc into the
// giant tree is seen from its other end. Long rows are left to finish_pieces: `pieces` holds vertex and first arc.
extern "C" __global__ void finish(
    const eid* offsets, const vid* targets, vid from, vid to, int symmetric, const vid* giant, vid* parent, u64* pieces,
    unsigned* num_pieces
) {
    const vid skipped = symmetric ? *giant : (vid)-1;
    for (i64 base = from + (i64)warp_in_grid() * 32; base < to; base += (i64)warps_in_grid() * 32) {
        const bool inside = base + lane() < to;
        const vid v = inside ? (vid)(base + lane()) : to;
        eid begin = 0, end = 0;
        if (inside && seen(parent, v) != skipped) {
            begin = offsets[v];
            end = offsets[v + 1];
            begin = end - begin > FIRST_NEIGHBOURS ? begin + FIRST_NEIGHBOURS : end;
        }
        const eid length = end - begin;
        if (length <= THREAD_ROW)
            for (eid at = begin; at < end; ++at) link(parent, v, targets[at]);
        for (unsigned rest = __ballot_sync(FULL, length > THREAD_ROW); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            const vid w = __shfl_sync(FULL, v, owner);
            const eid first = __shfl_sync(FULL, begin, owner), last = __shfl_sync(FULL, end, owner);
            if (last - first <= WARP_ROW) {
                for (eid at = first + lane(); at < last; at += 32) link(parent, w, targets[at]);
                continue;
            }
            const unsigned count = (unsigned)((last - first + PIECE - 1) / PIECE);
            unsigned place = 0;
            if (lane() == 0) place = atomicAdd(num_pieces, count);
            place = __shfl_sync(FULL, place, 0);
            for (unsigned i = lane(); i < count; i += 32) {
                pieces[2 * (u64)(place + i)] = (u64)w;
                pieces[2 * (u64)(place + i) + 1] = (u64)first + (u64)i * PIECE;
            }
        }
    }
}

DEVICE void link_pieces(
    const eid* offsets, const vid* targets, const u64* pieces, const unsigned* num_pieces, vid* parent
) {
    for (unsigned i = blockIdx.x; i < *num_pieces; i += gridDim.x) {
        const vid v = (vid)pieces[2 * (u64)i];
        const u64 first = pieces[2 * (u64)i + 1], row_end = (u64)offsets[v + 1];
        const u64 last = first + PIECE < row_end ? first + PIECE : row_end;
        for (u64 at = first + threadIdx.x; at < last; at += blockDim.x) link(parent, v, targets[at]);
    }
}

extern "C" __global__ void finish_pieces(
    const eid* offsets, const vid* targets, const u64* pieces, const unsigned* num_pieces, vid* parent
) {
    link_pieces(offsets, targets, pieces, num_pieces, parent);
}

DEVICE void keep_least(int* p, int value) { atomicMin(p, value); }
DEVICE void keep_least(i64* p, i64 value) { atomicMin(p, value); }

// Every vertex finds its root, and the root the least given id of its vertices. Nearly all of those would meet at one
// root: blocks bring one id each to the giant one, and the others look before they write.
DEVICE void gather_names(vid n, const vid* ids, const vid* giant, vid* parent, vid* least, u64* trees) {
    __shared__ vid lowest;
    const vid crowded = root_of(parent, *giant);
    vid mine = n;
    unsigned roots = 0;
    if (threadIdx.x == 0) lowest = n;
    __syncthreads();
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
        const vid root = settled_root(parent, (vid)i), name = ids[i];
        parent[i] = root;
        roots += root == (vid)i;
        if (root == crowded)
            mine = name < mine ? name : mine;
        else if (name < seen(least, root))
            keep_least(least + root, name);
    }
    for (int step = 16; step > 0; step >>= 1) {
        const vid other = __shfl_xor_sync(FULL, mine, step);
        mine = other < mine ? other : mine;
    }
    if (lane() == 0) keep_least(&lowest, mine);
    add_trees(trees, roots);
    __syncthreads();
    if (threadIdx.x == 0 && lowest < n) keep_least(least + crowded, lowest);
}

// Every vertex has its root for a parent: that becomes the name of the component, in place.
DEVICE void spread_names(vid n, const vid* least, vid* parent) {
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) parent[i] = least[parent[i]];
}

// The passes after `finish`. `ids` are the given ids of vertices that were renumbered, or null: then the root of a tree
// is its least id. `arrivals` and `trees` are zero.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS) name_trees(
    const eid* offsets, const vid* targets, vid n, const vid* ids, const vid* giant, const u64* pieces,
    const unsigned* num_pieces, vid* parent, vid* least, u64* trees, unsigned* arrivals
) {
    unsigned met = 0;
    link_pieces(offsets, targets, pieces, num_pieces, parent);
    grid_barrier(arrivals, met);
    if (!ids) {
        compress_and_count(n, parent, trees);
        return;
    }
    gather_names(n, ids, giant, parent, least, trees);
    grid_barrier(arrivals, met);
    spread_names(n, least, parent);
}
