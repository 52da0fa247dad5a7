// Numbers as NumPy has them: integers that wrap around, division that rounds down, shifts past the width.
#pragma once
#include "common.cuh"

template <class T> struct Unsigned { typedef unsigned type; };
template <> struct Unsigned<i64> { typedef u64 type; };
template <> struct Unsigned<u64> { typedef u64 type; };
template <class T> struct IsSigned { static const bool value = (T)-1 < (T)0; };

template <class T> struct Special;
template <> struct Special<float> {
    DEVICE float infinite() { return __int_as_float(0x7f800000); }
    DEVICE float nan() { return __int_as_float(0x7fc00000); }
};
template <> struct Special<double> {
    DEVICE double infinite() { return __longlong_as_double(0x7ff0000000000000LL); }
    DEVICE double nan() { return __longlong_as_double(0x7ff8000000000000LL); }
};
#define INFINITE(T) Special<T>::infinite()
#define NOT_A_NUMBER(T) Special<T>::nan()

// A float outside of an integer type stops at its ends, and NaN is 0; integers wrap around.
template <class T> struct IsFloat { static const bool value = (T)0.5 != (T)0 && (T)1.5 != (T)1; };
template <class To, class From> DEVICE To convert(From value) {
    if constexpr (IsFloat<From>::value && !IsFloat<To>::value) {
        const int bits = 8 * sizeof(To) - (IsSigned<To>::value ? 1 : 0);
        const To most = (To)(~0ULL >> (64 - bits)), least = IsSigned<To>::value ? (To)(-(i64)most - 1) : (To)0;
        const From high = (From)(1ULL << (bits - 1)) * (From)2;
        return value != value ? (To)0 : value >= high ? most : value <= (From)least ? least : (To)value;
    } else {
        return (To)value;
    }
}

template <class T> DEVICE T wrap_add(T a, T b) { return (T)((typename Unsigned<T>::type)a + (typename Unsigned<T>::type)b); }
template <class T> DEVICE T wrap_sub(T a, T b) { return (T)((typename Unsigned<T>::type)a - (typename Unsigned<T>::type)b); }
template <class T> DEVICE T wrap_mul(T a, T b) { return (T)((typename Unsigned<T>::type)a * (typename Unsigned<T>::type)b); }
template <class T> DEVICE T wrap_neg(T a) { return wrap_sub((T)0, a); }
// Of 16 bits the compiler makes neg.s16 and abs.s16 where it can, which the assembler computes in 32: a comparison then
// sees 32768 for -(-32768). So it is computed in 32 bits, and the result hides where it came from until it is cut to 16.
DEVICE short cut(int value) {
    asm("" : "+r"(value));
    return (short)value;
}
DEVICE short wrap_sub(short a, short b) { return cut((int)a - (int)b); }
DEVICE short wrap_mul(short a, short b) { return cut((int)a * (int)b); }
DEVICE short wrap_neg(short a) { return cut(-(int)a); }

template <class T> DEVICE T lesser(T a, T b) { return b < a ? b : a; }
template <class T> DEVICE T greater(T a, T b) { return b > a ? b : a; }
template <class T> DEVICE T absolute(T a) { return IsSigned<T>::value && a < (T)0 ? wrap_neg(a) : a; }
DEVICE short absolute(short a) { return cut(absolute((int)a)); }
DEVICE float absolute(float a) { return fabsf(a); }
DEVICE double absolute(double a) { return fabs(a); }
template <class T> DEVICE bool is_finite(T a) { return a - a == (T)0; }

// Integers: 0 for a divisor of zero, no trap for the lowest one over -1.
template <class T> DEVICE T floor_divide(T a, T b) {
    if (b == (T)0) return (T)0;
    if (IsSigned<T>::value && b == (T)-1) return wrap_neg(a);
    const T quotient = a / b;
    return (T)(quotient - (IsSigned<T>::value && a % b != 0 && (a < (T)0) != (b < (T)0) ? 1 : 0));
}
DEVICE float floor_divide(float a, float b) { return floorf(a / b); }
DEVICE double floor_divide(double a, double b) { return floor(a / b); }

template <class T> DEVICE T floor_modulo(T a, T b) {
    if (b == (T)0 || (IsSigned<T>::value && b == (T)-1)) return (T)0;
    const T rest = a % b;
    return (T)(rest + (IsSigned<T>::value && rest != 0 && (rest < (T)0) != (b < (T)0) ? b : (T)0));
}
DEVICE double floor_modulo(double a, double b) {
    const double rest = fmod(a, b);
    return rest == 0.0 ? copysign(0.0, b) : (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}
DEVICE float floor_modulo(float a, float b) {
    const float rest = fmodf(a, b);
    return rest == 0.0f ? copysignf(0.0f, b) : (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

template <class T> DEVICE T shift_left(T a, T by) {
    const bool inside = by >= (T)0 && by < (T)(8 * sizeof(T));
    return inside ? (T)((typename Unsigned<T>::type)a << by) : (T)0;
}
template <class T> DEVICE T shift_right(T a, T by) {
    const bool inside = by >= (T)0 && by < (T)(8 * sizeof(T));
    if (inside) return (T)(a >> by);
    return IsSigned<T>::value ? (T)(a >> (8 * sizeof(T) - 1)) : (T)0;
}

template <class T> DEVICE T integer_power(T base, T exponent) {
    T result = (T)1;
    if (exponent < (T)0) return base == (T)1 ? (T)1 : base == (T)-1 ? (exponent & 1 ? (T)-1 : (T)1) : (T)0;
    for (; exponent > (T)0; exponent = (T)(exponent >> 1)) {
        if (exponent & 1) result = wrap_mul(result, base);
        base = wrap_mul(base, base);
    }
    return result;
}

// ---- atomics that the hardware does not have by that name ----------------------------------------------------------

DEVICE int merge_min(int* p, int value) { return atomicMin(p, value); }
DEVICE unsigned merge_min(unsigned* p, unsigned value) { return atomicMin(p, value); }
DEVICE i64 merge_min(i64* p, i64 value) { return atomicMin(p, value); }
DEVICE u64 merge_min(u64* p, u64 value) { return atomicMin(p, value); }
DEVICE int merge_max(int* p, int value) { return atomicMax(p, value); }
DEVICE unsigned merge_max(unsigned* p, unsigned value) { return atomicMax(p, value); }
DEVICE i64 merge_max(i64* p, i64 value) { return atomicMax(p, value); }
DEVICE u64 merge_max(u64* p, u64 value) { return atomicMax(p, value); }

// Floats by compare-and-swap: a NaN never wins, as in lesser() and greater().
#define FLOAT_MERGE(NAME, BETTER, FLOAT, BITS, TO_BITS, TO_FLOAT)             \
    DEVICE FLOAT NAME(FLOAT* p, FLOAT value) {                                \
        BITS seen = *(volatile BITS*)p;                                       \
        while (value BETTER TO_FLOAT(seen)) {                                 \
            const BITS before = atomicCAS((BITS*)p, seen, TO_BITS(value));    \
            if (before == seen) break;                                        \
            seen = before;                                                    \
        }                                                                     \
        return TO_FLOAT(seen);                                                \
    }
FLOAT_MERGE(merge_min, <, float, unsigned, __float_as_uint, __uint_as_float)
FLOAT_MERGE(merge_max, >, float, unsigned, __float_as_uint, __uint_as_float)
DEVICE u64 bits_of(double value) { return (u64)__double_as_longlong(value); }
DEVICE double double_of(u64 bits) { return __longlong_as_double((i64)bits); }
FLOAT_MERGE(merge_min, <, double, u64, bits_of, double_of)
FLOAT_MERGE(merge_max, >, double, u64, bits_of, double_of)
#undef FLOAT_MERGE

DEVICE float merge_sum(float* p, float value) { return atomicAdd(p, value); }
DEVICE double merge_sum(double* p, double value) { return atomicAdd(p, value); }
DEVICE i64 merge_sum(i64* p, i64 value) { return (i64)atomicAdd((u64*)p, (u64)value); }
DEVICE u64 merge_sum(u64* p, u64 value) { return atomicAdd(p, value); }
DEVICE int merge_or(int* p, int value) { return atomicOr(p, value); }
DEVICE unsigned merge_or(unsigned* p, unsigned value) { return atomicOr(p, value); }
DEVICE i64 merge_or(i64* p, i64 value) { return (i64)atomicOr((u64*)p, (u64)value); }
DEVICE u64 merge_or(u64* p, u64 value) { return atomicOr(p, value); }
DEVICE int merge_and(int* p, int value) { return atomicAnd(p, value); }
DEVICE unsigned merge_and(unsigned* p, unsigned value) { return atomicAnd(p, value); }
DEVICE i64 merge_and(i64* p, i64 value) { return (i64)atomicAnd((u64*)p, (u64)value); }
DEVICE u64 merge_and(u64* p, u64 value) { return atomicAnd(p, value); }

DEVICE float take_all(float* p) { return atomicExch(p, 0.0f); }
DEVICE double take_all(double* p) { return double_of(atomicExch((u64*)p, 0ULL)); }
DEVICE i64 take_all(i64* p) { return (i64)atomicExch((u64*)p, 0ULL); }
DEVICE u64 take_all(u64* p) { return atomicExch(p, 0ULL); }
