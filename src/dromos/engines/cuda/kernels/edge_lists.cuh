// Edges in one total order, and lists of them: what spanning forests and matchings choose from.
//
// An edge comes before another by its key, a whole number in the order of the weights; of equal keys by the names of its
// ends, the lesser one first. Without weights the lesser name is the key; who has that name may like some neighbours more
// than others. A list is in no order: choices ask for the least, and come out the same however it lies.
#pragma once
#include "row_search.cuh"

#ifndef KEY
#define KEY unsigned  // as wide as the weights
#endif
typedef KEY key;

#define NO_KEY ((key) ~(key)0)
#define NO_TIE (~0ull)
#define CHUNK 1024  // arcs that a warp goes through before it looks for others
#define HELD 64     // edges that a warp gathers before it writes them
#define STAGE (HELD + 32)

struct Edge {
    vid u;
    vid v;
    key rank;
};

struct Order {
    const void* weights;
    const vid* names;
    const u64* likes;
    int kind, falling, mirrored;
};

// ---- the order -----------------------------------------------------------------------------------------------------

// Numbers in the order of the weights; of the two zeros one is left.
DEVICE unsigned rising(int weight) { return (unsigned)weight ^ 0x80000000u; }
DEVICE unsigned rising(float weight) {
    const unsigned bits = __float_as_uint(weight + 0.0f);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}
DEVICE u64 rising(double weight) {
    const u64 bits = (u64)__double_as_longlong(weight + 0.0), highest = (u64)1 << 63;
    return bits & highest ? ~bits : bits | highest;
}

enum { PLAIN = 0, INT32, FLOAT32, FLOAT64, UINT8, INT8, UINT16, INT16 };  // types of weights

DEVICE u64 name_of(const vid* names, vid v) { return (u64)(names ? names[v] : v); }

DEVICE key key_of(const Order& order, vid u, vid v, u64 arc) {
    const void* weights = order.weights;
    key found = 0;
    switch (order.kind) {
        case PLAIN: {
            const u64 a = name_of(order.names, u), b = name_of(order.names, v);
            return (key)(b < a ? b : a);
        }
        case INT32: found = (key)rising(((const int*)weights)[arc]); break;
        case FLOAT32: found = (key)rising(((const float*)weights)[arc]); break;
        case FLOAT64: found = (key)rising(((const double*)weights)[arc]); break;
        case UINT8: found = (key)rising((int)((const unsigned char*)weights)[arc]); break;
        case INT8: found = (key)rising((int)((const signed char*)weights)[arc]); break;
        case UINT16: found = (key)rising((int)((const unsigned short*)weights)[arc]); break;
        case INT16: found = (key)rising((int)((const short*)weights)[arc]); break;
    }
    return order.falling ? (key)~found : found;
}

// The weight that a key stands for, in the type that the graph has.
DEVICE void write_weight(const Order& order, key rank, void* weights, i64 at) {
    const key found = order.falling ? (key)~rank : rank;
    if (order.kind == FLOAT32) {
        const unsigned bits = (unsigned)found;
        ((float*)weights)[at] = __uint_as_float(bits >> 31 ? bits ^ 0x80000000u : ~bits);
    } else if (order.kind == FLOAT64) {
        const u64 bits = (u64)found;
        ((double*)weights)[at] = __longlong_as_double((i64)(bits >> 63 ? bits ^ (u64)1 << 63 : ~bits));
    } else {
        ((int*)weights)[at] = (int)((unsigned)found ^ 0x80000000u);
    }
}

// The names of both ends as one number; of an edge that lies in both rows, the lesser one first. Or how much the end with
// the lesser name, which is the key, likes the other: the least is best. There are fewer than 2^32 vertices: the tables
// of more would not fit a device.
DEVICE u64 tie_of(const Order& order, vid u, vid v) {
    const u64 a = name_of(order.names, u), b = name_of(order.names, v);
    if (order.likes) return order.likes[b < a ? u : v];
    return order.mirrored && b < a ? b << 32 | a : a << 32 | b;
}

// ---- the least in a table ------------------------------------------------------------------------------------------

template <class T>
DEVICE void lower(T* p, T value) {
    if (value < __ldcg(p)) atomicMin(p, value);
}

// ---- lists ---------------------------------------------------------------------------------------------------------

// Edges that a warp puts at the end of a list. Those beyond its `room` are counted and not written.
struct Appender {
    Edge* stage;  // of this warp, in shared memory
    Edge* list;
    u64 room;
    u64* count;
    unsigned held;

    __device__ __forceinline__ void append(bool take, const Edge& edge) {
        const unsigned takers = __ballot_sync(FULL, take);
        if (take) stage[held + __popc(takers & lanes_below())] = edge;
        held += __popc(takers);
        if (held >= HELD) write();
    }

    __device__ __forceinline__ void write() {
        if (held == 0) return;
        u64 base = 0;
        if (lane() == 0) base = atomicAdd(count, (u64)held);
        base = __shfl_sync(FULL, base, 0);  // and all lanes see the stage
        __syncwarp();
        for (unsigned i = lane(); i < held; i += 32)
            if (base + i < room) list[base + i] = stage[i];
        held = 0;
        __syncwarp();
    }
};

// The row of the arc `base + at` of each lane; `first` is that of `base`, and all lanes' arcs exist.
DEVICE vid rows_of_lanes(const eid* offsets, vid n, vid first, u64 base, unsigned at) {
    vid found = first;
    bool missing = true;
    for (int window = 0; window < 2 && __any_sync(FULL, missing); ++window) {
        const i64 from = (i64)first + 32 * window, row = from + lane();
        const u64 end = row < n ? (u64)offsets[row + 1] - base : 64;
        const unsigned ends = end < 64 ? (unsigned)end : 64;  // within these 32 arcs, or behind them
        unsigned before = 0;
        for (unsigned step = 16; step > 0; step >>= 1) {
            const unsigned other = __shfl_sync(FULL, ends, before + step - 1);
            if (other <= at) before += step;
        }
        const unsigned last = __shfl_sync(FULL, ends, before);
        if (missing && last > at) {
            found = (vid)(from + before);
            missing = false;
        }
    }
    return missing ? row_of(offsets, first, n - 1, (eid)(base + at)) : found;  // behind many empty rows
}

// Appends the edges up to a key whose ends are `open`. An edge that lies in both rows is taken from the lesser vertex's.
template <class Open>
DEVICE void list_arcs(
    const eid* offsets, const vid* targets, vid n, u64 arcs, const Order& order, key limit, const Open& open,
    Appender& out
) {
    for (u64 chunk = (u64)warp_in_grid() * CHUNK; chunk < arcs; chunk += (u64)warps_in_grid() * CHUNK) {
        const u64 stop = chunk + CHUNK < arcs ? chunk + CHUNK : arcs;
        vid first = row_of(offsets, 0, n - 1, (eid)chunk);
        u64 end = (u64)offsets[first + 1];
        for (u64 base = chunk; base < stop; base += 32) {
            const u64 left = stop - base;
            const bool inside = lane() < left;
            vid u = first;
            if (end < base + 32) {
                u = rows_of_lanes(offsets, n, first, base, inside ? lane() : (unsigned)left - 1);
                first = __shfl_sync(FULL, u, 31);
                end = (u64)offsets[first + 1];
            }
            Edge edge = {u, u, 0};
            bool take = false;
            if (inside) {
                edge.v = targets[base + lane()];
                take = (order.mirrored ? u < edge.v : u != edge.v) && open(u, edge.v);
                if (take) {
                    edge.rank = key_of(order, u, edge.v, base + lane());
                    take = edge.rank <= limit;
                }
            }
            out.append(take, edge);
        }
    }
    out.write();
}

// The keys of some arcs, evenly spread.
extern "C" __global__ void sample_keys(
    const eid* offsets, const vid* targets, vid n, u64 arcs, Order order, unsigned count, key* keys
) {
    for (unsigned i = thread_in_grid(); i < count; i += threads_in_grid()) {
        const u64 arc = arcs / count * i;
        keys[i] = key_of(order, row_of(offsets, 0, n - 1, (eid)arc), targets[arc], arc);
    }
}
