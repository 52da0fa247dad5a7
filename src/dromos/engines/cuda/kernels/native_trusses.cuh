// Truss numbers of the edges of a simple undirected graph whose rows are sorted: support, then peeling by levels.
//
// An edge is named by its arc from the greater end: the arcs of v that lead down are the first of its row, and `base[v]`
// counts those of the vertices before. A triangle v > u > w is found once, at the edge (v, u), by looking up the shorter
// of two lists in the longer one. Names that fall with the degree keep the lists of lesser neighbours short.
//
// Peeling, as for core numbers: at level k a scan takes the edges of k triangles, and each of them takes its triangles
// from the two other edges. `turn` says in which round an edge is peeled. In round r an edge with a lesser turn is gone, with r
// it is being peeled, and all others are there: those that are taken for round r + 1 meanwhile lose nothing any more. Of
// two edges of a triangle that are peeled in the same round, the lesser lowers the third.
#pragma once
#include "peeling.cuh"
#include "row_search.cuh"

#define ALIVE 0xffffffffu
#define EDGES 32  // that a warp takes at a time

// Where things are in `state`, in 64-bit words; what all blocks write has a cache line of its own.
enum { TAIL = 0, CURSOR = 16, BARRIER = 32, SURVIVORS = 64, LEAST = 80, SAVED = 96, STATE_WORDS = 112 };
enum { K = SAVED, HEAD, END, LENGTH, LIVE, WHICH, SCANNING, SCANS, ROUNDS, FINISHED };

// The first of the places [from, to) of a rising list that holds no less than w.
DEVICE eid place_of(const vid* targets, eid from, eid to, vid w) {
    while (from < to) {
        const eid middle = from + (to - from) / 2;
        if (targets[middle] < w)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// ---- edges and their support ---------------------------------------------------------------------------------------

// low[v]: how many neighbours of v have lesser ids.
extern "C" __global__ void count_lesser(const eid* offsets, const vid* targets, vid n, eid* low) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid())
        low[v] = place_of(targets, offsets[v], offsets[v + 1], (vid)v) - offsets[v];
}

// The edge of each arc, and the ends of each edge; `lookups`: the sum over all edges of the shorter row's length.
extern "C" __global__ void name_edges(
    const eid* offsets, const vid* targets, const eid* base, vid n, eid edges, eid* edge_of, vid* upper, vid* lower,
    u64* lookups
) {
    u64 sum = 0;
    for (u64 e = thread_in_grid(); e < (u64)edges; e += threads_in_grid()) {
        const vid v = row_of(base, 0, n, (eid)e);
        const eid arc = offsets[v] + ((eid)e - base[v]);
        const vid u = targets[arc];
        const eid behind = offsets[u] + (base[u + 1] - base[u]), end = offsets[u + 1];
        upper[e] = v;
        lower[e] = u;
        edge_of[arc] = (eid)e;
        edge_of[place_of(targets, behind, end, v)] = (eid)e;
        sum += (u64)lesser(offsets[v + 1] - offsets[v], end - offsets[u]);
    }
    sum = warp_sum(sum);
    if (lane() == 0 && sum) atomicAdd(lookups, sum);
}

// Adds one to the support of all three edges of each triangle. Warps take EDGES edges at a time until all are taken or
// `cycles` have passed; `cursor` says where to go on.
extern "C" __global__ void __launch_bounds__(512, 4) count_support(
    const eid* offsets, const vid* targets, const eid* base, const vid* upper, const vid* lower, eid edges, int* support,
    u64* cursor, i64 cycles
) {
    const i64 began = clock64();
    for (bool first_turn = true;; first_turn = false) {
        u64 turn = ~0ull;
        if (lane() == 0 && (first_turn || clock64() - began < cycles)) turn = atomicAdd(cursor, 1ull);
        turn = __shfl_sync(FULL, turn, 0);
        if (turn == ~0ull || turn * EDGES >= (u64)edges) break;
        // of the edge (v, u): the neighbours of v that are less than u, and the lesser ones of u
        const u64 e = turn * EDGES + lane();
        eid here = 0, own = 0, there = 0, other = 0, length = 0, width = 0;
        if (e < (u64)edges) {
            const vid v = upper[e], u = lower[e];
            here = offsets[v], own = base[v], length = (eid)e - own;
            there = offsets[u], other = base[u], width = base[u + 1] - other;
            if (width < length) {
                eid held = here;
                here = there, there = held;
                held = own, own = other, other = held;
                held = length, length = width, width = held;
            }
        }
        const unsigned upto = warp_inclusive_sum((unsigned)length), total = __shfl_sync(FULL, upto, 31);
        for (unsigned from = 0; from < total; from += 32) {
            const unsigned i = from + lane();
            const unsigned owner = owner_of(upto, i < total ? i : total - 1);
            const eid at = (eid)(i - (__shfl_sync(FULL, upto, owner) - __shfl_sync(FULL, (unsigned)length, owner)));
            const eid row = __shfl_sync(FULL, here, owner), row_edges = __shfl_sync(FULL, own, owner);
            const eid begin = __shfl_sync(FULL, there, owner), end = begin + __shfl_sync(FULL, width, owner);
            const eid edges_there = __shfl_sync(FULL, other, owner);
            bool found = false;
            if (i < total) {
                const vid w = targets[row + at];
                const eid place = place_of(targets, begin, end, w);
                found = place < end && targets[place] == w;
                if (found) {
                    atomicAdd(support + row_edges + at, 1);
                    atomicAdd(support + edges_there + (place - begin), 1);
                }
            }
            const unsigned finders = __ballot_sync(FULL, found);
            if (found) {
                const unsigned mine = __match_any_sync(finders, owner);
                if ((mine & lanes_below()) == 0) atomicAdd(support + turn * EDGES + owner, __popc(mine));
            }
        }
    }
}

// ---- peeling -------------------------------------------------------------------------------------------------------

extern "C" __global__ void start_peeling(u64 edges, unsigned* turn, u64* state) {
    for (u64 e = thread_in_grid(); e < edges; e += threads_in_grid()) turn[e] = ALIVE;
    if (blockIdx.x == 0)
        for (unsigned i = threadIdx.x; i < STATE_WORDS; i += blockDim.x) {
            u64 value = 0;
            if (i >= LEAST && i < LEAST + SLOTS) value = (u64)NO_LEAST;
            if (i == LENGTH || i == LIVE) value = edges;
            if (i == SCANNING) value = 1;
            state[i] = value;
        }
}

struct Peeling {
    const eid* offsets;  // of the rows of what is left, which are packed now and then
    const vid* targets;
    const eid* edge_of;
    const vid* upper;
    const vid* lower;
    int* support;
    unsigned* turn;
    u64* queue;
    u64* tail;
    unsigned piece;  // neighbours that are looked up for one entry of the queue

    // The edges of all lanes that `take` are peeled in this round: as many pieces as the shorter row has.
    __device__ __forceinline__ unsigned take(bool take, eid e, unsigned round) const {
        unsigned count = 0;
        if (take) {
            turn[e] = round;
            const vid v = upper[e], u = lower[e];
            const eid length = lesser(offsets[v + 1] - offsets[v], offsets[u + 1] - offsets[u]);
            count = (unsigned)((length + (piece - 1)) / piece);
        }
        return append_pieces(queue, tail, (u64)e, count);
    }

    // An edge loses a triangle; whether that was the last one above the level.
    __device__ __forceinline__ bool lower_one(eid e, int k) const {
        if (__ldcg(support + e) <= k) return false;
        const int old = atomicSub(support + e, 1);
        if (old <= k) atomicAdd(support + e, 1);  // others were quicker, and it is of this level already
        return old == k + 1;
    }

    // `count` entries of the queue, at most one for each lane.
    __device__ __forceinline__ unsigned peel(const u64* entries, unsigned count, int k, unsigned round) const {
        eid e = 0, begin = 0, length = 0, there = 0, end = 0;
        if (lane() < count) {
            const u64 entry = __ldcg(entries + lane());
            e = (eid)(entry >> PART_BITS);
            const vid v = upper[e], u = lower[e];
            const eid v_begin = offsets[v], v_end = offsets[v + 1], u_begin = offsets[u], u_end = offsets[u + 1];
            const bool by_v = v_end - v_begin < u_end - u_begin;
            const eid row = by_v ? v_begin : u_begin, size = by_v ? v_end - v_begin : u_end - u_begin;
            const eid first = (eid)(entry & ((1u << PART_BITS) - 1)) * piece;
            begin = row + first;
            length = first < size ? lesser(size - first, (eid)piece) : 0;
            there = by_v ? u_begin : v_begin;
            end = by_v ? u_end : v_end;
        }
        unsigned grown = 0;
        const unsigned upto = warp_inclusive_sum((unsigned)length), total = __shfl_sync(FULL, upto, 31);
        for (unsigned from = 0; from < total; from += 32) {
            const unsigned i = from + lane();
            const unsigned owner = owner_of(upto, i < total ? i : total - 1);
            const unsigned before = __shfl_sync(FULL, upto, owner) - __shfl_sync(FULL, (unsigned)length, owner);
            const eid arc = __shfl_sync(FULL, begin, owner) + (eid)(i - before);
            const eid low = __shfl_sync(FULL, there, owner), high = __shfl_sync(FULL, end, owner);
            const eid mine = __shfl_sync(FULL, e, owner);
            eid one = 0, other = 0;
            bool take_one = false, take_other = false;
            if (i < total) {
                one = edge_of[arc];
                const unsigned its_turn = __ldcg(turn + one);
                if (its_turn >= round && one != mine) {
                    const vid w = targets[arc];
                    const eid place = place_of(targets, low, high, w);
                    if (place < high && targets[place] == w) {
                        other = edge_of[place];
                        const unsigned others_turn = __ldcg(turn + other);
                        if (others_turn >= round) {
                            if (its_turn > round && (others_turn > round || mine < other)) take_one = lower_one(one, k);
                            if (others_turn > round && (its_turn > round || mine < one)) take_other = lower_one(other, k);
                        }
                    }
                }
            }
            if (__any_sync(FULL, take_one)) grown += take(take_one, one, round + 1);
            if (__any_sync(FULL, take_other)) grown += take(take_other, other, round + 1);
        }
        return grown;
    }
};

// `support` becomes the truss number less two. Runs until all is peeled, fewer than `sparse` edges are left, or `cycles`
// have passed; then `state` says where to go on. A round may be left in the middle: the entries from HEAD to END are
// still to be done then.
extern "C" __global__ void __launch_bounds__(512, 4) peel(
    const eid* offsets, const vid* targets, const eid* edge_of, const vid* upper, const vid* lower, int* support,
    unsigned* turn, u64* queue, unsigned piece, eid* list_a, eid* list_b, u64* state, i64 sparse, i64 cycles
) {
    __shared__ RoundShared shared;
    __shared__ ScanShared sums;
    if (threadIdx.x == 0) {
        shared.grown = 0;
        sums = {0, NO_LEAST};
    }
    const Peeling peeling = {offsets, targets, edge_of, upper, lower, support, turn, queue, state + TAIL, piece};
    SummingBarrier barrier = {0, 0, 0, 0, 0, clock64()};
    int k = (int)state[K];
    u64 head = state[HEAD], end = state[END], tail = state[TAIL];
    i64 length = (i64)state[LENGTH], live = (i64)state[LIVE];
    unsigned which = (unsigned)state[WHICH], scans = (unsigned)state[SCANS], rounds = (unsigned)state[ROUNDS];
    bool scanning = state[SCANNING], finished = false, stop = false;
    // every block must have read the saved state before anyone changes it; and one round is begun, however late it is
    barrier(state + BARRIER, shared, NO_LEAST, stop);
    while (!finished && !stop) {
        unsigned grown = 0;
        if (scanning) {
            const unsigned slot = scans++ % SLOTS, next = (slot + 2) % SLOTS;
            const bool pack = live * 2 < length;
            const eid* list = which == 0 ? nullptr : which == 1 ? list_a : list_b;
            eid* packed = !pack ? nullptr : which == 1 ? list_b : list_a;
            if (thread_in_grid() == 0) {
                state[SURVIVORS + next] = 0;
                state[LEAST + next] = (u64)NO_LEAST;
            }
            grown = scan_left(
                support, list, length, k, packed, state + SURVIVORS + slot, (i64*)state + LEAST + slot, sums,
                [&](bool take, eid e) {
                    if (k > 0) return peeling.take(take, e, rounds + 1);
                    if (take) turn[e] = 0;  // no triangles: nothing to be done
                    return 0u;
                }
            );
            if (lane() == 0 && grown) atomicAdd(&shared.grown, grown);
            tail += barrier(state + BARRIER, shared, cycles, stop);
            live = (i64)__ldcg(state + SURVIVORS + slot);
            if (pack) {
                length = live;
                which = which == 1 ? 2 : 1;
            }
            finished = live == 0;
            scanning = tail == head;
            end = tail;
            if (scanning && !finished) k = (int)__ldcg(state + LEAST + slot);
            stop |= live < sparse;
        } else {
            const unsigned round = rounds + 1, warps = warps_in_grid();
            u64* cursor = state + CURSOR + round % SLOTS;
            if (thread_in_grid() == 0) state[CURSOR + (round + 2) % SLOTS] = 0;
            const u64 entries = end - head, fair = (entries + warps - 1) / warps, each = fair < 32 ? fair : 32;
            const u64 turns = (entries + each - 1) / each;
            u64 mine = warp_in_grid();  // the first turn is every warp's own; others go to who comes first
            while (mine < turns) {
                const u64 first = head + mine * each;
                grown += peeling.peel(queue + first, (unsigned)lesser(each, end - first), k, round);
                if (turns <= warps) break;
                if (lane() == 0) mine = clock64() - barrier.began > cycles ? turns : warps + atomicAdd(cursor, 1ull);
                mine = __shfl_sync(FULL, mine, 0);
            }
            if (lane() == 0 && grown) atomicAdd(&shared.grown, grown);
            tail += barrier(state + BARRIER, shared, cycles, stop);
            const u64 done = turns <= warps ? turns : lesser(turns, warps + __ldcg(cursor));
            if (done < turns) {  // time was up
                head += done * each;
                stop = true;
            } else {
                ++rounds;
                head = end;
                end = tail;
                scanning = head == end;
                k += scanning;
            }
        }
    }
    if (thread_in_grid() == 0) {
        state[K] = (u64)k;
        state[HEAD] = head;
        state[END] = end;
        state[LENGTH] = (u64)length;
        state[LIVE] = (u64)live;
        state[WHICH] = which;
        state[SCANNING] = scanning;
        state[SCANS] = scans;
        state[ROUNDS] = rounds;
        state[FINISHED] = finished;
    }
}

// ---- rows of what is left, and the answer --------------------------------------------------------------------------

// kept[arc]: whether its edge is still there after so many rounds.
extern "C" __global__ void mark_left(const eid* edge_of, eid arcs, const unsigned* turn, unsigned rounds, eid* kept) {
    for (u64 arc = thread_in_grid(); arc < (u64)arcs; arc += threads_in_grid()) kept[arc] = turn[edge_of[arc]] > rounds;
}

// `upto[arc]`: how many arcs are kept up to this one. The offsets are of rows that hold `arcs` arcs.
extern "C" __global__ void pack_rows(
    const eid* offsets, const vid* targets, const eid* edge_of, vid n, eid arcs, const eid* upto, eid* new_offsets,
    vid* new_targets, eid* new_edge_of
) {
    for (u64 arc = thread_in_grid(); arc < (u64)arcs; arc += threads_in_grid()) {
        const eid place = arc ? upto[arc - 1] : 0;
        if (upto[arc] == place) continue;
        new_targets[place] = targets[arc];
        new_edge_of[place] = edge_of[arc];
    }
    for (i64 v = thread_in_grid(); v <= n; v += threads_in_grid()) new_offsets[v] = offsets[v] ? upto[offsets[v] - 1] : 0;
}

// truss[i] of the edge between the given ids src[i] and dst[i]; `rank` names vertices as the rows do, or is null.
extern "C" __global__ void tell_trusses(
    const eid* offsets, const vid* targets, const eid* base, const int* support, const vid* src, const vid* dst,
    const vid* rank, u64 edges, i64* truss
) {
    for (u64 i = thread_in_grid(); i < edges; i += threads_in_grid()) {
        const vid a = rank ? rank[src[i]] : src[i], b = rank ? rank[dst[i]] : dst[i];
        const vid v = a < b ? b : a, u = a < b ? a : b;
        const eid begin = offsets[v], lesser_ones = base[v + 1] - base[v];
        truss[i] = support[base[v] + (place_of(targets, begin, begin + lesser_ones, u) - begin)] + 2;
    }
}
