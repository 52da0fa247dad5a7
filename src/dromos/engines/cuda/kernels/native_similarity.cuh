// Vertices with common neighbours: two steps along arcs from each source are counted by where they end, and the best few
// are kept, best first and equals by their given ids.
//
// A source with few such walks is a warp's, which counts in a hash table in shared memory. Any other is a block's, which
// counts in an array of its own with one entry per vertex. Walks are dealt evenly to the threads: the lengths of the rows
// of up to as many neighbours as there are threads are added up, and a walk is found in the sums.
//
// A standing is the complement of the bits of a score, so that the least is the best. The best of a block's are found
// digit by digit: how many have each digit says which digit the last one that is wanted has.
#pragma once
#include "common.cuh"

#define BLOCK 512
#define RESIDENT 3         // blocks on a multiprocessor: atomics are waited for
#define WARPS (BLOCK / 32)
#define DIGIT 11           // bits
#define BINS 2048
#define AT_ONCE 1024       // that are sorted together
#define NOTHING (~0ull)
#define EMPTY ((vid)-1)
#define JACCARD 0
#define OVERLAP 1

struct Pairs {
    const eid* offsets;
    const vid* targets;
    const eid* back_offsets;
    const vid* back_targets;
    const vid* ids;        // given ids; null: they are those of the device
    const vid* sources;
    i64 n;
    i64 k;
    i64 metric;
    vid* best;             // k for each source
    double* score;         // likewise
    i64* count;            // how many there are of each
    const i64* list;       // places of the sources that are done now
    i64 size;              // of the list
    i64 slots;             // of a warp's table
    // of blocks: n for each
    unsigned* common;      // zero between sources
    vid* seen;
    u64* standing;
    u64* cursor;           // in the list
    i64 cycles;            // after so many a block begins no other source
};

DEVICE i64 given(const Pairs& p, vid v) { return p.ids ? p.ids[v] : v; }

DEVICE u64 standing_of(const Pairs& p, vid v, unsigned common, double degree) {
    const double shared = common, other = (double)(p.offsets[v + 1] - p.offsets[v]);
    const double score = p.metric == JACCARD   ? shared / (degree + other - shared)
                         : p.metric == OVERLAP ? shared / (degree < other ? degree : other)
                                               : shared / sqrt(degree * other);
    return ~(u64)__double_as_longlong(score);
}

DEVICE double score_of(u64 standing) { return __longlong_as_double((i64)~standing); }

// How many walks of two steps begin at each source.
extern "C" __global__ void count_walks(const Pairs p, i64 sources, i64* walks) {
    for (i64 i = warp_in_grid(); i < sources; i += warps_in_grid()) {
        const vid u = p.sources[i];
        i64 sum = 0;
        for (i64 arc = (i64)p.offsets[u] + lane(); arc < (i64)p.offsets[u + 1]; arc += 32) {
            const vid w = p.targets[arc];
            sum += (i64)(p.back_offsets[w + 1] - p.back_offsets[w]);
        }
        __syncwarp();
        sum = warp_sum(sum);
        if (lane() == 0) walks[i] = sum;
    }
}

DEVICE bool before(u64 standing, i64 id, u64 other_standing, i64 other_id) {
    return standing < other_standing || (standing == other_standing && id < other_id);
}

DEVICE int claim(int* slot, int v) { return atomicCAS(slot, EMPTY, v); }
DEVICE i64 claim(i64* slot, i64 v) { return (i64)atomicCAS((u64*)slot, (u64)EMPTY, (u64)v); }

// A warp a source, in a table of `slots`, which is a power of two and more than the walks. Shared memory: a standing and
// an id for each slot of each warp.
extern "C" __global__ void similar_by_warps(const Pairs p) {
    extern __shared__ u64 room[];
    const unsigned warps = blockDim.x >> 5, slots = (unsigned)p.slots;
    u64* standing = room + (u64)warp_in_block() * slots;  // counts at first
    vid* who = (vid*)(room + (u64)warps * slots) + (u64)warp_in_block() * slots;
    for (i64 at = warp_in_grid(); at < p.size; at += warps_in_grid()) {
        const i64 place = p.list[at];
        const vid u = p.sources[place];
        const i64 begin = p.offsets[u], end = p.offsets[u + 1];
        for (unsigned i = lane(); i < slots; i += 32) {
            standing[i] = 0;
            who[i] = EMPTY;
        }
        __syncwarp();
        for (i64 base = begin; base < end; base += 32) {
            eid first = 0;
            unsigned length = 0;
            if (base + lane() < end) {
                const vid w = p.targets[base + lane()];
                first = p.back_offsets[w];
                length = (unsigned)(p.back_offsets[w + 1] - first);
            }
            const unsigned upto = warp_inclusive_sum(length), total = __shfl_sync(FULL, upto, 31);
            for (unsigned from = 0; from < total; from += 32) {
                const unsigned walk = from + lane();
                unsigned row = 0;  // the first one whose sum is greater
                for (unsigned step = 16; step > 0; step >>= 1)
                    if (__shfl_sync(FULL, upto, row + step - 1) <= walk) row += step;
                const eid start = __shfl_sync(FULL, first, row & 31);
                const unsigned behind = __shfl_sync(FULL, upto - length, row & 31);
                if (walk < total) {
                    const vid v = p.back_targets[start + (walk - behind)];
                    if (v != u) {
                        unsigned slot = (unsigned)v * 0x9E3779B1u >> 7;
                        for (;; ++slot) {
                            slot &= slots - 1;
                            vid there = *(volatile vid*)(who + slot);
                            if (there == EMPTY) there = claim(who + slot, v);
                            if (there == EMPTY || there == v) break;
                        }
                        atomicAdd((unsigned*)(standing + slot), 1u);
                    }
                }
                __syncwarp();
            }
        }
        __syncwarp();
        const double degree = (double)(end - begin);
        const auto best_of_mine = [&](u64& best, i64& id, unsigned& slot) {
            best = NOTHING;
            id = 0;
            for (unsigned i = lane(); i < slots; i += 32)
                if (standing[i] != NOTHING && (best == NOTHING || before(standing[i], who[i], best, id))) {
                    best = standing[i];
                    id = who[i];
                    slot = i;
                }
        };
        for (unsigned i = lane(); i < slots; i += 32) {
            const vid v = who[i];
            standing[i] = v == EMPTY ? NOTHING : standing_of(p, v, (unsigned)standing[i], degree);
            if (v != EMPTY) who[i] = (vid)given(p, v);
        }
        u64 best;
        i64 id;
        unsigned slot = 0;
        best_of_mine(best, id, slot);
        i64 found = 0;
        for (; found < p.k; ++found) {
            __syncwarp();
            u64 all = best;
            i64 its = id;
            for (int step = 16; step > 0; step >>= 1) {
                const u64 other = __shfl_xor_sync(FULL, all, step);
                const i64 another = __shfl_xor_sync(FULL, its, step);
                if (before(other, another, all, its)) {
                    all = other;
                    its = another;
                }
            }
            if (all == NOTHING) break;
            if (best == all && id == its) {
                p.best[place * p.k + found] = (vid)id;
                p.score[place * p.k + found] = score_of(best);
                standing[slot] = NOTHING;
                best_of_mine(best, id, slot);
            }
        }
        if (lane() == 0) p.count[place] = found;
        __syncwarp();
    }
}

struct Chosen {
    u64 standing[AT_ONCE];
    i64 id[AT_ONCE];
};

// The digit that the `wanted`-th of those counted in `bins` has; `wanted` becomes its rank among those of that digit, and
// `there` how many they are. All threads call it and get the same.
DEVICE unsigned digit_of_rank(const unsigned* bins, unsigned* sums, i64& wanted, i64& there) {
    const unsigned each = BINS / BLOCK;
    unsigned own = 0;
    for (unsigned i = 0; i < each; ++i) own += bins[threadIdx.x * each + i];
    const unsigned upto = warp_inclusive_sum(own);
    if (lane() == 31) sums[warp_in_block()] = upto;
    __syncthreads();
    i64 before_me = upto - own;
    for (unsigned w = 0; w < warp_in_block(); ++w) before_me += sums[w];
    __shared__ unsigned digit, rank, count;
    if (before_me < wanted && wanted <= before_me + own) {
        i64 left = wanted - before_me;
        unsigned i = threadIdx.x * each;
        for (; left > (i64)bins[i]; ++i) left -= bins[i];
        digit = i;
        rank = (unsigned)left;
        count = bins[i];
    }
    __syncthreads();
    wanted = rank;
    there = count;
    const unsigned found = digit;
    __syncthreads();
    return found;
}

// Sort `size` entries, best first; the places up to the next power of two are filled with nothing.
DEVICE void sort_chosen(Chosen& chosen, unsigned size) {
    unsigned whole = 2;
    while (whole < size) whole *= 2;
    for (unsigned i = size + threadIdx.x; i < whole; i += BLOCK) {
        chosen.standing[i] = NOTHING;
        chosen.id[i] = 0;
    }
    __syncthreads();
    for (unsigned run = 2; run <= whole; run *= 2)
        for (unsigned step = run / 2; step > 0; step /= 2) {
            for (unsigned i = threadIdx.x; i < whole / 2; i += BLOCK) {
                const unsigned a = 2 * i - (i & (step - 1)), b = a + step;
                const bool rising = (a & run) == 0;
                const u64 low = chosen.standing[a], high = chosen.standing[b];
                const i64 one = chosen.id[a], other = chosen.id[b];
                if (before(high, other, low, one) == rising) {
                    chosen.standing[a] = high;
                    chosen.standing[b] = low;
                    chosen.id[a] = other;
                    chosen.id[b] = one;
                }
            }
            __syncthreads();
        }
}

// The best of `seen`, in portions of AT_ONCE; those up to (last, last_id) are written already.
DEVICE void write_best(const Pairs& p, i64 place, const vid* seen, const u64* standing, i64 found, Chosen& chosen,
                       unsigned* bins, unsigned* sums) {
    __shared__ unsigned size;
    const i64 most = found < p.k ? found : p.k;
    u64 last = 0;
    i64 last_id = -1;
    for (i64 done = 0; done < most;) {
        // digits of the standing, then of the id, until those with lesser ones or the same are few enough
        i64 wanted = most - done < AT_ONCE ? most - done : AT_ONCE, less = 0, there = 0;
        u64 prefix = 0, ids = 0;
        int shift = 64, id_shift = 64 - __clzll(p.n);
        const i64 portion = wanted;
        do {
            const bool by_id = shift == 0;
            int& digits = by_id ? id_shift : shift;
            const int next = digits > DIGIT ? digits - DIGIT : 0;
            const unsigned mask = (1u << (digits - next)) - 1;
            for (unsigned i = threadIdx.x; i < BINS; i += BLOCK) bins[i] = 0;
            __syncthreads();
            for (i64 i = threadIdx.x; i < found; i += BLOCK) {
                const u64 own = standing[i];
                const i64 id = given(p, seen[i]);
                if (!before(last, last_id, own, id)) continue;
                if (by_id) {
                    if (own == prefix && (u64)id >> id_shift == ids)
                        atomicAdd(bins + ((u64)id >> next & mask), 1u);
                } else if (shift == 64 || own >> shift == prefix) {
                    atomicAdd(bins + (own >> next & mask), 1u);
                }
            }
            __syncthreads();
            const u64 digit = digit_of_rank(bins, sums, wanted, there);
            u64& known = by_id ? ids : prefix;
            known = known << (digits - next) | digit;
            digits = next;
            less = portion - wanted;
        } while (less + there > AT_ONCE && (shift > 0 || id_shift > 0));
        if (threadIdx.x == 0) size = 0;
        __syncthreads();
        for (i64 base = 0; base < found; base += BLOCK) {
            const i64 i = base + threadIdx.x;
            bool take = false;
            u64 own = 0;
            i64 id = 0;
            if (i < found) {
                own = standing[i];
                id = given(p, seen[i]);
                const u64 head = own >> shift;
                take = before(last, last_id, own, id) &&
                       (head < prefix || (head == prefix && (shift > 0 || (u64)id >> id_shift <= ids)));
            }
            if (take) {
                const unsigned to = atomicAdd(&size, 1u);
                chosen.standing[to] = own;
                chosen.id[to] = id;
            }
        }
        __syncthreads();
        sort_chosen(chosen, size);
        for (i64 i = threadIdx.x; i < portion; i += BLOCK) {
            p.best[place * p.k + done + i] = (vid)chosen.id[i];
            p.score[place * p.k + done + i] = score_of(chosen.standing[i]);
        }
        last = chosen.standing[portion - 1];
        last_id = chosen.id[portion - 1];
        done += portion;
        __syncthreads();
    }
    if (threadIdx.x == 0) p.count[place] = most;
}

// A block a source.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) similar_by_blocks(const Pairs p) {
    __shared__ Chosen chosen;
    __shared__ unsigned bins[BINS], sums[WARPS], size;
    __shared__ i64 starts[BLOCK], upto[BLOCK + 1];
    __shared__ i64 next;
    unsigned* common = p.common + blockIdx.x * p.n;
    vid* seen = p.seen + blockIdx.x * p.n;
    u64* standing = p.standing + blockIdx.x * p.n;
    const i64 began = clock64();
    for (bool first = true;; first = false) {  // one source is done in any case
        if (threadIdx.x == 0) {
            next = first || clock64() - began < p.cycles ? (i64)atomicAdd(p.cursor, 1ull) : p.size;
            size = 0;
        }
        __syncthreads();
        if (next >= p.size) return;
        const i64 place = p.list[next];
        const vid u = p.sources[place];
        const i64 begin = p.offsets[u], end = p.offsets[u + 1];
        for (i64 base = begin; base < end; base += BLOCK) {
            i64 length = 0;
            if (base + threadIdx.x < end) {
                const vid w = p.targets[base + threadIdx.x];
                starts[threadIdx.x] = p.back_offsets[w];
                length = (i64)(p.back_offsets[w + 1] - p.back_offsets[w]);
            }
            i64 sum = length;  // up to this thread's row
            for (unsigned step = 1; step < 32; step <<= 1) {
                const i64 other = __shfl_up_sync(FULL, sum, step);
                if (lane() >= step) sum += other;
            }
            __shared__ i64 warps[WARPS];
            if (lane() == 31) warps[warp_in_block()] = sum;
            __syncthreads();
            for (unsigned w = 0; w < warp_in_block(); ++w) sum += warps[w];
            upto[threadIdx.x + 1] = sum;
            if (threadIdx.x == 0) upto[0] = 0;
            __syncthreads();
            const i64 total = upto[BLOCK];
            for (i64 from = 0; from < total; from += BLOCK) {
                const i64 walk = from + threadIdx.x;
                bool is_new = false;
                vid v = 0;
                if (walk < total) {
                    unsigned row = 0;  // the last one that begins at this walk or before
                    for (unsigned step = BLOCK / 2; step > 0; step >>= 1)
                        if (upto[row + step] <= walk) row += step;
                    v = p.back_targets[starts[row] + (walk - upto[row])];
                    is_new = v != u && atomicAdd(common + v, 1u) == 0;
                }
                __syncwarp();
                warp_append(seen, &size, is_new, v);
            }
            __syncthreads();
        }
        const i64 found = size;
        const double degree = (double)(end - begin);
        for (i64 i = threadIdx.x; i < found; i += BLOCK) {
            const vid v = seen[i];
            standing[i] = standing_of(p, v, common[v], degree);
            common[v] = 0;
        }
        __syncthreads();
        write_best(p, place, seen, standing, found, chosen, bins, sums);
        __syncthreads();
    }
}

// The rows of all sources without what is empty in them; `ends`: where each one ends.
extern "C" __global__ void pack_pairs(const vid* best, const double* score, i64 k, i64 rows, const i64* ends, vid* packed_best,
                                      double* packed_score) {
    for (i64 i = thread_in_grid(); i < rows * k; i += threads_in_grid()) {
        const i64 row = i / k, begin = row ? ends[row - 1] : 0, at = begin + i % k;
        if (at >= ends[row]) continue;
        packed_best[at] = best[i];
        packed_score[at] = score[i];
    }
}
