// Which row an arc is in.
#pragma once
#include "common.cuh"

// The row of [first, last) that an arc belongs to.
DEVICE vid row_of(const eid* offsets, vid first, vid last, eid arc) {
    while (first < last) {
        const vid middle = first + (last - first) / 2;
        if (offsets[middle + 1] <= arc)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}
