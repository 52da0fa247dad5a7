// Rows of a graph of which a buffer holds some arcs: runs of them, one behind the other.
#pragma once
#include "common.cuh"

// Where rows first..last begin in the buffer, whose first arc is called base: into[v] for offsets[v]. Run i has the arcs
// begins[i]..ends[i] of the graph and starts at starts[i] in the buffer. A row without any of them is empty.
extern "C" __global__ void place_rows(const eid* offsets, i64 first, i64 last, const i64* begins, const i64* ends,
                                      const i64* starts, i64 runs, i64 base, eid* into) {
    for (i64 v = first + thread_in_grid(); v <= last; v += threads_in_grid()) {
        const i64 arc = (i64)offsets[v];
        i64 low = 0, high = runs;  // the runs that begin at the arc or before it end at `low`
        while (low < high) {
            const i64 middle = (low + high) / 2;
            if (begins[middle] <= arc) low = middle + 1;
            else high = middle;
        }
        i64 at = 0;
        if (low) at = starts[low - 1] + (arc < ends[low - 1] ? arc : ends[low - 1]) - begins[low - 1];
        into[v] = (eid)(base + at);
    }
}
