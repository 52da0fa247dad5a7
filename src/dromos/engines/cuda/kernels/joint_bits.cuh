// The bits of many searches at a vertex, and how many of each search there are.
//
// The words of a vertex are cut into parts of one vector load each. Lanes hold parts: part p of a vertex is in a lane whose
// number leaves p when divided by PARTS, so that neighbouring lanes load neighbouring words.
#pragma once
#include "walking.cuh"

#define BLOCK 512
#define WARPS (BLOCK / 32)
#define SEARCHES (64 * WORDS)
#define PART_WORDS (WORDS > 1 ? 2 : 1)
#define PARTS (WORDS / PART_WORDS)

struct alignas(8 * PART_WORDS) Bits {
    u64 word[PART_WORDS];
};

DEVICE Bits none() {
    Bits b;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) b.word[w] = 0;
    return b;
}
DEVICE bool any(const Bits& b) {
    u64 all = 0;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) all |= b.word[w];
    return all != 0;
}
DEVICE Bits operator|(const Bits& a, const Bits& b) {
    Bits c;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) c.word[w] = a.word[w] | b.word[w];
    return c;
}
DEVICE Bits operator&(const Bits& a, const Bits& b) {
    Bits c;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) c.word[w] = a.word[w] & b.word[w];
    return c;
}
DEVICE Bits without(const Bits& a, const Bits& b) {
    Bits c;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) c.word[w] = a.word[w] & ~b.word[w];
    return c;
}
DEVICE Bits from_lane(const Bits& a, unsigned lane) {
    Bits c;
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) c.word[w] = __shfl_sync(FULL, a.word[w], lane);
    return c;
}
// The union over lanes that are a multiple of PARTS apart, within stretches of `width` lanes.
DEVICE Bits merged(Bits a, unsigned width) {
    for (unsigned step = width / 2; step >= PARTS; step >>= 1)
#pragma unroll
        for (int w = 0; w < PART_WORDS; ++w) a.word[w] |= __shfl_xor_sync(FULL, a.word[w], step);
    return a;
}

// ---- counting ------------------------------------------------------------------------------------------------------

// Lane l counts searches l, l + 32, l + 64, ...
struct JointTally {
    unsigned searches[2 * WORDS];
    unsigned size;
    u64 out, closed;
};

// Of 32 words in 32 lanes, lane l gets the l-th bits: halves of ever smaller squares change places.
DEVICE unsigned transposed(unsigned word) {
    unsigned low = 0x0000ffffu;
#pragma unroll
    for (int step = 16; step > 0; step >>= 1, low ^= low << step) {
        const unsigned other = __shfl_xor_sync(FULL, word, step);
        word = lane() & step ? (word & ~low) | (other >> step & low) : (word & low) | (other << step & ~low);
    }
    return word;
}

DEVICE void count_lanes(JointTally& t, const Bits& fresh) {
    const unsigned first = FULL / ((1u << PARTS) - 1);  // the lanes of part 0
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) {
        if (!__any_sync(FULL, fresh.word[w] != 0)) continue;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const unsigned lanes = transposed((unsigned)(fresh.word[w] >> (32 * half)));
#pragma unroll
            for (int p = 0; p < PARTS; ++p) t.searches[2 * (p * PART_WORDS + w) + half] += __popc(lanes & first << p);
        }
    }
}

// The same where all lanes hold parts of one vertex.
DEVICE void count_one(JointTally& t, const Bits& fresh) {
#pragma unroll
    for (int w = 0; w < PART_WORDS; ++w) {
        if (!__any_sync(FULL, fresh.word[w] != 0)) continue;
#pragma unroll
        for (int p = 0; p < PARTS; ++p) {
            const u64 word = __shfl_sync(FULL, fresh.word[w], p);
            t.searches[2 * (p * PART_WORDS + w)] += (unsigned)(word >> lane()) & 1;
            t.searches[2 * (p * PART_WORDS + w) + 1] += (unsigned)(word >> (32 + lane())) & 1;
        }
    }
}
