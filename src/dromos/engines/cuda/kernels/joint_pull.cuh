// A level of joint searches from below: each vertex gathers the bits that it lacks from its in-neighbours.
#pragma once
#include "joint_records.cuh"

#define AHEAD 4  // arcs of a row that a lane looks up before it asks whether it has enough

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
DEVICE void pull_class(const Joint& j, JointTally& t, const Bits* front, Bits* next, const Bits& live, i64 begin, i64 end, unsigned level) {
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

DEVICE void pull_by_warps(const Joint& j, JointTally& t, const Bits* front, Bits* next, const Bits& live, i64 begin, i64 end, unsigned level) {
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

DEVICE void pull_by_blocks(const Joint& j, JointTally& t, const Bits* front, Bits* next, const Bits& live, i64 end, unsigned level) {
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

DEVICE void pull_level(const Joint& j, JointTally& t, const Bits* front, Bits* next, const Bits& live, unsigned level) {
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
