// A layer of a neighbourhood: up to so many arcs of each vertex, and the vertices that they come to for the first time.
//
// The arcs of a row that are drawn are those with the least random numbers, which are hashes of their positions. No two
// are alike, so there is a number below which there are as many as are wanted: it is guessed by proportion, then again
// between what was too low and too high. Nothing is read for that. A warp does it for a row, a block for a long one.
#pragma once
#include "common.cuh"

#define BLOCK 128
#define WARPS (BLOCK / 32)
#define LONG 2048      // arcs of a row that a block looks at
#define GUESSES 12     // by proportion; then halves
#define STEP 0x9E3779B97F4A7C15ull

DEVICE u64 mixed(u64 x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

DEVICE u64 key_of(i64 arc, u64 salt) { return mixed(((u64)arc ^ salt) + STEP); }

struct Layer {
    const eid* offsets;
    const vid* targets;
    const i64* frontier;
    i64 size;            // of the frontier
    i64 limit;           // arcs of a vertex
    u64 salt;
    const i64* ends;     // where the arcs that are drawn for each vertex end
    const i64* place;    // of each vertex in the sample; -1: not in it
    unsigned* first;     // the first arc that comes to each vertex, ~0 before
    vid* heads;          // of the arcs that are drawn: where they come to
    i64* rows;           // and for which place of the frontier
};

// How many arcs are drawn for each vertex.
extern "C" __global__ void count_drawn(const eid* offsets, const i64* frontier, i64 size, i64 limit, i64* counts) {
    for (i64 i = thread_in_grid(); i < size; i += threads_in_grid()) {
        const i64 v = frontier[i], length = (i64)(offsets[v + 1] - offsets[v]);
        counts[i] = length < limit ? length : limit;
    }
}

// A number such that `wanted` arcs of begin..end have lesser keys; there are more arcs. All threads of a row call it:
// `width` of them, this one is `own`, and sum(x) adds up over all.
template <class F>
DEVICE u64 bound_of(i64 begin, i64 end, i64 wanted, u64 salt, unsigned own, unsigned width, F&& sum) {
    u64 low = 0, high = ~0ull;
    i64 below = 0, most = end - begin;  // keys below `low`, and about as many below `high`
    for (int guess = 0;; ++guess) {
        const double share = guess < GUESSES ? ((double)(wanted - below) + 0.5) / ((double)(most - below) + 1.0) : 0.5;
        u64 bound = low + (u64)((double)(high - low) * share);
        bound = bound <= low ? low + 1 : bound >= high ? high - 1 : bound;
        i64 count = 0;
        for (i64 arc = begin + own; arc < end; arc += width) count += key_of(arc, salt) < bound;
        count = sum(count);
        if (count == wanted) return bound;
        if (count < wanted) {
            low = bound;
            below = count;
        } else {
            high = bound;
            most = count;
        }
    }
}

DEVICE void put(const Layer& l, i64 at, i64 arc, i64 row) {
    const vid head = l.targets[arc];
    l.heads[at] = head;
    l.rows[at] = row;
    if (l.place[head] < 0) atomicMin(l.first + head, (unsigned)at);
}

extern "C" __global__ void __launch_bounds__(BLOCK) draw(const Layer l) {
    __shared__ i64 deferred[WARPS], sums[2][WARPS];
    __shared__ unsigned taken[2][WARPS];
    for (i64 base = (i64)blockIdx.x * WARPS; base < l.size; base += (i64)gridDim.x * WARPS) {
        const i64 row = base + warp_in_block();
        i64 begin = 0, end = 0, at = 0;
        if (row < l.size) {
            const i64 v = l.frontier[row];
            begin = l.offsets[v];
            end = l.offsets[v + 1];
            at = row ? l.ends[row - 1] : 0;
        }
        const bool all = end - begin <= l.limit, later = !all && end - begin > LONG;
        if (lane() == 0) deferred[warp_in_block()] = later ? row : -1;
        if (!later) {
            u64 bound = 0;
            if (!all)
                bound = bound_of(begin, end, l.limit, l.salt, lane(), 32, [](i64 x) { return warp_sum(x); });
            for (i64 arc = begin; arc < end; arc += 32) {
                const i64 mine = arc + lane();
                const bool take = mine < end && (all || key_of(mine, l.salt) < bound);
                const unsigned takers = __ballot_sync(FULL, take);
                if (take) put(l, at + __popc(takers & lanes_below()), mine, row);
                at += __popc(takers);
            }
        }
        __syncthreads();
        for (int which = 0; which < WARPS; ++which) {
            const i64 far = deferred[which];
            if (far < 0) continue;
            const i64 v = l.frontier[far], first = l.offsets[v], last = l.offsets[v + 1];
            unsigned turn = 0;  // two rows of words take turns, so that one barrier is enough
            const u64 bound = bound_of(first, last, l.limit, l.salt, threadIdx.x, BLOCK, [&](i64 x) {
                x = warp_sum(x);
                if (lane() == 0) sums[turn & 1][warp_in_block()] = x;
                __syncthreads();
                x = 0;
                for (int w = 0; w < WARPS; ++w) x += sums[turn & 1][w];
                ++turn;
                return x;
            });
            i64 to = far ? l.ends[far - 1] : 0;
            for (i64 arc = first; arc < last; arc += BLOCK, ++turn) {
                const i64 mine = arc + threadIdx.x;
                const bool take = mine < last && key_of(mine, l.salt) < bound;
                const unsigned takers = __ballot_sync(FULL, take);
                if (lane() == 0) taken[turn & 1][warp_in_block()] = __popc(takers);
                __syncthreads();
                unsigned before = 0, sum = 0;
                for (unsigned w = 0; w < WARPS; ++w) {
                    if (w < warp_in_block()) before += taken[turn & 1][w];
                    sum += taken[turn & 1][w];
                }
                if (take) put(l, to + before + __popc(takers & lanes_below()), mine, far);
                to += sum;
            }
            __syncthreads();
        }
        __syncthreads();
    }
}

// One for each arc that is the first to come to its vertex.
extern "C" __global__ void flag_new(const vid* heads, i64 count, const i64* place, const unsigned* first, i64* flags) {
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid())
        flags[i] = place[heads[i]] < 0 && first[heads[i]] == (unsigned)i;
}

// New vertices in the order in which arcs come to them; `numbers` are the running sums of the flags.
extern "C" __global__ void place_new(const vid* heads, i64 count, const i64* numbers, i64 known, i64* place, i64* found) {
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        const i64 before = i ? numbers[i - 1] : 0;
        if (numbers[i] == before) continue;
        place[heads[i]] = known + before;
        found[before] = heads[i];
    }
}

// The arcs by the places of their ends; the vertices of the frontier have the places from `begin` on.
extern "C" __global__ void place_arcs(const vid* heads, i64* rows, i64 count, const i64* place, i64 begin, i64* source) {
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        source[i] = place[heads[i]];
        rows[i] += begin;
    }
}
