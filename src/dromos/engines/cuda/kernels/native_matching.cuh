// A matching by taking edges in an order whose ends are both free, many at a time in one cooperative kernel.
//
// An edge that comes before all others at both of its ends is taken in any case. A round takes all such edges and drops
// those that lost an end; what is left after the last round is what taking them one by one leaves.
#pragma once
#include "edge_lists.cuh"

#define THREADS 512

// Words of 8 bytes of `state`; two counters take turns, so that one can be cleared while the other is read.
enum { EDGES = 0, ROUND, STOP, KEPT };

// What vertices know. Of the tables of a round there are two: while one is asked, the other is cleared.
struct Ends {
    vid* mate;      // -1 without one
    key* pair;      // the key of the edge to the mate
    key* best[2];   // the least key of edges to free vertices
    u64* tie[2];    // and the least tie of those
};

// Before the rounds over a list; `first`: nobody has a mate yet.
extern "C" __global__ void clear_tables(vid n, Ends ends, int first) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        if (first) ends.mate[v] = (vid)-1;
        ends.best[0][v] = ends.best[1][v] = NO_KEY;
        ends.tie[0][v] = ends.tie[1][v] = NO_TIE;
    }
}

// Keys that sort vertices by degree, and those of one degree by their given ids; and how they are liked: by the binary
// digits of the degree, then by the id.
extern "C" __global__ void turn_keys(const eid* offsets, vid n, const vid* ids, u64* keys, u64* likes) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        const u64 degree = (u64)(offsets[v + 1] - offsets[v]), id = name_of(ids, (vid)v);
        keys[v] = (degree < FULL ? degree : (u64)FULL) << 32 | id;
        likes[v] = (u64)(64 - __clzll((i64)degree)) << 32 | id;
    }
}

// The turn of each vertex, from sorted keys.
extern "C" __global__ void turns_of(const u64* keys, vid n, const vid* rank, vid* turn) {
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
        const vid id = (vid)(keys[i] & FULL);
        turn[rank ? rank[id] : id] = (vid)i;
    }
}

struct BothFree {
    const vid* mate;

    __device__ __forceinline__ bool operator()(vid u, vid v) const { return !mate || (mate[u] < 0 && mate[v] < 0); }
};

// The edges up to a key; with `mate`, those whose ends are free.
extern "C" __global__ void __launch_bounds__(THREADS) list_edges(
    const eid* offsets, const vid* targets, vid n, u64 arcs, Order order, key limit, const vid* mate, Edge* list,
    u64 room, u64* count
) {
    __shared__ Edge stages[THREADS / 32][STAGE];
    Appender out = {stages[warp_in_block()], list, room, count, 0};
    list_arcs(offsets, targets, n, arcs, order, limit, BothFree{mate}, out);
}

// The edges between free vertices go on, and both ends hear of their keys.
DEVICE void offer(const Edge* list, u64 edges, const vid* mate, key* best, Appender& out) {
    for (u64 base = (u64)warp_in_grid() * 32; base < edges; base += (u64)warps_in_grid() * 32) {
        Edge edge = {0, 0, 0};
        bool stays = false;
        if (base + lane() < edges) {
            edge = list[base + lane()];
            stays = __ldcg(mate + edge.u) < 0 && __ldcg(mate + edge.v) < 0;
            if (stays) {
                lower(best + edge.u, edge.rank);
                lower(best + edge.v, edge.rank);
            }
        }
        out.append(stays, edge);
    }
    out.write();
}

// Of the edges with the least key at an end, the first by the names.
DEVICE void break_ties(const Edge* list, u64 edges, const key* best, u64* ties, const Order& order) {
    for (u64 i = thread_in_grid(); i < edges; i += threads_in_grid()) {
        const Edge edge = list[i];
        const bool first = __ldcg(best + edge.u) == edge.rank, second = __ldcg(best + edge.v) == edge.rank;
        if (!first && !second) continue;
        const u64 tie = tie_of(order, edge.u, edge.v);
        if (first) lower(ties + edge.u, tie);
        if (second) lower(ties + edge.v, tie);
    }
}

DEVICE void clear(key* best, u64* ties, vid v) {
    if (__ldcg(ties + v) != NO_TIE) {
        best[v] = NO_KEY;
        ties[v] = NO_TIE;
    }
}

// Takes the edges that are the first at both ends; the tables of the next round are cleared.
DEVICE void take(const Edge* list, u64 edges, const Ends& ends, unsigned turn, const Order& order) {
    const key* best = ends.best[turn];
    const u64* ties = ends.tie[turn];
    for (u64 i = thread_in_grid(); i < edges; i += threads_in_grid()) {
        const Edge edge = list[i];
        clear(ends.best[turn ^ 1], ends.tie[turn ^ 1], edge.u);
        clear(ends.best[turn ^ 1], ends.tie[turn ^ 1], edge.v);
        if (__ldcg(best + edge.u) != edge.rank || __ldcg(best + edge.v) != edge.rank) continue;
        const u64 tie = __ldcg(ties + edge.u);
        if (tie != __ldcg(ties + edge.v) || tie != tie_of(order, edge.u, edge.v)) continue;
        ends.mate[edge.u] = edge.v;
        ends.mate[edge.v] = edge.u;
        ends.pair[edge.u] = ends.pair[edge.v] = edge.rank;
    }
}

// Rounds until no edge is left between free vertices, `rounds` are done, or `cycles` have passed. `state` says how many
// edges there are, and in which list: that of an odd round is the second one. `arrivals` is zero.
extern "C" __global__ void __launch_bounds__(THREADS, 2) match(
    Order order, Ends ends, Edge* list_a, Edge* list_b, u64* state, unsigned* arrivals, u64 rounds, i64 cycles
) {
    __shared__ Edge stages[THREADS / 32][STAGE];
    const i64 began = clock64();
    unsigned met = 0;
    u64 edges = state[EDGES], round = state[ROUND];
    const u64 last = round + rounds;
    bool stop = false;
    while (edges && round < last && !stop) {
        const unsigned turn = round & 1;
        const bool mine = thread_in_grid() == 0;
        const Edge* from = turn ? list_b : list_a;
        Edge* to = turn ? list_a : list_b;
        Appender out = {stages[warp_in_block()], to, edges, state + KEPT + turn, 0};
        offer(from, edges, ends.mate, ends.best[turn], out);
        if (mine) state[STOP] = clock64() - began > cycles;
        grid_barrier(arrivals, met);
        edges = __ldcg(state + KEPT + turn);
        stop = __ldcg(state + STOP);
        if (mine) state[KEPT + (turn ^ 1)] = 0;
        break_ties(to, edges, ends.best[turn], ends.tie[turn], order);
        grid_barrier(arrivals, met);
        take(to, edges, ends, turn, order);
        grid_barrier(arrivals, met);
        ++round;
    }
    if (thread_in_grid() == 0) {
        state[EDGES] = edges;
        state[ROUND] = round;
    }
}

// A list of edges as columns: ends, keys, ties.
extern "C" __global__ void write_columns(
    Order order, const Edge* list, u64 edges, vid* source, vid* target, key* rank, u64* ties
) {
    for (u64 i = thread_in_grid(); i < edges; i += threads_in_grid()) {
        const Edge edge = list[i];
        source[i] = edge.u;
        target[i] = edge.v;
        rank[i] = edge.rank;
        ties[i] = tie_of(order, edge.u, edge.v);
    }
}

// The mates by their given ids, and the weight of each pair at the end of the lesser one; `weight` is zero.
extern "C" __global__ void name_mates(
    Order order, vid n, const vid* ids, const vid* mate, const key* pair, vid* named, void* weight
) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        const vid other = mate[v];
        const vid found = named[v] = other < 0 ? (vid)-1 : (vid)name_of(ids, other);
        if (weight && (vid)name_of(ids, (vid)v) < found) write_weight(order, pair[v], weight, v);
    }
}
