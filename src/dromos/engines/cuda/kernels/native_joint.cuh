// Searches from many sources at once: a bit of a vertex's words is a search. A vertex is in the joint frontier once,
// however many searches have it there, and one look at an arc serves them all (iBFS: Liu, Huang and Hu, SIGMOD 2016).
//
// `seen` has the bits of all searches that have been at a vertex; of two tables one holds the bits that came in the last
// level and one those of the next. A push merges by atomic or; a pull belongs to the vertex, needs no atomics and stops when
// nothing is missing. Bits of searches that found nothing in a level are not waited for any more. Bits that are new are
// counted search by search while they are at hand.
#pragma once
#include "joint_pull.cuh"
#include "joint_push.cuh"

#define RESIDENT 2   // blocks on a multiprocessor that registers are to suffice for
#define PUSH_COST 4  // an arc that is pushed costs so many times one that is pulled

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

// Add the distances from a group's sources to each vertex's sums, which lie in the device's order: one source after the
// other, so that the digits do not depend on the launch.
extern "C" __global__ void __launch_bounds__(BLOCK)
    add_up(const Joint j, int count, i64* reached, i64* distance_sum, double* inverse_sum) {
    for (i64 given = thread_in_grid(); given < j.n; given += threads_in_grid()) {
        const i64 v = j.rank ? (i64)j.rank[given] : given;
        i64 there = reached[v], far = distance_sum[v];
        double near = inverse_sum[v];
        for (int s = 0; s < count; ++s) {
            const i64 distance = (i64)j.distance[s * j.n + given];
            if (distance <= 0) continue;
            ++there;
            far += distance;
            near += 1.0 / (double)distance;
        }
        reached[v] = there;
        distance_sum[v] = far;
        inverse_sum[v] = near;
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
        JointSlot* slot = c->slots + done % 3;
        unsigned* counts = c->counts[done % 3];
        Bits *front = j.table[flipped], *next = j.table[flipped ^ 1];
        vid *queue = j.queue[flipped], *following = j.queue[flipped ^ 1];
        Bits live;
#pragma unroll
        for (int w = 0; w < PART_WORDS; ++w) live.word[w] = alive[lane() % PARTS * PART_WORDS + w];
        JointTally t = {};
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
        flush_counters(t, slot, counts);
        if (blockIdx.x == 0) {
            for (int s = threadIdx.x; s < SEARCHES; s += BLOCK) c->counts[(done + 1) % 3][s] = 0;
            if (threadIdx.x == 0) {
                c->slots[(done + 1) % 3] = JointSlot{};
                if (now_ns() - begun > (u64)j.nanoseconds) slot->stop = 1;
            }
        }
        grid_barrier(&c->arrivals, met);
        const JointSlot now = *slot;
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
