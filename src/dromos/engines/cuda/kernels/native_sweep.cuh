// Path counts forward and dependencies backward over the levels of a search, without atomics: a vertex gathers from the
// level before it, or behind it, along its own row. WIDE counts have an exponent of their own, since the paths of a
// lattice are more than a float can count. LEVEL is the type of the levels: one byte where they fit.
//
// `order` lists the vertices by level, and in a level by id, which is by how many lanes their rows take; `bounds` says
// where each such part begins: CLASSES of them a level.
//
// EDGES: what the way back gathers along an arc is added to that arc instead of its vertex. An arc is one lane's, so
// those sums are the same in every run too.
#pragma once
#include "arithmetic.cuh"

#ifndef EDGES
#define EDGES 0
#endif

#define BLOCK 512
#define RESIDENT 3         // blocks on a multiprocessor: what waits for memory gains more by a third than by registers
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

struct Sweep {
    const eid* offsets;
    const vid* targets;
    const LEVEL* level;
    const vid* order;
    const i64* bounds;
    Count* paths;
    Count* spread;         // (1 + dependency) / paths
    double* total;         // of each vertex
    double* through;       // of each arc, where EDGES
    unsigned* overflow;    // set where counts grow too large; then nothing is added to the total
    unsigned* arrivals;
    double on_path;
    int first, last, deepest;
};

// The sum over a part of a row of what those of level `wanted` have: every `parts`-th arc from `arc` on; with
// over(arc, what it brings) for each.
template <class G>
DEVICE Count gather(const Sweep& s, eid arc, eid end, LEVEL wanted, const Count* given, unsigned parts, G&& over) {
    Count sum = count_of(0.0);
#pragma unroll 4
    for (; arc < end; arc += parts) {
        const vid u = __ldg(s.targets + arc);
        if (s.level[u] == wanted) {
            const Count brought = given[u];
            over(arc, brought);
            sum = sum + brought;
        }
    }
    return sum;
}

// settle(v, sum) for all vertices order[begin..end), `parts` lanes each; along(v) gives what is called for its arcs.
template <unsigned parts, class G, class F>
DEVICE void gather_some(const Sweep& s, i64 begin, i64 end, LEVEL wanted, const Count* given, G&& along, F&& settle) {
    const unsigned each = 32 / parts;
    for (i64 base = begin + each * (i64)warp_in_grid(); base < end; base += each * (i64)warps_in_grid()) {
        const i64 i = base + lane() / parts;
        vid v = 0;
        Count sum = count_of(0.0);
        if (i < end) {
            v = s.order[i];
            const eid first = __ldg(s.offsets + v), last = __ldg(s.offsets + v + 1);
            sum = gather(s, first + lane() % parts, last, wanted, given, parts, along(v));
        }
        __syncwarp();
        for (unsigned step = parts / 2; step > 0; step >>= 1) sum = sum + exchange(sum, step);
        if (i < end && lane() % parts == 0) settle(v, sum);
    }
}

template <class G, class F>
DEVICE void gather_by_blocks(const Sweep& s, i64 begin, i64 end, LEVEL wanted, const Count* given, G&& along, F&& settle) {
    __shared__ Count sums[WARPS];
    for (i64 i = begin + blockIdx.x; i < end; i += gridDim.x) {
        const vid v = s.order[i];
        const eid first = __ldg(s.offsets + v), last = __ldg(s.offsets + v + 1);
        Count sum = gather(s, first + threadIdx.x, last, wanted, given, BLOCK, along(v));
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

template <class G, class F>
DEVICE void gather_level(const Sweep& s, int level, LEVEL wanted, const Count* given, G&& along, F&& settle) {
    const i64* bounds = s.bounds + CLASSES * (i64)level;
    gather_by_blocks(s, bounds[0], bounds[1], wanted, given, along, settle);
    gather_some<32>(s, bounds[1], bounds[2], wanted, given, along, settle);
    gather_some<16>(s, bounds[2], bounds[3], wanted, given, along, settle);
    gather_some<8>(s, bounds[3], bounds[4], wanted, given, along, settle);
    gather_some<4>(s, bounds[4], bounds[5], wanted, given, along, settle);
    gather_some<2>(s, bounds[5], bounds[6], wanted, given, along, settle);
    gather_some<1>(s, bounds[6], bounds[9], wanted, given, along, settle);
}

// Where the parts of `order` begin: for level d and class c, at the first of level d whose id is at least begins[c].
extern "C" __global__ void bound_parts(const LEVEL* level, const vid* order, const i64* begins, i64 n, i64 parts, i64* bounds) {
    for (i64 part = thread_in_grid(); part <= parts; part += threads_in_grid()) {
        const i64 d = part / CLASSES, least = begins[part % CLASSES];
        i64 low = 0, high = n;
        while (low < high) {
            const i64 middle = (low + high) / 2;
            const vid v = order[middle];
            const i64 found = level[v] == (LEVEL)-1 ? parts : (i64)level[v];
            if (found < d || (found == d && v < least))
                low = middle + 1;
            else
                high = middle;
        }
        bounds[part] = low;
    }
}

// Nothing is to be done for single arcs.
DEVICE auto only_sums(vid) {
    return [](eid, Count) {};
}

// Levels first..last forward; the rows are those of arcs that come in.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) count_paths(const Sweep s) {
    unsigned met = 0;
    if (s.first == 1) {
        if (thread_in_grid() == 0) s.paths[s.order[0]] = count_of(1.0);
        grid_barrier(s.arrivals, met);
    }
    for (int d = s.first; d <= s.last; ++d) {
        gather_level(s, d, (LEVEL)(d - 1), s.paths, only_sums, [&](vid v, Count sum) {
            s.paths[v] = sum;
#if !WIDE
            if (sum > 1e280) *s.overflow = 1;
#endif
        });
        if (d < s.last) grid_barrier(s.arrivals, met);
    }
}

// Backward from level first down to last; the rows are those of arcs that go out.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) spread_back(const Sweep s) {
    if (*s.overflow) return;
    unsigned met = 0;
    const i64* ends = s.bounds + CLASSES;
    for (int d = s.first; d >= s.last; --d) {
#if EDGES
        const auto along = [&](vid v) {
            return [through = s.through, paths = s.paths[v]](eid arc, Count brought) { through[arc] += plain(paths * brought); };
        };
        const bool alone = d == s.deepest;  // no arc leads on
#else
        const auto along = only_sums;
        const bool alone = d == s.deepest || d == 0;
#endif
        const auto settle = [&](vid v, Count sum) {
            if (d == 0) {  // the source is an end of every path
#if !EDGES
                if (s.on_path > 0.0) s.total[v] += (double)(ends[CLASSES * (i64)s.deepest] - 1);
#endif
                return;
            }
            const double dependency = d == s.deepest ? 0.0 : plain(s.paths[v] * sum);
            s.spread[v] = count_of(1.0 + dependency) / s.paths[v];
#if !EDGES
            s.total[v] += dependency + s.on_path;
#endif
        };
        if (alone) {
            for (i64 i = s.bounds[CLASSES * (i64)d] + thread_in_grid(); i < ends[CLASSES * (i64)d]; i += threads_in_grid())
                settle(s.order[i], count_of(0.0));
        } else {
            gather_level(s, d, (LEVEL)(d + 1), s.spread, along, settle);
        }
        if (d > s.last) grid_barrier(s.arrivals, met);
    }
}
