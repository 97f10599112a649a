// Which copy of the cell's kernels this processor runs.
#include <cstring>

#include "recurrence/pack.h"

namespace evsurf {

#define EVSURF_DECLARE(isa_name)                           \
    namespace isa_name {                                   \
    extern const CellKernels<float> float_table;           \
    extern const CellKernels<double> double_table;         \
    }
EVSURF_DECLARE(baseline)
#if defined(EVSURF_X86)
EVSURF_DECLARE(avx2)
EVSURF_DECLARE(avx512)
#endif
#undef EVSURF_DECLARE

namespace {

#if defined(EVSURF_X86)
// Every instruction set that the build turns on for a copy (CMakeLists.txt) is asked for here. F16C came
// before AVX2, and no processor has one without the other.
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif

const CellKernels<float>* best() {
#if defined(EVSURF_X86)
    if (has_avx512()) return &avx512::float_table;
    if (has_avx2()) return &avx2::float_table;
#endif
    return &baseline::float_table;
}

const CellKernels<float>*& chosen() {
    static const CellKernels<float>* kernels = best();
    return kernels;
}

}  // namespace

template <>
const CellKernels<float>& kernels<float>() {
    return *chosen();
}
template <>
const CellKernels<double>& kernels<double>() {
    return baseline::double_table;
}
const char* isa() { return chosen()->name; }

bool choose_isa(const char* name) {
    const CellKernels<float>* kernels = nullptr;
    if (std::strcmp(name, "best") == 0) kernels = best();
    if (std::strcmp(name, "baseline") == 0) kernels = &baseline::float_table;
#if defined(EVSURF_X86)
    if (std::strcmp(name, "avx2") == 0 && has_avx2()) kernels = &avx2::float_table;
    if (std::strcmp(name, "avx512") == 0 && has_avx512()) kernels = &avx512::float_table;
#endif
    if (kernels) chosen() = kernels;
    return kernels != nullptr;
}

}  // namespace evsurf
