// Searches from many sources at once: a bit of a vertex's words is a search. A vertex is in the joint frontier once,
// however many searches have it there, and one look at an arc serves them all (iBFS: Liu, Huang and Hu, SIGMOD 2016).
//
// `seen` has the bits of all searches that have been at a vertex; of two tables one holds the bits that came in the last
// level and one those of the next. A push merges by atomic or; a pull belongs to the vertex, needs no atomics and stops when
// nothing is missing. Bits of searches that found nothing in a level are not waited for any more. Bits that are new are
// counted search by search while they are at hand.
//
// The words of a vertex are cut into parts of one vector load each. Lanes hold parts: part p of a vertex is in a lane whose
// number leaves p when divided by PARTS, so that neighbouring lanes load neighbouring words.
#pragma once
#include "walking.cuh"

#define BLOCK 512
#define WARPS (BLOCK / 32)
#define SEARCHES (64 * WORDS)
#define PART_WORDS (WORDS > 1 ? 2 : 1)
#define PARTS (WORDS / PART_WORDS)
#define AHEAD 4      // arcs of a row that a lane looks up before it asks whether it has enough
#define RESIDENT 2   // blocks on a multiprocessor that registers are to suffice for
#define PUSH_COST 4  // an arc that is pushed costs so many times one that is pulled

struct alignas(8 * PART_WORDS) Bits {
    u64 word[PART_WORDS];
};

struct Slot {
    unsigned size, listed, queued, big, huge, stop;
    u64 out, closed;
};

struct Control {
    unsigned arrivals, unused;
    Slot slots[3];
    unsigned counts[3][SEARCHES];  // up to here cleared before every launch
    unsigned size, flipped, level, finished, pulled, in_queue;
    u64 out, open, joint;
    u64 live[WORDS];
    u64 reached[SEARCHES], far[SEARCHES], depth[SEARCHES];
    double near[SEARCHES];
};

struct Joint {
    const eid* offsets;
    const vid* targets;
    const eid* in_offsets;
    const vid* sources;
    const vid* ids;
    const vid* rank;
    i64 n, arcs, max_degree, limit, nanoseconds;
    i64 classes[8];
    Bits* seen;
    Bits* table[2];
    vid* queue[2];
    vid* hubs;
    unsigned* listed;
    DISTANCE* distance;  // a row a search in the given order; may be null
    Control* control;
};

DEVICE Bits none() {
    Bits b;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) b.word[w] = 0;
    return b;
}
DEVICE bool any(const Bits& b) {
    u64 all = 0;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) all |= b.word[w];
    return all != 0;
}
DEVICE Bits operator|(const Bits& a, const Bits& b) {
    Bits c;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) c.word[w] = a.word[w] | b.word[w];
    return c;
}
DEVICE Bits operator&(const Bits& a, const Bits& b) {
    Bits c;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) c.word[w] = a.word[w] & b.word[w];
    return c;
}
DEVICE Bits without(const Bits& a, const Bits& b) {
    Bits c;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) c.word[w] = a.word[w] & ~b.word[w];
    return c;
}
DEVICE Bits from_lane(const Bits& a, unsigned lane) {
    Bits c;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) c.word[w] = __shfl_sync(FULL, a.word[w], lane);
    return c;
}
// The union over lanes that are a multiple of PARTS apart, within stretches of `width` lanes.
DEVICE Bits merged(Bits a, unsigned width) {
    for (unsigned step = width / 2; step >= PARTS; step >>= 1)
#pragma unroll
        for (int w = 0; w < PART_WORDS; ++w) a.word[w] |= __shfl_xor_sync(FULL, a.word[w], step);
    return a;
}

// ---- what a level found --------------------------------------------------------------------------------------------

// Lane l counts searches l, l + 32, l + 64, ...
struct Tally {
    unsigned searches[2 * WORDS];
    unsigned size;
    u64 out, closed;
};

// Of 32 words in 32 lanes, lane l gets the l-th bits: halves of ever smaller squares change places.
DEVICE unsigned transposed(unsigned word) {
    unsigned low = 0x0000ffffu;
#pragma unroll
    for (int step = 16; step > 0; step >>= 1, low ^= low << step) {
        const unsigned other = __shfl_xor_sync(FULL, word, step);
        word = lane() & step ? (word & ~low) | (other >> step & low) : (word & low) | (other << step & ~low);
    }
    return word;
}

DEVICE void count_lanes(Tally& t, const Bits& fresh) {
    const unsigned first = FULL / ((1u << PARTS) - 1);  // the lanes of part 0
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) {
        if (!__any_sync(FULL, fresh.word[w] != 0)) continue;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const unsigned lanes = transposed((unsigned)(fresh.word[w] >> (32 * half)));
#pragma unroll
            for (int p = 0; p < PARTS; ++p) t.searches[2 * (p * PART_WORDS + w) + half] += __popc(lanes & first << p);
        }
    }
}

// The same where all lanes hold parts of one vertex.
DEVICE void count_one(Tally& t, const Bits& fresh) {
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) {
        if (!__any_sync(FULL, fresh.word[w] != 0)) continue;
#pragma unroll
        for (int p = 0; p < PARTS; ++p) {
            const u64 word = __shfl_sync(FULL, fresh.word[w], p);
            t.searches[2 * (p * PART_WORDS + w)] += (unsigned)(word >> lane()) & 1;
            t.searches[2 * (p * PART_WORDS + w) + 1] += (unsigned)(word >> (32 + lane())) & 1;
        }
    }
}

DEVICE void note_distances(const Joint& j, const Bits& fresh, vid v, unsigned level) {
    if (!j.distance) return;
    const i64 at = j.ids ? (i64)__ldg(j.ids + v) : (i64)v;
    const i64 first = 64 * PART_WORDS * (lane() % PARTS);
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) {
        for (u64 rest = fresh.word[w]; rest; rest &= rest - 1)
            j.distance[(first + 64 * w + __ffsll((i64)rest) - 1) * j.n + at] = (DISTANCE)level;
    }
}

// Make what is fresh at a vertex known; lanes that hold no part of one say so. All lanes call it.
DEVICE void settle(const Joint& j, Tally& t, bool valid, vid v, const Bits& seen, const Bits& fresh, const Bits& live,
                   unsigned level) {
    const bool mine = valid && any(fresh);
    const unsigned votes = __ballot_sync(FULL, mine) >> (lane() / PARTS * PARTS);
    const Bits left = without(live, seen | fresh);
    const unsigned lacking = __ballot_sync(FULL, valid && any(left)) >> (lane() / PARTS * PARTS);
    if (mine) {
        j.seen[(i64)v * PARTS + lane() % PARTS] = seen | fresh;
        note_distances(j, fresh, v, level);
    }
    const unsigned row = (1u << PARTS) - 1;
    if (valid && (votes & row) && lane() % PARTS == 0) {
        t.size += 1;
        t.out += (u64)(__ldg(j.offsets + v + 1) - __ldg(j.offsets + v));
        if (!(lacking & row)) t.closed += (u64)(__ldg(j.in_offsets + v + 1) - __ldg(j.in_offsets + v));
    }
}

DEVICE void hand_in(const Tally& t, Slot* slot, unsigned* counts) {
    __shared__ unsigned block[SEARCHES];
    for (int s = threadIdx.x; s < SEARCHES; s += BLOCK) block[s] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2 * WORDS; ++k)
        if (t.searches[k]) atomicAdd(block + 32 * k + lane(), t.searches[k]);
    const u64 out = warp_sum(t.out), closed = warp_sum(t.closed);
    const unsigned size = warp_sum(t.size);
    if (lane() == 0 && size) {
        atomicAdd(&slot->size, size);
        atomicAdd(&slot->out, out);
        atomicAdd(&slot->closed, closed);
    }
    __syncthreads();
    for (int s = threadIdx.x; s < SEARCHES; s += BLOCK)
        if (block[s]) atomicAdd(counts + s, block[s]);
}

// ---- push ----------------------------------------------------------------------------------------------------------

DEVICE void push_level(const Joint& j, unsigned* arrivals, unsigned& met, Slot* slot, unsigned size, const vid* queue,
                       vid* following, const Bits* front, Bits* next, vid* held) {
    Held found = Held::make(held, following, &slot->listed);
    const auto nothing_more = [](vid) {};
    const auto visit = [&](bool valid, vid u, vid v, eid) {
        bool fresh = false;
        for (int p = 0; p < PARTS && valid; ++p) {
            const Bits offered = without(front[(i64)u * PARTS + p], j.seen[(i64)v * PARTS + p]);
            if (!any(offered)) continue;
            // words of this level from the cache may lack bits, which costs an atomic that changes nothing
            const Bits lacking = without(offered, next[(i64)v * PARTS + p]);
#pragma unroll
            for (int w = 0; w < PART_WORDS; ++w)
                if (lacking.word[w]) atomicOr(next[(i64)v * PARTS + p].word + w, lacking.word[w]);
            fresh |= any(lacking);
        }
        const bool first = fresh && !has_bit(j.listed, v) && set_bit(j.listed, v);
        __syncwarp();
        found.add(first, v, nothing_more);
    };
    const unsigned share = share_of(size);
    for (i64 base = share * (i64)warp_in_grid(); base < size; base += share * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool take = lane() < share && i < size;
        walk_or_defer(j.offsets, j.targets, j.n, j.max_degree, j.hubs, &slot->big, &slot->huge, take,
                      take ? queue[i] : (vid)0, visit);
    }
    if (j.max_degree >= BLOCK_ROW) {
        grid_barrier(arrivals, met);
        walk_deferred(j.offsets, j.targets, j.n, j.hubs, slot->big, slot->huge, WARPS, visit);
    }
    found.flush(nothing_more);
}

DEVICE void settle_pushed(const Joint& j, Tally& t, unsigned listed, const vid* queue, unsigned size, const vid* following,
                          Bits* front, const Bits* next, const Bits& live, unsigned level) {
    for (i64 i = thread_in_grid(); i < (i64)size * PARTS; i += threads_in_grid())
        front[(i64)queue[i / PARTS] * PARTS + i % PARTS] = none();
    const i64 items = (i64)listed * PARTS;
    for (i64 base = 32 * (i64)warp_in_grid(); base < items; base += 32 * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool valid = i < items;
        const vid v = valid ? following[i / PARTS] : (vid)0;
        const i64 at = (i64)v * PARTS + lane() % PARTS;
        const Bits fresh = valid ? next[at] : none();
        if (valid) j.listed[v >> 5] = 0;  // all that are listed come by here
        settle(j, t, valid, v, j.seen[at], fresh, live, level);
        count_lanes(t, fresh);
    }
}

// ---- pull ----------------------------------------------------------------------------------------------------------

// The missing bits that a lane finds at arcs arc, arc + step, ...
DEVICE Bits gather(const Joint& j, const Bits* front, const Bits& missing, i64 arc, i64 end, unsigned step) {
    const unsigned part = lane() % PARTS;
    Bits found = none();
    if (!any(missing)) return found;
    for (; arc + (AHEAD - 1) * step < end; arc += AHEAD * step) {
        i64 u[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) u[k] = __ldg(j.sources + arc + k * step);
        Bits all = none();
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) all = all | front[u[k] * PARTS + part];
        found = found | (all & missing);
        if (!any(without(missing, found))) return found;
    }
    for (; arc < end; arc += step) found = found | (front[(i64)__ldg(j.sources + arc) * PARTS + part] & missing);
    return found;
}

// Rows of a class by so many lanes a part each. A warp loads what 32 lanes can hold of rows, then walks them in turns.
template <unsigned wanted>
DEVICE void pull_class(const Joint& j, Tally& t, const Bits* front, Bits* next, const Bits& live, i64 begin, i64 end, unsigned level) {
    constexpr unsigned each = wanted * PARTS < 32 ? wanted : 32 / PARTS;  // lanes along the arcs
    constexpr unsigned width = each * PARTS, rows = 32 / width;           // lanes of a row, rows at once
    const i64 first_item = begin * PARTS, last_item = end * PARTS;
    for (i64 base = first_item + 32 * (i64)warp_in_grid(); base < last_item; base += 32 * (i64)warps_in_grid()) {
        const i64 item = base + lane(), v = item / PARTS;
        const bool valid = item < last_item;
        const Bits seen = valid ? j.seen[item] : none(), missing = valid ? without(live, seen) : none();
        const unsigned open = __ballot_sync(FULL, any(missing));
        Bits mine = none();
        if (open) {
            eid first = 0, last = 0;
            if (open >> (lane() / PARTS * PARTS) & ((1u << PARTS) - 1)) {
                first = __ldg(j.in_offsets + v);
                last = __ldg(j.in_offsets + v + 1);
            }
#pragma unroll 1
            for (unsigned turn = 0; turn < each; ++turn) {
                const unsigned from = (turn * rows + lane() / width) * PARTS + lane() % PARTS;
                const eid arc = __shfl_sync(FULL, first, from), stop = __shfl_sync(FULL, last, from);
                if (!__any_sync(FULL, arc < stop)) continue;
                Bits found = gather(j, front, from_lane(missing, from), (i64)arc + lane() % width / PARTS, stop, each);
                __syncwarp();
                found = merged(found, width);
                const unsigned back = (lane() / PARTS - turn * rows) * width + lane() % PARTS;
                found = from_lane(found, back & 31u);
                if (lane() / (rows * PARTS) == turn) mine = found;
            }
        }
        if (valid) next[item] = mine;
        if (!__any_sync(FULL, any(mine))) continue;
        settle(j, t, valid, (vid)v, seen, mine, live, level);
        count_lanes(t, mine);
    }
}

DEVICE void pull_by_warps(const Joint& j, Tally& t, const Bits* front, Bits* next, const Bits& live, i64 begin, i64 end, unsigned level) {
    const unsigned part = lane() % PARTS, each = 32 / PARTS;
    for (i64 v = begin + warp_in_grid(); v < end; v += warps_in_grid()) {
        const Bits seen = j.seen[v * PARTS + part], missing = without(live, seen);
        Bits found = none();
        bool open = __any_sync(FULL, any(missing));
        if (open) {
            const i64 last = __ldg(j.in_offsets + v + 1);
            // in stretches, so that all lanes hear of it when nothing is missing
            for (i64 arc = __ldg(j.in_offsets + v); arc < last && open; arc += 8 * each) {
                const i64 stop = arc + 8 * each < last ? arc + 8 * each : last;
                found = found | gather(j, front, without(missing, found), arc + lane() / PARTS, stop, each);
                __syncwarp();
                found = merged(found, 32);
                open = __any_sync(FULL, any(without(missing, found)));
            }
        }
        if (lane() < PARTS) next[v * PARTS + part] = found;
        if (!__any_sync(FULL, any(found))) continue;
        settle(j, t, lane() < PARTS, (vid)v, seen, found, live, level);
        count_one(t, found);
    }
}

DEVICE void pull_by_blocks(const Joint& j, Tally& t, const Bits* front, Bits* next, const Bits& live, i64 end, unsigned level) {
    __shared__ u64 gathered[WORDS];
    const unsigned part = lane() % PARTS, each = BLOCK / PARTS;
    volatile u64* mine = gathered + part * PART_WORDS;
    for (i64 v = blockIdx.x; v < end; v += gridDim.x) {
        const Bits seen = j.seen[v * PARTS + part], missing = without(live, seen);
        if (!__syncthreads_or(any(missing))) {
            if (threadIdx.x < PARTS) next[v * PARTS + part] = none();
            continue;
        }
        if (threadIdx.x < WORDS) gathered[threadIdx.x] = 0;
        __syncthreads();
        const i64 last = __ldg(j.in_offsets + v + 1);
        Bits left = missing;
        for (i64 arc = __ldg(j.in_offsets + v); arc < last && any(left); arc += 8 * each) {
            const i64 stop = arc + 8 * each < last ? arc + 8 * each : last;
            const Bits found = gather(j, front, left, arc + threadIdx.x / PARTS, stop, each);
            // not waiting for the others: what they found is heard of sooner or later
#pragma unroll
            for (int w = 0; w < PART_WORDS; ++w) {
                if (found.word[w] & ~mine[w]) atomicOr((u64*)mine + w, found.word[w]);
                left.word[w] &= ~mine[w];
            }
        }
        __syncthreads();
        if (warp_in_block() == 0) {
            Bits found;
#pragma unroll
            for (int w = 0; w < PART_WORDS; ++w) found.word[w] = mine[w];
            if (lane() < PARTS) next[v * PARTS + part] = found;
            settle(j, t, lane() < PARTS, (vid)v, seen, found, live, level);
            count_one(t, found);
        }
        __syncthreads();
    }
}

DEVICE void pull_level(const Joint& j, Tally& t, const Bits* front, Bits* next, const Bits& live, unsigned level) {
    const i64* ends = j.classes;
    pull_by_blocks(j, t, front, next, live, ends[0], level);
    pull_by_warps(j, t, front, next, live, ends[0], ends[1], level);
    pull_class<32>(j, t, front, next, live, ends[1], ends[2], level);
    pull_class<16>(j, t, front, next, live, ends[2], ends[3], level);
    pull_class<8>(j, t, front, next, live, ends[3], ends[4], level);
    pull_class<4>(j, t, front, next, live, ends[4], ends[5], level);
    pull_class<2>(j, t, front, next, live, ends[5], ends[6], level);
    pull_class<1>(j, t, front, next, live, ends[6], ends[7], level);
    for (i64 i = ends[7] * PARTS + thread_in_grid(); i < j.n * PARTS; i += threads_in_grid()) next[i] = none();
}

// The joint frontier as a queue, from the table of its bits; the other table is emptied for what a push finds.
DEVICE void enqueue(const Joint& j, const Bits* front, Bits* next, vid* queue, unsigned* size) {
    for (i64 base = 32 * (i64)warp_in_grid(); base < j.n * PARTS; base += 32 * (i64)warps_in_grid()) {
        const i64 i = base + lane();
        const bool valid = i < j.n * PARTS;
        const unsigned votes = __ballot_sync(FULL, valid && any(front[valid ? i : 0])) >> (lane() / PARTS * PARTS);
        if (valid) next[i] = none();
        warp_append(queue, size, lane() % PARTS == 0 && (votes & ((1u << PARTS) - 1)), (vid)(i / PARTS));
    }
}

// ---- all levels ----------------------------------------------------------------------------------------------------

// One block puts the sources' bits into empty tables, and each vertex among them into the queue.
extern "C" __global__ void __launch_bounds__(BLOCK) place(const Joint j, const i64* group, int count) {
    Control* c = j.control;
    u64 out = 0;
    for (int s = threadIdx.x; s < count; s += BLOCK) {
        const vid v = j.rank ? j.rank[group[s]] : (vid)group[s];
        const i64 word = (i64)v * WORDS + s / 64;
        const u64 bit = 1ull << (s & 63);
        atomicOr((u64*)j.seen + word, bit);
        atomicOr((u64*)j.table[0] + word, bit);
        atomicOr(c->live + s / 64, bit);
        if (j.distance) j.distance[s * j.n + group[s]] = 0;
        if (set_bit(j.listed, v)) {
            j.queue[0][atomicAdd(&c->size, 1)] = v;
            out += (u64)(j.offsets[v + 1] - j.offsets[v]);
        }
    }
    if (out) atomicAdd(&c->out, out);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < c->size; i += BLOCK) j.listed[j.queue[0][i] >> 5] = 0;
    if (threadIdx.x == 0) {
        c->joint = c->size;
        c->open = (u64)j.arcs;
        c->in_queue = 1;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) traverse(const Joint j) {
    __shared__ vid held[WARPS * HELD];
    __shared__ u64 alive[WORDS];
    Control* c = j.control;
    unsigned met = 0, done = 0, size = c->size, flipped = c->flipped, level = c->level, pulled = c->pulled;
    bool in_queue = c->in_queue;
    u64 out = c->out, open = c->open, joint = c->joint;
    const u64 begun = now_ns();
    if (threadIdx.x < WORDS) alive[threadIdx.x] = c->live[threadIdx.x];
    __syncthreads();
    for (;;) {
        Slot* slot = c->slots + done % 3;
        unsigned* counts = c->counts[done % 3];
        Bits *front = j.table[flipped], *next = j.table[flipped ^ 1];
        vid *queue = j.queue[flipped], *following = j.queue[flipped ^ 1];
        Bits live;
#pragma unroll
        for (int w = 0; w < PART_WORDS; ++w) live.word[w] = alive[lane() % PARTS * PART_WORDS + w];
        Tally t = {};
        ++level;
        // A pull looks at all vertices. A push after a pull does too, to make its queue.
        if (out * PUSH_COST > (open + (u64)j.n) / (in_queue ? 1 : 2)) {
            pull_level(j, t, front, next, live, level);
            in_queue = false;
            ++pulled;
        } else {
            if (!in_queue) {
                enqueue(j, front, next, queue, &slot->queued);
                grid_barrier(&c->arrivals, met);
            }
            push_level(j, &c->arrivals, met, slot, size, queue, following, front, next, held);
            grid_barrier(&c->arrivals, met);
            settle_pushed(j, t, slot->listed, queue, size, following, front, next, live, level);
            in_queue = true;
        }
        hand_in(t, slot, counts);
        if (blockIdx.x == 0) {
            for (int s = threadIdx.x; s < SEARCHES; s += BLOCK) c->counts[(done + 1) % 3][s] = 0;
            if (threadIdx.x == 0) {
                c->slots[(done + 1) % 3] = Slot{};
                if (now_ns() - begun > (u64)j.nanoseconds) slot->stop = 1;
            }
        }
        grid_barrier(&c->arrivals, met);
        const Slot now = *slot;
        for (int s = threadIdx.x; s < SEARCHES; s += BLOCK) {
            const unsigned fresh = counts[s], votes = __ballot_sync(FULL, fresh != 0);
            if (lane() == 0) ((unsigned*)alive)[s / 32] = votes;
            if (blockIdx.x > 0 || fresh == 0) continue;
            c->reached[s] += fresh;
            c->far[s] += (u64)fresh * level;
            c->near[s] += (double)fresh / level;
            c->depth[s] = level;
        }
        __syncthreads();
        size = now.size;
        out = now.out;
        open -= now.closed;
        joint += size;
        flipped ^= 1;
        ++done;
        const bool finished = size == 0 || (i64)level >= j.limit;
        if (finished || now.stop) {
            if (blockIdx.x == 0 && threadIdx.x < WORDS) c->live[threadIdx.x] = alive[threadIdx.x];
            if (thread_in_grid() == 0) {
                c->size = size;
                c->flipped = flipped;
                c->level = level;
                c->finished = finished;
                c->pulled = pulled;
                c->in_queue = in_queue;
                c->out = out;
                c->open = open;
                c->joint = joint;
            }
            return;
        }
    }
}
