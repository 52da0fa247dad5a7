// Plain algorithms and certificates to hold the engine's answers against: a thread or a warp a vertex, nothing clever.
// A check adds what it finds wrong to a counter; 0 means that the answer is right.

typedef unsigned long long u64;
typedef long long i64;

#define EACH_VERTEX(v) for (i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x)
#define EACH_VERTEX_BY_WARP(v)                                                                                        \
    for (i64 v = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32; v < n; v += (i64)gridDim.x * blockDim.x / 32)
#define LANE (threadIdx.x % 32)

__device__ __forceinline__ u64 warp_total(u64 x) {
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

// Whether the sorted row of u holds v.
__device__ __forceinline__ bool has_arc(const i64* offsets, const int* targets, i64 u, int v) {
    i64 low = offsets[u], high = offsets[u + 1];
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (targets[middle] < v) low = middle + 1; else high = middle;
    }
    return low < offsets[u + 1] && targets[low] == v;
}

// ---- breadth-first search, a level a launch: who has no level looks for a neighbour in the one before -------------

extern "C" __global__ void next_level(const i64* offsets, const int* targets, i64 n, int* level, int now, int* found) {
    EACH_VERTEX(v) {
        if (level[v] >= 0) continue;
        for (i64 arc = offsets[v]; arc < offsets[v + 1]; ++arc)
            if (level[targets[arc]] == now) {
                level[v] = now + 1;
                *found = 1;
                break;
            }
    }
}

// ---- distances: no arc is a shortcut, none leads from the reached to the unreached, all but the source are reached -
// ---- tightly from somebody. With weights above zero that makes them the distances. `weights` may be null: 1 each. --

#define DISTANCE_CHECK(NAME, TYPE)                                                                                    \
    extern "C" __global__ void NAME(const i64* offsets, const int* targets, const int* weights, i64 n, i64 source,    \
                                    const TYPE* distance, TYPE far, u64* wrong) {                                     \
        EACH_VERTEX_BY_WARP(v) {                                                                                      \
            const bool reached = distance[v] != far;                                                                  \
            bool tight = false, bad = false;                                                                          \
            for (i64 arc = offsets[v] + LANE; arc < offsets[v + 1]; arc += 32) {                                      \
                const TYPE other = distance[targets[arc]];                                                            \
                const TYPE weight = weights ? (TYPE)weights[arc] : (TYPE)1;                                           \
                bad |= (other != far) != reached;                                                                     \
                if (other != far && reached) {                                                                        \
                    bad |= other + weight < distance[v];                                                              \
                    tight |= other + weight == distance[v];                                                           \
                }                                                                                                     \
            }                                                                                                         \
            tight = __any_sync(0xffffffffu, tight), bad = __any_sync(0xffffffffu, bad);                               \
            if (v == source) bad |= distance[v] != 0; else bad |= reached && !tight;                                  \
            if (bad && LANE == 0) atomicAdd(wrong, 1ull);                                                             \
        }                                                                                                             \
    }

DISTANCE_CHECK(check_distance_int, int)
DISTANCE_CHECK(check_distance_long, i64)
DISTANCE_CHECK(check_distance_float, float)
DISTANCE_CHECK(check_distance_double, double)

// A parent is a neighbour one level up; the source's is itself, an unreached vertex has none.
extern "C" __global__ void check_parents(const i64* offsets, const int* targets, i64 n, i64 source, const int* level,
                                         const int* parent, u64* wrong) {
    EACH_VERTEX(v) {
        const int p = parent[v];
        bool good;
        if (v == source) good = p == v;
        else if (level[v] < 0) good = p == -1;
        else good = p >= 0 && p < n && level[p] == level[v] - 1 && has_arc(offsets, targets, p, (int)v);
        if (!good) atomicAdd(wrong, 1ull);
    }
}

// ---- PageRank: what the neighbours of each vertex send it --------------------------------------------------------------

extern "C" __global__ void gather_sums(const i64* offsets, const int* targets, i64 n, const double* sent, double* sums) {
    EACH_VERTEX_BY_WARP(v) {
        double sum = 0;
        for (i64 arc = offsets[v] + LANE; arc < offsets[v + 1]; arc += 32) sum += sent[targets[arc]];
        for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (LANE == 0) sums[v] = sum;
    }
}

// ---- components: the least label around, then the label's label, until nothing changes ------------------------------

extern "C" __global__ void least_label(const i64* offsets, const int* targets, i64 n, int* label, int* changed) {
    EACH_VERTEX_BY_WARP(v) {
        int least = label[v];
        for (i64 arc = offsets[v] + LANE; arc < offsets[v + 1]; arc += 32) least = min(least, label[targets[arc]]);
        for (int step = 16; step; step /= 2) least = min(least, __shfl_xor_sync(0xffffffffu, least, step));
        if (LANE == 0 && least < label[v]) {
            atomicMin(label + label[v], least);  // the tree's root comes along, so that trees join and not leaves
            atomicMin(label + v, least);
            *changed = 1;
        }
    }
}

extern "C" __global__ void shorten(i64 n, int* label) {
    EACH_VERTEX(v) {
        int at = label[v];
        while (label[at] != at) at = label[at];
        label[v] = at;
    }
}

// ---- cores: whoever has at most k neighbours left leaves with core number k ------------------------------------------

extern "C" __global__ void peel(const i64* offsets, const int* targets, i64 n, int k, int* left, int* core,
                                int* counts) {
    EACH_VERTEX(v) {
        if (core[v] >= 0 || left[v] > k) continue;
        core[v] = k;
        atomicAdd(counts, 1);
        for (i64 arc = offsets[v]; arc < offsets[v + 1]; ++arc) atomicSub(left + targets[arc], 1);
    }
}

// ---- triangles of a few vertices: pairs of neighbours that are neighbours, a block a vertex ------------------------

extern "C" __global__ void triangles_of(const i64* offsets, const int* targets, const i64* chosen, u64* counts) {
    const i64 v = chosen[blockIdx.x], begin = offsets[v], degree = offsets[v + 1] - begin;
    u64 found = 0;
    for (i64 pair = threadIdx.x; pair < degree * degree; pair += blockDim.x) {
        const int a = targets[begin + pair / degree], b = targets[begin + pair % degree];
        found += a < b && has_arc(offsets, targets, a, b);
    }
    found = warp_total(found);
    if (LANE == 0) atomicAdd(counts + blockIdx.x, found);
}

// ---- the graph itself: rows rise strictly, stay inside, hold no loop, and every arc has its reverse with its weight -

extern "C" __global__ void check_graph(const i64* offsets, const int* targets, const int* weights, i64 n, u64* wrong) {
    EACH_VERTEX_BY_WARP(v) {
        for (i64 arc = offsets[v] + LANE; arc < offsets[v + 1]; arc += 32) {
            const int u = targets[arc];
            if (u < 0 || u >= n) { atomicAdd(wrong, 1ull); continue; }
            if (u == v) atomicAdd(wrong + 1, 1ull);
            if (arc > offsets[v] && targets[arc - 1] >= u) atomicAdd(wrong + 2, 1ull);
            i64 low = offsets[u], high = offsets[u + 1];
            while (low < high) {
                const i64 middle = (low + high) / 2;
                if (targets[middle] < v) low = middle + 1; else high = middle;
            }
            if (low == offsets[u + 1] || targets[low] != v) atomicAdd(wrong + 3, 1ull);
            else if (weights && weights[low] != weights[arc]) atomicAdd(wrong + 4, 1ull);
            if (weights && (weights[arc] < 1 || weights[arc] > 255)) atomicAdd(wrong + 4, 1ull);
        }
    }
}
