// How a program's functions reach its state. ASYNC: other threads write it meanwhile, so the newest value is loaded.
// RENAMED: the device's ids are not the given ones.
#pragma once
#include "arithmetic.cuh"

template <class T> DEVICE T newest(const T* p) { return *(const volatile T*)p; }

// What no kernel writes.
template <class T> DEVICE T constant(const T* p) { return __ldg(p); }
DEVICE bool constant(const bool* p) { return __ldg((const signed char*)p); }

#if ASYNC
template <class T> DEVICE T field(const T* values, i64 row) { return newest(values + row); }
#else
template <class T> DEVICE T field(const T* values, i64 row) { return values[row]; }
#endif

template <class C> DEVICE vid given_id(const C& K, vid v) {
#if RENAMED
    return (vid)__ldg(K.ids + v);
#else
    return v;
#endif
}

DEVICE i64 degree(const eid* offsets, vid v) { return (i64)(__ldg(offsets + v + 1) - __ldg(offsets + v)); }

// One vertex at a time: lanes of a warp that want the same one take turns.
template <class F> DEVICE void under_lock(unsigned* locks, vid v, F&& body) {
    for (bool done = false; !done;) {
        if (set_bit(locks, v)) {
            __threadfence();
            body();
            __threadfence();
            clear_bit(locks, v);
            done = true;
        }
    }
}
