// What all kernels of programs share: their arguments, the counters of a superstep, queues, and walks over arcs.
//
// A kernel is launched once for many supersteps, with as many blocks as the device holds and grid barriers between them.
// A superstep has a slot of counters; of three slots one is filled, one was filled in the superstep before and may still
// be read, and one is cleared for the next.
#pragma once
#include "walking.cuh"

#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef RESIDENT
#define RESIDENT 1         // blocks that a multiprocessor must be able to hold at once
#endif
#define WARPS (BLOCK / 32)

#ifdef STORED_WEIGHT       // a narrower type that holds all weights of the graph: fewer bytes over the link
typedef STORED_WEIGHT StoredWeight;
#else
typedef Weight StoredWeight;
#endif

struct Graph {
    const eid* offsets;
    const vid* targets;
    const StoredWeight* weights;
    const eid* in_offsets;
    const vid* sources;
    const StoredWeight* in_weights;
    i64 n;
    i64 max_degree;
    i64 classes[8];        // ends of the ranges of ids whose in-rows belong to a block, a warp, 32 of them to a warp
                           // with 32, 16, 8, 4, 2 lanes each, and one
    const unsigned* packed;        // in-rows once more, as packs.cuh has them; where each pack begins; and of the
    const unsigned* pack_starts;   // rows that belong to a block which is their first pack
    const unsigned* row_packs;
    i64 packed_begin, packed_end, packs_of_blocks;
};

struct Slot {
    unsigned size, touched, big, huge, overflowed, stop;
    unsigned open;         // whether someone who starts can still be claimed
    unsigned listed;       // vertices of a bitmap that were written to a queue
    u64 out, in, messages;
};

struct Row {
    u64 frontier, out, in, messages, nanoseconds, pulled;
};

struct Control {
    unsigned arrivals, unused;
    Slot slots[3];         // up to here the host clears before every launch
    unsigned supersteps, size, flipped, overflowed, finished, pulled;
    unsigned open;         // whether someone who starts can still be claimed
    u64 out, in;
    double untouched;      // Algorithm 2's E'
    Reduced reduced;
};

struct Work {
    vid* queue[2];         // the frontier, and the one being made
    unsigned* member[2];   // the same as bits
    vid* touched;          // or the log of a stretch of thin frontiers
    vid* hubs;             // rows for blocks from the front, rows for the grid from the back
    unsigned* got;
    unsigned* visited;
    unsigned* far;         // vertices put off to a later bucket
    unsigned* locks;
    Control* control;
    Reduced* partial;      // two for each block
    u64* level_counters;   // of a stretch
    void* buckets;         // of an order: three least priorities, three sizes
    Row* rows;
    i64 max_rows;
};

struct Step {
    i64 horizon;
    i64 nanoseconds;       // to stay in one launch, so that the host can be asked to stop
    int policy;            // 0: push, 1: pull, 2: as Algorithm 2 says
    int selective;         // leave the kernel where the direction changes
    double alpha, beta;
    double delta, widest;  // width of the first bucket, and of any, in units of the priority
};

struct Arguments {
    Graph G;
    Fields S, O, P;
    EdgeFields E;
    Context K;
    Merged A;
    Work W;
    Step step;
};

DEVICE Weight weight_at(const StoredWeight* weights, eid arc) {
    if (HAS_WEIGHTS) return (Weight)__ldg(weights + arc);
    return (Weight)1;
}

// ---- sums over a block ---------------------------------------------------------------------------------------------

DEVICE void add_to_slot(u64* where, u64 value) {
    value = warp_sum(value);
    if (lane() == 0 && value) atomicAdd(where, value);
}

DEVICE Reduced block_reduce(Reduced R) {
    __shared__ Reduced warps[WARPS];
    for (int step = 16; step > 0; step >>= 1) R = reduce_merge(R, exchange(R, step));
    __syncthreads();
    if (lane() == 0) warps[warp_in_block()] = R;
    __syncthreads();
    R = warps[0];
    for (int w = 1; w < WARPS; ++w) R = reduce_merge(R, warps[w]);
    __syncthreads();
    return R;
}

// Each block leaves its part; after a barrier every block folds all parts in the same order.
DEVICE void reduce_leave(const Work& W, unsigned parity, Reduced R) {
    R = block_reduce(R);
    if (threadIdx.x == 0) W.partial[parity * gridDim.x + blockIdx.x] = R;
}
DEVICE Reduced reduce_all(const Work& W, unsigned parity) {
    Reduced R = reduce_start();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += BLOCK) R = reduce_merge(R, W.partial[parity * gridDim.x + b]);
    return block_reduce(R);
}

// ---- making a frontier ---------------------------------------------------------------------------------------------

// A warp's part of a queue, with the degrees of what is appended.
struct Appender {
    Held part;
    const Graph* G;        // whose degrees are summed up; may be null
    u64 out, in;

    DEVICE Appender make(vid* shared, vid* queue, unsigned* size, const Graph* G = nullptr) {
        return Appender{Held::make(shared, queue, size), G, 0, 0};
    }
    __device__ __forceinline__ void sum_up(vid v) {
        if (!G) return;
        out += degree(G->offsets, v);
        if (G->in_offsets && G->in_offsets != G->offsets) in += degree(G->in_offsets, v);
    }
    // All 32 lanes call these.
    __device__ __forceinline__ void add(bool take, vid v) {
        part.add(take, v, [this](vid w) { sum_up(w); });
    }
    __device__ __forceinline__ void flush() {
        part.flush([this](vid w) { sum_up(w); });
    }
    __device__ __forceinline__ void flush_counters(Slot* slot) {
        add_to_slot(&slot->out, out);
        if (G && G->in_offsets) add_to_slot(&slot->in, G->in_offsets == G->offsets ? out : in);
    }
};

// ---- walking -------------------------------------------------------------------------------------------------------

template <class F>
DEVICE void walk_or_defer(const Arguments& a, Slot* slot, bool active, vid u, F&& visit) {
    walk_or_defer(a.G.offsets, a.G.targets, a.G.n, a.G.max_degree, a.W.hubs, &slot->big, &slot->huge, active, u, visit);
}

template <class F>
DEVICE void walk_deferred(const Arguments& a, const Slot* slot, F&& visit) {
    walk_deferred(a.G.offsets, a.G.targets, a.G.n, a.W.hubs, slot->big, slot->huge, WARPS, visit);
}

// ---- the frame of a launch -----------------------------------------------------------------------------------------

// What every thread knows about the run; equal in all of them.
struct Frame {
    Context K;
    unsigned met, size, flipped, done;
    u64 out, in, begun, last;
    vid* queue;
    vid* following;
    unsigned* member;
    unsigned* next_member;

    __device__ __forceinline__ void begin(const Arguments& a) {
        const Control* c = a.W.control;
        K = a.K;
        reduce_show(K, c->reduced);
        met = done = 0;
        size = c->size;
        out = c->out;
        in = c->in;
        flipped = c->flipped;
        begun = last = now_ns();
        aim(a);
    }
    __device__ __forceinline__ void aim(const Arguments& a) {
        queue = a.W.queue[flipped];
        following = a.W.queue[flipped ^ 1];
        member = a.W.member[flipped];
        next_member = a.W.member[flipped ^ 1];
    }
    __device__ __forceinline__ Slot* slot(const Arguments& a) { return a.W.control->slots + done % 3; }
    __device__ __forceinline__ void barrier(const Arguments& a) { grid_barrier(&a.W.control->arrivals, met); }

    // Clear the next slot, and tell when it is time to leave; called in every superstep, before its last barrier.
    __device__ __forceinline__ void clear_next_slot(const Arguments& a) {
        if (thread_in_grid() == 0) {
            Slot* next = a.W.control->slots + (done + 1) % 3;
            *next = Slot{0, 0, 0, 0, 0, 0, 0, 0, 0};
            if (now_ns() - begun > (u64)a.step.nanoseconds) slot(a)->stop = 1;
        }
    }

    // After the last barrier of a superstep: the frontier that it made is the one at hand.
    __device__ __forceinline__ Slot commit(const Arguments& a, bool pulled) {
        const Slot now = *slot(a);
        if (thread_in_grid() == 0 && (i64)done < a.W.max_rows) {
            const u64 time = now_ns();
            a.W.rows[done] = Row{size, out, in, now.messages, time - last, (u64)pulled};
            last = time;
        }
        size = ALWAYS_ACTIVE ? (unsigned)a.G.n : now.size;
        out = ALWAYS_ACTIVE ? (u64)a.K.num_arcs : now.out;
        in = ALWAYS_ACTIVE ? (u64)a.K.num_arcs : now.in;
        flipped ^= 1;
        aim(a);
        ++done;
        ++K.superstep;
        return now;
    }
    __device__ __forceinline__ bool must_leave(const Arguments& a, const Slot& now) {
        return now.stop || now.overflowed || (i64)done >= a.step.horizon;
    }
    // What the host reads; `finished`: 1 nobody is active, 2 converged.
    __device__ __forceinline__ void report(const Arguments& a, const Slot& now, bool pulled, unsigned finished) {
        if (thread_in_grid() != 0) return;
        Control* c = a.W.control;
        c->supersteps = done;
        c->size = size;
        c->out = out;
        c->in = in;
        c->flipped = flipped;
        c->overflowed = now.overflowed;
        c->pulled = pulled;
        c->finished = finished;
    }
    // Go on with the next superstep, or report and leave.
    __device__ __forceinline__ bool advance(const Arguments& a, bool pulled, bool converged = false) {
        return continue_or_report(a, commit(a, pulled), pulled, converged);
    }
    __device__ __forceinline__ bool continue_or_report(const Arguments& a, const Slot& now, bool pulled,
                                                       bool converged = false) {
        const unsigned finished = converged ? 2 : size == 0 ? 1 : 0;
        if (!finished && !must_leave(a, now)) return true;
        report(a, now, pulled, finished);
        return false;
    }
};
