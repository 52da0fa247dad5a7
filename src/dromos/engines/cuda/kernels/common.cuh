// What every kernel uses: id types, warps, bits, queues, and the barrier of a cooperative launch.
//
// VID and EID name the types of vertex ids and of positions in the arrays of arcs. No header of the CUDA toolkit is
// included: the run-time compiler has all of this built in, and the toolkit need not be there.
#pragma once

#ifndef VID
#define VID int
#endif
#ifndef EID
#define EID unsigned
#endif

typedef VID vid;
typedef EID eid;
typedef unsigned long long u64;
typedef long long i64;

#define FULL 0xffffffffu
#define DEVICE static __device__ __forceinline__

DEVICE unsigned lane() { return threadIdx.x & 31u; }
DEVICE unsigned warp_in_block() { return threadIdx.x >> 5; }
DEVICE unsigned warps_in_grid() { return (gridDim.x * blockDim.x) >> 5; }
DEVICE unsigned warp_in_grid() { return (blockIdx.x * blockDim.x + threadIdx.x) >> 5; }
DEVICE unsigned thread_in_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE unsigned threads_in_grid() { return gridDim.x * blockDim.x; }
DEVICE unsigned lanes_below() {
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}
DEVICE u64 now_ns() {
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

// ---- memory that other blocks write while we read it ---------------------------------------------------------------

DEVICE unsigned load_relaxed(const unsigned* p) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
DEVICE unsigned load_acquire(const unsigned* p) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
DEVICE void add_release(unsigned* p, unsigned value) {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

// All blocks of a cooperative launch wait for each other. `arrivals` is zero when the kernel starts; `met` counts the
// barriers of this launch, and is the same in all blocks.
DEVICE void grid_barrier(unsigned* arrivals, unsigned& met) {
    __syncthreads();
    met += gridDim.x;
    if (threadIdx.x == 0) {
        add_release(arrivals, 1);
        while ((int)(load_acquire(arrivals) - met) < 0) {
        }
    }
    __syncthreads();
}

// ---- warps ---------------------------------------------------------------------------------------------------------

template <class T>
DEVICE T warp_sum(T value) {
    for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(FULL, value, step);
    return value;
}

DEVICE unsigned warp_inclusive_sum(unsigned value) {
    for (unsigned step = 1; step < 32; step <<= 1) {
        const unsigned other = __shfl_up_sync(FULL, value, step);
        if (lane() >= step) value += other;
    }
    return value;
}

// Append to a queue from all lanes of a warp that `take`, with one atomic for all of them. All 32 lanes call it.
template <class T>
DEVICE void warp_append(T* queue, unsigned* size, bool take, T value) {
    const unsigned takers = __ballot_sync(FULL, take);
    if (takers == 0) return;
    unsigned base = 0;
    if (lane() == 0) base = atomicAdd(size, __popc(takers));
    base = __shfl_sync(FULL, base, 0);
    if (take) queue[base + __popc(takers & lanes_below())] = value;
}

// ---- sets of vertices as bits --------------------------------------------------------------------------------------

DEVICE unsigned bit_of(vid v) { return 1u << ((unsigned)v & 31u); }
DEVICE bool has_bit(const unsigned* bits, vid v) { return bits[v >> 5] & bit_of(v); }
DEVICE bool has_bit_now(const unsigned* bits, vid v) { return load_relaxed(bits + (v >> 5)) & bit_of(v); }
// Whether this thread is the one that set the bit.
DEVICE bool set_bit(unsigned* bits, vid v) { return !(atomicOr(bits + (v >> 5), bit_of(v)) & bit_of(v)); }
// Whether this thread is the one that cleared the bit.
DEVICE bool clear_bit(unsigned* bits, vid v) { return atomicAnd(bits + (v >> 5), ~bit_of(v)) & bit_of(v); }
