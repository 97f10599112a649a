// The cell's kernels for CPUs, compiled once for each instruction set (see simd.h).
//
// A lane belongs to one sequence and never looks at another, so what a sequence gives does not depend
// on its neighbours, down to the last bit.
#include "recurrence/pack.h"

#include "native/simd.h"

namespace evsurf {
namespace EVSURF_ISA {

#include "recurrence/cell.h"

// Vectors that advance together: their independent chains hide the latency of the arithmetic.
constexpr int kTogether = 2;

#define EVSURF_INLINE_MEMBER inline __attribute__((always_inline))

template <class V>
struct Block {
    V v[kTogether];
    static Block filled(typename V::Real a) {
        Block b;
        for (V& e : b.v) e = V(a);
        return b;
    }
    static Block load(const typename V::Real* p) {
        Block b;
        for (int k = 0; k < kTogether; ++k) b.v[k] = V::load(p + k * V::width);
        return b;
    }
    void store(typename V::Real* p) const {
        for (int k = 0; k < kTogether; ++k) v[k].store(p + k * V::width);
    }
};

template <class V>
EVSURF_INLINE void add_product(Block<V>& sum, typename V::Real weight, const Block<V>& a) {
    const V w(weight);
    for (int k = 0; k < kTogether; ++k) sum.v[k] = fma(w, a.v[k], sum.v[k]);
}

template <class V>
struct BlockMask {
    typename V::Mask m[kTogether];
    BlockMask(const int32_t* lengths, int step) {
        for (int k = 0; k < kTogether; ++k) m[k] = V::active(lengths + k * V::width, step);
    }
};

template <class V>
EVSURF_INLINE Block<V> choose(const BlockMask<V>& mask, const Block<V>& yes, const Block<V>& no) {
    Block<V> b;
    for (int k = 0; k < kTogether; ++k) b.v[k] = choose(mask.m[k], yes.v[k], no.v[k]);
    return b;
}

// z = W_ih x + W_hh h + b for one unit; without_h where h is known to be zero.
template <class V>
EVSURF_INLINE Gates<Block<V>> preactivations(
    const CellWeights<typename V::Real>& w, int hidden, int unit, const typename V::Real* x,
    const Block<V>* h, bool without_h) {
    using B = Block<V>;
    const typename V::Real* bias = w.bias + 4 * unit;
    Gates<B> z{B::filled(bias[0]), B::filled(bias[1]), B::filled(bias[2]), B::filled(bias[3])};
    const typename V::Real* row = w.input + int64_t{4} * unit * (w.features + hidden);
    for (int f = 0; f < w.features; ++f, row += 4) {
        const B a = B::load(x + f * kLanes);
        add_product(z.i, row[0], a);
        add_product(z.f, row[1], a);
        add_product(z.g, row[2], a);
        add_product(z.o, row[3], a);
    }
    if (without_h) return z;
    for (int j = 0; j < hidden; ++j, row += 4) {
        add_product(z.i, row[0], h[j]);
        add_product(z.f, row[1], h[j]);
        add_product(z.g, row[2], h[j]);
        add_product(z.o, row[3], h[j]);
    }
    return z;
}

// One unit's step. From a zero state the forget gate has nothing to keep and is left out.
template <class V>
EVSURF_INLINE void unit_step(
    const Gates<Block<V>>& z, const Block<V>& c_previous, bool from_zero,
    Gates<Block<V>>& a, Block<V>& c, Block<V>& tanh_c, Block<V>& h) {
    for (int k = 0; k < kTogether; ++k) {
        a.i.v[k] = sigmoid(z.i.v[k]);
        a.g.v[k] = tanh(z.g.v[k]);
        a.o.v[k] = sigmoid(z.o.v[k]);
        if (from_zero) {
            a.f.v[k] = V();
            c.v[k] = a.i.v[k] * a.g.v[k];
        } else {
            a.f.v[k] = sigmoid(z.f.v[k]);
            const Gates<V> g{a.i.v[k], a.f.v[k], a.g.v[k], a.o.v[k]};
            c.v[k] = next_memory(g, c_previous.v[k]);
        }
        tanh_c.v[k] = tanh(c.v[k]);
        h.v[k] = a.o.v[k] * tanh_c.v[k];
    }
}

// H is the hidden size when it is known to the compiler, else 0.
template <class V, int H>
void forward_lanes(const ForwardPack<typename V::Real>& p, int lane) {
    using B = Block<V>;
    constexpr int kRoom = H > 0 ? H : kLargestHidden;
    const int hidden = H > 0 ? H : p.weights.hidden;
    B h[kRoom], c[kRoom], next_h[kRoom];
    for (int u = 0; u < hidden; ++u) {
        h[u] = p.at.zero_state ? B() : B::load(p.h + u * kLanes + lane);
        c[u] = p.at.zero_state ? B() : B::load(p.c + u * kLanes + lane);
    }
    for (int step = 0; step < p.at.steps; ++step) {
        const bool from_zero = p.at.zero_state && step == 0;
        const bool some_ended = step >= p.at.full_steps;
        const BlockMask<V> active(p.at.lengths + lane, step);
        const auto* x = p.at.x + int64_t{step} * p.weights.features * kLanes + lane;
        for (int u = 0; u < hidden; ++u) {
            Gates<B> a;
            B next_c, tanh_c;
            const Gates<B> z = preactivations<V>(p.weights, hidden, u, x, h, from_zero);
            unit_step<V>(z, c[u], from_zero, a, next_c, tanh_c, next_h[u]);
            if (some_ended) {
                next_c = choose(active, next_c, c[u]);
                next_h[u] = choose(active, next_h[u], h[u]);
            }
            c[u] = next_c;
        }
        for (int u = 0; u < hidden; ++u) h[u] = next_h[u];
        if (p.every_h)
            for (int u = 0; u < hidden; ++u)
                h[u].store(p.every_h + (int64_t{step} * hidden + u) * kLanes + lane);
    }
    for (int u = 0; u < hidden; ++u) {
        h[u].store(p.h + u * kLanes + lane);
        c[u].store(p.c + u * kLanes + lane);
    }
}

// The tape of a block of lanes: per step and unit, seven blocks one after another.
enum TapeSlot { kI, kF, kG, kO, kC, kTanhC, kH, kSlots };

template <class V, int H>
struct Backward {
    using Real = typename V::Real;
    using B = Block<V>;
    static constexpr int kWidth = kTogether * V::width;
    static constexpr int kRoom = H > 0 ? H : kLargestHidden;

    const BackwardPack<Real>& p;
    const int lane;
    const int hidden;
    const int features;

    Backward(const BackwardPack<Real>& pack, int first_lane)
        : p(pack),
          lane(first_lane),
          hidden(H > 0 ? H : pack.weights.hidden),
          features(pack.weights.features) {}

    Real* tape(int step, int unit, int slot) const {
        return p.tape + ((int64_t{step} * hidden + unit) * kSlots + slot) * kWidth;
    }
    const Real* x(int step) const { return p.at.x + int64_t{step} * features * kLanes + lane; }
    bool from_zero(int step) const { return p.at.zero_state && step == 0; }
    B c_before(int step, int unit) const {
        if (step > 0) return B::load(tape(step - 1, unit, kC));
        return p.at.zero_state ? B() : B::load(p.c + unit * kLanes + lane);
    }

    void record() const {
        B h[kRoom];
        for (int u = 0; u < hidden; ++u)
            h[u] = p.at.zero_state ? B() : B::load(p.h + u * kLanes + lane);
        for (int step = 0; step < p.at.steps; ++step) {
            const bool some_ended = step >= p.at.full_steps;
            const BlockMask<V> active(p.at.lengths + lane, step);
            for (int u = 0; u < hidden; ++u) {
                Gates<B> a;
                B c, tanh_c, next_h;
                const B before = c_before(step, u);
                const Gates<B> z =
                    preactivations<V>(p.weights, hidden, u, x(step), h, from_zero(step));
                unit_step<V>(z, before, from_zero(step), a, c, tanh_c, next_h);
                if (some_ended) {
                    c = choose(active, c, before);
                    next_h = choose(active, next_h, h[u]);
                }
                a.i.store(tape(step, u, kI));
                a.f.store(tape(step, u, kF));
                a.g.store(tape(step, u, kG));
                a.o.store(tape(step, u, kO));
                c.store(tape(step, u, kC));
                tanh_c.store(tape(step, u, kTanhC));
                next_h.store(tape(step, u, kH));
            }
            for (int u = 0; u < hidden; ++u) h[u] = B::load(tape(step, u, kH));
        }
    }

    // Gradients of z replace the activations on the tape.
    void unit_gradients(int step, int u, const B& dh, B& dc, const BlockMask<V>& active) const {
        const bool some_ended = step >= p.at.full_steps;
        Real* slots[4] = {tape(step, u, kI), tape(step, u, kF), tape(step, u, kG), tape(step, u, kO)};
        const B before = c_before(step, u);
        const B tanh_c = B::load(tape(step, u, kTanhC));
        for (int k = 0; k < kTogether; ++k) {
            const int at = k * V::width;
            const UnitTape<V> unit{
                {V::load(slots[0] + at), V::load(slots[1] + at), V::load(slots[2] + at),
                 V::load(slots[3] + at)},
                before.v[k],
                tanh_c.v[k]};
            V dc_before;
            Gates<V> dz = gate_gradients(unit, dh.v[k], dc.v[k], V(Real(1)), dc_before);
            if (some_ended) {
                dz.i = choose(active.m[k], dz.i, V());
                dz.f = choose(active.m[k], dz.f, V());
                dz.g = choose(active.m[k], dz.g, V());
                dz.o = choose(active.m[k], dz.o, V());
                dc_before = choose(active.m[k], dc_before, dc.v[k]);
            }
            dz.i.store(slots[0] + at);
            dz.f.store(slots[1] + at);
            dz.g.store(slots[2] + at);
            dz.o.store(slots[3] + at);
            dc.v[k] = dc_before;
        }
    }

    // Sum over the gates of every unit of one column of W = [W_ih W_hh] times the gradient of z.
    B through_column(int step, int column) const {
        const Real* w = p.weights.back + int64_t{4} * column * hidden;
        B even = B(), odd = B();
        for (int u = 0; u < hidden; ++u, w += 4) {
            const Real* dz = tape(step, u, kI);
            add_product(even, w[0], B::load(dz));
            add_product(odd, w[1], B::load(dz + kWidth));
            add_product(even, w[2], B::load(dz + 2 * kWidth));
            add_product(odd, w[3], B::load(dz + 3 * kWidth));
        }
        for (int k = 0; k < kTogether; ++k) even.v[k] = even.v[k] + odd.v[k];
        return even;
    }

    void walk_back() const {
        B dh[kRoom], dc[kRoom];
        for (int u = 0; u < hidden; ++u) {
            dh[u] = B::load(p.dh + u * kLanes + lane);
            dc[u] = B::load(p.dc + u * kLanes + lane);
        }
        for (int step = p.at.steps - 1; step >= 0; --step) {
            const BlockMask<V> active(p.at.lengths + lane, step);
            for (int u = 0; u < hidden; ++u) {
                if (p.every_dh) {
                    const B own =
                        B::load(p.every_dh + (int64_t{step} * hidden + u) * kLanes + lane);
                    for (int k = 0; k < kTogether; ++k) dh[u].v[k] = dh[u].v[k] + own.v[k];
                }
                unit_gradients(step, u, dh[u], dc[u], active);
            }
            if (p.dx)
                for (int f = 0; f < features; ++f)
                    through_column(step, f).store(
                        p.dx + (int64_t{step} * features + f) * kLanes + lane);
            // Nothing reads the gradient of a state that is zero by definition.
            if (from_zero(step)) break;
            const bool some_ended = step >= p.at.full_steps;
            for (int u = 0; u < hidden; ++u) {
                const B before = through_column(step, features + u);
                dh[u] = some_ended ? choose(active, before, dh[u]) : before;
            }
        }
        for (int u = 0; u < hidden; ++u) {
            dh[u].store(p.dh + u * kLanes + lane);
            dc[u].store(p.dc + u * kLanes + lane);
        }
    }

    // Adds the products of one unit's gate gradients with `Columns` columns' inputs, summed over steps.
    template <int Columns, class Input>
    EVSURF_INLINE_MEMBER void add_columns(int unit, int column, int first_step, Input input) const {
        V sum[Columns][4];
        for (int step = first_step; step < p.at.steps; ++step) {
            const Real* dz = tape(step, unit, kI);
            for (int k = 0; k < kTogether; ++k) {
                V gate[4];
                for (int g = 0; g < 4; ++g) gate[g] = V::load(dz + g * kWidth + k * V::width);
                for (int j = 0; j < Columns; ++j) {
                    const V a = input(step, j, k * V::width);
                    for (int g = 0; g < 4; ++g) sum[j][g] = fma(gate[g], a, sum[j][g]);
                }
            }
        }
        Real* out = p.sums + (int64_t{unit} * (features + hidden + 1) + column) * 4 * V::width;
        for (int j = 0; j < Columns; ++j)
            for (int g = 0; g < 4; ++g, out += V::width) (V::load(out) + sum[j][g]).store(out);
    }

    // As many columns at a time as leave their sums in registers.
    template <class Input>
    EVSURF_INLINE_MEMBER void add_range(int unit, int column, int count, int first_step, Input input) const {
        int j = 0;
        for (; j + 4 <= count; j += 4)
            add_columns<4>(unit, column + j, first_step,
                           [&](int step, int i, int at) { return input(step, j + i, at); });
        for (; j < count; ++j)
            add_columns<1>(unit, column + j, first_step,
                           [&](int step, int, int at) { return input(step, j, at); });
    }

    void add_weight_gradients() const {
        const int from = p.at.zero_state ? 1 : 0;  // the first step whose h before it is not zero
        for (int u = 0; u < hidden; ++u) {
            if (features == 2)
                add_columns<2>(u, 0, 0, [&](int step, int f, int at) { return V::load(x(step) + f * kLanes + at); });
            else
                add_range(u, 0, features, 0,
                          [&](int step, int f, int at) { return V::load(x(step) + f * kLanes + at); });
            add_columns<1>(u, features + hidden, 0, [&](int, int, int) { return V(Real(1)); });
        }
        if (p.at.steps <= from) return;
        for (int u = 0; u < hidden; ++u) {
            const auto h = [&](int step, int j, int at) {
                return step > 0 ? V::load(tape(step - 1, j, kH) + at)
                                : V::load(p.h + j * kLanes + lane + at);
            };
            if (H == 3)
                add_columns<3>(u, features, from, h);
            else
                add_range(u, features, hidden, from, h);
        }
    }

    void run() const {
        record();
        walk_back();
        add_weight_gradients();
    }
};

template <class V, int H>
void forward_known(const ForwardPack<typename V::Real>& p) {
    for (int lane = 0; lane < kLanes; lane += kTogether * V::width) forward_lanes<V, H>(p, lane);
}

template <class V, int H>
void backward_known(const BackwardPack<typename V::Real>& p) {
    for (int lane = 0; lane < kLanes; lane += kTogether * V::width) Backward<V, H>(p, lane).run();
}

static void forward_float(const ForwardPack<float>& p) {
    switch (p.weights.hidden) {
        case 1: return forward_known<F32, 1>(p);
        case 2: return forward_known<F32, 2>(p);
        case 3: return forward_known<F32, 3>(p);
        case 4: return forward_known<F32, 4>(p);
        case 8: return forward_known<F32, 8>(p);
        case 16: return forward_known<F32, 16>(p);
        default: return forward_known<F32, 0>(p);
    }
}

static void backward_float(const BackwardPack<float>& p) {
    switch (p.weights.hidden) {
        case 1: return backward_known<F32, 1>(p);
        case 2: return backward_known<F32, 2>(p);
        case 3: return backward_known<F32, 3>(p);
        case 4: return backward_known<F32, 4>(p);
        case 8: return backward_known<F32, 8>(p);
        case 16: return backward_known<F32, 16>(p);
        default: return backward_known<F32, 0>(p);
    }
}

#define EVSURF_TEXT_OF(name) #name
#define EVSURF_TEXT(name) EVSURF_TEXT_OF(name)
extern const CellKernels<float> float_table;
const CellKernels<float> float_table = {
    EVSURF_TEXT(EVSURF_ISA), F32::width, &forward_float, &backward_float};

// Every instruction set compiles it; only the baseline's is used.
extern const CellKernels<double> double_table;
const CellKernels<double> double_table = {
    EVSURF_TEXT(EVSURF_ISA), F64::width, &forward_known<F64, 0>, &backward_known<F64, 0>};

}  // namespace EVSURF_ISA
}  // namespace evsurf
