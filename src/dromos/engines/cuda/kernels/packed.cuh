// Pulls of rows that are packed (packs.cuh): those of the vertices from `packed_begin` to `packed_end`,
// which have at least a few arcs each (packed_rows.py).
#pragma once
#include "packs.cuh"

// What a lane gathers of a pack of `count` arcs, from the beginning of which the stream is read.
DEVICE Gathered gather_pack(const Arguments& a, PackStream& stream, unsigned count) {
    Gathered g = {identity(), 0};
    unsigned before = 0, widths = 0;
    for (unsigned base = 0; base < count; base += PACK_BLOCK) {
        if (base % PACK_GROUP == 0) widths = stream.widths();
        const unsigned arcs = count - base < PACK_BLOCK ? count - base : PACK_BLOCK;
        const unsigned u = before + warp_inclusive_sum(stream.gap(arcs, widths & 255));
        widths >>= 8;
        before = __shfl_sync(FULL, u, 31);
        if (lane() < arcs) {
            g.message = merge(g.message, load_message(a.A, (vid)u));
            g.found += 1;
        }
    }
    return g;
}

// The pack of a row that has one.
DEVICE i64 pack_of(const Graph& G, i64 v) {
    const i64 first = G.classes[0] > G.packed_begin ? G.classes[0] : G.packed_begin;
    return G.packs_of_blocks + (v - first);
}

DEVICE PackStream stream_of(const Graph& G, i64 first, i64 last) {
    return PackStream::open(G.packed, __ldg(G.pack_starts + first), __ldg(G.pack_starts + last));
}

// The longest rows: PACK_ARCS arcs to a warp, all warps of a block to a row.
template <class F>
DEVICE void gather_packed_by_blocks(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle) {
    __shared__ Gathered parts[WARPS];
    for (i64 v = begin + blockIdx.x; v < end; v += gridDim.x) {
        Gathered g = {identity(), 0};
        if (WANTS_ALWAYS || wants_at(a.S, f.K, (vid)v)) {
            const unsigned* packs = a.G.row_packs + (v - a.G.packed_begin);
            const i64 first = __ldg(packs), last = __ldg(packs + 1), length = degree(a.G.in_offsets, (vid)v);
            for (i64 pack = first + warp_in_block(); pack < last; pack += WARPS) {
                PackStream stream = stream_of(a.G, pack, pack + 1);
                const i64 left = length - (pack - first) * PACK_ARCS;
                g = both(g, gather_pack(a, stream, (unsigned)(left < PACK_ARCS ? left : PACK_ARCS)));
            }
        }
        g = gathered_by_block(g, parts);
        if (warp_in_block() == 0) settle(lane() == 0, (vid)v, g);
        __syncthreads();
    }
}

template <class F>
DEVICE void gather_packed_by_warps(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle) {
    for (i64 v = begin + warp_in_grid(); v < end; v += warps_in_grid()) {
        Gathered g = {identity(), 0};
        if (WANTS_ALWAYS || wants_at(a.S, f.K, (vid)v)) {
            const i64 pack = pack_of(a.G, v);
            PackStream stream = stream_of(a.G, pack, pack + 1);
            g = gather_pack(a, stream, (unsigned)degree(a.G.in_offsets, (vid)v));
        }
        settle(lane() == 0, (vid)v, gathered_by<32>(g));
    }
}

// Shorter rows: a warp reads the packs of 32 rows as one stream, and then each lane settles one row.
template <class F>
DEVICE void gather_packed_rows(const Arguments& a, const Frame& f, i64 begin, i64 end, F&& settle) {
    for (i64 base = begin + 32 * (i64)warp_in_grid(); base < end; base += 32 * (i64)warps_in_grid()) {
        const i64 v = base + lane();
        const unsigned rows = end - base < 32 ? (unsigned)(end - base) : 32;
        const unsigned length = v < end ? (unsigned)degree(a.G.in_offsets, (vid)v) : 0;
        const i64 pack = pack_of(a.G, base);
        PackStream stream = stream_of(a.G, pack, pack + rows);
        Gathered mine = {identity(), 0};
        for (unsigned row = 0; row < rows; ++row) {
            const Gathered g = gathered_by<32>(gather_pack(a, stream, __shfl_sync(FULL, length, row)));
            if (lane() == row) mine = g;
        }
        if (v < end && !WANTS_ALWAYS && !wants_at(a.S, f.K, (vid)v)) mine = Gathered{identity(), 0};
        settle(v < end, (vid)v, mine);
    }
}

// As gather_all, with what lies on the device and the shortest rows as they are.
template <class F>
DEVICE void gather_all_packed(const Arguments& a, const Frame& f, F&& settle) {
    const auto wanted = wanting(a, f);
    const i64 *ends = a.G.classes, packed = a.G.packed_begin, plain = a.G.packed_end;
    const auto before = [&](i64 end) { return end < packed ? end : packed; };
    const auto behind = [&](i64 begin) { return begin > packed ? begin : packed; };
    const auto after = [&](i64 begin) { return begin > plain ? begin : plain; };
    gather_by_blocks(a, f, 0, before(ends[0]), settle, wanted);
    gather_by_warps(a, f, ends[0], before(ends[1]), settle, wanted);
    gather_class<32>(a, f, ends[1], before(ends[2]), settle, wanted);
    gather_class<16>(a, f, ends[2], before(ends[3]), settle, wanted);
    gather_class<8>(a, f, ends[3], before(ends[4]), settle, wanted);
    gather_packed_by_blocks(a, f, packed, ends[0], settle);
    gather_packed_by_warps(a, f, behind(ends[0]), ends[1], settle);
    gather_packed_rows(a, f, behind(ends[1]), plain, settle);
    gather_class<16>(a, f, after(ends[2]), ends[3], settle, wanted);
    gather_class<8>(a, f, after(ends[3]), ends[4], settle, wanted);
    gather_class<4>(a, f, after(ends[4]), ends[5], settle, wanted);
    gather_class<2>(a, f, ends[5], ends[6], settle, wanted);
    gather_class<1>(a, f, ends[6], ends[7], settle, wanted);
}
