// Breadth-first searches from 64 * WIDTH sources in one traversal: a bit for each source, a row of WIDTH words a vertex.
//
// `seen` has what was reached so far; of the other two tables one is the last level's, the other this one's. A level is
// pushed from a queue of the joint frontier, in which a vertex stands once for every CHUNK of its arcs: a warp gives the
// row to the neighbours that lack its bits, by atomics on the words that change. Or it is pulled: every vertex that lacks
// bits gathers its in-neighbours' rows, in parts of a warp by the length of its row, and long rows stop when they lack
// nothing. Then the level is settled, a lane a vertex: the bits become seen, and those of each source are counted by
// ballots. Bits of sources that found nothing in a level are not waited for any more.
#pragma once
#include "common.cuh"

#define BLOCK 256
#define CHUNK 256
#define PULL 4
#define HALVES (2 * WIDTH)
#define SOURCES (64 * WIDTH)

struct Slot {
    u64 found, arcs, closed;
    unsigned touched, items, made, stop;
};

struct Control {
    unsigned arrivals, finished;
    Slot slots[3];  // up to here the host clears before every launch
    i64 level, pulled, joint;
    u64 arcs, open;
    unsigned size, items, parity, dirty;
    u64 live[8];
};

struct Work {
    const eid* offsets;
    const vid* targets;
    const eid* in_offsets;
    const vid* sources;
    i64 n, arcs;
    i64 classes[8];
    u64* seen;
    u64* tables[2];
    unsigned* listed;
    vid* touched;
    vid* queue[2];
    unsigned* part[2];
    u64* counts;  // three slots of a number a source
    i64* reached;
    i64* far;
    double* near;
    i64* depth;
    DISTANCE* distance;  // a row of n a source, or null
    Control* control;
    i64 limit, nanoseconds;
};

// ---- rows ----------------------------------------------------------------------------------------------------------

struct Bits {
    u64 word[WIDTH];
};
DEVICE Bits none() {
    Bits out;
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) out.word[w] = 0;
    return out;
}
DEVICE Bits row_of(const u64* table, i64 v) {
    Bits out;
#if WIDTH == 1
    out.word[0] = table[v];
#else
    const ulonglong2* from = (const ulonglong2*)(table + v * WIDTH);
#pragma unroll
    for (int w = 0; w < WIDTH / 2; ++w) {
        const ulonglong2 two = from[w];
        out.word[2 * w] = two.x;
        out.word[2 * w + 1] = two.y;
    }
#endif
    return out;
}
DEVICE void set_row(u64* table, i64 v, const Bits& row) {
#if WIDTH == 1
    table[v] = row.word[0];
#else
    ulonglong2* to = (ulonglong2*)(table + v * WIDTH);
#pragma unroll
    for (int w = 0; w < WIDTH / 2; ++w) {
        ulonglong2 two;
        two.x = row.word[2 * w];
        two.y = row.word[2 * w + 1];
        to[w] = two;
    }
#endif
}
DEVICE bool any(const Bits& a) {
    u64 all = 0;
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) all |= a.word[w];
    return all != 0;
}
DEVICE Bits without(const Bits& a, const Bits& b) {
    Bits out;
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) out.word[w] = a.word[w] & ~b.word[w];
    return out;
}
DEVICE void add_bits(Bits& a, const Bits& b) {
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) a.word[w] |= b.word[w];
}
DEVICE u64 warp_or(u64 value) {
#if __CUDA_ARCH__ >= 800
    return ((u64)__reduce_or_sync(FULL, (unsigned)(value >> 32)) << 32) | __reduce_or_sync(FULL, (unsigned)value);
#else
    for (int step = 16; step > 0; step >>= 1) value |= __shfl_xor_sync(FULL, value, step);
    return value;
#endif
}
DEVICE Bits warp_or(const Bits& a) {
    Bits out;
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) out.word[w] = warp_or(a.word[w]);
    return out;
}

// ---- pull ----------------------------------------------------------------------------------------------------------

// Rows of the vertices begin..end by `parts` lanes each, none so long that stopping early would pay.
template <unsigned parts>
DEVICE void pull_short(const Work& W, i64 begin, i64 end, const Bits& live, const u64* front, u64* next) {
    const unsigned each = 32 / parts;
    for (i64 base = begin + each * (i64)warp_in_grid(); base < end; base += each * (i64)warps_in_grid()) {
        const i64 v = base + lane() / parts;
        Bits lacking = none(), got = none();
        if (v < end) {
            lacking = without(live, row_of(W.seen, v));
            if (any(lacking)) {
                const eid last = __ldg(W.in_offsets + v + 1);
                for (eid arc = __ldg(W.in_offsets + v) + lane() % parts; arc < last; arc += parts)
                    add_bits(got, row_of(front, __ldg(W.sources + arc)));
            }
        }
        __syncwarp();
#pragma unroll
        for (unsigned step = parts / 2; step > 0; step >>= 1)
#pragma unroll
            for (int w = 0; w < WIDTH; ++w) got.word[w] |= __shfl_xor_sync(FULL, got.word[w], step);
        if (v < end && lane() % parts == 0) set_row(next, v, without(lacking, without(lacking, got)));
    }
}

// A warp a row, four arcs a lane at a time, until nothing is lacking.
DEVICE void pull_warps(const Work& W, i64 begin, i64 end, const Bits& live, const u64* front, u64* next) {
    for (i64 v = begin + warp_in_grid(); v < end; v += warps_in_grid()) {
        const Bits lacking = without(live, row_of(W.seen, v));
        Bits left = lacking;
        if (any(lacking)) {
            const eid last = __ldg(W.in_offsets + v + 1);
            for (eid base = __ldg(W.in_offsets + v); base < last && any(left);) {
                const unsigned rounds = last - base > 128 ? 4 : 1;
                Bits got = none();
#pragma unroll 4
                for (unsigned r = 0; r < rounds; ++r) {
                    const eid arc = base + 32 * r + lane();
                    if (arc < last) add_bits(got, row_of(front, __ldg(W.sources + arc)));
                }
                __syncwarp();
                left = without(left, warp_or(got));
                base += 32 * rounds;
            }
        }
        if (lane() == 0) set_row(next, v, without(lacking, left));
    }
}

// A block a row.
DEVICE void pull_blocks(const Work& W, i64 begin, i64 end, const Bits& live, const u64* front, u64* next) {
    __shared__ u64 gathered[WIDTH];
    for (i64 v = begin + blockIdx.x; v < end; v += gridDim.x) {
        const Bits lacking = without(live, row_of(W.seen, v));
        Bits left = lacking;
        const eid last = __ldg(W.in_offsets + v + 1);
        for (eid base = __ldg(W.in_offsets + v); base < last && any(left); base += 4 * BLOCK) {
            if (threadIdx.x < WIDTH) gathered[threadIdx.x] = 0;
            __syncthreads();
            Bits got = none();
#pragma unroll
            for (unsigned r = 0; r < 4; ++r) {
                const u64 arc = (u64)base + BLOCK * r + threadIdx.x;
                if (arc < last) add_bits(got, row_of(front, __ldg(W.sources + arc)));
            }
            __syncwarp();
            got = warp_or(got);
            if (lane() == 0)
#pragma unroll
                for (int w = 0; w < WIDTH; ++w)
                    if (got.word[w]) atomicOr(gathered + w, got.word[w]);
            __syncthreads();
#pragma unroll
            for (int w = 0; w < WIDTH; ++w) left.word[w] &= ~gathered[w];
            __syncthreads();
            if (last - base <= 4 * BLOCK) break;
        }
        if (threadIdx.x == 0) set_row(next, v, without(lacking, left));
    }
}

DEVICE void pull(const Work& W, const Bits& live, const u64* front, u64* next) {
    pull_blocks(W, 0, W.classes[0], live, front, next);
    pull_warps(W, W.classes[0], W.classes[2], live, front, next);
    pull_short<16>(W, W.classes[2], W.classes[3], live, front, next);
    pull_short<8>(W, W.classes[3], W.classes[4], live, front, next);
    pull_short<4>(W, W.classes[4], W.classes[5], live, front, next);
    pull_short<2>(W, W.classes[5], W.classes[6], live, front, next);
    pull_short<1>(W, W.classes[6], W.classes[7], live, front, next);
    for (i64 v = W.classes[7] + thread_in_grid(); v < W.n; v += threads_in_grid()) set_row(next, v, none());
}

// ---- push ----------------------------------------------------------------------------------------------------------

DEVICE void push(const Work& W, const vid* queue, const unsigned* part, unsigned items, const u64* front, u64* next,
                 Slot* slot) {
    for (unsigned i = warp_in_grid(); i < items; i += warps_in_grid()) {
        const vid u = queue[i];
        const Bits row = row_of(front, u);
        const u64 first = (u64)__ldg(W.offsets + u) + (u64)part[i] * CHUNK, end = __ldg(W.offsets + u + 1);
        const u64 last = first + CHUNK < end ? first + CHUNK : end;
        for (u64 base = first; base < last; base += 32) {
            const u64 arc = base + lane();
            bool fresh = false;
            vid v = 0;
            if (arc < last) {
                v = __ldg(W.targets + arc);
                Bits lacking = without(row, row_of(W.seen, v));
                if (any(lacking)) {
                    lacking = without(lacking, row_of(next, v));
                    if (any(lacking)) {
#pragma unroll
                        for (int w = 0; w < WIDTH; ++w)
                            if (lacking.word[w]) atomicOr(next + (i64)v * WIDTH + w, lacking.word[w]);
                        fresh = set_bit(W.listed, v);
                    }
                }
            }
            __syncwarp();
            warp_append(W.touched, &slot->touched, fresh, v);
        }
    }
}

// Put a vertex into a queue, once for each CHUNK of its arcs. All lanes call it; `take`: whether this one has a vertex.
DEVICE void enqueue(const Work& W, vid* queue, unsigned* part, unsigned* size, bool take, vid v) {
    unsigned parts = 0;
    if (take) {
        const u64 degree = (u64)__ldg(W.offsets + v + 1) - (u64)__ldg(W.offsets + v);
        parts = degree ? (unsigned)((degree + CHUNK - 1) / CHUNK) : 1;  // also without arcs: its row is to be cleared
    }
    const unsigned upto = warp_inclusive_sum(parts), all = __shfl_sync(FULL, upto, 31);
    if (all == 0) return;
    unsigned base = 0;
    if (lane() == 0) base = atomicAdd(size, all);
    base = __shfl_sync(FULL, base, 0) + upto - parts;
    for (unsigned p = 0; p < parts; ++p) {
        queue[base + p] = v;
        part[base + p] = p;
    }
    __syncwarp();
}

// ---- settling ------------------------------------------------------------------------------------------------------

struct Tally {
    unsigned counts[HALVES];  // of the sources lane(), 32 + lane(), ...
    u64 found, arcs, closed;
};

// A lane a vertex; all lanes call it. Its bits are seen from now on, and counted; distances are written if wanted.
DEVICE bool settle(const Work& W, Tally& tally, bool take, i64 v, const Bits& live, const u64* next, i64 level) {
    Bits fresh = none();
    if (take) fresh = row_of(next, v);
    const bool here = any(fresh);
    if (__any_sync(FULL, here)) {
        if (here) {
            Bits known = row_of(W.seen, v);
            add_bits(known, fresh);
            set_row(W.seen, v, known);
            tally.found += 1;
            tally.arcs += (u64)__ldg(W.offsets + v + 1) - (u64)__ldg(W.offsets + v);
            if (!any(without(live, known))) tally.closed += (u64)__ldg(W.in_offsets + v + 1) - (u64)__ldg(W.in_offsets + v);
        }
        __syncwarp();
#pragma unroll
        for (int h = 0; h < HALVES; ++h) {
            const unsigned word = (unsigned)(fresh.word[h / 2] >> (32 * (h & 1)));
            if (__any_sync(FULL, word != 0)) {
#pragma unroll
                for (unsigned b = 0; b < 32; ++b) {
                    const unsigned votes = __ballot_sync(FULL, (word >> b) & 1u);
                    if (lane() == b) tally.counts[h] += __popc(votes);
                }
                if (W.distance != 0)
                    for (unsigned bits = word; bits; bits &= bits - 1)
                        W.distance[(i64)(32 * h + __ffs(bits) - 1) * W.n + v] = (DISTANCE)level;
                __syncwarp();
            }
        }
    }
    return here;
}

DEVICE void tell(const Work& W, const Tally& tally, Slot* slot, u64* counts) {
    __shared__ unsigned sums[SOURCES];
    __shared__ u64 three[3];
    for (unsigned s = threadIdx.x; s < SOURCES; s += BLOCK) sums[s] = 0;
    if (threadIdx.x < 3) three[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int h = 0; h < HALVES; ++h)
        if (tally.counts[h]) atomicAdd(sums + 32 * h + lane(), tally.counts[h]);
    const u64 found = warp_sum(tally.found), arcs = warp_sum(tally.arcs), closed = warp_sum(tally.closed);
    if (lane() == 0 && found) {
        atomicAdd(three, found);
        atomicAdd(three + 1, arcs);
        atomicAdd(three + 2, closed);
    }
    __syncthreads();
    for (unsigned s = threadIdx.x; s < SOURCES; s += BLOCK)
        if (sums[s]) atomicAdd(counts + s, (u64)sums[s]);
    if (threadIdx.x == 0 && three[0]) {
        atomicAdd(&slot->found, three[0]);
        atomicAdd(&slot->arcs, three[1]);
        atomicAdd(&slot->closed, three[2]);
    }
}

// The bits of the sources that found something in this level, the same in every thread.
DEVICE Bits still_live(const u64* counts) {
    __shared__ unsigned halves[HALVES];
    __syncthreads();
    for (unsigned s = threadIdx.x; s < (SOURCES + BLOCK - 1) / BLOCK * BLOCK; s += BLOCK) {
        const unsigned votes = __ballot_sync(FULL, s < SOURCES && counts[s] != 0);
        if (lane() == 0 && s < SOURCES) halves[s / 32] = votes;
    }
    __syncthreads();
    Bits out;
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) out.word[w] = ((u64)halves[2 * w + 1] << 32) | halves[2 * w];
    return out;
}

// ---- levels --------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(BLOCK) traverse(Work W) {
    Control* C = W.control;
    const u64 begin = now_ns();
    unsigned met = 0;
    i64 level = C->level, pulled = C->pulled, joint = C->joint;
    u64 arcs = C->arcs, open = C->open;
    unsigned size = C->size, items = C->items, parity = C->parity, dirty = C->dirty, stop = 0;
    Bits live;
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) live.word[w] = C->live[w];
    grid_barrier(&C->arrivals, met);  // the control is written again only after all have read it
    while (size > 0 && level < W.limit && !stop) {
        level += 1;
        Slot* slot = C->slots + level % 3;
        u64* counts = W.counts + SOURCES * (level % 3);
        u64 *front = W.tables[parity], *next = W.tables[1 - parity];
        const vid* queue = W.queue[parity];
        if (blockIdx.x == 0) {  // what the next level fills; it was last read two barriers ago
            for (unsigned s = threadIdx.x; s < SOURCES; s += BLOCK) W.counts[SOURCES * ((level + 1) % 3) + s] = 0;
            if (threadIdx.x == 0) {
                C->slots[(level + 1) % 3] = Slot{0, 0, 0, 0, 0, 0, 0};
                slot->stop = now_ns() - begin > (u64)W.nanoseconds;
            }
        }
        Tally tally;
#pragma unroll
        for (int h = 0; h < HALVES; ++h) tally.counts[h] = 0;
        tally.found = tally.arcs = tally.closed = 0;
        const bool pulling = arcs * PULL > open + W.n;
        if (pulling) {
            pull(W, live, front, next);
            grid_barrier(&C->arrivals, met);
            for (i64 base = 32 * (i64)warp_in_grid(); base < W.classes[7]; base += 32 * (i64)warps_in_grid())
                settle(W, tally, base + lane() < W.classes[7], base + lane(), live, next, level);
            dirty = 1;
            pulled += 1;
        } else {
            if (dirty) {  // the last level was pulled: its vertices are not queued, and an older level's rows are left
                for (i64 base = 32 * (i64)warp_in_grid(); base < W.n; base += 32 * (i64)warps_in_grid()) {
                    const i64 v = base + lane();
                    bool take = false;
                    if (v < W.n) {
                        set_row(next, v, none());
                        take = any(row_of(front, v));
                    }
                    __syncwarp();
                    enqueue(W, W.queue[parity], W.part[parity], &slot->items, take, (vid)v);
                }
                grid_barrier(&C->arrivals, met);
                items = slot->items;
                dirty = 0;
            }
            push(W, queue, W.part[parity], items, front, next, slot);
            grid_barrier(&C->arrivals, met);
            const unsigned touched = slot->touched;
            for (i64 base = 32 * (i64)warp_in_grid(); base < touched; base += 32 * (i64)warps_in_grid()) {
                const bool take = base + lane() < touched;
                vid v = 0;
                if (take) {
                    v = W.touched[base + lane()];
                    W.listed[v >> 5] = 0;  // all bits of it are of this level
                }
                __syncwarp();
                settle(W, tally, take, v, live, next, level);
                enqueue(W, W.queue[1 - parity], W.part[1 - parity], &slot->made, take, v);
            }
            for (unsigned i = thread_in_grid(); i < items; i += threads_in_grid()) set_row(front, queue[i], none());
        }
        tell(W, tally, slot, counts);
        grid_barrier(&C->arrivals, met);
        arcs = slot->arcs;
        open -= slot->closed;
        size = (unsigned)slot->found;
        items = slot->made;
        stop = slot->stop;
        live = still_live(counts);
        joint += size;
        parity = 1 - parity;
        if (blockIdx.x == 0)
            for (unsigned s = threadIdx.x; s < SOURCES; s += BLOCK) {
                const u64 count = counts[s];
                if (count) {
                    W.reached[s] += (i64)count;
                    W.far[s] += (i64)count * level;
                    W.near[s] += (double)count / (double)level;
                    W.depth[s] = level;
                }
            }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        C->level = level;
        C->pulled = pulled;
        C->joint = joint;
        C->arcs = arcs;
        C->open = open;
        C->size = size;
        C->items = items;
        C->parity = parity;
        C->dirty = dirty;
#pragma unroll
        for (int w = 0; w < WIDTH; ++w) C->live[w] = live.word[w];
        C->finished = size == 0 || level >= W.limit;
    }
}
