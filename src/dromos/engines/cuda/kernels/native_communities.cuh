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
// All passes of a level are one cooperative kernel: a batch is four steps that wait for each other, and launches would
// take longer than most of them.
#pragma once
#include "community_rows.cuh"

#define THREADS 256
#define BLOCKS 4
#define MOVES 1
#define WAITS 2

// What `state` holds: passes and batches that were made, whether all is done, whether time is up, and the barrier.
#define PASSES 0
#define TIME 1
#define FINISHED 2
#define LATE 3
#define ARRIVALS 32
#define STATE 64

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

// The edges of a vertex that joined a part: those to the rest of the community are the part's now, those to the part no
// more, and those to others that joined it just now never were.
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

// The neighbours of those that moved are to be looked at again; in refinement, parts are told of their edges instead.
// The list has `few` vertices for eight lanes each, `some` for a warp, `many` for a block, and hubs, for `parts`
// blocks.
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

// Passes until no more than `enough` vertices are due, or `passes` were made, or time is up. Shared memory: BLOCK_SLOTS
// slots.
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
