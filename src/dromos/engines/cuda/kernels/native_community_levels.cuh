// From communities to a graph of communities, and the numbers that communities get.
//
// Arcs between communities become keys, which are sorted by CuPy; a run of equal keys is an arc of the new graph. A key
// is the source times the number of communities plus the target, and holds the weight in its low `bits`, where all of
// that has room in 64 bits.
#pragma once
#include "community_records.cuh"
#include "row_search.cuh"

#define ARCS_A_BLOCK 2048
#define THREADS 256

// Blocks of arcs that lie side by side: their rows are few, and only their range is searched for each.
template <class Each>
DEVICE void for_arcs(const eid* offsets, i64 n, i64 arcs, const Each& each) {
    __shared__ vid rows[2];
    for (i64 begin = (i64)blockIdx.x * ARCS_A_BLOCK; begin < arcs; begin += (i64)gridDim.x * ARCS_A_BLOCK) {
        const i64 end = begin + ARCS_A_BLOCK < arcs ? begin + ARCS_A_BLOCK : arcs;
        __syncthreads();
        if (threadIdx.x == 0) rows[0] = row_of(offsets, 0, (vid)(n - 1), (eid)begin);
        if (threadIdx.x == 32) rows[1] = row_of(offsets, 0, (vid)(n - 1), (eid)(end - 1));
        __syncthreads();
        each(begin, end, rows[0], rows[1]);
    }
}

// Weights as whole numbers, in units of 2^-shift; in place.
extern "C" __global__ void in_units(double* weights, i64 arcs, int shift) {
    for (i64 arc = thread_in_grid(); arc < arcs; arc += threads_in_grid())
        ((u64*)weights)[arc] = (u64)rint(ldexp(weights[arc], shift));
}

DEVICE void add_to_row(mass* strength, vid row, mass sum) {
    if (sum) atomicAdd(strength + row, sum);
}

// The sum of the weights at each vertex, a self-loop twice, and of all self-loops; all are zero before.
extern "C" __global__ void __launch_bounds__(THREADS)
    add_rows(const eid* offsets, const vid* targets, const mass* weights, i64 n, i64 arcs, mass* strength, u64* loops) {
    for_arcs(offsets, n, arcs, [&](i64 begin, i64 end, vid first, vid last) {
        const int each = ARCS_A_BLOCK / THREADS;
        const i64 from = begin + (i64)threadIdx.x * each, to = from + each < end ? from + each : end;
        if (from >= end) return;
        vid row = row_of(offsets, first, last, (eid)from);
        mass sum = 0;
        for (i64 arc = from; arc < to; ++arc) {
            while ((i64)offsets[row + 1] <= arc) {
                add_to_row(strength, row, sum);
                sum = 0;
                ++row;
            }
            const mass weight = weight_of(weights, (eid)arc);
            sum += weight;
            if (targets[arc] == row) {
                sum += weight;
                atomicAdd(loops, (u64)weight);
            }
        }
        add_to_row(strength, row, sum);
    });
}

// The weight of each vertex's edges to others of its community; `inside` is zero before.
extern "C" __global__ void __launch_bounds__(THREADS) add_inside(
    const eid* offsets, const vid* targets, const mass* weights, const vid* community, i64 n, i64 arcs, mass* inside
) {
    for_arcs(offsets, n, arcs, [&](i64 begin, i64 end, vid first, vid last) {
        const int each = ARCS_A_BLOCK / THREADS;
        const i64 from = begin + (i64)threadIdx.x * each, to = from + each < end ? from + each : end;
        if (from >= end) return;
        vid row = row_of(offsets, first, last, (eid)from);
        mass sum = 0;
        for (i64 arc = from; arc < to; ++arc) {
            while ((i64)offsets[row + 1] <= arc) {
                add_to_row(inside, row, sum);
                sum = 0;
                ++row;
            }
            const vid u = targets[arc];
            if (u != row && community[u] == community[row]) sum += weight_of(weights, (eid)arc);
        }
        add_to_row(inside, row, sum);
    });
}

// The community of each part: that of any of its vertices.
extern "C" __global__ void lift(const vid* part, const vid* community, i64 n, vid* found) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) found[part[v]] = community[v];
}

extern "C" __global__ void number_vertices(vid* values, i64 count, i64 first) {
    for (i64 v = thread_in_grid(); v < count; v += threads_in_grid()) values[v] = (vid)(first + v);
}

// How many vertices there are up to the last that has arcs.
extern "C" __global__ void count_rows(const eid* offsets, i64 n, i64 arcs, i64* found) {
    *found = (i64)row_of(offsets, 0, (vid)(n - 1), (eid)(arcs - 1)) + 1;
}

// Strengths and members of communities; both are zero before.
extern "C" __global__ void add_members(const vid* community, const mass* strength, i64 n, mass* total, vid* size) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        const vid c = community[v];
        atomicAdd(total + c, strength[v]);
        if (size) {
            if (sizeof(vid) == 4)
                atomicAdd((unsigned*)size + c, 1u);
            else
                atomicAdd((u64*)size + c, 1ull);
        }
    }
}

extern "C" __global__ void flag_used(const vid* size, i64 count, vid* flags) {
    for (i64 c = thread_in_grid(); c < count; c += threads_in_grid()) flags[c] = size[c] > 0;
}

// `numbers` are the sums of the flags up to each community.
extern "C" __global__ void take_numbers(const vid* community, const vid* numbers, i64 n, vid* label) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) label[v] = numbers[community[v]] - 1;
}

extern "C" __global__ void pack_totals(
    const mass* total, const vid* size, const vid* numbers, i64 count, mass* strength
) {
    for (i64 c = thread_in_grid(); c < count; c += threads_in_grid())
        if (size[c] > 0) strength[numbers[c] - 1] = total[c];
}

// The vertices of more than `most` arcs, in any order.
extern "C" __global__ void list_hubs(const eid* offsets, i64 n, i64 most, i64* hubs, i64* lengths, unsigned* found) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        const i64 length = (i64)(offsets[v + 1] - offsets[v]);
        if (length > most) {
            const unsigned at = atomicAdd(found, 1u);
            hubs[at] = v;
            lengths[at] = length;
        }
    }
}

// ---- arcs between communities --------------------------------------------------------------------------------------

// Keys of the arcs from one community to another, in any order; `used` counts them. Weights that do not fit into the
// keys are left in `apart`.
template <class Key>
DEVICE void make_keys(
    const eid* offsets, const vid* targets, const mass* weights, const vid* label, i64 n, i64 arcs, u64 communities,
    int bits, Key* keys, mass* apart, u64* used
) {
    __shared__ u64 base;
    __shared__ unsigned sums[THREADS / 32];
    for_arcs(offsets, n, arcs, [&](i64 begin, i64 end, vid first, vid last) {
        const int each = ARCS_A_BLOCK / THREADS;
        Key found[each];
        mass weight[each];
        unsigned mine = 0;
#pragma unroll
        for (int q = 0; q < each; ++q) {
            const i64 arc = begin + q * THREADS + threadIdx.x;
            weight[q] = 0;
            if (arc < end) {
                const vid row = row_of(offsets, first, last, (eid)arc);
                const u64 a = (u64)label[row], b = (u64)label[targets[arc]];
                if (a != b) {
                    weight[q] = weight_of(weights, (eid)arc);
                    found[q] = (Key)((a * communities + b) << bits | (bits ? (u64)weight[q] : 0));
                }
            }
            mine += weight[q] != 0;
        }
        const unsigned up_to = warp_inclusive_sum(mine);
        if (lane() == 31) sums[warp_in_block()] = up_to;
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned sum = 0;
            for (int warp = 0; warp < THREADS / 32; ++warp) {
                const unsigned own = sums[warp];
                sums[warp] = sum;
                sum += own;
            }
            base = sum ? atomicAdd(used, (u64)sum) : 0;
        }
        __syncthreads();
        u64 at = base + sums[warp_in_block()] + up_to - mine;
#pragma unroll
        for (int q = 0; q < each; ++q)
            if (weight[q]) {
                if (apart) apart[at] = weight[q];
                keys[at++] = found[q];
            }
    });
}

extern "C" __global__ void __launch_bounds__(THREADS) make_keys_4(
    const eid* offsets, const vid* targets, const mass* weights, const vid* label, i64 n, i64 arcs, u64 communities,
    int bits, unsigned* keys, mass* apart, u64* used
) {
    make_keys(offsets, targets, weights, label, n, arcs, communities, bits, keys, apart, used);
}

extern "C" __global__ void __launch_bounds__(THREADS) make_keys_8(
    const eid* offsets, const vid* targets, const mass* weights, const vid* label, i64 n, i64 arcs, u64 communities,
    int bits, u64* keys, mass* apart, u64* used
) {
    make_keys(offsets, targets, weights, label, n, arcs, communities, bits, keys, apart, used);
}

template <class Key>
DEVICE void flag_runs(const Key* keys, i64 count, int bits, eid* flags) {
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid())
        flags[i] = i == 0 || keys[i] >> bits != keys[i - 1] >> bits;
}

extern "C" __global__ void flag_runs_4(const unsigned* keys, i64 count, int bits, eid* flags) {
    flag_runs(keys, count, bits, flags);
}

extern "C" __global__ void flag_runs_8(const u64* keys, i64 count, int bits, eid* flags) {
    flag_runs(keys, count, bits, flags);
}

DEVICE void count_arc(unsigned* at) { atomicAdd(at, 1u); }
DEVICE void count_arc(i64* at) { atomicAdd((u64*)at, 1ull); }

// The rows of the new graph: `runs` are the sums of the flags, `order` is where the weights of sorted keys lie apart,
// and null where they are in the keys, or one each. `weights` are zero before, and so is `lengths`, which has one more
// in front.
template <class Key>
DEVICE void fill_rows(
    const Key* keys, i64 count, int bits, const i64* order, const mass* apart, const eid* runs, u64 communities,
    vid* targets, mass* weights, eid* lengths
) {
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        const eid run = runs[i];
        const u64 key = (u64)keys[i] >> bits;
        const mass weight = order ? apart[order[i]] : bits ? (mass)((u64)keys[i] & (((u64)1 << bits) - 1)) : (mass)1;
        atomicAdd(weights + run - 1, weight);
        if (i == 0 || runs[i - 1] != run) {
            targets[run - 1] = (vid)(key % communities);
            count_arc(lengths + key / communities + 1);
        }
    }
}

extern "C" __global__ void fill_rows_4(
    const unsigned* keys, i64 count, int bits, const i64* order, const mass* apart, const eid* runs, u64 communities,
    vid* targets, mass* weights, eid* lengths
) {
    fill_rows(keys, count, bits, order, apart, runs, communities, targets, weights, lengths);
}

extern "C" __global__ void fill_rows_8(
    const u64* keys, i64 count, int bits, const i64* order, const mass* apart, const eid* runs, u64 communities,
    vid* targets, mass* weights, eid* lengths
) {
    fill_rows(keys, count, bits, order, apart, runs, communities, targets, weights, lengths);
}

// `sum` is zero before; `most` too.
extern "C" __global__ void add_up(const mass* values, i64 count, u64* sum, u64* most) {
    u64 mine = 0, greatest = 0;
    for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
        mine += values[i];
        greatest = greatest > values[i] ? greatest : (u64)values[i];
    }
    mine = warp_sum(mine);
    for (int step = 16; step > 0; step >>= 1) {
        const u64 other = __shfl_xor_sync(FULL, greatest, step);
        greatest = greatest > other ? greatest : other;
    }
    if (lane() == 0 && mine) {
        atomicAdd(sum, mine);
        atomicMax(most, greatest);
    }
}

// ---- numbers by the first vertex -----------------------------------------------------------------------------------

// `least` is more than any id before; `ids` are the given ids, null where they are the vertices themselves.
extern "C" __global__ void find_least(const vid* group, const vid* ids, i64 n, vid* least) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        const vid id = ids ? ids[v] : (vid)v;
        if (id < *(volatile vid*)(least + group[v])) atomicMin(least + group[v], id);
    }
}

// `flags` are zero before, and by given id.
extern "C" __global__ void flag_least(const vid* group, const vid* ids, const vid* least, i64 n, vid* flags) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
        const vid id = ids ? ids[v] : (vid)v;
        if (least[group[v]] == id) flags[id] = 1;
    }
}

// `numbers` are the sums of the flags.
extern "C" __global__ void number_groups(const vid* group, const vid* least, const vid* numbers, i64 n, vid* found) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) found[v] = numbers[least[group[v]]] - 1;
}

extern "C" __global__ void pair_keys(const vid* fine, const vid* coarse, i64 n, u64 groups, u64* keys) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) keys[v] = (u64)fine[v] * groups + (u64)coarse[v];
}

// Groups from the runs of sorted keys, of which `order` says whose they are.
extern "C" __global__ void spread_runs(const i64* order, const eid* runs, i64 n, vid* group) {
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) group[order[i]] = (vid)(runs[i] - 1);
}

extern "C" __global__ void find_difference(const vid* a, const vid* b, i64 n, unsigned* found) {
    bool differs = false;
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) differs |= a[v] != b[v];
    if (differs) *found = 1;
}
