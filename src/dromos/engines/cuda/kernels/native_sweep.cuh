// Path counts forward and dependencies backward over the levels of a search, without atomics: a vertex gathers from the
// level before it, or behind it, along its own row. WIDE counts have an exponent of their own, since the paths of a
// lattice are more than a float can count. LEVEL is the type of the levels: one byte where they fit.
//
// `order` lists the vertices by level, and in a level by how many lanes their rows take; `bounds` says where each such
// part begins: CLASSES of them a level.
#pragma once
#include "arithmetic.cuh"

#define BLOCK 512
#define WARPS (BLOCK / 32)
#define CLASSES 9

#if WIDE
struct Count {
    double value;  // 0, or 0.5 <= value < 1
    int exponent;
};
DEVICE Count normal(double value, int exponent) {
    if (value == 0.0) return Count{0.0, 0};
    int shift = 0;
    value = frexp(value, &shift);
    return Count{value, exponent + shift};
}
DEVICE Count count_of(double value) { return normal(value, 0); }
DEVICE double plain(Count a) { return ldexp(a.value, a.exponent); }
DEVICE Count operator+(Count a, Count b) {
    if (a.value == 0.0) return b;
    if (b.value == 0.0) return a;
    const bool first = a.exponent >= b.exponent;
    const Count high = first ? a : b, low = first ? b : a;
    const int apart = high.exponent - low.exponent;
    return apart > 1000 ? high : normal(high.value + ldexp(low.value, -apart), high.exponent);
}
DEVICE Count operator*(Count a, Count b) { return normal(a.value * b.value, a.exponent + b.exponent); }
DEVICE Count operator/(Count a, Count b) { return normal(a.value / b.value, a.exponent - b.exponent); }
DEVICE Count exchange(Count a, int step) {
    return Count{__shfl_xor_sync(FULL, a.value, step), __shfl_xor_sync(FULL, a.exponent, step)};
}
#else
typedef double Count;
DEVICE Count count_of(double value) { return value; }
DEVICE double plain(Count a) { return a; }
DEVICE Count exchange(Count a, int step) { return __shfl_xor_sync(FULL, a, step); }
#endif

struct Rows {
    const eid* offsets;
    const vid* targets;
};

// The sum over a part of a row of what those of level `wanted` have: every `parts`-th arc from `arc` on.
DEVICE Count gather(const Rows& rows, eid arc, eid end, const LEVEL* level, LEVEL wanted, const Count* given, unsigned parts) {
    Count sum = count_of(0.0);
#pragma unroll 4
    for (; arc < end; arc += parts) {
        const vid u = __ldg(rows.targets + arc);
        if (level[u] == wanted) sum = sum + given[u];
    }
    return sum;
}

// settle(v, sum) for all vertices order[begin..end), `parts` lanes each.
template <unsigned parts, class F>
DEVICE void gather_some(const Rows& rows, const vid* order, i64 begin, i64 end, const LEVEL* level, LEVEL wanted,
                        const Count* given, F&& settle) {
    const unsigned each = 32 / parts;
    for (i64 base = begin + each * (i64)warp_in_grid(); base < end; base += each * (i64)warps_in_grid()) {
        const i64 i = base + lane() / parts;
        vid v = 0;
        Count sum = count_of(0.0);
        if (i < end) {
            v = order[i];
            const eid first = __ldg(rows.offsets + v), last = __ldg(rows.offsets + v + 1);
            sum = gather(rows, first + lane() % parts, last, level, wanted, given, parts);
        }
        __syncwarp();
        for (unsigned step = parts / 2; step > 0; step >>= 1) sum = sum + exchange(sum, step);
        if (i < end && lane() % parts == 0) settle(v, sum);
    }
}

template <class F>
DEVICE void gather_by_blocks(const Rows& rows, const vid* order, i64 begin, i64 end, const LEVEL* level, LEVEL wanted,
                             const Count* given, F&& settle) {
    __shared__ Count sums[WARPS];
    for (i64 i = begin + blockIdx.x; i < end; i += gridDim.x) {
        const vid v = order[i];
        const eid first = __ldg(rows.offsets + v), last = __ldg(rows.offsets + v + 1);
        Count sum = gather(rows, first + threadIdx.x, last, level, wanted, given, BLOCK);
        __syncwarp();
        for (int step = 16; step > 0; step >>= 1) sum = sum + exchange(sum, step);
        if (lane() == 0) sums[warp_in_block()] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < WARPS; ++w) sum = sum + sums[w];
            settle(v, sum);
        }
        __syncthreads();
    }
}

template <class F>
DEVICE void gather_level(const Rows& rows, const vid* order, const i64* bounds, const LEVEL* level, LEVEL wanted,
                         const Count* given, F&& settle) {
    gather_by_blocks(rows, order, bounds[0], bounds[1], level, wanted, given, settle);
    gather_some<32>(rows, order, bounds[1], bounds[3], level, wanted, given, settle);
    gather_some<16>(rows, order, bounds[3], bounds[4], level, wanted, given, settle);
    gather_some<8>(rows, order, bounds[4], bounds[5], level, wanted, given, settle);
    gather_some<4>(rows, order, bounds[5], bounds[6], level, wanted, given, settle);
    gather_some<2>(rows, order, bounds[6], bounds[7], level, wanted, given, settle);
    gather_some<1>(rows, order, bounds[7], bounds[9], level, wanted, given, settle);
}

// Levels first..last forward (`paths` of level first - 1 are known), or backward from first down to last; `spread` holds
// (1 + dependency) / paths of the levels behind. Counts that grow too large are told in `overflow`.
extern "C" __global__ void __launch_bounds__(BLOCK) count_paths(Rows into, const vid* order, const i64* bounds, const LEVEL* level,
                                                                int first, int last, Count* paths, unsigned* overflow,
                                                                unsigned* arrivals) {
    unsigned met = 0;
    for (int d = first; d <= last; ++d) {
        gather_level(into, order, bounds + CLASSES * d, level, (LEVEL)(d - 1), paths, [&](vid v, Count sum) {
            paths[v] = sum;
#if !WIDE
            if (sum > 1e280) *overflow = 1;
#endif
        });
        if (d < last) grid_barrier(arrivals, met);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) spread_back(Rows out, const vid* order, const i64* bounds, const LEVEL* level,
                                                                int first, int last, int deepest, double on_path, vid source,
                                                                const Count* paths, Count* spread, double* total,
                                                                unsigned* arrivals) {
    unsigned met = 0;
    for (int d = first; d >= last; --d) {
        const auto settle = [&](vid v, Count sum) {
            const double dependency = d == deepest ? 0.0 : plain(paths[v] * sum);
            spread[v] = count_of(1.0 + dependency) / paths[v];
            if (v != source) total[v] += dependency + on_path;
        };
        if (d == deepest) {
            for (i64 i = bounds[CLASSES * d] + thread_in_grid(); i < bounds[CLASSES * (d + 1)]; i += threads_in_grid())
                settle(order[i], count_of(0.0));
        } else {
            gather_level(out, order, bounds + CLASSES * d, level, (LEVEL)(d + 1), spread, settle);
        }
        if (d > last) grid_barrier(arrivals, met);
    }
}
