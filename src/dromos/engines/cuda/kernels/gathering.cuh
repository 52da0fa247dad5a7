// Messages gathered along in-arcs: a row belongs to one or more lanes, a warp or a block, by its length.
//
// settle(take, v, gathered) is called by whole warps, with what was gathered for v.
#pragma once
#include "settling.cuh"

#define LONG_ROW 2048  // arcs of a row that takes a block
#define AT_ONCE 4  // arcs of a row that a lane looks at before the row's lanes ask each other

#ifndef OVER_LINK
#define OVER_LINK 0  // whether arcs lie in the host's memory
#endif
#ifndef ANY_ORDER
#define ANY_ORDER 0  // whether rows may come in any order of their lengths; then classes say where to look for long ones
#endif
#ifndef PACK_ARCS
#define PACK_ARCS 0  // whether rows that lie there are packed for a pull of all of them, and how many arcs a pack has
#endif

struct Gathered {
    Message message;
    unsigned found;
};

DEVICE Gathered both(Gathered x, Gathered y) {
    if (y.found == 0) return x;
    if (x.found == 0) return y;
    return Gathered{merge(x.message, y.message), x.found + y.found};
}

DEVICE Gathered exchange(Gathered g, int step) {
    return Gathered{exchange(FULL, g.message, step), __shfl_xor_sync(FULL, g.found, step)};
}

// One message is as good as all, so the lanes of a row stop together when one of them has found a source: a row's first
// arcs lead to hubs, where most searches end. Several arcs are looked at before they ask each other.
DEVICE Gathered gather_one(const Arguments& a, const Frame& f, vid v, eid arc, eid end, unsigned parts) {
    Gathered g = {identity(), 0};
    const unsigned lanes = parts < 32 ? parts : 32, mine = lane() % lanes;
    const unsigned group = lanes == 32 ? FULL : ((1u << lanes) - 1) << (lane() - mine);
    for (eid base = arc - mine; base < end; base += AT_ONCE * parts) {
        vid u[AT_ONCE];
        bool sends[AT_ONCE];
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; ++i) {
            sends[i] = base + mine + i * parts < end;
            u[i] = sends[i] ? __ldg(a.G.sources + base + mine + i * parts) : 0;
        }
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; ++i) sends[i] = sends[i] && in_frontier(f, u[i]);
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; ++i) {
            if (!sends[i] || g.found) continue;
            const eid at = base + mine + i * parts;
            const Weight w = weight_at(a.G.in_weights, at);
            if (!SENDS_ALWAYS && !sends_at(a.S, a.E, f.K, u[i], v, at, w)) continue;
            g = Gathered{compute_at(a.S, a.E, f.K, u[i], v, at, w), 1};
        }
        if (__any_sync(group, g.found)) break;
    }
    return g;
}

// What one of `parts` lanes gathers of v's in-arcs, from `arc` on.
DEVICE Gathered gather(const Arguments& a, const Frame& f, vid v, eid arc, eid end, unsigned parts) {
    if (VOTE && !BY_SOURCE && !OVER_LINK) return gather_one(a, f, v, arc, end, parts);
    Gathered g = {identity(), 0};
#if OVER_LINK
    // What lies in the host's memory comes in requests of 128 bytes if a warp's reads begin at a multiple of them.
    const eid begin = arc - threadIdx.x % parts;
    if (parts >= 32) arc -= begin % 32;
#endif
#pragma unroll 4
    for (; arc < end; arc += parts) {
#if OVER_LINK
        if (parts >= 32 && arc < begin) continue;
#endif
        const vid u = __ldg(a.G.sources + arc);
#if BY_SOURCE
        g.message = merge(g.message, load_message(a.A, u));
        g.found += 1;
#else
        if (!in_frontier(f, u)) continue;
        const Weight w = weight_at(a.G.in_weights, arc);
        if (!SENDS_ALWAYS && !sends_at(a.S, a.E, f.K, u, v, arc, w)) continue;
        const Message m = compute_at(a.S, a.E, f.K, u, v, arc, w);
        g.message = g.found ? merge(g.message, m) : m;
        g.found += 1;
        if (VOTE) break;
#endif
    }
    return g;
}

// What `parts` neighbouring lanes have gathered, in each of them.
template <unsigned parts>
DEVICE Gathered gathered_by(Gathered g) {
    __syncwarp();
    for (unsigned step = parts / 2; step > 0; step >>= 1) g = both(g, exchange(g, step));
    return g;
}

// The same for all threads of a block; `parts` is its shared memory, and is free again behind the next __syncthreads.
DEVICE Gathered gathered_by_block(Gathered g, Gathered* parts) {
    g = gathered_by<32>(g);
    if (lane() == 0) parts[warp_in_block()] = g;
    __syncthreads();
    g = parts[0];
    for (unsigned w = 1; w < WARPS; ++w) g = both(g, parts[w]);
    return g;
}

// Whose rows are gathered, where all that is known of a vertex is new; else whoever gathers asks otherwise.
DEVICE auto wanting(const Arguments& a, const Frame& f) {
    return [&a, &f](vid v) { return WANTS_ALWAYS || wants_at(a.S, f.K, v); };
}

// Long rows: a warp each, settled by one lane. settle(take, v, gathered) is called by whole warps.
template <class F, class W>
DEVICE void gather_by_warps(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle, W&& wanted) {
    for (i64 v = begin + warp_in_grid(); v < end; v += warps_in_grid()) {
        if (ANY_ORDER && degree(a.G.in_offsets, (vid)v) >= LONG_ROW) continue;
        Gathered g = {identity(), 0};
        if (wanted((vid)v))
            g = gather(a, f, (vid)v, __ldg(a.G.in_offsets + v) + lane(), __ldg(a.G.in_offsets + v + 1), 32);
        settle(lane() == 0, (vid)v, gathered_by<32>(g));
    }
}

// Short rows: a warp takes 32 of them, gathers them one after the other (several at once where few lanes do a row), and
// then each lane settles one. What a row costs beside its arcs is so paid once for 32, and neighbours are read together.
template <unsigned parts, class F, class W>
DEVICE void gather_class(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle, W&& wanted) {
    const unsigned rows = 32 / parts;  // at once
    for (i64 base = begin + 32 * (i64)warp_in_grid(); base < end; base += 32 * (i64)warps_in_grid()) {
        const i64 v = base + lane();
        eid first = 0, last = 0;
        if (v < end && wanted((vid)v)) {
            first = __ldg(a.G.in_offsets + v);
            last = __ldg(a.G.in_offsets + v + 1);
        }
        Gathered mine = {identity(), 0};
        for (unsigned turn = 0; turn < parts; ++turn) {
            const unsigned row = turn * rows + lane() / parts;
            const eid from = __shfl_sync(FULL, first, row), to = __shfl_sync(FULL, last, row);
            Gathered g = gather(a, f, (vid)(base + row), from + lane() % parts, to, parts);
            g = gathered_by<parts>(g);
            const unsigned source = (lane() - turn * rows) * parts & 31u;
            g = Gathered{fetch(g.message, source), __shfl_sync(FULL, g.found, source)};
            if (lane() / rows == turn) mine = g;
        }
        settle(v < end, (vid)v, mine);
    }
}

// A row that takes a block; `parts` is shared memory of the block, and free again when this returns.
template <class F, class W>
DEVICE void gather_by_block(const Arguments& a, const Frame& f, i64 v, Gathered* parts, F&& settle, W&& wanted) {
    Gathered g = {identity(), 0};
    if (wanted((vid)v))
        g = gather(a, f, (vid)v, __ldg(a.G.in_offsets + v) + threadIdx.x, __ldg(a.G.in_offsets + v + 1), BLOCK);
    g = gathered_by_block(g, parts);
    if (warp_in_block() == 0) settle(lane() == 0, (vid)v, g);
    __syncthreads();
}

#if ANY_ORDER
// A block lists the long ones among BLOCK rows, then takes one after the other. Its rows lie apart, since long ones may
// come first.
template <class F, class W>
DEVICE void gather_by_blocks(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle, W&& wanted) {
    __shared__ Gathered parts[WARPS];
    __shared__ vid rows[BLOCK];
    __shared__ unsigned count;
    for (i64 first = begin + blockIdx.x; first < end; first += BLOCK * (i64)gridDim.x) {
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        const i64 v = first + threadIdx.x * (i64)gridDim.x;
        if (v < end && degree(a.G.in_offsets, (vid)v) >= LONG_ROW) rows[atomicAdd(&count, 1)] = (vid)v;
        __syncthreads();
        for (unsigned i = 0; i < count; ++i) gather_by_block(a, f, rows[i], parts, settle, wanted);
    }
}
#else
template <class F, class W>
DEVICE void gather_by_blocks(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle, W&& wanted) {
    __shared__ Gathered parts[WARPS];
    for (i64 v = begin + blockIdx.x; v < end; v += gridDim.x) gather_by_block(a, f, v, parts, settle, wanted);
}
#endif

// All rows from `begin` on, by the classes of their lengths.
template <class F, class W>
DEVICE void gather_all(const Arguments& a, const Frame& f, i64 begin, F&& settle, W&& wanted) {
    const i64* ends = a.G.classes;
    gather_by_blocks(a, f, begin, ANY_ORDER ? ends[1] : ends[0], settle, wanted);
    gather_by_warps(a, f, ANY_ORDER ? begin : ends[0], ends[1], settle, wanted);
    gather_class<32>(a, f, ends[1], ends[2], settle, wanted);
    gather_class<16>(a, f, ends[2], ends[3], settle, wanted);
    gather_class<8>(a, f, ends[3], ends[4], settle, wanted);
    gather_class<4>(a, f, ends[4], ends[5], settle, wanted);
    gather_class<2>(a, f, ends[5], ends[6], settle, wanted);
    gather_class<1>(a, f, ends[6], ends[7], settle, wanted);
}

#if PACK_ARCS
#include "packed.cuh"
#endif

#if BY_SOURCE
// Messages that depend on their source alone are made once per vertex; a vertex outside the frontier offers the identity.
// Since rows then read only offers, a vertex is updated in place as soon as its row is gathered.
DEVICE void offer(const Arguments& a, Frame& f, i64 begin, i64 end) {
    for (i64 u = begin + thread_in_grid(); u < end; u += threads_in_grid()) {
        const bool sends = in_frontier(f, (vid)u);
        store_message(a.A, (vid)u, sends ? compute_at(a.S, a.E, f.K, (vid)u, (vid)u, 0, (Weight)1) : identity());
    }
}
#endif
