// What the kernels of Louvain and Leiden share: weights as whole numbers, random numbers, and a level.
//
// MASS is the type of weights and of their sums. Weights that are no whole numbers come in units of a power of two, so
// that sums by atomics do not depend on their order.
#pragma once
#include "common.cuh"

#ifndef MASS
#define MASS unsigned
#endif

typedef MASS mass;

#define NOWHERE ((vid)-1)

DEVICE u64 drawn(u64 seed, u64 number) {
    u64 x = seed + number * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

DEVICE mass weight_of(const mass* weights, eid arc) { return weights ? weights[arc] : (mass)1; }

// A level, what vertices move between, and what a batch keeps. Communities have numbers up to 2n: a vertex has two for
// one of its own. `within`, `around` and `outside` are those of refinement: the community of each vertex, the strength
// of each community, and the weight between each part and the rest of its community.
struct Level {
    const eid* offsets;
    const vid* targets;
    const mass* weights;
    const mass* strength;
    vid* community;
    mass* total;
    mass* joining;
    mass* leaving;
    vid* size;
    vid* leavers;
    int* changed;
    int* visited;
    vid* choice;
    i64* more;
    unsigned char* verdict;
    vid* list;
    unsigned* counts;
    unsigned* state;
    const vid* hubs;
    const i64* hub_begin;
    vid* hub_keys;
    mass* hub_sums;
    unsigned* hub_slots;
    unsigned* hub_found;
    unsigned* hub_done;
    const vid* within;
    const mass* around;
    mass* outside;
    i64 n;
    i64 hub_count;
    double scale;
};

DEVICE void count_up(int* at, int by) { atomicAdd(at, by); }
DEVICE void count_up(i64* at, int by) { atomicAdd((u64*)at, (u64)(i64)by); }
