// What all CUDA kernels share: short names of types, and what a block of threads does together.
#pragma once

namespace evsurf {

typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

constexpr u32 kAll = 0xffffffffu;

__device__ inline int lane_number() { return int(threadIdx.x & 31); }
__device__ inline int warp_number() { return int(threadIdx.x >> 5); }
__device__ inline u32 lanes_before() { return (1u << lane_number()) - 1u; }

__device__ inline u32 warp_inclusive_sum(u32 value) {
    for (int apart = 1; apart < 32; apart *= 2) {
        const u32 other = __shfl_up_sync(kAll, value, apart);
        if (lane_number() >= apart) value += other;
    }
    return value;
}

// Sum of the values of all threads before this one, and of all. `room` takes a number for each warp and
// may be used again after the next barrier.
template <int Threads>
__device__ inline u32 block_exclusive_sum(u32 value, u32* room, u32& total) {
    const u32 inclusive = warp_inclusive_sum(value);
    if (lane_number() == 31) room[warp_number()] = inclusive;
    __syncthreads();
    u32 before = 0, all = 0;
    for (int w = 0; w < Threads / 32; ++w) {
        if (w < warp_number()) before += room[w];
        all += room[w];
    }
    total = all;
    return before + inclusive - value;
}

// First place in [low, high) whose time is not before `value`, or high; asked by a whole warp.
__device__ inline i64 warp_lower_bound(const i64* t, i64 low, i64 high, i64 value) {
    while (low < high) {
        const i64 apart = (high - low + 31) / 32;
        const i64 at = low + (lane_number() + 1) * apart - 1;
        const u32 before = __ballot_sync(kAll, at < high && t[at] < value);
        const i64 next = low + __popc(before) * apart;
        high = min(high, next + apart - 1);
        low = min(next, high);
    }
    return low;
}

}  // namespace evsurf
