// Graphs drawn edge by edge: what an edge is depends on the seed and its number alone, so the same seed gives the same
// graph on every device. An edge becomes two keys, source in the upper half and target in the lower, one a direction;
// sorted keys are the rows of the graph.

typedef unsigned int u32;
typedef unsigned long long u64;

#define NO_EDGE 0xffffffffffffffffull  // what a self-loop becomes: it is sorted behind all edges and cut off

// A bijection of 64-bit words whose output looks random (the finaliser of SplitMix64).
__device__ __forceinline__ u64 mixed(u64 x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// Word `at` of the random stream `stream` of a seed.
__device__ __forceinline__ u64 drawn(u64 seed, u64 stream, u64 at) {
    return mixed(mixed(seed ^ (stream << 56)) + at);
}

// A pseudo-random permutation of 0 .. 2^bits - 1: odd multipliers and shifted halves are each a bijection.
__device__ __forceinline__ u32 permuted(u32 id, u64 seed, int bits) {
    const u64 mask = (1ull << bits) - 1;
    const int half = (bits + 1) / 2;
    u64 x = id;
    for (u64 round = 0; round < 4; ++round) {
        const u64 word = drawn(seed, 1, round);
        x = (x * ((word << 1) | 1) + (word >> 32)) & mask;
        x ^= x >> half;
    }
    return (u32)x;
}

__device__ __forceinline__ void write_both(u64* keys, u64 edge, u32 u, u32 v) {
    const bool loop = u == v;
    keys[2 * edge] = loop ? NO_EDGE : ((u64)u << 32) | v;
    keys[2 * edge + 1] = loop ? NO_EDGE : ((u64)v << 32) | u;
}

// R-MAT: a quadrant a level, by 32 random bits; `a`, `ab` and `abc` are the sums of probabilities times 2^32.
extern "C" __global__ void rmat_keys(u64* keys, u64 edges, int scale, u64 seed, u32 a, u32 ab, u32 abc) {
    for (u64 edge = blockIdx.x * (u64)blockDim.x + threadIdx.x; edge < edges; edge += (u64)gridDim.x * blockDim.x) {
        u32 u = 0, v = 0;
        u64 word = 0;
        for (int level = 0; level < scale; ++level) {
            word = level % 2 ? word >> 32 : drawn(seed, 2, edge * 32 + level / 2);
            const u32 draw = (u32)word;
            u = 2 * u + (draw >= ab);
            v = 2 * v + (draw >= abc || (draw >= a && draw < ab));
        }
        write_both(keys, edge, permuted(u, seed, scale), permuted(v, seed, scale));
    }
}

// Both ends uniform.
extern "C" __global__ void uniform_keys(u64* keys, u64 edges, u32 vertices, u64 seed) {
    for (u64 edge = blockIdx.x * (u64)blockDim.x + threadIdx.x; edge < edges; edge += (u64)gridDim.x * blockDim.x) {
        const u64 word = drawn(seed, 3, edge);
        const u32 u = (u32)(((word & 0xffffffffull) * vertices) >> 32);
        const u32 v = (u32)(((word >> 32) * vertices) >> 32);
        write_both(keys, edge, u, v);
    }
}

// One where a key is the first of its kind and an edge.
extern "C" __global__ void first_of_its_kind(const u64* keys, u64 count, unsigned char* first) {
    for (u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x; at < count; at += (u64)gridDim.x * blockDim.x)
        first[at] = keys[at] != NO_EDGE && (at == 0 || keys[at - 1] != keys[at]);
}

// Where each row begins, and the targets, from sorted keys without duplicates. Empty rows are filled by whoever comes
// after them.
extern "C" __global__ void rows_of_keys(const u64* keys, u64 count, u64 vertices, long long* offsets, int* targets) {
    for (u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x; at <= count; at += (u64)gridDim.x * blockDim.x) {
        const u64 row = at < count ? keys[at] >> 32 : vertices;
        const u64 before = at ? (keys[at - 1] >> 32) + 1 : 0;
        for (u64 empty = before; empty <= row; ++empty) offsets[empty] = (long long)at;
        if (at < count) targets[at] = (int)(u32)keys[at];
    }
}

// The lattice of rows x columns, each vertex with its neighbours above, left, right and below.
extern "C" __global__ void grid_degrees(long long rows, long long columns, long long* degrees) {
    const long long v = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (v >= rows * columns) return;
    const long long row = v / columns, column = v % columns;
    degrees[v] = (row > 0) + (row < rows - 1) + (column > 0) + (column < columns - 1);
}

extern "C" __global__ void grid_targets(long long rows, long long columns, const long long* offsets, int* targets) {
    const long long v = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (v >= rows * columns) return;
    const long long row = v / columns, column = v % columns;
    int* at = targets + offsets[v];
    if (row > 0) *at++ = (int)(v - columns);
    if (column > 0) *at++ = (int)(v - 1);
    if (column < columns - 1) *at++ = (int)(v + 1);
    if (row < rows - 1) *at++ = (int)(v + columns);
}

// Whole weights low .. high; u-v and v-u weigh the same, since the weight is a hash of the unordered pair. A warp a row.
extern "C" __global__ void pair_weights(
    const long long* offsets, const int* targets, long long vertices, u64 seed, int low, int high, int* weights
) {
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long u = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32; u < vertices; u += warps)
        for (long long arc = offsets[u] + threadIdx.x % 32; arc < offsets[u + 1]; arc += 32) {
            const u64 v = (u64)targets[arc], w = (u64)u;
            const u64 pair = v < w ? (v << 32) | w : (w << 32) | v;
            weights[arc] = low + (int)((drawn(seed, 4, pair) >> 32) * (u64)(high - low + 1) >> 32);
        }
}
