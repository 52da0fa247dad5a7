// Local moving, the step of Louvain and Leiden that takes their time: each vertex goes to the community around it that
// gains most modularity. And Leiden's refinement, in which vertices that are alone join well-connected parts of their
// communities: there the communities are `within`, and the parts are what vertices move between.
//
// A pass takes the vertices whose surroundings changed, in batches that are drawn at random. All vertices of a batch
// look for the best community against what held before it; those that want to move say so to both communities; then
// each judges its move again, as if it came in its turn: with a drawn share of what comes and goes beside it. What is
// added up are whole numbers, and ties are drawn from vertex and community, so that nothing depends on the order in
// which threads come.
//
// By the number of arcs: up to 8 and up to 32 are compared lane by lane, up to 256 are added up by a warp in a hash table
// in shared memory, up to 2048 by a block. Longer rows are cut into pieces, which blocks add up by themselves and then in a
// table in memory that belongs to the vertex, with a list of the slots in use.
//
// All passes of a level are one cooperative kernel: a batch is four steps that wait for each other, and launches would take
// longer than most of them.
#pragma once
#include "community_records.cuh"

#define CLASSES 5
#define WARP_SLOTS 512
#define BLOCK_SLOTS 4096
#define PIECE 2048
#define THREADS 256
#define BLOCKS 4
#define CHUNK 4096
#define MOST_BINS 512
#define LEAST_GAIN 1e-10
#define MOVES 1
#define WAITS 2

// What `state` holds: passes and batches that were made, whether all is done, whether time is up, and the barrier.
#define PASSES 0
#define TIME 1
#define FINISHED 2
#define LATE 3
#define ARRIVALS 32
#define STATE 64

struct Level {
    const eid* offsets;
    const vid* targets;
    const mass* weights;
    const mass* strength;
    vid* community;
    mass* total;
    mass* joining;
    mass* leaving;
    vid* size;
    vid* leavers;
    int* changed;
    int* visited;
    vid* choice;
    i64* more;
    unsigned char* verdict;
    vid* list;
    unsigned* counts;
    unsigned* state;
    const vid* hubs;
    const i64* hub_begin;
    vid* hub_keys;
    mass* hub_sums;
    unsigned* hub_slots;
    unsigned* hub_found;
    unsigned* hub_done;
    const vid* within;
    const mass* around;
    mass* outside;
    i64 n;
    i64 hub_count;
    double scale;
};

DEVICE void count_up(int* at, int by) { atomicAdd(at, by); }
DEVICE void count_up(i64* at, int by) { atomicAdd((u64*)at, (u64)(i64)by); }

// ---- which vertices a pass takes -----------------------------------------------------------------------------------

DEVICE int class_of(eid length) { return length <= 8 ? 0 : length <= 32 ? 1 : length <= 256 ? 2 : length <= PIECE ? 3 : 4; }

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

// ---- the best community for a vertex -------------------------------------------------------------------------------

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
    if (!level.within && gain < -least && level.size[old] > 1) {  // better alone, if one of its two numbers for that is free
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

// The community at the other end of an arc, and the arc's weight; NOWHERE for a self-loop, where the weight is zero, and
// beyond the community that is refined.
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

// ---- rows by their length ------------------------------------------------------------------------------------------

// Items that follow each other go to different blocks, so that few of them are many multiprocessors' work.
DEVICE i64 spread_warp() { return (i64)warp_in_block() * gridDim.x + blockIdx.x; }
DEVICE i64 spread_block() { return (i64)gridDim.x - 1 - blockIdx.x; }

template <int width>
DEVICE void choose_by_lanes(const Level& level, const vid* list, i64 count, u64 seed, int time) {
    const int own = threadIdx.x & (width - 1);
    const i64 step = (i64)warps_in_grid() * (32 / width);
    for (i64 first = spread_warp() * (32 / width); first < count; first += step) {
        const i64 i = first + lane() / width;
        const Visit visit = visit_of(level, list[i < count ? i : count - 1], seed);
        const eid begin = level.offsets[visit.v], length = end_of(level, visit) - begin;
        vid key = NOWHERE;
        mass weight = 0;
        if (own < length) key = beside(level, visit, begin + own, weight);
        mass sum = 0;
#pragma unroll
        for (int j = 0; j < width; ++j) {
            const mass other = __shfl_sync(FULL, weight, j, width);
            if (__shfl_sync(FULL, key, j, width) == key) sum += other;
        }
        Best best = none();
        if (key != NOWHERE) consider(best, level, visit, key, sum);
        best = best_of_lanes<width>(best);
        if (own == 0 && i < count) settle(level, visit, best, time);
    }
}

// A warp a vertex.
DEVICE void choose_by_warps(const Level& level, Table table, const vid* list, i64 count, u64 seed, int time) {
    table.keys += warp_in_block() * WARP_SLOTS;
    table.sums += warp_in_block() * WARP_SLOTS;
    for (i64 i = spread_warp(); i < count; i += warps_in_grid()) {
        const Visit visit = visit_of(level, list[i], seed);
        const eid begin = level.offsets[visit.v], end = end_of(level, visit);
        table.fit(end - begin, WARP_SLOTS);
        table.clear(lane(), 32);
        __syncwarp();
        add_arcs(level, visit, table, begin, end, lane(), 32);
        __syncwarp();
        const Best best = best_of_lanes<32>(table.best(level, visit, lane(), 32));
        if (lane() == 0) settle(level, visit, best, time);
        __syncwarp();
    }
}

DEVICE void choose_by_blocks(
    const Level& level, Table table, Best* room, const vid* list, i64 count, u64 seed, int time
) {
    for (i64 i = spread_block(); i < count; i += gridDim.x) {
        const Visit visit = visit_of(level, list[i], seed);
        const eid begin = level.offsets[visit.v], end = end_of(level, visit);
        table.fit(end - begin, BLOCK_SLOTS);
        table.clear(threadIdx.x, blockDim.x);
        __syncthreads();
        add_arcs(level, visit, table, begin, end, threadIdx.x, blockDim.x);
        __syncthreads();
        const Best best = best_of_block(table.best(level, visit, threadIdx.x, blockDim.x), room);
        if (threadIdx.x == 0) settle(level, visit, best, time);
        __syncthreads();
    }
}

// ---- rows longer than a block's table ------------------------------------------------------------------------------

// A hub's table in memory: half as many slots again as it has arcs.
struct Hub {
    i64 number, begin, base;
    u64 slots;
    unsigned pieces;
};

DEVICE Hub hub_of(const Level& level, vid v) {
    i64 first = 0, last = level.hub_count - 1;
    while (first < last) {
        const i64 middle = (first + last) / 2;
        if (level.hubs[middle] < v)
            first = middle + 1;
        else
            last = middle;
    }
    const u64 length = (u64)(level.offsets[v + 1] - level.offsets[v]);
    const i64 begin = level.hub_begin[first];
    return {first, begin, begin + begin / 2, length + length / 2, (unsigned)((length + PIECE - 1) / PIECE)};
}

// Pieces of hubs, `parts` items a hub: what they add up goes to the hubs' tables.
DEVICE void add_hubs(const Level& level, Table table, const vid* list, i64 hubs, unsigned parts) {
    table.slots = BLOCK_SLOTS;
    for (i64 item = spread_block(); item < hubs * parts; item += gridDim.x) {
        const vid v = list[item / parts];
        const Visit visit = visit_of(level, v, 0);
        if (!visit.is_open) continue;
        const Hub hub = hub_of(level, v);
        const eid row = level.offsets[v], row_end = level.offsets[v + 1];
        for (unsigned piece = (unsigned)(item % parts); piece < hub.pieces; piece += parts) {
            const eid begin = row + (eid)piece * PIECE, end = row_end - begin < PIECE ? row_end : begin + PIECE;
            table.clear(threadIdx.x, blockDim.x);
            __syncthreads();
            add_arcs(level, visit, table, begin, end, threadIdx.x, blockDim.x);
            __syncthreads();
            for (unsigned i = threadIdx.x; i < BLOCK_SLOTS; i += blockDim.x) {
                const vid key = table.keys[i];
                if (key == NOWHERE) continue;
                u64 at = (u64)mixed(key) * hub.slots >> 32;
                while (true) {
                    vid there = *(volatile vid*)(level.hub_keys + hub.base + at);
                    if (there == NOWHERE) {
                        there = claim(level.hub_keys + hub.base + at, key);
                        if (there == NOWHERE)
                            level.hub_slots[hub.begin + atomicAdd(level.hub_found + hub.number, 1u)] = (unsigned)at;
                    }
                    if (there == NOWHERE || there == key) break;
                    at = at + 1 < hub.slots ? at + 1 : 0;
                }
                atomicAdd(level.hub_sums + hub.base + at, table.sums[i]);
            }
            __syncthreads();
        }
    }
}

// The items of a hub share out its slots, and leave them empty; the last one to come compares what they found.
DEVICE void choose_hubs(
    const Level& level, Best* room, const vid* list, i64 hubs, unsigned parts, Best* found, u64 seed, int time
) {
    for (i64 item = spread_block(); item < hubs * parts; item += gridDim.x) {
        const vid v = list[item / parts];
        const Hub hub = hub_of(level, v);
        const unsigned part = (unsigned)(item % parts), used = hub.pieces < parts ? hub.pieces : parts;
        if (part >= used) continue;
        const Visit visit = visit_of(level, v, seed);
        const u64 slots = level.hub_found[hub.number];
        Best best = none();
        for (u64 i = slots * part / used + threadIdx.x; i < slots * (part + 1) / used; i += blockDim.x) {
            const i64 slot = hub.base + level.hub_slots[hub.begin + i];
            consider(best, level, visit, level.hub_keys[slot], level.hub_sums[slot]);
            level.hub_keys[slot] = NOWHERE;
            level.hub_sums[slot] = 0;
        }
        best = best_of_block(best, room);
        if (threadIdx.x == 0) {
            Best* own = found + item / parts * parts;
            own[part] = best;
            __threadfence();
            if (atomicAdd(level.hub_done + hub.number, 1u) + 1 == used) {
                __threadfence();
                for (unsigned other = 0; other < used; ++other) {
                    volatile Best* one = own + other;
                    best = better(best, {one->gain, one->tie, one->key, one->weight, one->here});
                }
                level.hub_done[hub.number] = 0;
                level.hub_found[hub.number] = 0;
                settle(level, visit, best, time);
            }
        }
        __syncthreads();
    }
}

// ---- making the moves of a batch -----------------------------------------------------------------------------------

DEVICE void judge(const Level& level, const vid* list, i64 count, u64 seed, int time) {
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        const vid v = list[i], to = level.choice[v];
        unsigned char verdict = 0;
        if (to != NOWHERE) {
            const vid old = level.community[v];
            const mass k = level.strength[v];
            const double turn = (double)(drawn(~seed, (u64)v) >> 40) / 16777216.0;
            const double there = (double)level.total[to] + turn * (double)(level.joining[to] - k);
            const double here = (double)level.total[old] - turn * (double)(level.leaving[old] - k);
            const double gain =
                (double)level.more[v] - level.scale * (double)k * (there - here + (double)k);
            const bool is_left = level.size[to] && level.leavers[to] == level.size[to];  // by all who are there
            verdict = !is_left && gain > LEAST_GAIN * (double)k ? MOVES : WAITS;
            if (verdict == WAITS) level.changed[v] = time;
        }
        level.verdict[v] = verdict;
    }
}

DEVICE void make_moves(const Level& level, const vid* list, i64 count) {
    const i64 step = threads_in_grid();
    for (i64 first = 0; first < count; first += step) {
        const i64 i = first + thread_in_grid();
        const vid v = list[i < count ? i : count - 1];
        const unsigned char verdict = i < count ? level.verdict[v] : 0;
        if (verdict) {
            const vid old = level.community[v], to = level.choice[v];
            level.joining[to] = 0;
            level.leaving[old] = 0;
            level.leavers[old] = 0;
            if (verdict == MOVES) {
                const mass k = level.strength[v];
                level.community[v] = to;
                atomicAdd(level.total + to, k);
                atomicAdd(level.total + old, (mass)0 - k);
                count_up(level.size + to, 1);
                count_up(level.size + old, -1);
            }
        }
        const unsigned movers = __ballot_sync(FULL, verdict == MOVES);
        if (lane() == 0 && movers) atomicAdd(level.counts, (unsigned)__popc(movers));
    }
}

DEVICE void mark_arcs(const Level& level, vid v, unsigned first, unsigned threads, int time) {
    const vid own = level.community[v];
    const eid end = level.offsets[v + 1];
    for (eid arc = level.offsets[v] + first; arc < end; arc += threads) {
        const vid u = level.targets[arc];
        if (level.community[u] != own) level.changed[u] = time;
    }
}

// The edges of a vertex that joined a part: those to the rest of the community are the part's now, those to the part no more,
// and those to others that joined it just now never were.
DEVICE void add_outside(const Level& level, vid v, unsigned first, unsigned threads, int time) {
    const vid own = level.community[v], home = level.within[v];
    const eid end = level.offsets[v + 1];
    mass change = 0;
    for (eid arc = level.offsets[v] + first; arc < end; arc += threads) {
        const vid u = level.targets[arc];
        if (u == v || level.within[u] != home) continue;
        const mass weight = weight_of(level.weights, arc);
        if (level.community[u] != own)
            change += weight;
        else if (level.verdict[u] != MOVES || level.visited[u] != time)
            change -= weight;
    }
    if (change) atomicAdd(level.outside + own, change);
}

DEVICE void follow_move(const Level& level, vid v, unsigned first, unsigned threads, int time) {
    if (level.verdict[v] != MOVES) return;
    if (level.within)
        add_outside(level, v, first, threads, time);
    else
        mark_arcs(level, v, first, threads, time);
}

// The neighbours of those that moved are to be looked at again; in refinement, parts are told of their edges instead. The list
// has `few` vertices for eight lanes each, `some` for a warp, `many` for a block, and hubs, for `parts` blocks.
DEVICE void follow_moves(
    const Level& level, const vid* list, i64 few, i64 some, i64 many, i64 hubs, unsigned parts, int time
) {
    const vid* next = list + few + some;
    for (i64 i = spread_block(); i < many + hubs * parts; i += gridDim.x) {
        const i64 part = i < many ? 0 : (i - many) % parts;
        const vid v = next[i < many ? i : many + (i - many) / parts];
        const unsigned step = i < many ? blockDim.x : blockDim.x * parts;
        follow_move(level, v, threadIdx.x + (unsigned)part * blockDim.x, step, time);
    }
    next = list + few;
    for (i64 i = spread_warp(); i < some; i += warps_in_grid()) follow_move(level, next[i], lane(), 32, time);
    for (i64 i = spread_warp() * 4 + lane() / 8; i < few; i += (i64)warps_in_grid() * 4)
        follow_move(level, list[i], threadIdx.x & 7, 8, time);
}

// ---- a level -------------------------------------------------------------------------------------------------------

// Passes until no more than `enough` vertices are due, or `passes` were made, or time is up. Shared memory: BLOCK_SLOTS slots.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) move_vertices(
    Level level, u64 seed, unsigned most, unsigned least, unsigned enough, unsigned passes, unsigned parts, Best* found,
    i64 cycles
) {
    extern __shared__ u64 room[];
    __shared__ Best bests[THREADS / 32];
    __shared__ unsigned begins[MOST_BINS + 1], taken[MOST_BINS];
    mass* sums = (mass*)room;
    const Table table = {(vid*)(sums + BLOCK_SLOTS), sums, 0};
    const i64 began = clock64();
    unsigned met = 0, pass = level.state[PASSES];
    int time = (int)level.state[TIME];
    for (;; ++pass) {
        grid_barrier(level.state + ARRIVALS, met);
        if (blockIdx.x == 0) {
            for (unsigned i = threadIdx.x; i < 1 + 2 * MOST_BINS; i += blockDim.x) level.counts[1 + i] = 0;
            if (threadIdx.x == 0) level.state[LATE] = clock64() - began > cycles;
        }
        grid_barrier(level.state + ARRIVALS, met);
        count_due(level);
        grid_barrier(level.state + ARRIVALS, met);
        const unsigned due = level.counts[1];
        const bool is_done = due <= enough || pass >= passes;
        if (is_done || level.state[LATE]) {
            if (thread_in_grid() == 0) {
                level.state[PASSES] = pass;
                level.state[TIME] = (unsigned)time;
                level.state[FINISHED] = is_done;
            }
            return;
        }
        const u64 now = drawn(seed, (u64)pass);
        const unsigned batches = batches_for(due, level.n, most, least);
        count_bins(level, now, batches, taken);
        grid_barrier(level.state + ARRIVALS, met);
        list_due(level, now, batches, begins, taken);
        grid_barrier(level.state + ARRIVALS, met);
        for (unsigned batch = 0; batch < batches; ++batch) {
            const unsigned* at = begins + batch * CLASSES;
            const i64 count = at[CLASSES] - at[0], hubs = at[5] - at[4];
            if (count == 0) continue;
            ++time;
            const vid* list = level.list;
            add_hubs(level, table, list + at[4], hubs, parts);
            choose_by_blocks(level, table, bests, list + at[3], at[4] - at[3], now, time);
            choose_by_warps(level, table, list + at[2], at[3] - at[2], now, time);
            choose_by_lanes<32>(level, list + at[1], at[2] - at[1], now, time);
            choose_by_lanes<8>(level, list + at[0], at[1] - at[0], now, time);
            grid_barrier(level.state + ARRIVALS, met);
            if (hubs) {
                choose_hubs(level, bests, list + at[4], hubs, parts, found, now, time);
                grid_barrier(level.state + ARRIVALS, met);
            }
            judge(level, list + at[0], count, now, time);
            grid_barrier(level.state + ARRIVALS, met);
            make_moves(level, list + at[0], count);
            grid_barrier(level.state + ARRIVALS, met);
            follow_moves(level, list + at[0], at[2] - at[0], at[3] - at[2], at[4] - at[3], hubs, parts, time);
            // what it marks is not read before the next pass; what it tells parts is read by the next batch
            if (level.within) grid_barrier(level.state + ARRIVALS, met);
        }
    }
}
