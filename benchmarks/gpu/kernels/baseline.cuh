// Breadth-first search as one would write it first, the baseline of the ablation tables: a thread a vertex, an atomic for
// every vertex that enters the queue, a launch and a look from the host a level. The direction is switched by the host.

typedef unsigned long long u64;
typedef long long i64;

// Tell the host how many vertices and arcs the next level has.
__device__ __forceinline__ void enqueue(const i64* offsets, int v, int* following, unsigned* size, u64* arcs) {
    following[atomicAdd(size, 1u)] = v;
    atomicAdd(arcs, (u64)(offsets[v + 1] - offsets[v]));
}

extern "C" __global__ void top_down(const i64* offsets, const int* targets, const int* queue, unsigned count, int now,
                                    int* level, int* parent, int* following, unsigned* size, u64* arcs) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int u = queue[i];
    for (i64 arc = offsets[u]; arc < offsets[u + 1]; ++arc) {
        const int v = targets[arc];
        if (level[v] < 0 && atomicCAS(level + v, -1, now + 1) == -1) {
            parent[v] = u;
            enqueue(offsets, v, following, size, arcs);
        }
    }
}

extern "C" __global__ void bottom_up(const i64* offsets, const int* targets, int vertices, int now, int* level,
                                     int* parent, int* following, unsigned* size, u64* arcs) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices || level[v] >= 0) return;
    for (i64 arc = offsets[v]; arc < offsets[v + 1]; ++arc)
        if (level[targets[arc]] == now) {
            level[v] = now + 1;
            parent[v] = targets[arc];
            enqueue(offsets, v, following, size, arcs);
            return;
        }
}
