// Greedy colours in a given order, by rounds (Jones and Plassmann): the answer of one vertex after the other.
//
// `before[v]` counts the neighbours that come before v and have no colour yet. Who has none of them left is taken into
// the queue, and gets its colour in the next round: the least that no neighbour before it has. In the same pass over the
// row it lowers the counts of those that come after it. A colour is never above the number of neighbours before, so a
// row of PIECE arcs needs as many bits and one colour more. Longer rows are cut into pieces for many warps. They gather
// bits in memory, and the last one to be done finds the colour.
#pragma once
#include "peeling.cuh"

#define PIECE 64     // arcs for a warp
#define FEW 12       // arcs for a lane, where there are many rows; less than 32
#define NEAR 1024    // colours that a warp gathers in shared memory: a word for each lane
#define HEADER 2     // of the bits of a long row: the pieces that are not done, how many words of bits there are
#define UNROLLED 2

// Where things are in `state`, in 64-bit words; what all blocks write has a cache line of its own.
enum { TAIL = 0, POOL = 16, BARRIER = 32, SAVED = 64, STATE_WORDS = 80 };
enum { HEAD = SAVED, STARTED, FINISHED, ROUNDS };

// ---- who comes before whom -----------------------------------------------------------------------------------------

// Keys that sort the turns by falling degree, equal ones as they are.
extern "C" __global__ void degree_keys(const eid* offsets, const vid* order, const vid* rank, u64 n, u64* keys) {
    for (u64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
        const vid v = rank ? rank[order[i]] : order[i];
        keys[i] = (0xffffffffull - (u64)(offsets[v + 1] - offsets[v])) << 32 | i;
    }
}

// place[v]: when the turn of v comes; `order` holds given ids, and `keys`, if there are any, which of them comes when.
extern "C" __global__ void place_turns(const vid* order, const u64* keys, const vid* rank, u64 n, vid* place) {
    for (u64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
        const vid given = order[keys ? keys[i] & 0xffffffffu : i];
        place[rank ? rank[given] : given] = (vid)i;
    }
}

// The pieces of long rows, as in the queue.
extern "C" __global__ void cut_rows(const eid* offsets, vid n, u64* items, u64* num_items) {
    for (i64 base = (i64)warp_in_grid() * 32; base < n; base += (i64)warps_in_grid() * 32) {
        const i64 v = base + lane();
        const eid length = v < n ? offsets[v + 1] - offsets[v] : 0;
        append_pieces(items, num_items, (u64)v, length > PIECE ? (unsigned)((length + PIECE - 1) / PIECE) : 0);
    }
}

DEVICE unsigned count_in_row(const vid* targets, const vid* place, eid begin, eid end, vid mine, eid step) {
    unsigned found = 0;
    for (eid arc = begin; arc < end; arc += step) found += place[targets[arc]] < mine;
    return found;
}

// before[v], which is zero: how many neighbours come before v. Items first, then rows of at most PIECE arcs.
extern "C" __global__ void count_before(
    const eid* offsets, const vid* targets, const vid* place, vid n, const u64* items, const u64* num_items, int* before
) {
    const u64 pieces = *num_items, turns = pieces + ((u64)n + 31) / 32;
    for (u64 turn = warp_in_grid(); turn < turns; turn += warps_in_grid()) {
        if (turn < pieces) {
            const vid v = (vid)(items[turn] >> PART_BITS);
            const eid begin = offsets[v] + (eid)(items[turn] & ((1u << PART_BITS) - 1)) * PIECE;
            const eid end = lesser(offsets[v + 1], (eid)(begin + PIECE));
            const unsigned found = warp_sum(count_in_row(targets, place, begin + lane(), end, place[v], 32));
            if (lane() == 0 && found) atomicAdd(before + v, (int)found);
            continue;
        }
        const i64 v = (i64)(turn - pieces) * 32 + lane();
        const eid begin = v < n ? offsets[v] : 0, end = v < n ? offsets[v + 1] : 0, length = end - begin;
        const vid mine = v < n ? place[v] : 0;
        if (length && length <= FEW) before[v] = (int)count_in_row(targets, place, begin, end, mine, 1);
        for (unsigned rest = __ballot_sync(FULL, length > FEW && length <= PIECE); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            const eid from = __shfl_sync(FULL, begin, owner), to = __shfl_sync(FULL, end, owner);
            const vid whose = __shfl_sync(FULL, mine, owner);
            const unsigned found = warp_sum(count_in_row(targets, place, from + lane(), to, whose, 32));
            if ((int)lane() == owner) before[v] = (int)found;
        }
    }
}

// ---- colours -------------------------------------------------------------------------------------------------------

struct Coloring {
    const eid* offsets;
    const vid* targets;
    const vid* place;
    int* before;
    int* color;
    unsigned* at;    // where the bits of a long row are
    unsigned* bits;  // of all long rows
    u64* queue;
    u64* tail;
    unsigned* near;  // this warp's, in shared memory

    // The vertices of all lanes that `take` are coloured in the next round.
    __device__ __forceinline__ unsigned take(bool take, vid v) const {
        const eid length = take ? offsets[v + 1] - offsets[v] : 0;
        return append_pieces(queue, tail, (u64)v, (unsigned)((length + PIECE - 1) / PIECE));
    }

    // A neighbour that comes after is lowered; whether it was the last one that it waited for.
    __device__ __forceinline__ bool lower(vid w) const { return atomicSub(before + w, 1) == 1; }

    // Rows of at most FEW arcs, one for each lane.
    __device__ __forceinline__ unsigned color_few(vid v, eid begin, unsigned length) const {
        const unsigned longest = __reduce_max_sync(FULL, length);
        const vid mine = length ? place[v] : 0;
        unsigned grown = 0, seen = 0;
        for (unsigned i = 0; i < longest; ++i) {
            bool last = false;
            vid w = 0;
            if (i < length) {
                w = targets[begin + i];
                const vid its = place[w];
                if (its < mine) {
                    const int c = __ldcg(color + w);
                    if (c < 32) seen |= 1u << c;
                } else if (its > mine) {
                    last = lower(w);
                }
            }
            if (__any_sync(FULL, last)) grown += take(last, w);
        }
        if (length) color[v] = __ffs(~seen) - 1;
        return grown;
    }

    // A piece of a row, by the whole warp; `far`: where colours above those of shared memory are noted, null: nowhere.
    __device__ __forceinline__ unsigned see(vid v, eid begin, unsigned length, unsigned* far, unsigned words) const {
        const vid mine = place[v];
        unsigned grown = 0;
        near[lane()] = 0;
        __syncwarp();
        for (unsigned base = 0; base < length; base += 32 * UNROLLED) {
            vid w[UNROLLED], its[UNROLLED];
            bool last[UNROLLED];
#pragma unroll
            for (int i = 0; i < UNROLLED; ++i) {
                const unsigned j = base + 32 * i + lane();
                w[i] = j < length ? targets[begin + j] : v;
            }
#pragma unroll
            for (int i = 0; i < UNROLLED; ++i) its[i] = place[w[i]];
#pragma unroll
            for (int i = 0; i < UNROLLED; ++i) {
                last[i] = false;
                if (its[i] < mine) {
                    const unsigned c = (unsigned)__ldcg(color + w[i]);
                    if (c < NEAR)
                        atomicOr(near + (c >> 5), 1u << (c & 31));
                    else if (far && c < 32 * words)
                        atomicOr(far + (c >> 5), 1u << (c & 31));
                } else if (its[i] > mine) {
                    last[i] = lower(w[i]);
                }
            }
#pragma unroll
            for (int i = 0; i < UNROLLED; ++i)
                if (__any_sync(FULL, last[i])) grown += take(last[i], w[i]);
        }
        __syncwarp();
        return grown;
    }

    // A row of at most PIECE arcs.
    __device__ __forceinline__ unsigned color_row(vid v, eid begin, unsigned length) const {
        const unsigned grown = see(v, begin, length, nullptr, 0);
        const unsigned word = near[lane()], open = __ballot_sync(FULL, word != FULL);
        if ((int)lane() == __ffs(open) - 1) color[v] = (int)(32 * lane()) + __ffs(~word) - 1;
        return grown;
    }

    // A piece of a longer row; the last piece finds the colour.
    __device__ __forceinline__ unsigned color_piece(vid v, eid begin, unsigned length) const {
        unsigned* header = bits + at[v];
        unsigned* own = header + HEADER;
        const unsigned words = __ldcg(header + 1);
        const unsigned grown = see(v, begin, length, own, words);
        if (lane() < words && near[lane()]) atomicOr(own + lane(), near[lane()]);
        __threadfence();
        __syncwarp();
        unsigned left = 0;
        if (lane() == 0) left = atomicSub(header, 1u);
        if (__shfl_sync(FULL, left, 0) != 1) return grown;
        __threadfence();
        for (unsigned base = 0;; base += 32) {  // one bit at least is free: there are more than neighbours before
            const unsigned word = base + lane() < words ? __ldcg(own + base + lane()) : FULL;
            const unsigned open = __ballot_sync(FULL, word != FULL);
            if (!open) continue;
            if ((int)lane() == __ffs(open) - 1) color[v] = (int)(32 * (base + lane())) + __ffs(~word) - 1;
            return grown;
        }
    }

    // `count` entries of the queue, at most one for each lane; with `alone` short rows are done by a lane each.
    __device__ __forceinline__ unsigned color_entries(const u64* entries, unsigned count, bool alone) const {
        vid v = 0;
        eid begin = 0;
        unsigned length = 0;
        bool is_piece = false;
        if (lane() < count) {
            const u64 entry = __ldcg(entries + lane());
            v = (vid)(entry >> PART_BITS);
            const eid end = offsets[v + 1];
            is_piece = end - offsets[v] > PIECE;
            begin = offsets[v] + (eid)(entry & ((1u << PART_BITS) - 1)) * PIECE;
            length = (unsigned)lesser(end - begin, (eid)PIECE);
        }
        unsigned grown = 0;
        const bool few = alone && length <= FEW && !is_piece;
        if (__any_sync(FULL, few && length)) grown += color_few(v, begin, few ? length : 0);
        for (unsigned rest = __ballot_sync(FULL, length && !few); rest; rest &= rest - 1) {
            const int owner = __ffs(rest) - 1;
            const vid whose = __shfl_sync(FULL, v, owner);
            const eid from = __shfl_sync(FULL, begin, owner);
            const unsigned size = __shfl_sync(FULL, length, owner);
            grown += __shfl_sync(FULL, is_piece, owner) ? color_piece(whose, from, size) : color_row(whose, from, size);
            __syncwarp();
        }
        return grown;
    }

    // Takes those who wait for nobody, makes room for the bits of long rows, and colours vertices without neighbours.
    __device__ __forceinline__ unsigned start(vid n, u64* pool) const {
        unsigned grown = 0;
        for (i64 base = (i64)warp_in_grid() * 32; base < n; base += (i64)warps_in_grid() * 32) {
            const i64 v = base + lane();
            const eid length = v < n ? offsets[v + 1] - offsets[v] : 0;
            if (v < n && length == 0) color[v] = 0;
            if (length > PIECE) {
                const unsigned words = (unsigned)before[v] / 32 + 1;
                const unsigned place = (unsigned)atomicAdd(pool, (u64)(HEADER + words));
                at[v] = place;
                bits[place] = (unsigned)((length + PIECE - 1) / PIECE);
                bits[place + 1] = words;
            }
            const bool first = length > 0 && before[v] == 0;
            if (__any_sync(FULL, first)) grown += take(first, (vid)v);
        }
        return grown;
    }
};

// Runs until all have colours or `cycles` have passed; then `state`, which is zero at first, says where to go on.
extern "C" __global__ void __launch_bounds__(512, 2) color_vertices(
    const eid* offsets, const vid* targets, vid n, const vid* place, int* before, int* color, unsigned* at,
    unsigned* bits, u64* queue, u64* state, i64 cycles
) {
    __shared__ RoundShared shared;
    __shared__ unsigned near[512];
    if (threadIdx.x == 0) shared.grown = 0;
    const Coloring coloring = {
        offsets, targets, place, before, color, at, bits, queue, state + TAIL, near + 32 * warp_in_block()
    };
    SummingBarrier barrier = {0, 0, 0, 0, 0, clock64()};
    u64 head = state[HEAD], tail = state[TAIL];
    unsigned rounds = (unsigned)state[ROUNDS];
    bool started = state[STARTED], finished = false, stop = false;
    // every block must have read the saved state before anyone changes it; and one round is done, however late it is
    barrier(state + BARRIER, shared, NO_LEAST, stop);
    while (!finished && !stop) {
        unsigned grown = 0;
        if (!started) {
            grown = coloring.start(n, state + POOL);
            started = true;
        } else {
            ++rounds;
            const unsigned warps = warps_in_grid();
            const u64 entries = tail - head, fair = (entries + warps - 1) / warps, each = fair < 32 ? fair : 32;
            for (u64 first = head + warp_in_grid() * each; first < tail; first += warps * each)
                grown += coloring.color_entries(queue + first, (unsigned)lesser(each, tail - first), each > 4);
            head = tail;
        }
        if (lane() == 0 && grown) atomicAdd(&shared.grown, grown);
        tail += barrier(state + BARRIER, shared, cycles, stop);
        finished = head == tail;
    }
    if (thread_in_grid() == 0) {
        state[HEAD] = head;
        state[STARTED] = started;
        state[FINISHED] = finished;
        state[ROUNDS] = rounds;
    }
}
