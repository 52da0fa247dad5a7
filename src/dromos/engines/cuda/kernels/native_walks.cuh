// Random walks, one a thread; the draws are those of the CPU's kernel, number by number, and all numbers are rounded as
// there.
//
// A walk has a stream of random numbers of its own: SplitMix64 from a hash of the seed and the walk's number. Where edges
// have weights an arc is found in the running sums of its row. A step that depends on the one before (p and q of
// node2vec) is drawn again until its bias accepts it; where that fails TRIES times, a warp weighs all neighbours.
#pragma once
#include "common.cuh"

#define TRIES 1000
#define STEP 0x9E3779B97F4A7C15ull
#define SHORT 16  // arcs of a row that one thread adds up

struct Walks {
    const eid* offsets;
    const vid* targets;
    const double* sums;  // of each row up to an arc; null: all arcs count the same
    const i64* starts;
    u64* random;         // where the stream of each walk is, between launches; null if there is one launch
    vid* walks;          // length + 1 of each
    u64 seed;            // hashed
    i64 number;          // of the first walk
    i64 count, length;
    i64 first, last;     // the steps that are taken now; the first of all is 1
    double back, away;   // what the way back counts, and what a vertex does that is no neighbour of the one before
    double top;          // the greatest bias
};

DEVICE u64 mixed(u64 x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

// In 0..1, without 1.
DEVICE double unit(u64 x) { return (double)(mixed(x) >> 11) * 0x1p-53; }

// An arc among begin..end, in proportion to its weight.
DEVICE i64 drawn(const Walks& w, i64 begin, i64 end, double chance) {
    if (!w.sums) return begin + (i64)(chance * (double)(end - begin));
    const double wanted = chance * w.sums[end - 1];
    i64 low = begin, high = end - 1;
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (w.sums[middle] <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Whether an arc leads from `u` to `v`; the ids in a row rise.
DEVICE bool joined(const Walks& w, vid u, vid v) {
    i64 low = w.offsets[u];
    const i64 end = w.offsets[u + 1];
    for (i64 high = end; low < high;) {
        const i64 middle = (low + high) >> 1;
        if (w.targets[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && w.targets[low] == v;
}

// What a step to `u` counts for a walk that was at `before`.
DEVICE double bias_of(const Walks& w, vid before, vid u) {
    return u == before ? w.back : joined(w, before, u) ? 1.0 : w.away;
}

// An arc of `v` in proportion to its weight and its bias, by a whole warp: lanes weigh 32 arcs, and all of them add the
// 32 one after the other, as the CPU does. All lanes have the same arguments and get the same arc.
DEVICE i64 drawn_of_all(const Walks& w, vid v, vid before, double chance) {
    const i64 begin = w.offsets[v], end = w.offsets[v + 1];
    const auto weighed = [&](i64 arc) {
        if (arc >= end) return 0.0;
        const double share = w.sums ? w.sums[arc] - (arc > begin ? w.sums[arc - 1] : 0.0) : 1.0;
        return share * bias_of(w, before, w.targets[arc]);
    };
    double total = 0.0;
    for (i64 base = begin; base < end; base += 32) {
        const double mine = weighed(base + lane());
        __syncwarp();
        for (int other = 0; other < 32; ++other) total += __shfl_sync(FULL, mine, other);
    }
    const double wanted = chance * total;
    double running = 0.0;
    for (i64 base = begin; base < end; base += 32) {
        const double mine = weighed(base + lane());
        __syncwarp();
        for (int other = 0; other < 32; ++other) {
            running += __shfl_sync(FULL, mine, other);
            if (running > wanted) return base + other;
        }
    }
    return end - 1;
}

template <bool biased>
DEVICE void take_steps(const Walks& w) {
    for (i64 base = 32 * (i64)warp_in_grid(); base < w.count; base += 32 * (i64)warps_in_grid()) {
        const i64 walk = base + lane();
        const bool mine = walk < w.count;
        vid* row = w.walks + walk * (w.length + 1);
        vid v = -1, before = -1;
        u64 random = 0;
        if (mine && w.first == 1) {
            random = mixed(w.seed ^ (u64)(w.number + walk));
            row[0] = v = (vid)w.starts[w.number + walk];
        } else if (mine) {
            random = w.random[walk];
            v = row[w.first - 1];
            before = row[w.first - 2];
        }
        for (i64 step = w.first; step <= w.last; ++step) {
            i64 begin = 0, end = 0;
            if (v >= 0) {
                begin = w.offsets[v];
                end = w.offsets[v + 1];
            }
            const bool goes = begin < end && (!w.sums || w.sums[end - 1] > 0.0);
            vid u = -1;
            if (goes && (!biased || before < 0)) {
                random += STEP;
                u = w.targets[drawn(w, begin, end, unit(random))];
            } else if (goes) {
                for (int tries = 0; tries < TRIES && u < 0; ++tries) {
                    random += STEP;
                    const vid next = w.targets[drawn(w, begin, end, unit(random))];
                    random += STEP;
                    if (unit(random) * w.top < bias_of(w, before, next)) u = next;
                }
            }
            if (biased) {
                __syncwarp();
                for (unsigned refused = __ballot_sync(FULL, goes && u < 0); refused; refused &= refused - 1) {
                    const int who = __ffs(refused) - 1;
                    const u64 there = __shfl_sync(FULL, random, who) + STEP;
                    const vid at = __shfl_sync(FULL, v, who), from = __shfl_sync(FULL, before, who);
                    const i64 arc = drawn_of_all(w, at, from, unit(there));
                    if ((int)lane() == who) {
                        random = there;
                        u = w.targets[arc];
                    }
                    __syncwarp();
                }
            }
            before = v;
            v = u;
            if (mine) row[step] = u;
        }
        if (mine && w.random) w.random[walk] = random;
    }
}

extern "C" __global__ void walk(const Walks w) { take_steps<false>(w); }

extern "C" __global__ void walk_biased(const Walks w) { take_steps<true>(w); }

// The running sums of each row of weights, in shares of its greatest, in their place; added one after the other.
extern "C" __global__ void sum_rows(const eid* offsets, i64 n, double* sums) {
    for (i64 base = 32 * (i64)warp_in_grid(); base < n; base += 32 * (i64)warps_in_grid()) {
        const i64 v = base + lane();
        i64 begin = 0, end = 0;
        if (v < n) {
            begin = offsets[v];
            end = offsets[v + 1];
        }
        if (end - begin <= SHORT) {
            double heaviest = 0.0, running = 0.0;
            for (i64 arc = begin; arc < end; ++arc) heaviest = sums[arc] > heaviest ? sums[arc] : heaviest;
            if (heaviest == 0.0) heaviest = 1.0;
            for (i64 arc = begin; arc < end; ++arc) sums[arc] = running += sums[arc] / heaviest;
        }
        __syncwarp();
        for (unsigned rows = __ballot_sync(FULL, end - begin > SHORT); rows; rows &= rows - 1) {
            const int who = __ffs(rows) - 1;
            const i64 first = __shfl_sync(FULL, begin, who), last = __shfl_sync(FULL, end, who);
            double heaviest = 0.0, running = 0.0;
            for (i64 arc = first + lane(); arc < last; arc += 32) heaviest = sums[arc] > heaviest ? sums[arc] : heaviest;
            __syncwarp();
            for (int step = 16; step > 0; step >>= 1) {
                const double other = __shfl_xor_sync(FULL, heaviest, step);
                heaviest = other > heaviest ? other : heaviest;
            }
            if (heaviest == 0.0) heaviest = 1.0;
            for (i64 arc = first; arc < last; arc += 32) {
                const bool there = arc + lane() < last;
                const double share = there ? sums[arc + lane()] / heaviest : 0.0;
                double sum = 0.0;
                for (unsigned other = 0; other < 32; ++other) {
                    running += __shfl_sync(FULL, share, other);
                    if (other == lane()) sum = running;
                }
                if (there) sums[arc + lane()] = sum;
            }
            __syncwarp();
        }
    }
}
