// What peels by levels has in common: the barrier that ends a round and tells how much it brought, the scan that takes
// those of a level, and the queue of what was taken, cut into pieces so that all warps have alike to do.
#pragma once
#include "common.cuh"

#define SLOTS 4  // of the scan's sums: one is filled, one may still be read, one is cleared
#define NO_LEAST ((i64)1 << 62)
#define PART_BITS 24  // of an entry of a queue: the number of the piece; what it is a piece of is above

struct RoundShared {
    u64 told;
    unsigned grown;
};

// A barrier of all blocks that adds up what each of them brings: arrivals in the upper 24 bits, "time is up" in bit 39,
// the sum in the bits below. Two words, 16 apart, take turns: nobody comes to the next but one before all have read this
// one. Both are zero when the kernel starts.
struct SummingBarrier {
    u64 before, other_before;
    unsigned met, other_met, turn;
    i64 began;

    __device__ __forceinline__ u64 operator()(u64* words, RoundShared& shared, i64 cycles, bool& stop) {
        __syncthreads();
        if (threadIdx.x == 0) {
            u64* word = words + 16 * turn;
            u64 mine = (u64)1 << 40 | shared.grown;
            if (blockIdx.x == 0 && clock64() - began > cycles) mine |= (u64)1 << 39;
            shared.grown = 0;
            const unsigned wanted = (met + gridDim.x) & 0xffffffu;
            asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(word), "l"(mine) : "memory");
            u64 seen;
            do {
                asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(word) : "memory");
            } while ((unsigned)(seen >> 40) != wanted);
            shared.told = seen;
        }
        __syncthreads();
        const u64 seen = shared.told;
        const u64 sum = seen & (((u64)1 << 39) - 1);
        stop = seen >> 39 & 1;
        const u64 brought = sum - before;
        before = other_before;
        other_before = sum;
        met = other_met;
        other_met = (unsigned)(seen >> 40);
        turn ^= 1;
        return brought;
    }
};

// ---- the scan of a level -------------------------------------------------------------------------------------------

struct ScanShared {
    u64 survivors;
    i64 least;
};

template <class T>
DEVICE T lesser(T a, T b) {
    return b < a ? b : a;
}

// Takes those of `list` (null: all) of which k is left: `take(whether, which)` is called by all lanes of a warp, and says
// how much it queued. Adds up who is left above k, and the least of what they have; `survivors` and `lowest` are the
// scan's slots for that. With `packed`, those who are left are copied there.
template <class ID, class LEFT, class TAKE>
DEVICE unsigned scan_left(
    const LEFT* left, const ID* list, i64 length, LEFT k, ID* packed, u64* survivors, i64* lowest, ScanShared& shared,
    TAKE take
) {
    unsigned grown = 0;
    u64 stayed = 0;
    i64 least = NO_LEAST;
    for (i64 base = (i64)warp_in_grid() * 32; base < length; base += (i64)warps_in_grid() * 32) {
        const i64 i = base + lane();
        ID v = 0;
        LEFT d = -1;
        if (i < length) {
            v = list ? list[i] : (ID)i;
            d = __ldcg(left + v);
        }
        const bool stays = d > k;
        if (stays) least = lesser(least, (i64)d);
        if (__any_sync(FULL, d == k)) grown += take(d == k, v);
        const unsigned staying = __ballot_sync(FULL, stays);
        if (packed && staying) {
            u64 place = 0;
            if (lane() == 0) place = atomicAdd(survivors, (u64)__popc(staying));
            place = __shfl_sync(FULL, place, 0);
            if (stays) packed[place + __popc(staying & lanes_below())] = v;
        }
        stayed += __popc(staying);
    }
    for (int step = 16; step > 0; step >>= 1) least = lesser(least, __shfl_xor_sync(FULL, least, step));
    if (lane() == 0 && stayed) {
        atomicAdd(&shared.survivors, stayed);
        atomicMin(&shared.least, least);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const u64 all = atomicExch(&shared.survivors, 0ull);
        const i64 low = (i64)atomicExch((u64*)&shared.least, (u64)NO_LEAST);
        if (all && !packed) atomicAdd(survivors, all);
        if (all) atomicMin(lowest, low);
    }
    return grown;
}

// ---- pieces in a queue ---------------------------------------------------------------------------------------------

// Every lane's `count` pieces of `what`, at the queue's tail. All 32 lanes call it; how many pieces they had together.
DEVICE unsigned append_pieces(u64* queue, u64* tail, u64 what, unsigned count) {
    const unsigned upto = warp_inclusive_sum(count), total = __shfl_sync(FULL, upto, 31);
    if (total == 0) return 0;
    u64 base = 0;
    if (lane() == 31) base = atomicAdd(tail, (u64)total);
    const u64 at = __shfl_sync(FULL, base, 31) + (upto - count);
    if (count == 1) queue[at] = what << PART_BITS;
    for (unsigned rest = __ballot_sync(FULL, count > 1); rest; rest &= rest - 1) {
        const int owner = __ffs(rest) - 1;
        const u64 place = __shfl_sync(FULL, at, owner), whose = __shfl_sync(FULL, what, owner) << PART_BITS;
        const unsigned pieces = __shfl_sync(FULL, count, owner);
        for (unsigned i = lane(); i < pieces; i += 32) queue[place + i] = whose | i;
    }
    return total;
}

// The lane whose items the warp's item `i` is among: `upto` is the sum of the items of this lane and those below it.
// All 32 lanes call it; `i` is less than the sum of all.
DEVICE unsigned owner_of(unsigned upto, unsigned i) {
    unsigned owner = 0;
    for (unsigned step = 16; step > 0; step >>= 1)
        if (__shfl_sync(FULL, upto, owner + step - 1) <= i) owner += step;
    return owner;
}
