// Vertices look for the community that gains most, by the number of their arcs: up to 8 and up to 32 are compared lane
// by lane, up to 256 are added up by a warp in a hash table in shared memory, up to 2048 by a block. Longer rows are
// cut into pieces, which blocks add up by themselves and then in a table in memory that belongs to the vertex, with a
// list of the slots in use.
#pragma once
#include "community_batches.cuh"
#include "community_choice.cuh"

#define WARP_SLOTS 512
#define BLOCK_SLOTS 4096

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
