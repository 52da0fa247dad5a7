// A spanning forest of the first edges of an order, by Boruvka's rounds in one cooperative kernel.
//
// In a round every tree chooses the first of the edges that leave it, and the trees are joined along those. Since no two
// edges are alike in the order, the choices close no circle but that of two trees which chose the same edge. A list holds
// what joins two trees; a vertex of it finds the root of its tree along the roots of earlier rounds. A vertex loses its
// root's place once at most: then `chosen` gets the edge, at that vertex.
#pragma once
#include "edge_lists.cuh"

#define THREADS 512

// Words of 8 bytes of `state`; two counters of a kind take turns, so that one can be cleared while the other is read.
enum { EDGES = 0, ROOTS, ROUND, STOP, KEPT, LIVE = KEPT + 2 };

struct Trees {
    vid* parent;    // towards the root of a vertex's tree, which is its own
    vid* hook;      // of a root, that which it is joined to in this round
    key* best;      // of a root, the least key of edges that leave its tree
    u64* tie;       // and the least tie of those
    u64* chosen;    // the edge that joined the vertex's tree to another, while it was the root
    key* rank;      // and its key
};

extern "C" __global__ void plant(vid n, Trees trees, vid* roots) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        trees.parent[v] = roots[v] = (vid)v;
        trees.best[v] = NO_KEY;
        trees.tie[v] = trees.chosen[v] = NO_TIE;
    }
}

// The root of a vertex's tree, which nobody changes meanwhile.
DEVICE vid root_of(vid* parent, vid v) {
    const vid above = __ldcg(parent + v);
    if (above == v) return v;
    vid root = above, next;
    while ((next = __ldcg(parent + root)) != root) root = next;
    if (root != above) parent[v] = root;
    return root;
}

// Every vertex below its root, and the roots in a list.
extern "C" __global__ void gather_roots(vid n, vid* parent, vid* roots, unsigned* count) {
    for (i64 base = (i64)warp_in_grid() * 32; base < n; base += (i64)warps_in_grid() * 32) {
        const i64 v = base + lane();
        warp_append(roots, count, v < n && root_of(parent, (vid)v) == v, (vid)v);
    }
}

struct Apart {
    const vid* parent;

    __device__ __forceinline__ bool operator()(vid u, vid v) const { return !parent || parent[u] != parent[v]; }
};

// The edges up to a key; with `parent`, where every vertex is below its root, those that join two trees.
extern "C" __global__ void __launch_bounds__(THREADS) list_edges(
    const eid* offsets, const vid* targets, vid n, u64 arcs, Order order, key limit, const vid* parent, Edge* list,
    u64 room, u64* count
) {
    __shared__ Edge stages[THREADS / 32][STAGE];
    Appender out = {stages[warp_in_block()], list, room, count, 0};
    list_arcs(offsets, targets, n, arcs, order, limit, Apart{parent}, out);
}

// The edges that join two trees go on, and both trees hear of their keys.
DEVICE void choose(const Edge* list, u64 edges, const Trees& trees, Appender& out) {
    for (u64 base = (u64)warp_in_grid() * 32; base < edges; base += (u64)warps_in_grid() * 32) {
        Edge edge = {0, 0, 0};
        bool crosses = false;
        if (base + lane() < edges) {
            edge = list[base + lane()];
            const vid a = root_of(trees.parent, edge.u), b = root_of(trees.parent, edge.v);
            crosses = a != b;
            if (crosses) {
                lower(trees.best + a, edge.rank);
                lower(trees.best + b, edge.rank);
            }
        }
        out.append(crosses, edge);
    }
    out.write();
}

// Of the edges with the least key of a tree, the first by its ends. Every end is below its root now.
DEVICE void break_ties(const Edge* list, u64 edges, const Trees& trees, const Order& order) {
    for (u64 i = thread_in_grid(); i < edges; i += threads_in_grid()) {
        const Edge edge = list[i];
        const vid a = __ldcg(trees.parent + edge.u), b = __ldcg(trees.parent + edge.v);
        const bool first = __ldcg(trees.best + a) == edge.rank, second = __ldcg(trees.best + b) == edge.rank;
        if (!first && !second) continue;
        const u64 tie = tie_of(order, edge.u, edge.v);
        if (first) lower(trees.tie + a, tie);
        if (second) lower(trees.tie + b, tie);
    }
}

// Every root with an edge to another tree is hooked to that one; of two that chose the same edge, the greater.
DEVICE void join(const vid* roots, u64 count, const Trees& trees, const vid* places) {
    for (u64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        const vid r = roots[i];
        const u64 tie = __ldcg(trees.tie + r);
        vid other = r;
        if (tie != NO_TIE) {
            const vid u = (vid)(tie >> 32), v = (vid)(tie & FULL);
            const vid a = __ldcg(trees.parent + (places ? places[u] : u));
            other = a == r ? __ldcg(trees.parent + (places ? places[v] : v)) : a;
            if (r < other && __ldcg(trees.tie + other) == tie) {
                other = r;
            } else {
                trees.chosen[r] = tie;
                trees.rank[r] = __ldcg(trees.best + r);
            }
        }
        trees.hook[r] = other;
    }
}

// Every root finds the one at the end of its hooks, shortening the way for others. Those that are still roots, of trees
// that grew, go on.
DEVICE void settle(const vid* roots, u64 count, const Trees& trees, vid* live, unsigned* num_live) {
    for (u64 base = (u64)warp_in_grid() * 32; base < count; base += (u64)warps_in_grid() * 32) {
        vid r = 0;
        bool stays = false;
        if (base + lane() < count) {
            r = roots[base + lane()];
            vid at = r, above = __ldcg(trees.hook + at);
            while (above != at) {
                const vid next = __ldcg(trees.hook + above);
                if (next != above) trees.hook[at] = next;
                at = above;
                above = next;
            }
            trees.parent[r] = at;
            stays = at == r && __ldcg(trees.tie + r) != NO_TIE;
            trees.best[r] = NO_KEY;
            trees.tie[r] = NO_TIE;
        }
        warp_append(live, num_live, stays, r);
    }
}

// Rounds until no edge joins two trees, or `cycles` have passed; `state` says how many edges and roots there are, and in
// which of the lists: those of an odd round are the second ones. `places` are the vertices by name. `arrivals` is zero.
extern "C" __global__ void __launch_bounds__(THREADS, 2) span(
    Order order, const vid* places, Trees trees, Edge* list_a, Edge* list_b, vid* roots_a, vid* roots_b, u64* state,
    unsigned* arrivals, i64 cycles
) {
    __shared__ Edge stages[THREADS / 32][STAGE];
    const i64 began = clock64();
    unsigned met = 0;
    u64 edges = state[EDGES], roots = state[ROOTS], round = state[ROUND];
    bool stop = false;
    while (edges && !stop) {
        const unsigned turn = round & 1;
        const bool mine = thread_in_grid() == 0;
        const Edge* from = turn ? list_b : list_a;
        Edge* to = turn ? list_a : list_b;
        Appender out = {stages[warp_in_block()], to, edges, state + KEPT + turn, 0};
        choose(from, edges, trees, out);
        if (mine) state[STOP] = clock64() - began > cycles;
        grid_barrier(arrivals, met);
        edges = __ldcg(state + KEPT + turn);
        stop = __ldcg(state + STOP);
        if (mine) state[KEPT + (turn ^ 1)] = state[LIVE + (turn ^ 1)] = 0;
        break_ties(to, edges, trees, order);
        grid_barrier(arrivals, met);
        join(turn ? roots_b : roots_a, roots, trees, places);
        grid_barrier(arrivals, met);
        settle(
            turn ? roots_b : roots_a, roots, trees, turn ? roots_a : roots_b, (unsigned*)(state + LIVE + turn)
        );
        grid_barrier(arrivals, met);
        roots = __ldcg(state + LIVE + turn);
        ++round;
    }
    if (thread_in_grid() == 0) {
        state[EDGES] = edges;
        state[ROOTS] = roots;
        state[ROUND] = round;
    }
}

// The chosen edges as columns of names, in `sequence` or as they are.
extern "C" __global__ void write_rows(
    Order order, u64 count, const i64* sequence, const u64* chosen, const key* rank, vid* source, vid* target,
    void* weight
) {
    for (u64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        const u64 at = sequence ? (u64)sequence[i] : i, tie = chosen[at];
        source[i] = (vid)(tie >> 32);
        target[i] = (vid)(tie & FULL);
        if (weight) write_weight(order, rank[at], weight, (i64)i);
    }
}
