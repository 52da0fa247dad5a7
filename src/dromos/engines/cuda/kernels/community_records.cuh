// What the kernels of Louvain and Leiden share: weights as whole numbers, a level, keys and their hashes.
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
