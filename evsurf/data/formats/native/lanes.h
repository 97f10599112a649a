// Loops over lanes that the compiler turns into vector instructions, compiled for the oldest processor
// of its kind and once more for AVX2; which of the two runs is chosen with the other kernels'.
#pragma once

#include <cstring>

namespace evsurf {

const char* isa();

namespace formats {

#define EVSURF_ALWAYS_INLINE inline __attribute__((always_inline))

#if defined(EVSURF_X86)
#define EVSURF_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
inline bool avx2_chosen() { return std::strcmp(isa(), "baseline") != 0; }
#else
#define EVSURF_AVX2
inline bool avx2_chosen() { return false; }
#endif

// Events that are decoded at once where all of them are in order.
constexpr int kLanes = 32;

}  // namespace formats
}  // namespace evsurf
