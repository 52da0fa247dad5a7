// Supersteps of thin frontiers, one after the other, for traversals of graphs of high diameter. Such a superstep costs
// what its chain of accesses costs, each of which waits for the one before; so here the chain is short. Blocks gather
// what they find in shared memory; one atomic per block takes its places in the next frontier, counts messages, and says
// that the block is done. There is no other barrier: frontiers are written one behind the other to a log that was filled
// with EMPTY before, and whoever reads a place waits until somebody is there. Where a message asks for its source's
// state, that is written, then a fence, then the place; it is read by an acquiring load of the place, then the state.
#pragma once
#include "frame.cuh"

#define THIN 8192          // a frontier has fewer vertices
#define SHORT 256          // and rows no more arcs, since a few lanes walk one
#define ROOM (1 << 20)     // places of the log
#define LEVELS 4096        // frontiers that it holds

#define EMPTY ((vid)-1)

// Lanes that walk a row together, where a warp has `share` rows.
DEVICE unsigned lanes_for(unsigned share) { return share == 1 ? 32 : 1u << (__clz(share - 1) - 27); }

// A word for each frontier being made, all parts of which are summed up by one atomic.
struct LevelCounter {
    u64 bits;
    DEVICE u64 arrival(u64 messages, u64 size, bool stop) { return 1 | (u64)stop << 20 | size << 21 | messages << 42; }
    DEVICE u64 place() { return 1ull << 21; }
    __device__ __forceinline__ unsigned arrivals() const { return bits & 0xfffff; }
    __device__ __forceinline__ bool stop() const { return bits >> 20 & 1; }
    __device__ __forceinline__ unsigned size() const { return bits >> 21 & 0x1fffff; }
    __device__ __forceinline__ unsigned messages() const { return bits >> 42; }
};

DEVICE u64 load_relaxed(const u64* p) {
    u64 value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
    return value;
}
DEVICE int load_relaxed(const int* p) { return (int)load_relaxed((const unsigned*)p); }
DEVICE i64 load_relaxed(const i64* p) { return (i64)load_relaxed((const u64*)p); }
DEVICE int load_acquire(const int* p) { return (int)load_acquire((const unsigned*)p); }
DEVICE i64 load_acquire(const i64* p) {
    i64 value;
    asm volatile("ld.acquire.gpu.global.s64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
    return value;
}
DEVICE void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
DEVICE void store_relaxed(int* p, int value) { asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(value) : "memory"); }
DEVICE void store_relaxed(i64* p, i64 value) { asm volatile("st.relaxed.gpu.global.s64 [%0], %1;" ::"l"(p), "l"(value) : "memory"); }

// What a block has in shared memory. Counters of one superstep are cleared in the next.
struct Gathered {
    unsigned count[2], messages[2], base;
    u64 total;
};

// Equal in all threads.
struct Stretch {
    Gathered* block;
    vid* found;            // WARPS * HELD places in shared memory
    i64 at, room;          // the next free place of the log, and all of its places
    unsigned level;        // the next free counter
    bool over;             // known to the first thread alone: the time is up

    DEVICE Stretch make(const Arguments& a, Gathered* block, vid* found) {
        const i64 room = a.G.n < ROOM ? a.G.n : ROOM;
        return Stretch{block, found, room, room, LEVELS, false};
    }

    // Whether the next superstep is one for here.
    __device__ __forceinline__ bool suits(const Arguments& a, const Frame& f) const {
        if (f.size == 0 || f.size >= THIN || a.G.max_degree > SHORT) return false;
        if (a.step.horizon < 16) return false;  // to begin has to pay
        return 4 * (i64)f.size * a.G.max_degree <= room;
    }
    __device__ __forceinline__ bool is_full(const Arguments& a, const Frame& f) const {
        return level == LEVELS || at + (i64)f.size * a.G.max_degree > room;
    }

    // Begin the log anew. The frontier may be in it: it goes back to where the host looks for it.
    __device__ __forceinline__ void clear(const Arguments& a, Frame& f) {
        copy_to_queue(a, f);
        for (i64 i = thread_in_grid(); i < room; i += threads_in_grid()) a.W.touched[i] = EMPTY;
        for (i64 i = thread_in_grid(); i < LEVELS; i += threads_in_grid()) a.W.level_counters[i] = 0;
        if (threadIdx.x < 2) block->count[threadIdx.x] = block->messages[threadIdx.x] = 0;
        f.barrier(a);
        at = 0;
        level = 0;
    }
    DEVICE void copy_to_queue(const Arguments& a, Frame& f) {
        vid* home = a.W.queue[f.flipped];
        if (f.queue == home) return;
        for (i64 i = thread_in_grid(); i < f.size; i += threads_in_grid()) home[i] = f.queue[i];
        f.queue = home;
        f.barrier(a);
    }

    // One superstep. visit(valid, u, v, arc): whether v is to be in the next frontier.
    template <class F>
    __device__ __forceinline__ LevelCounter advance(const Arguments& a, Frame& f, F&& visit) {
        const unsigned turn = level & 1;
        const bool written = f.queue != a.W.queue[f.flipped];
        u64* counter = a.W.level_counters + level;
        vid* next = a.W.touched + at;
        unsigned messages = 0;
        const unsigned share = share_of(f.size), group = lanes_for(share), each = 32 / group;
        for (i64 first = each * (i64)warp_in_grid(); first < f.size; first += each * (i64)warps_in_grid()) {
            const i64 i = first + lane() / group;
            vid u = EMPTY;
            eid arc = 0, end = 0;
            if (i < f.size) {
                do u = ASKS_SOURCE ? load_acquire(f.queue + i) : load_relaxed(f.queue + i);
                while (u == EMPTY && written);
                arc = __ldg(a.G.offsets + u);
                end = __ldg(a.G.offsets + u + 1);
                if (lane() % group == 0) messages += (unsigned)(end - arc);
                arc += lane() % group;
            }
            for (; __any_sync(FULL, arc < end); arc += group) {
                const bool valid = arc < end;
                const vid v = valid ? __ldg(a.G.targets + arc) : (vid)0;
                const bool fresh = visit(valid, u, v, arc);
                const unsigned takers = __ballot_sync(FULL, fresh);
                if (takers == 0) continue;
                unsigned place = 0;
                if (lane() == 0) place = atomicAdd(block->count + turn, __popc(takers));
                place = __shfl_sync(FULL, place, 0) + __popc(takers & lanes_below());
                if (!fresh) continue;
                if (place < WARPS * HELD) {
                    found[place] = v;
                } else {
                    if (ASKS_SOURCE) fence();
                    store_relaxed(next + LevelCounter{atomicAdd(counter, LevelCounter::place())}.size(), v);
                }
            }
        }
        messages = warp_sum(messages);
        if (lane() == 0 && messages) atomicAdd(block->messages + turn, messages);
        __syncthreads();
        const unsigned count = block->count[turn] < WARPS * HELD ? block->count[turn] : WARPS * HELD;
        if (threadIdx.x == 0) {
            const u64 arrival = LevelCounter::arrival(block->messages[turn], count, over);
            block->base = LevelCounter{atomicAdd(counter, arrival)}.size();
            block->count[turn ^ 1] = block->messages[turn ^ 1] = 0;
        }
        if (ASKS_SOURCE && threadIdx.x < count) fence();  // while the atomic is under way
        __syncthreads();
        for (unsigned i = threadIdx.x; i < count; i += BLOCK) {
            const vid v = found[i];
            store_relaxed(next + block->base + i, v);
            const eid begin = __ldg(a.G.offsets + v);
            prefetch(a.G.targets + begin);
            if (HAS_WEIGHTS) prefetch(a.G.weights + begin);
        }
        u64 time = 0;
        if (thread_in_grid() == 0) {
            time = now_ns();
            over = time - f.begun > (u64)a.step.nanoseconds;
        }
        if (threadIdx.x == BLOCK - 1) {
            LevelCounter seen;
            do seen.bits = load_relaxed(counter);
            while (seen.arrivals() < gridDim.x);
            block->total = seen.bits;
        }
        __syncthreads();
        const LevelCounter made = {block->total};
        if (thread_in_grid() == 0 && (i64)f.done < a.W.max_rows) {
            a.W.rows[f.done] = Row{f.size, 0, 0, made.messages(), time - f.last, 0};
            f.last = time;
        }
        f.flipped ^= 1;
        f.aim(a);
        f.queue = next;
        f.size = made.size();
        f.out = f.in = 0;
        ++f.done;
        ++f.K.superstep;
        at += f.size;
        ++level;
        return made;
    }

    // Supersteps until the frontier is no longer thin, or it is time to leave.
    template <class F>
    __device__ __forceinline__ Slot run(const Arguments& a, Frame& f, F&& visit) {
        Slot now = {};
        do {
            if (is_full(a, f)) {
                f.barrier(a);
                clear(a, f);
            }
            now.stop = advance(a, f, visit).stop();
        } while (suits(a, f) && !f.must_leave(a, now));
        if (thread_in_grid() == 0)
            for (Slot& slot : a.W.control->slots) slot = Slot{};
        f.barrier(a);
        return now;
    }
};
