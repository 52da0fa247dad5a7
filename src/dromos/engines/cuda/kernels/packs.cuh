// Packs: the targets of sorted rows as gaps in few bits, for rows that are read over the link.
//
// A pack holds a row, or PACK_ARCS arcs of a row that a whole block gathers. Its arcs come in blocks of 32. Four blocks
// share a word with the width of each, a byte per block; behind it are the gaps of the blocks, each in as many bits as
// the largest of its block takes. A gap is the difference to the target before, for the first arc of a pack the target
// itself, which in the device's order is small: rows begin with the greatest hubs. A warp reads a pack from its
// beginning, a gap per lane, and adds the gaps of a block up.
#pragma once
#include "common.cuh"

#define PACK_BLOCK 32
#define PACK_GROUP 128     // arcs that share a word of widths

DEVICE unsigned pack_words(unsigned arcs, unsigned width) { return (arcs * width + 31) / 32; }

// Words that a warp reads one after the other, in lines of 128 bytes of which each lane holds a word.
struct PackStream {
    const unsigned* words;
    i64 line, end;         // the line that is held, and where the words end that are to be read
    unsigned at;           // the next word, within the line
    unsigned now, next;

    DEVICE PackStream open(const unsigned* words, i64 begin, i64 end) {
        PackStream s;
        s.words = words;
        s.line = begin & ~31ll;
        s.end = end;
        s.at = (unsigned)(begin & 31);
        s.now = s.load(s.line, begin);
        s.next = s.load(s.line + 32, begin);
        return s;
    }
    __device__ __forceinline__ unsigned load(i64 from, i64 begin) const {
        const i64 place = from + lane();
        return place >= begin && place < end ? __ldcs(words + place) : 0;
    }
    __device__ __forceinline__ unsigned word(unsigned place) const {
        const unsigned first = __shfl_sync(FULL, now, place & 31), second = __shfl_sync(FULL, next, place & 31);
        return place < 32 ? first : second;
    }
    __device__ __forceinline__ void skip(unsigned count) {
        at += count;
        if (at < 32) return;
        at -= 32;
        line += 32;
        now = next;
        next = load(line + 32, 0);
    }
    // The widths of the next blocks.
    __device__ __forceinline__ unsigned widths() {
        const unsigned found = word(at);
        skip(1);
        return found;
    }
    // The gap of each lane in a block of so many arcs.
    __device__ __forceinline__ unsigned gap(unsigned arcs, unsigned width) {
        const unsigned bit = lane() * width, place = at + (bit >> 5);
        const unsigned low = word(place), high = word(place + 1);
        skip(pack_words(arcs, width));
        return __funnelshift_r(low, high, bit & 31) & ((1u << width) - 1);
    }
};
