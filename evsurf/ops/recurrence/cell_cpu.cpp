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

// The tape of a block of lanes: per row and unit, seven blocks one after another.
enum TapeSlot { kI, kF, kG, kO, kCBefore, kTanhC, kHBefore, kSlots };

template <class V>
struct TapeOfLanes {
    using Real = typename V::Real;
    static constexpr int kWidth = kTogether * V::width;
    Real* const numbers;
    const int hidden;

    TapeOfLanes(const Tape<Real>& tape, int lane, int units)
        : numbers(tape.numbers + int64_t{tape.rows} * units * kSlots * lane), hidden(units) {}
    Real* at(int row, int unit, int slot) const {
        return numbers + ((int64_t{row} * hidden + unit) * kSlots + slot) * kWidth;
    }
};

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
    const TapeOfLanes<V> rows;

    Backward(const BackwardPack<Real>& pack, int first_lane)
        : p(pack),
          lane(first_lane),
          hidden(H > 0 ? H : pack.weights.hidden),
          features(pack.weights.features),
          rows(pack.tape, first_lane, hidden) {}

    Real* tape(int step, int unit, int slot) const { return rows.at(p.first_row + step, unit, slot); }
    const Real* x(int step) const { return p.at.x + int64_t{step} * features * kLanes + lane; }
    bool from_zero(int step) const { return p.at.zero_state && step == 0; }

    void record() const {
        B h[kRoom], c[kRoom], next_h[kRoom];
        for (int u = 0; u < hidden; ++u) {
            h[u] = p.at.zero_state ? B() : B::load(p.h + u * kLanes + lane);
            c[u] = p.at.zero_state ? B() : B::load(p.c + u * kLanes + lane);
        }
        for (int step = 0; step < p.at.steps; ++step) {
            const bool some_ended = step >= p.at.full_steps;
            const BlockMask<V> active(p.at.lengths + lane, step);
            for (int u = 0; u < hidden; ++u) {
                Gates<B> a;
                B next_c, tanh_c;
                const Gates<B> z =
                    preactivations<V>(p.weights, hidden, u, x(step), h, from_zero(step));
                unit_step<V>(z, c[u], from_zero(step), a, next_c, tanh_c, next_h[u]);
                if (some_ended) {
                    next_c = choose(active, next_c, c[u]);
                    next_h[u] = choose(active, next_h[u], h[u]);
                }
                a.i.store(tape(step, u, kI));
                a.f.store(tape(step, u, kF));
                a.g.store(tape(step, u, kG));
                a.o.store(tape(step, u, kO));
                c[u].store(tape(step, u, kCBefore));
                tanh_c.store(tape(step, u, kTanhC));
                h[u].store(tape(step, u, kHBefore));
                c[u] = next_c;
            }
            for (int u = 0; u < hidden; ++u) h[u] = next_h[u];
        }
    }

    // Gradients of z replace the activations on the tape.
    void unit_gradients(int step, int u, const B& dh, B& dc, const BlockMask<V>& active) const {
        const bool some_ended = step >= p.at.full_steps;
        Real* slots[4] = {tape(step, u, kI), tape(step, u, kF), tape(step, u, kG), tape(step, u, kO)};
        const B before = B::load(tape(step, u, kCBefore));
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

    void run() const {
        record();
        walk_back();
    }
};

// Sums over taped steps of the products of the gradients of z with [x, h, 1].
template <class V, int H>
struct WeightSums {
    using Real = typename V::Real;
    static constexpr int kWidth = kTogether * V::width;

    const TapedSteps<Real>& p;
    const int lane;
    const int hidden;
    const int features;
    const TapeOfLanes<V> tape;

    WeightSums(const TapedSteps<Real>& steps, int first_lane)
        : p(steps),
          lane(first_lane),
          hidden(H > 0 ? H : steps.weights.hidden),
          features(steps.weights.features),
          tape(steps.tape, first_lane, hidden) {}

    Real* sums(int unit, int column) const {
        return p.sums + (int64_t{unit} * (features + hidden + 1) + column) * 4 * V::width;
    }
    static void add_to(Real* out, const V (&gates)[4]) {
        for (int g = 0; g < 4; ++g, out += V::width) (V::load(out) + gates[g]).store(out);
    }

    // Adds one unit's sums of `Columns` columns from `column` on, over `count` rows: row_of(n) is the
    // n-th, and its inputs stand at input(row), `apart` numbers from one column's to the next. With
    // `Bias` the last column's input is one.
    template <int Columns, bool Bias, class Rows, class Input>
    EVSURF_INLINE_MEMBER void add(int unit, int column, int count, Rows row_of, Input input, int apart) const {
        V sum[Columns + int(Bias)][4];
        for (int n = 0; n < count; ++n) {
            const int row = row_of(n);
            const Real* dz = tape.at(row, unit, kI);
            const Real* in = input(row);
            for (int k = 0; k < kTogether; ++k, dz += V::width, in += V::width) {
                V gate[4];
                for (int g = 0; g < 4; ++g) gate[g] = V::load(dz + g * kWidth);
                for (int j = 0; j < Columns; ++j) {
                    const V a = V::load(in + j * apart);
                    for (int g = 0; g < 4; ++g) sum[j][g] = fma(gate[g], a, sum[j][g]);
                }
                if (Bias)
                    for (int g = 0; g < 4; ++g) sum[Columns][g] = sum[Columns][g] + gate[g];
            }
        }
        for (int j = 0; j < Columns; ++j) add_to(sums(unit, column + j), sum[j]);
        if (Bias) add_to(sums(unit, features + hidden), sum[Columns]);
    }

    // As many columns at a time as leave their sums in registers.
    template <class Rows, class Input>
    EVSURF_INLINE_MEMBER void add_range(
        int unit, int column, int columns, int count, Rows row_of, Input input, int apart) const {
        int j = 0;
        const auto shifted = [&](int row) { return input(row) + j * apart; };
        for (; j + 4 <= columns; j += 4) add<4, false>(unit, column + j, count, row_of, shifted, apart);
        if (j + 3 <= columns) add<3, false>(unit, column + j, count, row_of, shifted, apart), j += 3;
        for (; j < columns; ++j) add<1, false>(unit, column + j, count, row_of, shifted, apart);
    }

    void run() const {
        const auto every = [](int n) { return n; };
        const auto moved = [this](int n) { return int(p.moved[n]); };
        const auto x = [this](int row) { return p.x + int64_t{row} * features * kLanes + lane; };
        const auto h = [this](int row) { return tape.at(row, 0, kHBefore); };
        for (int u = 0; u < hidden; ++u) {
            if (features == 2) {
                add<2, true>(u, 0, p.rows, every, x, kLanes);
            } else {
                add_range(u, 0, features, p.rows, every, x, kLanes);
                add<0, true>(u, 0, p.rows, every, x, kLanes);
            }
            if (p.moved_count > 0)
                add_range(u, features, hidden, p.moved_count, moved, h, kSlots * kWidth);
        }
    }
};

template <class V, int H>
void weight_gradients_known(const TapedSteps<typename V::Real>& p) {
    for (int lane = 0; lane < kLanes; lane += kTogether * V::width) WeightSums<V, H>(p, lane).run();
}

static void weight_gradients_float(const TapedSteps<float>& p) {
    switch (p.weights.hidden) {
        case 1: return weight_gradients_known<F32, 1>(p);
        case 2: return weight_gradients_known<F32, 2>(p);
        case 3: return weight_gradients_known<F32, 3>(p);
        case 4: return weight_gradients_known<F32, 4>(p);
        case 8: return weight_gradients_known<F32, 8>(p);
        case 16: return weight_gradients_known<F32, 16>(p);
        default: return weight_gradients_known<F32, 0>(p);
    }
}

// Gradient sums of one unit over sequences of one step, for columns [first, first + Columns) of x and, at
// the end, of the bias. No state comes in, so the forget gate and W_hh get nothing. What the step gave is
// computed again and never leaves the registers.
template <class V, int Columns>
EVSURF_INLINE void add_single_columns(
    const SinglePacks<typename V::Real>& p, int unit, int first, bool with_bias) {
    using Real = typename V::Real;
    const int features = p.weights.features, hidden = p.weights.hidden;
    const Real* bias = p.weights.bias + 4 * unit;
    const Real* row = p.weights.input + int64_t{4} * unit * (features + hidden);
    const V one(Real(1));
    Gates<V> sum[Columns + 1];
    for (int k = 0; k < p.packs; ++k)
        for (int lane = 0; lane < kLanes; lane += V::width) {
            const Real* x = p.x + int64_t{k} * features * kLanes + lane;
            Gates<V> z{V(bias[0]), V(), V(bias[2]), V(bias[3])};
            for (int f = 0; f < features; ++f) {
                const V a = V::load(x + f * kLanes);
                z.i = fma(V(row[4 * f]), a, z.i);
                z.g = fma(V(row[4 * f + 2]), a, z.g);
                z.o = fma(V(row[4 * f + 3]), a, z.o);
            }
            const Gates<V> a{sigmoid(z.i), V(), tanh(z.g), sigmoid(z.o)};
            const UnitTape<V> tape{a, V(), tanh(a.i * a.g)};
            const int64_t at = (int64_t{k} * hidden + unit) * kLanes + lane;
            V dc_before;
            const Gates<V> dz =
                gate_gradients(tape, V::load(p.dh + at), V::load(p.dc + at), one, dc_before);
            for (int j = 0; j <= Columns; ++j) {
                const V in = j < Columns ? V::load(x + (first + j) * kLanes) : one;
                sum[j].i = fma(dz.i, in, sum[j].i);
                sum[j].g = fma(dz.g, in, sum[j].g);
                sum[j].o = fma(dz.o, in, sum[j].o);
            }
        }
    Real* out = p.sums + int64_t{unit} * (features + hidden + 1) * 4 * V::width;
    for (int j = 0; j < Columns + int(with_bias); ++j) {
        const int column = j < Columns ? first + j : features + hidden;
        Real* gates = out + int64_t{column} * 4 * V::width;
        (V::load(gates) + sum[j].i).store(gates);
        (V::load(gates + 2 * V::width) + sum[j].g).store(gates + 2 * V::width);
        (V::load(gates + 3 * V::width) + sum[j].o).store(gates + 3 * V::width);
    }
}

template <class V>
void backward_single(const SinglePacks<typename V::Real>& p) {
    const int features = p.weights.features;
    for (int u = 0; u < p.weights.hidden; ++u) {
        if (features == 2) {
            add_single_columns<V, 2>(p, u, 0, true);
            continue;
        }
        // A wider vector than Matrix-LSTM's takes another look at the events.
        int f = 0;
        for (; f + 3 <= features; f += 3) add_single_columns<V, 3>(p, u, f, f == 0);
        for (; f < features; ++f) add_single_columns<V, 1>(p, u, f, f == 0);
    }
}

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
    EVSURF_TEXT(EVSURF_ISA), F32::width, &forward_float, &backward_float,
    &weight_gradients_float, &backward_single<F32>};

// Every instruction set compiles it; only the baseline's is used.
extern const CellKernels<double> double_table;
const CellKernels<double> double_table = {
    EVSURF_TEXT(EVSURF_ISA), F64::width, &forward_known<F64, 0>, &backward_known<F64, 0>,
    &weight_gradients_known<F64, 0>, &backward_single<F64>};

}  // namespace EVSURF_ISA
}  // namespace evsurf
