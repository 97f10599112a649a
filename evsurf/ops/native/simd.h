// Vectors of sequences for the machine that EVSURF_ISA names: a few operators, exp, sigmoid, tanh.
//
// This header is compiled several times with different instruction sets, so everything in it lives in
// a namespace of that name, and nothing of the C++ library is used: an inline function shared between
// the copies could be the one that needs a newer processor.
#pragma once

#include <math.h>
#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace evsurf {
namespace EVSURF_ISA {

#define EVSURF_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)

struct F32 {
    static constexpr int width = 16;
    using Real = float;
    using Mask = __mmask16;
    __m512 v;
    F32() : v(_mm512_setzero_ps()) {}
    F32(__m512 a) : v(a) {}
    explicit F32(float a) : v(_mm512_set1_ps(a)) {}
    static F32 load(const float* p) { return _mm512_loadu_ps(p); }
    void store(float* p) const { _mm512_storeu_ps(p, v); }
    static Mask active(const int32_t* lengths, int32_t step) {
        return _mm512_cmpgt_epi32_mask(_mm512_loadu_si512(lengths), _mm512_set1_epi32(step));
    }
};
EVSURF_INLINE F32 operator+(F32 a, F32 b) { return _mm512_add_ps(a.v, b.v); }
EVSURF_INLINE F32 operator-(F32 a, F32 b) { return _mm512_sub_ps(a.v, b.v); }
EVSURF_INLINE F32 operator*(F32 a, F32 b) { return _mm512_mul_ps(a.v, b.v); }
EVSURF_INLINE F32 fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
// The second operand is what the instruction returns when either is NaN, so NaN gets through.
EVSURF_INLINE F32 clamp(F32 lo, F32 hi, F32 x) {
    return _mm512_min_ps(hi.v, _mm512_max_ps(lo.v, x.v));
}
EVSURF_INLINE F32 fms(F32 a, F32 b, F32 c) { return _mm512_fmsub_ps(a.v, b.v, c.v); }
EVSURF_INLINE F32 times_power_of_two(F32 a, F32 n) { return _mm512_scalef_ps(a.v, n.v); }
EVSURF_INLINE F32 reciprocal(F32 d) {
    // One Newton step takes the 14 bits of the estimate to a full mantissa.
    const __m512 r = _mm512_rcp14_ps(d.v);
    return _mm512_fmadd_ps(r, _mm512_fnmadd_ps(d.v, r, _mm512_set1_ps(1.0f)), r);
}
EVSURF_INLINE F32 choose(F32::Mask m, F32 yes, F32 no) { return _mm512_mask_blend_ps(m, no.v, yes.v); }

#elif defined(__AVX2__)

struct F32 {
    static constexpr int width = 8;
    using Real = float;
    using Mask = __m256;
    __m256 v;
    F32() : v(_mm256_setzero_ps()) {}
    F32(__m256 a) : v(a) {}
    explicit F32(float a) : v(_mm256_set1_ps(a)) {}
    static F32 load(const float* p) { return _mm256_loadu_ps(p); }
    void store(float* p) const { _mm256_storeu_ps(p, v); }
    static Mask active(const int32_t* lengths, int32_t step) {
        const __m256i n = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lengths));
        return _mm256_castsi256_ps(_mm256_cmpgt_epi32(n, _mm256_set1_epi32(step)));
    }
};
EVSURF_INLINE F32 operator+(F32 a, F32 b) { return _mm256_add_ps(a.v, b.v); }
EVSURF_INLINE F32 operator-(F32 a, F32 b) { return _mm256_sub_ps(a.v, b.v); }
EVSURF_INLINE F32 operator*(F32 a, F32 b) { return _mm256_mul_ps(a.v, b.v); }
EVSURF_INLINE F32 fma(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a.v, b.v, c.v); }
// The second operand is what the instruction returns when either is NaN, so NaN gets through.
EVSURF_INLINE F32 clamp(F32 lo, F32 hi, F32 x) {
    return _mm256_min_ps(hi.v, _mm256_max_ps(lo.v, x.v));
}
EVSURF_INLINE F32 fms(F32 a, F32 b, F32 c) { return _mm256_fmsub_ps(a.v, b.v, c.v); }
EVSURF_INLINE F32 times_power_of_two(F32 a, F32 n) {
    const __m256i e = _mm256_add_epi32(_mm256_cvtps_epi32(n.v), _mm256_set1_epi32(127));
    return _mm256_mul_ps(a.v, _mm256_castsi256_ps(_mm256_slli_epi32(e, 23)));
}
EVSURF_INLINE F32 reciprocal(F32 d) { return _mm256_div_ps(_mm256_set1_ps(1.0f), d.v); }
EVSURF_INLINE F32 choose(F32::Mask m, F32 yes, F32 no) { return _mm256_blendv_ps(no.v, yes.v, m); }

#else

typedef float Four __attribute__((vector_size(16)));
typedef int32_t FourInts __attribute__((vector_size(16)));

struct F32 {
    static constexpr int width = 4;
    using Real = float;
    using Mask = FourInts;
    Four v;
    F32() : v{} {}
    F32(Four a) : v(a) {}
    explicit F32(float a) : v{a, a, a, a} {}
    static F32 load(const float* p) { return Four{p[0], p[1], p[2], p[3]}; }
    void store(float* p) const {
        for (int k = 0; k < 4; ++k) p[k] = v[k];
    }
    static Mask active(const int32_t* n, int32_t step) {
        return FourInts{n[0], n[1], n[2], n[3]} > FourInts{step, step, step, step};
    }
};
EVSURF_INLINE F32 operator+(F32 a, F32 b) { return a.v + b.v; }
EVSURF_INLINE F32 operator-(F32 a, F32 b) { return a.v - b.v; }
EVSURF_INLINE F32 operator*(F32 a, F32 b) { return a.v * b.v; }
EVSURF_INLINE F32 fma(F32 a, F32 b, F32 c) { return a.v * b.v + c.v; }
EVSURF_INLINE F32 choose(F32::Mask m, F32 yes, F32 no) {
    return (Four)((m & (FourInts)yes.v) | (~m & (FourInts)no.v));
}
// Comparisons with NaN are false, so NaN gets through.
EVSURF_INLINE F32 clamp(F32 lo, F32 hi, F32 x) {
    return choose(x.v < lo.v, lo, choose(x.v > hi.v, hi, x));
}
EVSURF_INLINE F32 fms(F32 a, F32 b, F32 c) { return a.v * b.v - c.v; }
EVSURF_INLINE F32 times_power_of_two(F32 a, F32 n) {
    const F32 none;
    const F32 safe = choose(n.v == n.v, n, none);
    const FourInts e = __builtin_convertvector(safe.v, FourInts) + 127;
    return a.v * (Four)(e << 23);
}
EVSURF_INLINE F32 reciprocal(F32 d) { return F32(1.0f).v / d.v; }

#endif

// exp(k x) = 2^n 2^f with |f| <= 1/2, for k x within 80 of zero; and the polynomial of (2^f - 1) / f, a
// minimax fit of 1.3e-7 relative. rate is k / ln 2.
struct Exponential {
    F32 n, f, q;
};
EVSURF_INLINE Exponential split_exponential(F32 x, float rate, float limit) {
    x = clamp(F32(-limit), F32(limit), x);
    // 1.5 * 2^23: no fraction is left after adding it. Cheaper than an instruction that rounds.
    const F32 shift(12582912.0f);
    const F32 n = fma(x, F32(rate), shift) - shift;
    const F32 f = fms(x, F32(rate), n);
    F32 q = fma(F32(0x1.446c82p-13f), f, F32(0x1.5f0896p-10f));
    q = fma(q, f, F32(0x1.3b29e4p-7f));
    q = fma(q, f, F32(0x1.c6af6cp-5f));
    q = fma(q, f, F32(0x1.ebfbe0p-3f));
    return {n, f, fma(q, f, F32(0x1.62e430p-1f))};
}
EVSURF_INLINE F32 sigmoid(F32 x) {
    const F32 one(1.0f);
    const Exponential e = split_exponential(x, -0x1.715476p+0f, 80.0f);
    return reciprocal(times_power_of_two(fma(e.q, e.f, one), e.n) + one);
}
// By exp(2x) - 1, which keeps its relative precision near zero.
EVSURF_INLINE F32 tanh(F32 x) {
    const F32 one(1.0f);
    const Exponential e = split_exponential(x, 0x1.715476p+1f, 40.0f);
    const F32 scale = times_power_of_two(one, e.n);
    const F32 m = fma(scale, e.q * e.f, scale - one);
    return m * reciprocal(m + F32(2.0f));
}

// Double precision serves gradient checks, so it is as exact as the C library and no faster.
struct F64 {
    static constexpr int width = 4;
    using Real = double;
    struct Mask {
        bool m[4];
    };
    double v[4];
    F64() : v{} {}
    explicit F64(double a) : v{a, a, a, a} {}
    static F64 load(const double* p) {
        F64 r;
        for (int k = 0; k < 4; ++k) r.v[k] = p[k];
        return r;
    }
    void store(double* p) const {
        for (int k = 0; k < 4; ++k) p[k] = v[k];
    }
    static Mask active(const int32_t* n, int32_t step) {
        return {{n[0] > step, n[1] > step, n[2] > step, n[3] > step}};
    }
};
#define EVSURF_F64(result) \
    F64 r;                 \
    for (int k = 0; k < 4; ++k) r.v[k] = (result); \
    return r;
EVSURF_INLINE F64 operator+(F64 a, F64 b) { EVSURF_F64(a.v[k] + b.v[k]) }
EVSURF_INLINE F64 operator-(F64 a, F64 b) { EVSURF_F64(a.v[k] - b.v[k]) }
EVSURF_INLINE F64 operator*(F64 a, F64 b) { EVSURF_F64(a.v[k] * b.v[k]) }
EVSURF_INLINE F64 fma(F64 a, F64 b, F64 c) { EVSURF_F64(a.v[k] * b.v[k] + c.v[k]) }
EVSURF_INLINE F64 sigmoid(F64 x) { EVSURF_F64(1.0 / (1.0 + ::exp(-x.v[k]))) }
EVSURF_INLINE F64 tanh(F64 x) { EVSURF_F64(::tanh(x.v[k])) }
EVSURF_INLINE F64 choose(F64::Mask m, F64 yes, F64 no) { EVSURF_F64(m.m[k] ? yes.v[k] : no.v[k]) }
#undef EVSURF_F64

}  // namespace EVSURF_ISA
}  // namespace evsurf
