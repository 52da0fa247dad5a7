// Kernels that pack rows; packs.cuh describes the format.
#pragma once
#include "packs.cuh"

// Calls each(base, arcs, gap, width) for every block of a pack; gap is that of the lane's arc. Whole warps call it.
template <class F>
DEVICE void each_block(const vid* targets, unsigned count, F&& each) {
    unsigned before = 0;
    for (unsigned base = 0; base < count; base += PACK_BLOCK) {
        const unsigned arcs = count - base < PACK_BLOCK ? count - base : PACK_BLOCK;
        const unsigned target = lane() < arcs ? (unsigned)targets[base + lane()] : 0;
        unsigned last = __shfl_up_sync(FULL, target, 1);
        if (lane() == 0) last = before;
        const unsigned gap = lane() < arcs ? target - last : 0;
        before = __shfl_sync(FULL, target, 31);
        each(base, arcs, gap, 32 - (unsigned)__clz(__reduce_or_sync(FULL, gap)));
    }
}

// How many words each pack takes; pack `i` has `counts[i]` arcs from `begins[i]` on.
extern "C" __global__ void measure_packs(const i64* begins, const unsigned* counts, i64 packs, const vid* targets,
                                         unsigned* sizes) {
    for (i64 pack = warp_in_grid(); pack < packs; pack += warps_in_grid()) {
        unsigned size = 0;
        each_block(targets + begins[pack], counts[pack], [&](unsigned base, unsigned arcs, unsigned, unsigned width) {
            size += (base % PACK_GROUP == 0) + pack_words(arcs, width);
        });
        if (lane() == 0) sizes[pack] = size;
    }
}

extern "C" __global__ void __launch_bounds__(256) write_packs(const i64* begins, const unsigned* counts, i64 packs,
                                                              const vid* targets, const unsigned* starts,
                                                              unsigned* words) {
    __shared__ unsigned lines[8][PACK_BLOCK];
    unsigned* line = lines[threadIdx.x >> 5];
    for (i64 pack = warp_in_grid(); pack < packs; pack += warps_in_grid()) {
        unsigned* at = words + starts[pack];
        unsigned* widths = at;
        unsigned header = 0;
        const unsigned count = counts[pack];
        each_block(targets + begins[pack], count, [&](unsigned base, unsigned arcs, unsigned gap, unsigned width) {
            const unsigned number = base % PACK_GROUP / PACK_BLOCK;
            if (number == 0) {
                widths = at++;
                header = 0;
            }
            header |= width << (8 * number);
            line[lane()] = 0;
            __syncwarp();
            const unsigned bit = lane() * width, shift = bit & 31;
            if (lane() < arcs && width) {
                atomicOr(line + (bit >> 5), gap << shift);
                if (shift + width > 32) atomicOr(line + (bit >> 5) + 1, gap >> (32 - shift));
            }
            __syncwarp();
            const unsigned size = pack_words(arcs, width);
            if (lane() < size) at[lane()] = line[lane()];
            __syncwarp();
            at += size;
            if (lane() == 0 && (number == 3 || base + PACK_BLOCK >= count)) *widths = header;
        });
    }
}
