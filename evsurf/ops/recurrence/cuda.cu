// The LSTM over ragged sequences on a GPU, compiled for one hidden size, one number of features and one
// kind of sequences: EVSURF_HIDDEN, EVSURF_FEATURES, EVSURF_KIND.
//
// A sequence has a lane for each hidden unit, or every lane of a warp for two units each; lanes exchange
// h by shuffles. Neighbouring groups of lanes take sequences of nearly the same length, longest first.
// What a sequence gives depends on nothing but itself, and sums over sequences have a fixed order.
#include "native/device.h"

namespace evsurf {

__device__ __forceinline__ float exponential(float x) { return __expf(x); }
__device__ __forceinline__ float reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
__device__ __forceinline__ float sigmoid(float x) { return reciprocal(1.0f + exponential(-x)); }
__device__ __forceinline__ float tanh(float x) {
    return fmaf(-2.0f, reciprocal(1.0f + exponential(2.0f * x)), 1.0f);
}
__device__ __forceinline__ float fma(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fma(double a, double b, double c) { return __fma_rn(a, b, c); }

#include "recurrence/cell.h"

enum Kind { kSurface, kRagged, kLive };
constexpr Kind kKind = Kind(EVSURF_KIND);
constexpr int kHidden = EVSURF_HIDDEN;
constexpr int kFeatures = EVSURF_FEATURES;
constexpr int kColumns = kFeatures + kHidden;        // of W = [W_ih W_hh]

__device__ constexpr int power_of_two(int n) { return n <= 1 ? 1 : 2 * power_of_two((n + 1) / 2); }
constexpr int kGroup = kHidden >= 32 ? 32 : power_of_two(kHidden);  // lanes of a sequence
constexpr int kUnits = (kHidden + 31) / 32;                         // of a lane
constexpr int kPerWarp = 32 / kGroup;                               // sequences

constexpr int kForwardThreads = 256;
constexpr int kBackwardThreads = 128;

// Where a lane finds its weights: in registers, in shared memory, or in global memory through the cache.
constexpr bool kKeepWeights = 4 * kColumns * kUnits <= 64;
constexpr bool kKeepBack = kHidden <= 8 && 4 * kColumns <= 48;
constexpr bool kShareWeights = 16 * kColumns * kHidden <= 40 << 10;
// Too many sums for registers: gradients of z are given instead, and torch multiplies.
constexpr bool kKeepSums = 4 * (kColumns + 1) * kUnits <= 160;

struct Recurrence {
    const uint2* table;          // of every tile: where its sequences stand, and how many there are
    const u32* begins;
    const u32* lengths;
    const u16* cells;
    const u64* items;            // microseconds since the window's first event, polarity in the lowest bit
    const u32* places;
    const i64* windows;          // [windows][2] times of the first and last event
    const i64* offsets;          // surface: of samples; ragged: of sequences
    const i64* t;
    const float* features;       // ragged: [count][features]
    const float* h0;
    const float* c0;
    const i64* start;            // live: of every stream
    const float* w_ih;
    const float* w_hh;
    const float* b_ih;
    const float* b_hh;
    const float4* by_column;     // [columns][hidden] four gates, where neither registers nor shared memory
    const float4* by_unit;       // [hidden][columns] hold them
    float* surface;
    float* every_h;
    float* h;                    // ragged: [sequences][hidden]; live: [cells][hidden], replaced
    float* c;
    i64* last;                   // live: [cells], replaced
    i64* seen;
    float2* tape;                // [items][hidden] h and c after each event, or null
    const float* d_surface;
    const float* d_every;
    const float* d_h;
    const float* d_c;
    float* d_features;
    float* d_h0;
    float* d_c0;
    float* sums;                 // [warps of the backward grid][4 (columns + 1) kUnits][kGroup]
    float* dz;                   // [count][4][hidden], where sums do not fit
    i64 count;                   // events
    i64 sequences;               // ragged
    i64 window_cells;
    i64 most;
    double time_rate;            // 1 / time_scale
    i32 tile_count, tiles, shift, bins;
    i32 kernel_height, kernel_width;
    i32 latest;
    i32 time, scope, by_maximum, global_time, coordinates, signed_polarity;
};

enum Time { kTimestamp, kDelay, kLogDelay };
enum Scope { kRelative, kAbsolute, kFixed };

// 1 / x to the last bit or two, for x from 1 to 2^63. The compiler's own division is a call, around which
// registers are spilled.
__device__ inline double inverse(double x) {
    double y = double(reciprocal(float(x)));
    y = fma(y, fma(-x, y, 1.0), y);
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
}

struct TimeScale {
    i64 origin;
    double rate;
    __device__ float of(i64 t) const { return float(double(t - origin) * rate); }
};

__device__ inline TimeScale range_scale(i64 first, i64 last, i64 start, bool by_maximum) {
    if (!by_maximum) return {first, last == first ? 0.0 : inverse(double(last - first))};
    const double most = double(start + last);
    return {-start, most == 0 ? 1.0 : most > 0 ? inverse(most) : -inverse(-most)};
}

// One sequence as a group of lanes sees it.
struct Sequence {
    i64 id;              // surface, live: cell in [windows, rows, columns]; ragged: its number
    i64 window;
    u32 begin;           // of its items, or rows of features
    i32 length;          // of what is kept
    i32 first, from, apart;  // kept event q > 0 is from + apart * q, the first is `first`
    i64 start;           // of the window
    i64 before;          // live: the last event before, since the window's first
    bool remembered;
    TimeScale scale, whole;

    __device__ i32 place(i32 q) const { return q == 0 ? first : from + apart * q; }
};

__device__ inline void keep(Sequence& s, i32 n, i64 most, bool latest) {
    s.first = s.from = 0;
    s.apart = 1;
    s.length = n;
    if (most <= 0 || n <= most) return;
    s.length = i32(most);
    if (latest || most == 1) {
        s.first = s.from = n - i32(most);
        return;
    }
    s.apart = n / (i32(most) - 1);
    s.from = n - 1 - s.apart * (i32(most) - 1);
}

__device__ inline i64 elapsed_of(u64 item) { return i64(item >> 1); }

__device__ inline TimeScale scale_of(const Recurrence& r, const Sequence& s) {
    const bool delays = r.time != kTimestamp;
    if (r.scope == kFixed || r.time == kLogDelay)
        return {kKind == kLive ? r.start[s.window] - s.start : 0, r.time_rate};
    if (!delays && r.scope == kAbsolute) return range_scale(0, r.windows[2 * s.window + 1] - s.start, s.start, r.by_maximum);
    const u64* const items = r.items + s.begin;
    if (!delays) {
        if (s.length == 0) return {0, 0};
        return range_scale(elapsed_of(items[s.place(0)]), elapsed_of(items[s.place(s.length - 1)]), s.start,
                           r.by_maximum);
    }
    // The lanes of a group look at their share of the delays.
    i64 longest = 0;
    for (i32 q = 1 + i32(threadIdx.x % kGroup); q < s.length; q += kGroup)
        longest = max(longest, elapsed_of(items[s.place(q)]) - elapsed_of(items[s.place(q - 1)]));
    for (int apart = kGroup / 2; apart > 0; apart /= 2)
        longest = max(longest, __shfl_xor_sync(kAll, longest, apart));
    return {0, longest == 0 ? 0.0 : inverse(double(longest))};
}

// Sequence number s of a tile; every lane of a warp must ask.
__device__ inline Sequence find_sequence(const Recurrence& r, i64 tile, uint2 range, u32 s) {
    Sequence found = {};
    const bool some = s < range.y;
    const u32 at = range.x + (some ? s : 0);
    const i32 n = some ? i32(r.lengths[at]) : 0;
    found.begin = some ? r.begins[at] : 0;
    keep(found, n, r.most, r.latest);
    if (kKind == kRagged) {
        found.id = (tile << r.shift) + (some ? r.cells[at] : 0);
        return found;
    }
    found.window = u32(tile) / u32(r.tiles);
    found.id = found.window * r.window_cells + (tile - found.window * r.tiles << r.shift) + (some ? r.cells[at] : 0);
    found.start = r.windows[2 * found.window];
    if (kKind == kLive && some) {
        found.remembered = r.seen[found.id] > 0;
        found.before = r.last[found.id] - found.start;
    }
    found.scale = scale_of(r, found);
    if (r.global_time) {
        const i64 sample = u32(found.window) / u32(r.bins);
        const i64 begin = min(max(r.offsets[sample], 0ll), r.count);
        const i64 end = min(max(r.offsets[sample + 1], begin), r.count);
        if (end > begin)
            found.whole = range_scale(r.t[begin] - found.start, r.t[end - 1] - found.start, found.start, r.by_maximum);
    }
    return found;
}

// What step q feeds the cell. `item` is its own, `earlier` that of the step before.
__device__ inline void read_event(
    const Recurrence& r, const Sequence& s, i32 q, u64 item, u64 earlier, float (&x)[kFeatures]) {
    const float brighter = float(item & 1);
    x[0] = r.signed_polarity ? brighter + brighter - 1.0f : brighter;
    const i64 now = elapsed_of(item);
    float time;
    if (r.time == kTimestamp) {
        time = s.scale.of(now);
    } else {
        const bool known = q > 0 || s.remembered;
        const double delay = double(now - (q > 0 ? elapsed_of(earlier) : s.before)) * s.scale.rate;
        time = !known ? 0.0f : r.time == kDelay ? float(delay) : log1pf(float(delay));
    }
    x[kFeatures - 1] = time;
    if (kFeatures == 2) return;
    float between[3] = {0, 0, 0};
    int count = 0;
    if (r.global_time) between[count++] = s.whole.of(now);
    if (r.coordinates) {
        const u32 place = r.places[s.begin + s.place(q)];
        const float across = float(place % u32(r.kernel_width)) * reciprocal(float(max(1, r.kernel_width - 1)));
        const float down = float(place / u32(r.kernel_width)) * reciprocal(float(max(1, r.kernel_height - 1)));
        if (count == 0) between[0] = across, between[1] = down;
        else between[1] = across, between[2] = down;
    }
#pragma unroll
    for (int f = 1; f + 1 < kFeatures; ++f) x[f] = between[f - 1 < 3 ? f - 1 : 2];
}

// The four gates' weights of a lane's units, column by column.
struct Weights {
    float4 kept[kKeepWeights ? kColumns : 1][kUnits];
    float4 bias[kUnits];
    const float4* shared;

    __device__ float4 at(int column, int slot, int unit) const {
        return kKeepWeights ? kept[column][slot] : shared[column * kHidden + unit];
    }
};

__device__ inline float4 weight_of(const Recurrence& r, int column, int unit) {
    const bool input = column < kFeatures;
    const float* const w = input ? r.w_ih : r.w_hh;
    const int width = input ? kFeatures : kHidden;
    const int k = input ? column : column - kFeatures;
    const i64 gate = i64(kHidden) * width;
    const i64 at = i64(unit) * width + k;
    return make_float4(w[at], w[at + gate], w[at + 2 * gate], w[at + 3 * gate]);
}

__device__ inline int unit_of(int slot) { return int(threadIdx.x % kGroup) + slot * kGroup; }

__device__ inline void load_weights(const Recurrence& r, Weights& w, float4* room) {
    w.shared = kShareWeights ? room : r.by_column;
    if (!kKeepWeights && kShareWeights)
        for (int k = threadIdx.x; k < kColumns * kHidden; k += blockDim.x)
            room[k] = weight_of(r, k / kHidden, k % kHidden);
#pragma unroll
    for (int slot = 0; slot < kUnits; ++slot) {
        const int u = min(unit_of(slot), kHidden - 1);
        w.bias[slot] = make_float4(0, 0, 0, 0);
        if (r.b_ih)
            w.bias[slot] = make_float4(
                r.b_ih[u] + r.b_hh[u], r.b_ih[u + kHidden] + r.b_hh[u + kHidden],
                r.b_ih[u + 2 * kHidden] + r.b_hh[u + 2 * kHidden], r.b_ih[u + 3 * kHidden] + r.b_hh[u + 3 * kHidden]);
        if (kKeepWeights)
#pragma unroll
            for (int column = 0; column < kColumns; ++column) w.kept[column][slot] = weight_of(r, column, u);
    }
    if (!kKeepWeights && kShareWeights) __syncthreads();
}

__device__ __forceinline__ void add_product(Gates<float>& z, float4 w, float a) {
    z.i = fmaf(w.x, a, z.i);
    z.f = fmaf(w.y, a, z.f);
    z.g = fmaf(w.z, a, z.g);
    z.o = fmaf(w.w, a, z.o);
}

// z = W_ih x + b of a lane's units.
__device__ __forceinline__ void from_inputs(
    const Weights& w, const float (&x)[kFeatures], Gates<float> (&z)[kUnits]) {
#pragma unroll
    for (int slot = 0; slot < kUnits; ++slot) {
        z[slot] = {w.bias[slot].x, w.bias[slot].y, w.bias[slot].z, w.bias[slot].w};
        const int u = min(unit_of(slot), kHidden - 1);
#pragma unroll
        for (int f = 0; f < kFeatures; ++f) add_product(z[slot], w.at(f, slot, u), x[f]);
    }
}

// z += W_hh h; every lane of a warp takes part.
__device__ __forceinline__ void from_state(
    const Weights& w, const float (&h)[kUnits], Gates<float> (&z)[kUnits]) {
#pragma unroll
    for (int j = 0; j < kHidden; ++j) {
        const float h_j = __shfl_sync(kAll, h[j / 32], j % 32, kGroup);
#pragma unroll
        for (int slot = 0; slot < kUnits; ++slot)
            add_product(z[slot], w.at(kFeatures + j, slot, min(unit_of(slot), kHidden - 1)), h_j);
    }
}

__device__ inline i32 longest_of_warp(i32 length) {
    for (int apart = 16; apart >= kGroup; apart /= 2) length = max(length, __shfl_xor_sync(kAll, length, apart));
    return length;
}

__device__ inline u64 item_at(const Recurrence& r, const Sequence& s, i32 q) {
    return q >= 0 && q < s.length ? r.items[s.begin + s.place(q)] : 0;
}

// Inputs of one step after another, forward or backward, fetched ahead of their use.
struct Inputs {
    u64 item, next, earlier;

    __device__ void begin(const Recurrence& r, const Sequence& s, i32 q, i32 step) {
        if (kKind == kRagged) return;
        item = item_at(r, s, q);
        next = item_at(r, s, q + step);
        earlier = 0;
    }
    __device__ void read(const Recurrence& r, const Sequence& s, i32 q, i32 step, float (&x)[kFeatures]) {
        if (kKind == kRagged) {
            const float* const row = r.features + i64(s.begin) * kFeatures + i64(q) * kFeatures;
#pragma unroll
            for (int f = 0; f < kFeatures; ++f) x[f] = q >= 0 && q < s.length ? row[f] : 0.0f;
            return;
        }
        const u64 after = item_at(r, s, q + 2 * step);
        if (q >= 0 && q < s.length) {
            read_event(r, s, q, item, step > 0 ? earlier : next, x);
        } else {
#pragma unroll
            for (int f = 0; f < kFeatures; ++f) x[f] = 0.0f;
        }
        earlier = item;
        item = next;
        next = after;
    }
};

__device__ inline void initial_state(const Recurrence& r, const Sequence& s, bool some, float (&h)[kUnits], float (&c)[kUnits]) {
    const float* const from_h = kKind == kLive ? r.h : r.h0;
    const float* const from_c = kKind == kLive ? r.c : r.c0;
#pragma unroll
    for (int slot = 0; slot < kUnits; ++slot) {
        h[slot] = c[slot] = 0.0f;
        const int u = unit_of(slot);
        if (!from_h || !some || u >= kHidden) continue;
        if (kKind == kLive && !s.remembered) continue;
        h[slot] = from_h[s.id * kHidden + u];
        c[slot] = from_c[s.id * kHidden + u];
    }
}

__device__ inline void finish(const Recurrence& r, const Sequence& s, const float (&h)[kUnits], const float (&c)[kUnits]) {
#pragma unroll
    for (int slot = 0; slot < kUnits; ++slot) {
        const int u = unit_of(slot);
        if (u >= kHidden) continue;
        if (kKind == kSurface) {
            const i64 cell = s.id - s.window * r.window_cells;
            r.surface[(s.window * kHidden + u) * r.window_cells + cell] = h[slot];
        } else {
            r.h[s.id * kHidden + u] = h[slot];
            r.c[s.id * kHidden + u] = c[slot];
        }
    }
    if (kKind == kLive && threadIdx.x % kGroup == 0) {
        r.last[s.id] = s.start + elapsed_of(r.items[s.begin + s.length - 1]);
        r.seen[s.id] += s.length;
    }
}

// A block for each tile. The tape, where there is one, keeps what every step left.
extern "C" __global__ void __launch_bounds__(kForwardThreads, 1) forward(const __grid_constant__ Recurrence r) {
    __shared__ float4 room[!kKeepWeights && kShareWeights ? kColumns * kHidden : 1];
    const i64 tile = blockIdx.x;
    const uint2 range = r.table[tile];
    if (range.y == 0) return;
    Weights w;
    load_weights(r, w, room);
    const int group = int(threadIdx.x % 32) / kGroup;
    for (u32 first = u32(warp_number()) * kPerWarp; first < range.y; first += kForwardThreads / kGroup) {
        const bool some = first + group < range.y;
        const Sequence s = find_sequence(r, tile, range, first + group);
        float h[kUnits], c[kUnits];
        initial_state(r, s, some, h, c);
        const bool from_zero = kKind == kSurface || (kKind == kRagged && !r.h0);
        const i32 longest = longest_of_warp(s.length);
        Inputs inputs;
        inputs.begin(r, s, 0, 1);
        for (i32 q = 0; q < longest; ++q) {
            float x[kFeatures];
            inputs.read(r, s, q, 1, x);
            Gates<float> z[kUnits];
            from_inputs(w, x, z);
            if (q > 0 || !from_zero) from_state(w, h, z);
            if (q >= s.length) continue;
#pragma unroll
            for (int slot = 0; slot < kUnits; ++slot) {
                const Gates<float> a = activate(z[slot]);
                c[slot] = next_memory(a, c[slot]);
                h[slot] = a.o * tanh(c[slot]);
                const int u = unit_of(slot);
                const i64 row = i64(s.begin) + q;
                if (r.tape && u < kHidden) r.tape[row * kHidden + u] = make_float2(h[slot], c[slot]);
                if (kKind == kRagged && r.every_h && u < kHidden) r.every_h[row * kHidden + u] = h[slot];
            }
        }
        if (some) finish(r, s, h, c);
    }
}

#if EVSURF_KIND != 2

// The state before step q, off the tape.
__device__ inline void state_before(
    const Recurrence& r, const Sequence& s, i32 q, float (&h)[kUnits], float (&c)[kUnits]) {
#pragma unroll
    for (int slot = 0; slot < kUnits; ++slot) {
        const int u = unit_of(slot);
        h[slot] = c[slot] = 0.0f;
        if (u >= kHidden || q < 0 || q >= s.length) continue;
        if (q > 0) {
            const float2 state = r.tape[(i64(s.begin) + q - 1) * kHidden + u];
            h[slot] = state.x;
            c[slot] = state.y;
        } else if (kKind == kRagged && r.h0) {
            h[slot] = r.h0[s.id * kHidden + u];
            c[slot] = r.c0[s.id * kHidden + u];
        }
    }
}

__device__ inline void last_gradients(
    const Recurrence& r, const Sequence& s, bool some, float (&dh)[kUnits], float (&dc)[kUnits]) {
#pragma unroll
    for (int slot = 0; slot < kUnits; ++slot) {
        const int u = unit_of(slot);
        dh[slot] = dc[slot] = 0.0f;
        if (!some || u >= kHidden) continue;
        if (kKind == kSurface) {
            const i64 cell = s.id - s.window * r.window_cells;
            dh[slot] = r.d_surface[(s.window * kHidden + u) * r.window_cells + cell];
        } else {
            if (r.d_h) dh[slot] = r.d_h[s.id * kHidden + u];
            if (r.d_c) dc[slot] = r.d_c[s.id * kHidden + u];
        }
    }
}

// Sums of the gradients of z times [x, h, 1], for a lane's units.
struct Sums {
    float4 of[kKeepSums ? kColumns + 1 : 1][kUnits];
    __device__ void clear() {
#pragma unroll
        for (int k = 0; k < (kKeepSums ? kColumns + 1 : 1); ++k)
#pragma unroll
            for (int slot = 0; slot < kUnits; ++slot) of[k][slot] = make_float4(0, 0, 0, 0);
    }
    __device__ __forceinline__ void add(int column, int slot, const Gates<float>& dz, float a) {
        float4& sum = of[column][slot];
        sum.x = fmaf(dz.i, a, sum.x);
        sum.y = fmaf(dz.f, a, sum.y);
        sum.z = fmaf(dz.g, a, sum.z);
        sum.w = fmaf(dz.o, a, sum.w);
    }
};

__device__ __forceinline__ float dot(float4 a, float4 b) {
    return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, a.w * b.w)));
}

// What a block of the backward pass shares.
struct BackRoom {
    float4 by_column[!kKeepWeights && kShareWeights ? kColumns * kHidden : 1];
    float4 by_unit[!kKeepBack && kShareWeights ? kHidden * kColumns : 1];
    float4 dz[kBackwardThreads * kUnits];
};

struct BackWeights {
    float4 kept[kKeepBack ? kHidden : 1];       // of the lane's own hidden column, by unit
    const float4* shared;

    __device__ float4 at(int unit, int column) const {
        if (kKeepBack && column >= kFeatures) return kept[unit];
        return shared[unit * kColumns + column];
    }
};

__device__ inline void load_back_weights(const Recurrence& r, BackWeights& w, float4* room) {
    w.shared = !kKeepBack && kShareWeights ? room : r.by_unit;
    if (kKeepBack) {
#pragma unroll
        for (int u = 0; u < kHidden; ++u) w.kept[u] = weight_of(r, kFeatures + min(unit_of(0), kHidden - 1), u);
    } else if (kShareWeights) {
        for (int k = threadIdx.x; k < kHidden * kColumns; k += blockDim.x)
            room[k] = weight_of(r, k % kColumns, k / kColumns);
        __syncthreads();
    }
}

// The sum over all gates of column `column` of W times the gradients of z.
__device__ __forceinline__ float through_column(
    const BackWeights& w, const float4* dz, int column) {
    float even = 0.0f, odd = 0.0f;
#pragma unroll
    for (int u = 0; u < kHidden; ++u) {
        const float product = dot(w.at(u, column), dz[(u / 32) * kBackwardThreads + u % 32]);
        if (u % 2) odd += product; else even += product;
    }
    return even + odd;
}

// A fixed number of blocks take the tiles in turns and every warp adds up its own sums.
extern "C" __global__ void __launch_bounds__(kBackwardThreads, 1) backward(const __grid_constant__ Recurrence r) {
    __shared__ BackRoom room;
    Weights w;
    BackWeights back;
    load_weights(r, w, room.by_column);
    load_back_weights(r, back, room.by_unit);
    Sums sums;
    sums.clear();
    const int group = int(threadIdx.x % 32) / kGroup;
    float4* const own_dz = room.dz + threadIdx.x;
    const float4* const group_dz = room.dz + threadIdx.x / kGroup * kGroup;
    for (i64 tile = blockIdx.x; tile < r.tile_count; tile += gridDim.x) {
        const uint2 range = r.table[tile];
        for (u32 first = u32(warp_number()) * kPerWarp; first < range.y; first += kBackwardThreads / kGroup) {
            const bool some = first + group < range.y;
            const Sequence s = find_sequence(r, tile, range, first + group);
            float dh[kUnits], dc[kUnits];
            last_gradients(r, s, some, dh, dc);
            const i32 longest = longest_of_warp(s.length);
            float h[kUnits], c[kUnits];
            i32 q = s.length - 1;
            Inputs inputs;
            inputs.begin(r, s, q, -1);
            state_before(r, s, q, h, c);
            // Every group starts at its own end; those that have come to their beginning wait.
            for (i32 done = 0; done < longest; ++done, --q) {
                float x[kFeatures], h_next[kUnits], c_next[kUnits];
                inputs.read(r, s, q, -1, x);
                state_before(r, s, q - 1, h_next, c_next);
                Gates<float> z[kUnits];
                from_inputs(w, x, z);
                const bool recurrent = kKind == kRagged ? true : __any_sync(kAll, q > 0);
                if (recurrent) from_state(w, h, z);
#pragma unroll
                for (int slot = 0; slot < kUnits; ++slot) {
                    const int u = unit_of(slot);
                    if (kKind == kRagged && r.d_every && q >= 0 && u < kHidden)
                        dh[slot] += r.d_every[(i64(s.begin) + q) * kHidden + u];
                    const Gates<float> a = activate(z[slot]);
                    const UnitTape<float> tape{a, c[slot], tanh(next_memory(a, c[slot]))};
                    float dc_before;
                    z[slot] = gate_gradients(tape, dh[slot], dc[slot], 1.0f, dc_before);
                    if (q < 0 || u >= kHidden) {
                        z[slot] = {0.0f, 0.0f, 0.0f, 0.0f};
                    } else {
                        dc[slot] = dc_before;
                        if (!kKeepSums) {
                            float* const out = r.dz + (i64(s.begin) + q) * 4 * kHidden + u;
                            out[0] = z[slot].i;
                            out[kHidden] = z[slot].f;
                            out[2 * kHidden] = z[slot].g;
                            out[3 * kHidden] = z[slot].o;
                        }
                    }
                    if (kKeepSums) {
#pragma unroll
                        for (int f = 0; f < kFeatures; ++f) sums.add(f, slot, z[slot], x[f]);
                        sums.add(kColumns, slot, z[slot], 1.0f);
                    }
                }
                if (recurrent) {
                    if (kKeepSums) {
#pragma unroll
                        for (int j = 0; j < kHidden; ++j) {
                            const float h_j = __shfl_sync(kAll, h[j / 32], j % 32, kGroup);
#pragma unroll
                            for (int slot = 0; slot < kUnits; ++slot) sums.add(kFeatures + j, slot, z[slot], h_j);
                        }
                    }
                    __syncwarp();
#pragma unroll
                    for (int slot = 0; slot < kUnits; ++slot)
                        own_dz[slot * kBackwardThreads] = make_float4(z[slot].i, z[slot].f, z[slot].g, z[slot].o);
                    __syncwarp();
                    if (q >= 0) {
#pragma unroll
                        for (int slot = 0; slot < kUnits; ++slot)
                            dh[slot] = through_column(back, group_dz, kFeatures + min(unit_of(slot), kHidden - 1));
                        if (kKind == kRagged && r.d_features)
                            for (int f = int(threadIdx.x % kGroup); f < kFeatures; f += kGroup)
                                r.d_features[(i64(s.begin) + q) * kFeatures + f] = through_column(back, group_dz, f);
                    }
                }
#pragma unroll
                for (int slot = 0; slot < kUnits; ++slot) {
                    h[slot] = h_next[slot];
                    c[slot] = c_next[slot];
                }
            }
            if (kKind == kRagged && some) {
#pragma unroll
                for (int slot = 0; slot < kUnits; ++slot) {
                    const int u = unit_of(slot);
                    if (u >= kHidden) continue;
                    if (r.d_h0) r.d_h0[s.id * kHidden + u] = dh[slot];
                    if (r.d_c0) r.d_c0[s.id * kHidden + u] = dc[slot];
                }
            }
        }
    }
    if (!kKeepSums) return;
    constexpr int kNumbers = 4 * (kColumns + 1) * kUnits;
    float* const out = r.sums + (i64(blockIdx.x) * (kBackwardThreads / 32) + warp_number()) * kNumbers * kGroup;
#pragma unroll
    for (int column = 0; column < (kKeepSums ? kColumns + 1 : 0); ++column)
#pragma unroll
        for (int slot = 0; slot < kUnits; ++slot) {
            float4 sum = sums.of[column][slot];
#pragma unroll
            for (int apart = 16; apart >= kGroup; apart /= 2) {
                sum.x += __shfl_xor_sync(kAll, sum.x, apart);
                sum.y += __shfl_xor_sync(kAll, sum.y, apart);
                sum.z += __shfl_xor_sync(kAll, sum.z, apart);
                sum.w += __shfl_xor_sync(kAll, sum.w, apart);
            }
            if (lane_number() >= kGroup) continue;
            float* const at = out + (column * kUnits + slot) * 4 * kGroup + lane_number();
            at[0] = sum.x;
            at[kGroup] = sum.y;
            at[2 * kGroup] = sum.z;
            at[3 * kGroup] = sum.w;
        }
}

constexpr int kSumColumns = 32;

// The sums of all warps, put together in their order, and laid out as torch has the weights.
extern "C" __global__ void __launch_bounds__(1024) total(
    const float* sums, int rows, float* w_ih, float* w_hh, float* bias) {
    constexpr int kNumbers = 4 * (kColumns + 1) * kUnits * kGroup;
    __shared__ double part[32][kSumColumns + 1];
    const int number = blockIdx.x * kSumColumns + lane_number();
    double sum = 0.0;
    if (number < kNumbers)
        for (int row = warp_number(); row < rows; row += 32) sum += double(sums[i64(row) * kNumbers + number]);
    part[warp_number()][lane_number()] = sum;
    __syncthreads();
    if (warp_number() > 0 || number >= kNumbers) return;
    sum = 0.0;
    for (int k = 0; k < 32; ++k) sum += part[k][lane_number()];
    const int lane = number % kGroup, gate = number / kGroup % 4;
    const int slot = number / kGroup / 4 % kUnits, column = number / kGroup / 4 / kUnits;
    const int unit = lane + slot * kGroup;
    if (unit >= kHidden) return;
    const int row = gate * kHidden + unit;
    if (column < kFeatures)
        w_ih[row * kFeatures + column] = float(sum);
    else if (column < kColumns)
        w_hh[row * kHidden + column - kFeatures] = float(sum);
    else
        bias[row] = float(sum);
}

#endif

#if EVSURF_KIND == 1

constexpr int kSortThreads = 512;
constexpr int kSortWarps = kSortThreads / 32;
constexpr int kBuckets = 140;

// Longer sequences have smaller numbers: exact below 32 events, in quarters of an octave above.
__device__ inline int bucket_of(u32 length) {
    if (length < 32) return kBuckets - 1 - int(length);
    const int octave = 31 - __clz(int(length));
    return kBuckets - 1 - (32 + 4 * (octave - 5) + int(length >> (octave - 2) & 3u));
}

struct Schedule {
    const i64* offsets;
    uint2* table;
    u32* begins;
    u32* lengths;
    u16* cells;
    i64 sequences, count;
    i32 shift;
};

// A block for each run of sequences lists them by falling length.
extern "C" __global__ void __launch_bounds__(kSortThreads) schedule(const Schedule s) {
    __shared__ u32 slots[kBuckets][kSortWarps];
    __shared__ u32 sums[kSortWarps];
    const i64 base = i64(blockIdx.x) << s.shift;
    const int here = int(min(i64(1) << s.shift, s.sequences - base)), run = (1 << s.shift) / kSortWarps;
    for (int k = threadIdx.x; k < kBuckets * kSortWarps; k += kSortThreads) (&slots[0][0])[k] = 0;
    __syncthreads();
    for (int pass = 0; pass < 2; ++pass) {
        for (int first = 0; first < run; first += 32) {
            const int k = warp_number() * run + first + lane_number();
            i64 begin = 0, end = 0;
            if (k < here) {
                begin = min(max(s.offsets[base + k], 0ll), s.count);
                end = min(max(s.offsets[base + k + 1], begin), s.count);
            }
            const int bucket = k < here ? bucket_of(u32(end - begin)) : -1;
            const u32 peers = __match_any_sync(kAll, bucket);
            u32 number = 0;
            if (bucket >= 0) number = slots[bucket][warp_number()] + u32(__popc(peers & lanes_before()));
            __syncwarp();
            if (bucket >= 0 && lane_number() == __ffs(int(peers)) - 1)
                slots[bucket][warp_number()] += u32(__popc(peers));
            __syncwarp();
            if (pass == 1 && bucket >= 0) {
                s.begins[base + number] = u32(begin);
                s.lengths[base + number] = u32(end - begin);
                s.cells[base + number] = u16(k);
            }
        }
        __syncthreads();
        if (pass == 1) break;
        u32 all = 0, sequences;
        if (threadIdx.x < kBuckets)
            for (int w = 0; w < kSortWarps; ++w) all += slots[threadIdx.x][w];
        u32 slot = block_exclusive_sum<kSortThreads>(all, sums, sequences);
        if (threadIdx.x < kBuckets)
            for (int w = 0; w < kSortWarps; ++w) {
                const u32 count = slots[threadIdx.x][w];
                slots[threadIdx.x][w] = slot;
                slot += count;
            }
        __syncthreads();
    }
    if (threadIdx.x == 0) s.table[blockIdx.x] = make_uint2(u32(base), u32(here));
}

#endif

}  // namespace evsurf
