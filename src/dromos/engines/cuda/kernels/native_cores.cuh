// Core numbers by peeling, in one cooperative kernel.
//
// Level k: a scan of the vertices that are left takes those of k remaining neighbours into the queue; each taken vertex
// lowers its neighbours, and one that comes down to k is taken too. The queue holds pieces of rows, not vertices: at
// most PIECE arcs each, as `first arc << 8 | arcs`, so that all warps have alike to do, and a hub's row is shared by many.
// A barrier ends every round, and tells all blocks how many pieces the round brought.
#pragma once
#include "peeling.cuh"

#ifndef DEGREE
#define DEGREE int  // of a remaining degree; it must go below zero without wrapping
#endif
typedef DEGREE degree;

#define PIECE 128

// Where things are in `state`, in 64-bit words; what all blocks write has a cache line of its own.
enum { TAIL = 0, BARRIER = 16, SURVIVORS = 48, LEAST = 64, SAVED = 80, STATE_WORDS = 96 };
enum { K = SAVED, HEAD, LENGTH, LIVE, WHICH, SCANNING, SCANS, FINISHED, ROUNDS };

DEVICE int lowered(int* p) { return atomicSub(p, 1); }
DEVICE i64 lowered(i64* p) { return (i64)atomicAdd((u64*)p, (u64)-1); }
DEVICE void raise(int* p) { atomicAdd(p, 1); }
DEVICE void raise(i64* p) { atomicAdd((u64*)p, 1ull); }

// Peeling begins at level `first`: who has fewer neighbours counts as one of that level.
extern "C" __global__ void start_peeling(const eid* offsets, vid n, degree first, degree* left, u64* state) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        const degree all = (degree)(offsets[v + 1] - offsets[v]);
        left[v] = all < first ? first : all;
    }
    if (blockIdx.x == 0)
        for (unsigned i = threadIdx.x; i < STATE_WORDS; i += blockDim.x) {
            u64 value = 0;
            if (i >= LEAST && i < LEAST + SLOTS) value = (u64)NO_LEAST;
            if (i == LENGTH || i == LIVE) value = (u64)n;
            if (i == SCANNING) value = 1;
            if (i == K) value = (u64)first;
            state[i] = value;
        }
}

// The rows of all lanes' vertices that `take`, cut into pieces, at the queue's tail. All 32 lanes call it.
DEVICE unsigned take_rows(const eid* offsets, u64* queue, u64* tail, bool take, vid v) {
    eid begin = 0, end = 0;
    if (take) {
        begin = offsets[v];
        end = offsets[v + 1];
    }
    const unsigned count = (unsigned)((end - begin + (PIECE - 1)) / PIECE);
    const unsigned upto = warp_inclusive_sum(count), total = __shfl_sync(FULL, upto, 31);
    if (total == 0) return 0;
    u64 base = 0;
    if (lane() == 31) base = atomicAdd(tail, (u64)total);
    const u64 at = __shfl_sync(FULL, base, 31) + (upto - count);
    if (count == 1) queue[at] = (u64)begin << 8 | (u64)(end - begin);
    for (unsigned rest = __ballot_sync(FULL, count > 1); rest; rest &= rest - 1) {
        const int owner = __ffs(rest) - 1;
        const eid first = __shfl_sync(FULL, begin, owner), last = __shfl_sync(FULL, end, owner);
        const u64 place = __shfl_sync(FULL, at, owner);
        const unsigned pieces = __shfl_sync(FULL, count, owner);
        for (unsigned i = lane(); i < pieces; i += 32) {
            const eid piece = first + (eid)i * PIECE, more = last - piece;
            queue[place + i] = (u64)piece << 8 | (u64)(more < PIECE ? more : PIECE);
        }
    }
    return total;
}

// Lowers the neighbours along one piece of a row, and takes those that come down to k.
DEVICE unsigned lower_piece(
    const eid* offsets, const vid* targets, degree* left, degree k, u64 piece, u64* queue, u64* tail
) {
    const vid* row = targets + (piece >> 8);
    const unsigned count = (unsigned)piece & 255u;
    unsigned grown = 0;
    vid w[PIECE / 32];
    degree d[PIECE / 32];
#pragma unroll
    for (int i = 0; i < PIECE / 32; ++i) {
        const unsigned at = lane() + 32 * i;
        w[i] = at < count ? row[at] : (vid)-1;
    }
#pragma unroll
    for (int i = 0; i < PIECE / 32; ++i) d[i] = w[i] >= 0 ? __ldcg(left + w[i]) : 0;
#pragma unroll
    for (int i = 0; i < PIECE / 32; ++i) {
        if (32 * i >= count) break;
        bool take = false;
        if (d[i] > k) {
            const degree old = lowered(left + w[i]);
            take = old == k + 1;
            if (old <= k) raise(left + w[i]);  // it was taken by another arc at the same moment
        }
        if (__any_sync(FULL, take)) grown += take_rows(offsets, queue, tail, take, w[i]);
    }
    return grown;
}

// `left` holds the degrees, and in the end the core numbers; of those above level `last`, the neighbours that are left.
// Runs until all up to that level is peeled or `cycles` have passed; then `state` says where to go on.
extern "C" __global__ void __launch_bounds__(1024, 1) peel(
    const eid* offsets, const vid* targets, degree* left, u64* queue, vid* list_a, vid* list_b, u64* state, degree last,
    i64 cycles
) {
    __shared__ RoundShared shared;
    __shared__ ScanShared sums;
    if (threadIdx.x == 0) {
        shared.grown = 0;
        sums = {0, NO_LEAST};
    }
    SummingBarrier barrier = {0, 0, 0, 0, 0, clock64()};
    degree k = (degree)state[K];
    u64 head = state[HEAD], tail = state[TAIL];
    i64 length = (i64)state[LENGTH], live = (i64)state[LIVE];
    unsigned which = (unsigned)state[WHICH], scans = (unsigned)state[SCANS];
    bool scanning = state[SCANNING], finished = false, stop = false;
    u64 rounds = state[ROUNDS];
    // every block must have read the saved state before anyone changes it; and one round is done, however late it is
    barrier(state + BARRIER, shared, NO_LEAST, stop);
    while (!finished && !stop) {
        unsigned grown = 0;
        if (scanning) {
            const unsigned slot = scans++ % SLOTS, next = (slot + 2) % SLOTS;
            const bool pack = live * 2 < length;
            const vid* list = which == 0 ? nullptr : which == 1 ? list_a : list_b;
            vid* packed = !pack ? nullptr : which == 1 ? list_b : list_a;
            if (thread_in_grid() == 0) {
                state[SURVIVORS + next] = 0;
                state[LEAST + next] = (u64)NO_LEAST;
            }
            grown = scan_left(
                left, list, length, k, packed, state + SURVIVORS + slot, (i64*)state + LEAST + slot, sums,
                [&](bool take, vid v) { return take_rows(offsets, queue, state + TAIL, take, v); }
            );
            if (lane() == 0 && grown) atomicAdd(&shared.grown, grown);
            tail += barrier(state + BARRIER, shared, cycles, stop);
            live = (i64)__ldcg(state + SURVIVORS + slot);
            if (pack) {
                length = live;
                which = which == 1 ? 2 : 1;
            }
            finished = live == 0;
            if (tail > head)
                scanning = false;
            else if (!finished)
                k = (degree)__ldcg(state + LEAST + slot);
            finished |= k > last;
        } else {
            ++rounds;
            const unsigned stride = warps_in_grid();
            u64 i = head + warp_in_grid();
            u64 piece = i < tail ? __ldcg(queue + i) : 0;
            while (i < tail) {
                i += stride;
                const u64 following = i < tail ? __ldcg(queue + i) : 0;
                grown += lower_piece(offsets, targets, left, k, piece, queue, state + TAIL);
                piece = following;
            }
            if (lane() == 0 && grown) atomicAdd(&shared.grown, grown);
            head = tail;
            tail += barrier(state + BARRIER, shared, cycles, stop);
            if (tail == head) {
                scanning = true;
                finished = ++k > last;
            }
        }
    }
    if (thread_in_grid() == 0) {
        state[K] = (u64)k;
        state[HEAD] = head;
        state[LENGTH] = (u64)length;
        state[LIVE] = (u64)live;
        state[WHICH] = which;
        state[SCANNING] = scanning;
        state[SCANS] = scans;
        state[FINISHED] = finished;
        state[ROUNDS] = rounds;
    }
}
