// The community that a vertex gains most by: sums of weights by community, and what is compared of them.
#pragma once
#include "community_records.cuh"

#define LEAST_GAIN 1e-10

struct Visit {
    vid v, old, home;
    bool is_open;  // whether it may move at all
    double share;  // what a unit of a community's total costs
    double around;  // the strength of the community whose parts are looked for
    u64 seed;
};

struct Best {
    double gain;
    u64 tie;
    vid key;
    mass weight;
    mass here;  // the weight of the edges to the vertex's own community
};

// Whether the edges between a part and the rest of its community are at least what chance would give.
DEVICE bool is_connected(const Level& level, vid part, double strength, double around) {
    return (double)level.outside[part] >= level.scale * strength * (around - strength);
}

DEVICE Visit visit_of(const Level& level, vid v, u64 seed) {
    const double k = (double)level.strength[v];
    Visit visit = {v, level.community[v], 0, true, level.scale * k, 0, drawn(seed, (u64)v)};
    if (level.within) {
        visit.home = level.within[v];
        visit.around = (double)level.around[visit.home];
        visit.is_open = visit.old == v && level.size[v] == 1 && is_connected(level, v, k, visit.around);
    }
    return visit;
}

// Where the row of a vertex ends: at its begin, if it may not move.
DEVICE eid end_of(const Level& level, const Visit& visit) { return level.offsets[visit.v + visit.is_open]; }

DEVICE Best none() { return {-1.0 / 0.0, 0, NOWHERE, 0, 0}; }

DEVICE Best better(const Best& a, const Best& b) {
    const bool second =
        b.gain > a.gain || (b.gain == a.gain && (b.tie > a.tie || (b.tie == a.tie && b.key < a.key)));
    Best found = second ? b : a;
    found.here = a.here > b.here ? a.here : b.here;
    return found;
}

DEVICE void consider(Best& best, const Level& level, const Visit& visit, vid key, mass weight) {
    if (key == visit.old) {
        best.here = weight;
        return;
    }
    const double total = (double)level.total[key], gain = (double)weight - visit.share * total;
    if (level.within && !is_connected(level, key, total, visit.around)) return;
    best = better(best, {gain, drawn(visit.seed, (u64)key), key, weight, 0});
}

template <int width>
DEVICE Best best_of_lanes(Best mine) {
#pragma unroll
    for (int step = width / 2; step > 0; step >>= 1) {
        Best other;
        other.gain = __shfl_xor_sync(FULL, mine.gain, step, width);
        other.tie = __shfl_xor_sync(FULL, mine.tie, step, width);
        other.key = __shfl_xor_sync(FULL, mine.key, step, width);
        other.weight = __shfl_xor_sync(FULL, mine.weight, step, width);
        other.here = __shfl_xor_sync(FULL, mine.here, step, width);
        mine = better(mine, other);
    }
    return mine;
}

// The best of a block, for thread 0; all threads call it.
DEVICE Best best_of_block(Best mine, Best* room) {
    mine = best_of_lanes<32>(mine);
    __syncthreads();
    if (lane() == 0) room[warp_in_block()] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned warp = 1; warp < blockDim.x >> 5; ++warp) mine = better(mine, room[warp]);
    return mine;
}

// A vertex says where it wants to go; one thread of those that looked.
DEVICE void settle(const Level& level, const Visit& visit, const Best& best, int time) {
    const vid v = visit.v, old = visit.old;
    const mass k = level.strength[v];
    const double least = LEAST_GAIN * (double)k;
    double gain = (double)best.here - visit.share * (double)(level.total[old] - k);
    vid to = NOWHERE;
    i64 more = 0;
    if (best.key != NOWHERE && best.gain > gain + least) {
        to = best.key;
        gain = best.gain;
        more = (i64)best.weight - (i64)best.here;
    }
    if (!level.within && gain < -least && level.size[old] > 1) {  // better alone, if one of its numbers is free
        const vid alone = level.size[v] == 0 ? v : (vid)(level.n + v);
        if (level.size[alone] == 0) {
            to = alone;
            more = -(i64)best.here;
        }
    }
    level.visited[v] = time;
    level.choice[v] = to;
    if (to == NOWHERE) return;
    level.more[v] = more;
    atomicAdd(level.joining + to, k);
    atomicAdd(level.leaving + old, k);
    count_up(level.leavers + old, 1);
}

// ---- sums by community ---------------------------------------------------------------------------------------------

// All bits of a key in all bits of the hash.
DEVICE unsigned mixed(vid key) {
    unsigned x = (unsigned)key ^ (unsigned)((u64)key >> 32);
    x = (x ^ x >> 16) * 0x85EBCA6Bu;
    x = (x ^ x >> 13) * 0xC2B2AE35u;
    return x ^ x >> 16;
}

DEVICE int claim(int* slot, int key) { return atomicCAS(slot, NOWHERE, key); }
DEVICE i64 claim(i64* slot, i64 key) { return (i64)atomicCAS((u64*)slot, (u64)NOWHERE, (u64)key); }

// A hash table in shared memory with room to spare; `slots` is a power of two.
struct Table {
    vid* keys;
    mass* sums;
    unsigned slots;

    __device__ __forceinline__ void fit(eid length, unsigned most) {
        slots = 64;
        while (slots < most && slots < 2 * length) slots *= 2;
    }
    __device__ __forceinline__ void clear(unsigned first, unsigned step) {
        for (unsigned i = first; i < slots; i += step) {
            keys[i] = NOWHERE;
            sums[i] = 0;
        }
    }
    __device__ __forceinline__ void add(vid key, mass weight) {
        for (unsigned hash = mixed(key);; ++hash) {
            const unsigned slot = hash & (slots - 1);
            vid there = *(volatile vid*)(keys + slot);
            if (there == NOWHERE) there = claim(keys + slot, key);
            if (there == NOWHERE || there == key) {
                atomicAdd(sums + slot, weight);
                return;
            }
        }
    }
    __device__ __forceinline__ Best best(const Level& level, const Visit& visit, unsigned first, unsigned step) const {
        Best found = none();
        for (unsigned i = first; i < slots; i += step)
            if (keys[i] != NOWHERE) consider(found, level, visit, keys[i], sums[i]);
        return found;
    }
};

// Lanes that have the key of the first lane that has any leave it to that one: a vertex's own community is most of what
// is around it, and all lanes would wait for one slot. Returns what this lane adds.
DEVICE mass share_of(vid key, mass weight) {
    const unsigned having = __ballot_sync(FULL, key != NOWHERE);
    if (having == 0) return 0;
    const int leader = __ffs(having) - 1;
    const bool is_alike = key == __shfl_sync(FULL, key, leader);
    const unsigned alike = __ballot_sync(FULL, is_alike);
    if (__popc(alike) == 1) return key == NOWHERE ? 0 : weight;
    const mass all = warp_sum(is_alike ? weight : (mass)0);
    if (is_alike) return (int)lane() == leader ? all : 0;
    return key == NOWHERE ? 0 : weight;
}

// The community at the other end of an arc, and the arc's weight; NOWHERE for a self-loop, where the weight is zero,
// and beyond the community that is refined.
DEVICE vid beside(const Level& level, const Visit& visit, eid arc, mass& weight) {
    const vid u = level.targets[arc];
    weight = weight_of(level.weights, arc);
    if (u == visit.v || !weight || (level.within && level.within[u] != visit.home)) return NOWHERE;
    return level.community[u];
}

// Add the arcs [begin, end) to a table; all lanes of `threads` threads call it.
DEVICE void add_arcs(
    const Level& level, const Visit& visit, Table& table, eid begin, eid end, unsigned first, unsigned threads
) {
    for (eid base = begin; base < end; base += 4 * threads) {
        vid key[4];
        mass weight[4] = {0, 0, 0, 0};
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const eid arc = base + q * threads + first;
            key[q] = arc < end ? beside(level, visit, arc, weight[q]) : NOWHERE;
        }
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            if (base + q * threads + (first & ~31u) >= end) break;  // for the whole warp
            const mass adds = share_of(key[q], weight[q]);
            if (adds) table.add(key[q], adds);
        }
    }
}
