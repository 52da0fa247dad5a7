// One round of label propagation: every vertex takes the most frequent label around it, the least of those.
//
// A label's standing is one number, `times << 40 | (LAST - label)`: the greatest wins. Rows are of one list, or of two
// where in-neighbours count too. By the number of neighbours: up to 8 and up to 32 are compared lane by lane, up to 512
// are counted by a warp in a hash table in shared memory, more by a block; a row with more labels than a table holds is
// counted in several passes, each over the labels of one residue. Rows of more than 2^22 never come here:
// their counts would not fit beside a label.
#pragma once
#include "common.cuh"

#define LAST (((u64)1 << 40) - 1)
#define WARP_SLOTS 1024
#define EMPTY ((vid)-1)

struct Around {
    const eid* offsets;
    const vid* targets;
    const eid* back_offsets;  // null: one list
    const vid* back_targets;
    eid begin, out_length, back_begin, length;

    __device__ __forceinline__ void at(vid v) {
        begin = offsets[v];
        length = out_length = offsets[v + 1] - begin;
        if (back_offsets) {
            back_begin = back_offsets[v];
            length += back_offsets[v + 1] - back_begin;
        }
    }
    __device__ __forceinline__ vid operator[](eid i) const {
        return i < out_length ? targets[begin + i] : back_targets[back_begin + (i - out_length)];
    }
};

DEVICE u64 standing(unsigned times, vid label) { return (u64)times << 40 | (LAST - (u64)label); }
DEVICE vid label_of(u64 best) { return (vid)(LAST - (best & LAST)); }
DEVICE u64 better(u64 a, u64 b) { return b > a ? b : a; }

// All bits of a label in all bits of the hash, and no two labels with the same one.
DEVICE unsigned mixed(int label) {
    unsigned x = (unsigned)label;
    x = (x ^ x >> 16) * 0x85EBCA6Bu;
    x = (x ^ x >> 13) * 0xC2B2AE35u;
    return x ^ x >> 16;
}
DEVICE u64 mixed(i64 label) {
    u64 x = (u64)label;
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDull;
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53ull;
    return x ^ x >> 33;
}

typedef decltype(mixed((vid)0)) hashed;

DEVICE int claim(int* slot, int label) { return atomicCAS(slot, EMPTY, label); }
DEVICE i64 claim(i64* slot, i64 label) { return (i64)atomicCAS((u64*)slot, (u64)EMPTY, (u64)label); }

// A hash table in shared memory; `slots` is a power of two.
struct Table {
    vid* labels;
    unsigned* times;
    unsigned slots;

    __device__ __forceinline__ void clear(unsigned first, unsigned step) {
        for (unsigned i = first; i < slots; i += step) {
            labels[i] = EMPTY;
            times[i] = 0;
        }
    }
    // False if there is no room.
    __device__ __forceinline__ bool add(vid label, unsigned count, unsigned hash) {
        for (unsigned tries = 0; tries < slots; ++tries, ++hash) {
            const unsigned slot = hash & (slots - 1);
            vid there = *(volatile vid*)(labels + slot);
            if (there == EMPTY) there = claim(labels + slot, label);
            if (there == EMPTY || there == label) {
                atomicAdd(times + slot, count);
                return true;
            }
        }
        return false;
    }
    __device__ __forceinline__ u64 best(unsigned first, unsigned step) const {
        u64 found = 0;
        for (unsigned i = first; i < slots; i += step)
            if (times[i]) found = better(found, standing(times[i], labels[i]));
        return found;
    }
};

DEVICE u64 warp_best(u64 value) {
    for (int step = 16; step > 0; step >>= 1) value = better(value, __shfl_xor_sync(FULL, value, step));
    return value;
}

// Lanes of one label leave it to the first of them, if it is the label of the first lane that has any: a community's own
// label is most of what there is, and all lanes would wait for one slot. Returns how many this lane adds.
DEVICE unsigned share_of(bool has, vid label) {
    const unsigned having = __ballot_sync(FULL, has);
    if (having == 0) return 0;
    const int leader = __ffs(having) - 1;
    const vid common = __shfl_sync(FULL, label, leader);
    const unsigned alike = __ballot_sync(FULL, has && label == common);
    if (!has) return 0;
    if (alike >> lane() & 1) return (int)lane() == leader ? __popc(alike) : 0;
    return 1;
}

// Up to `width` neighbours: 8 or 32 lanes a vertex, each counts the lanes that hold its own label.
template <int width>
DEVICE void relabel_lanes(Around& around, const vid* list, i64 count, const vid* previous, vid* label) {
    const int own = threadIdx.x & (width - 1);
    const i64 groups = (i64)threads_in_grid() / width;
    for (i64 first = (i64)warp_in_grid() * (32 / width); first < count; first += groups) {
        const i64 i = first + lane() / width;
        const vid v = list[i < count ? i : count - 1];
        around.at(v);
        vid mine = EMPTY;
        if (own < around.length) mine = previous[around[own]];
        unsigned times = 0;
#pragma unroll
        for (int j = 0; j < width; ++j) times += __shfl_sync(FULL, mine, j, width) == mine;
        u64 best = mine == EMPTY ? 0 : standing(times, mine);
#pragma unroll
        for (int step = width / 2; step > 0; step >>= 1) best = better(best, __shfl_xor_sync(FULL, best, step, width));
        if (own == 0 && i < count) label[v] = best ? label_of(best) : previous[v];
    }
}

extern "C" __global__ void relabel_8(
    const eid* offsets, const vid* targets, const eid* back_offsets, const vid* back_targets, const vid* list, i64 count,
    const vid* previous, vid* label
) {
    Around around = {offsets, targets, back_offsets, back_targets};
    relabel_lanes<8>(around, list, count, previous, label);
}

extern "C" __global__ void relabel_32(
    const eid* offsets, const vid* targets, const eid* back_offsets, const vid* back_targets, const vid* list, i64 count,
    const vid* previous, vid* label
) {
    Around around = {offsets, targets, back_offsets, back_targets};
    relabel_lanes<32>(around, list, count, previous, label);
}

// A warp a vertex, of up to WARP_SLOTS / 2 neighbours. Shared memory: WARP_SLOTS slots a warp.
extern "C" __global__ void relabel_warp(
    const eid* offsets, const vid* targets, const eid* back_offsets, const vid* back_targets, const vid* list, i64 count,
    const vid* previous, vid* label
) {
    extern __shared__ i64 room[];
    const unsigned warps = blockDim.x >> 5;
    vid* labels = (vid*)room;
    Table table = {
        labels + warp_in_block() * WARP_SLOTS, (unsigned*)(labels + warps * WARP_SLOTS) + warp_in_block() * WARP_SLOTS, 0
    };
    Around around = {offsets, targets, back_offsets, back_targets};
    for (i64 i = warp_in_grid(); i < count; i += warps_in_grid()) {
        const vid v = list[i];
        around.at(v);
        table.slots = 64;
        while (table.slots < 2 * around.length) table.slots *= 2;
        table.clear(lane(), 32);
        __syncwarp();
        for (eid base = 0; base < around.length; base += 32) {
            const bool has = base + lane() < around.length;
            const vid found = has ? previous[around[base + lane()]] : EMPTY;
            const unsigned times = share_of(has, found);
            if (times) table.add(found, times, (unsigned)mixed(found));
        }
        __syncwarp();
        const u64 best = warp_best(table.best(lane(), 32));
        if (lane() == 0) label[v] = best ? label_of(best) : previous[v];
        __syncwarp();
    }
}

// One pass over a row by a block: the labels whose hash leaves `residue` when divided by `passes`. False if the table
// was too small for them.
DEVICE bool count_labels(
    const Around& around, const vid* previous, Table& table, u64 passes, u64 residue, unsigned* full, u64& best
) {
    table.clear(threadIdx.x, blockDim.x);
    if (threadIdx.x == 0) *full = 0;
    __syncthreads();
    for (eid base = 0; base < around.length; base += 4 * blockDim.x) {
        vid found[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const eid i = base + q * blockDim.x + threadIdx.x;
            found[q] = i < around.length ? previous[around[i]] : EMPTY;
        }
#pragma unroll
        for (int q = 0; q < 4; ++q) {
            const hashed hash = mixed(found[q]);
            const bool has = found[q] != EMPTY && (passes == 1 || hash % (hashed)passes == (hashed)residue);
            const unsigned times = share_of(has, found[q]);
            if (times && !table.add(found[q], times, (unsigned)(hash / (hashed)passes))) atomicOr(full, 1u);
        }
    }
    __syncthreads();
    if (*(volatile unsigned*)full) return false;
    best = better(best, table.best(threadIdx.x, blockDim.x));
    return true;
}

// A block an item: a vertex's place in `list`, and a pass. `best` is zero before.
extern "C" __global__ void __launch_bounds__(1024, 1) relabel_block(
    const eid* offsets, const vid* targets, const eid* back_offsets, const vid* back_targets, const vid* list,
    const unsigned* item_place, const unsigned* item_pass, i64 count, unsigned slots, const vid* previous, u64* best
) {
    extern __shared__ i64 room[];
    __shared__ unsigned full;
    Table table = {(vid*)room, (unsigned*)((vid*)room + slots), slots};
    Around around = {offsets, targets, back_offsets, back_targets};
    for (i64 item = blockIdx.x; item < count; item += gridDim.x) {
        const unsigned place = item_place[item];
        around.at(list[place]);
        const u64 passes = ((u64)around.length + slots / 2 - 1) / (slots / 2), residue = item_pass[item];
        table.slots = 64;
        while (table.slots < slots && table.slots < 2 * around.length) table.slots *= 2;
        u64 mine = 0;
        // a pass that finds more labels than there is room for is done again in more passes
        for (u64 split = 1, part = 0; part < split; ++part) {
            const bool fits =
                count_labels(around, previous, table, passes * split, residue + part * passes, &full, mine);
            __syncthreads();
            if (!fits) {
                split *= 2;
                part = ~0ull;
            }
        }
        mine = warp_best(mine);
        if (lane() == 0 && mine) atomicMax(best + place, mine);
    }
}

// What the blocks found, and zeros for the next round.
extern "C" __global__ void settle(const vid* list, i64 count, u64* best, vid* label) {
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        label[list[i]] = label_of(best[i]);
        best[i] = 0;
    }
}
