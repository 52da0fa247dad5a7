// Graphs drawn edge by edge: what an edge is depends on the seed and its number alone, so the same seed gives the same
// graph on every device. An edge becomes two keys, source in the upper half and target in the lower, one a direction;
// sorted keys are the rows of the graph.

typedef unsigned int u32;
typedef unsigned long long u64;

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

// Where the keys of one piece of a graph go: those of the edges that leave the vertices first .. last - 1.
struct Piece {
    u64* keys;
    u64 room;
    u64* count;  // keys found; those beyond `room` are not written
    u32 first;
    u64 last;
};

// Append a key if it belongs to the piece. All lanes of a warp call it together, which costs one atomic for them all.
__device__ __forceinline__ void append(const Piece& piece, u32 source, u32 target) {
    const bool wanted = source != target && source >= piece.first && source < piece.last;
    const u32 mask = __ballot_sync(0xffffffffu, wanted), lane = threadIdx.x % 32;
    if (mask == 0) return;
    u64 base = 0;
    if (lane == 0) base = atomicAdd(piece.count, (u64)__popc(mask));
    base = __shfl_sync(0xffffffffu, base, 0) + __popc(mask & ((1u << lane) - 1));
    if (wanted && base < piece.room) piece.keys[base] = ((u64)source << 32) | target;
}

__device__ __forceinline__ void append_both(const Piece& piece, bool inside, u32 u, u32 v) {
    append(piece, u, inside ? v : u);  // a self-loop is left out
    append(piece, v, inside ? u : v);
}

// Number of an edge for each lane, the same number of rounds for all lanes of a warp.
#define EACH_EDGE(edge)                                                                                              \
    for (u64 edge = blockIdx.x * (u64)blockDim.x + threadIdx.x; edge / 32 * 32 < edges;                               \
         edge += (u64)gridDim.x * blockDim.x)

// R-MAT: a quadrant a level, by 32 random bits; `a`, `ab` and `abc` are the sums of probabilities times 2^32.
extern "C" __global__ void rmat_keys(
    u64* keys, u64 room, u64* count, u64 edges, u32 first, u64 last, int scale, u64 seed, u32 a, u32 ab, u32 abc
) {
    const Piece piece = {keys, room, count, first, last};
    EACH_EDGE(edge) {
        u32 u = 0, v = 0;
        u64 word = 0;
        for (int level = 0; level < scale; ++level) {
            word = level % 2 ? word >> 32 : drawn(seed, 2, edge * 32 + level / 2);
            const u32 draw = (u32)word;
            u = 2 * u + (draw >= ab);
            v = 2 * v + (draw >= abc || (draw >= a && draw < ab));
        }
        append_both(piece, edge < edges, permuted(u, seed, scale), permuted(v, seed, scale));
    }
}

// Both ends uniform.
extern "C" __global__ void uniform_keys(
    u64* keys, u64 room, u64* count, u64 edges, u32 first, u64 last, u32 vertices, u64 seed
) {
    const Piece piece = {keys, room, count, first, last};
    EACH_EDGE(edge) {
        const u64 word = drawn(seed, 3, edge);
        const u32 u = (u32)(((word & 0xffffffffull) * vertices) >> 32);
        const u32 v = (u32)(((word >> 32) * vertices) >> 32);
        append_both(piece, edge < edges, u, v);
    }
}

// One where a key is the first of its kind.
extern "C" __global__ void first_of_its_kind(const u64* keys, u64 count, unsigned char* first) {
    for (u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x; at < count; at += (u64)gridDim.x * blockDim.x)
        first[at] = at == 0 || keys[at - 1] != keys[at];
}

// Where the rows first .. last begin, and the targets, from sorted keys without duplicates; the first key is arc `base`.
// Empty rows are filled by whoever comes after them.
extern "C" __global__ void rows_of_keys(
    const u64* keys, u64 count, u64 first, u64 last, u64 base, long long* offsets, int* targets
) {
    for (u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x; at <= count; at += (u64)gridDim.x * blockDim.x) {
        const u64 row = at < count ? keys[at] >> 32 : last;
        const u64 before = at ? (keys[at - 1] >> 32) + 1 : first;
        for (u64 empty = before; empty <= row; ++empty) offsets[empty] = (long long)(base + at);
        if (at < count) targets[base + at] = (int)(u32)keys[at];
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
