// Runs ragged sequences through the cell's kernels, a pack at a time, long sequences first.
//
// A Source says what the sequences feed the cell; a Sink takes what comes out. Both see a pack: lane l
// is sequence pack.sequence[l] (or -1) with pack.length[l] steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/memory.h"
#include "recurrence/pack.h"

namespace evsurf {

struct Pack {
    int32_t first;     // of the order that the packs are taken in
    int32_t sequence[kLanes];
    int32_t length[kLanes];
    int32_t longest;
    int32_t shortest;  // 0 when a lane is empty
};

// Order of sequences by falling length, ties in their own order; room takes 2 * count indices.
inline const int32_t* order_by_length(const int32_t* lengths, int32_t count, int32_t* room) {
    // Most pixels fire once. Setting these aside first, without a branch, spares them the counters,
    // which would all wait for the same one.
    int32_t* order = room;
    int32_t* others = room + count;
    int32_t single = 0, other = 0;
    for (int32_t s = 0; s < count; ++s) {
        order[single] = s;
        others[other] = s;
        single += lengths[s] == 1;
        other += lengths[s] != 1;
    }
    constexpr int kExact = 64;  // longer ones are few, and sorted by comparison
    int32_t starts[kExact + 1] = {};
    for (int32_t k = 0; k < other; ++k) ++starts[std::min(lengths[others[k]], kExact)];
    // Singles go behind everything but the empty ones.
    const int32_t before_singles = other - starts[0];
    std::copy_backward(order, order + single, order + before_singles + single);
    int32_t at = 0;
    for (int length = kExact; length > 0; --length) {
        const int32_t here = starts[length];
        starts[length] = at;
        at += here;
    }
    starts[0] = before_singles + single;
    for (int32_t k = 0; k < other; ++k)
        order[starts[std::min(lengths[others[k]], kExact)]++] = others[k];
    std::stable_sort(order, order + starts[kExact],
                     [lengths](int32_t a, int32_t b) { return lengths[a] > lengths[b]; });
    return order;
}

inline Pack take_pack(const int32_t* lengths, const int32_t* order, int32_t first, int32_t count) {
    Pack pack;
    pack.first = first;
    const int32_t lanes = std::min<int32_t>(kLanes, count - first);
    for (int32_t l = 0; l < kLanes; ++l) {
        pack.sequence[l] = l < lanes ? order[first + l] : -1;
        pack.length[l] = l < lanes ? lengths[order[first + l]] : 0;
    }
    pack.longest = pack.length[0];
    pack.shortest = pack.length[kLanes - 1];
    return pack;
}

// One thread's working memory.
template <class Real>
struct PackMemory {
    Room<Real> x, h, c, every_h, dh, dc, dx, tape, checkpoints, sums;
    Room<int32_t> order, moved;
};

// Steps from first on, as the kernels want them. The source fills x up to each lane's end.
template <class Real, class Source>
PackSteps<Real> stage_steps(
    const Pack& pack, Source& source, int features, int32_t first, int32_t steps, bool zero_state,
    int32_t* lengths, Real* x) {
    const int32_t full = std::clamp(pack.shortest - first, 0, steps);
    // Ended lanes go on computing, unseen; their numbers must be ordinary ones.
    if (full < steps) std::fill(x, x + int64_t{steps} * features * kLanes, Real(0));
    for (int l = 0; l < kLanes; ++l) lengths[l] = std::max(pack.length[l] - first, 0);
    source.stage(pack, first, steps, x);
    return {steps, full, lengths, x, zero_state && first == 0};
}

inline int32_t steps_at_once(int64_t bytes_per_step, int64_t bytes, int32_t least) {
    return static_cast<int32_t>(std::max<int64_t>(least, bytes / bytes_per_step));
}

// sink.initial(pack, h, c) unless Sink::zero_state; sink.every(pack, first, steps, h) where
// Sink::every_step; sink.last(pack, h, c).
template <class Real, class Source, class Sink>
void forward_sequences(
    const CellKernels<Real>& kernels, const CellWeights<Real>& weights, const int32_t* lengths,
    int32_t count, Source& source, Sink& sink, PackMemory<Real>& memory) {
    const int64_t state = int64_t{weights.hidden} * kLanes;
    const int64_t row = int64_t{weights.features} * kLanes;
    const int32_t at_once = steps_at_once(
        int64_t(sizeof(Real)) * (row + (Sink::every_step ? state : 0)), 32 << 10, 4);
    const int32_t* order =
        order_by_length(lengths, count, memory.order.at_least(2 * int64_t{std::max(count, 1)}));
    Real* h = memory.h.at_least(state);
    Real* c = memory.c.at_least(state);
    Real* every = Sink::every_step ? memory.every_h.at_least(state * at_once) : nullptr;
    Real* x = memory.x.at_least(row * at_once);
    int32_t ends[kLanes];
    for (int32_t first = 0; first < count; first += kLanes) {
        const Pack pack = take_pack(lengths, order, first, count);
        source.begin(pack);
        if (!Sink::zero_state) sink.initial(pack, h, c);
        int32_t k = 0;
        do {
            const int32_t steps = std::min(at_once, pack.longest - k);
            const PackSteps<Real> at =
                stage_steps(pack, source, weights.features, k, steps, Sink::zero_state, ends, x);
            kernels.forward({weights, at, h, c, every});
            if (Sink::every_step) sink.every(pack, k, steps, every);
            k += steps;
        } while (k < pack.longest);
        sink.last(pack, h, c);
    }
}

// The sequences of at most one step, which come last, where nothing but the weights' gradients is asked for.
template <class Real, class Source, class Sink>
void backward_singles(
    const CellKernels<Real>& kernels, const CellWeights<Real>& weights, const int32_t* lengths,
    const int32_t* order, int32_t first, int32_t count, Source& source, Sink& sink,
    PackMemory<Real>& memory, Real* sums) {
    const int64_t state = int64_t{weights.hidden} * kLanes;
    const int64_t row = int64_t{weights.features} * kLanes;
    const int32_t at_once = steps_at_once(int64_t(sizeof(Real)) * (row + 2 * state), 32 << 10, 4);
    Real* x = memory.x.at_least(row * at_once);
    Real* dh = memory.dh.at_least(state * at_once);
    Real* dc = memory.dc.at_least(state * at_once);
    int32_t ends[kLanes];
    while (first < count) {
        int32_t packs = 0;
        for (; packs < at_once && first < count; ++packs, first += kLanes) {
            const Pack pack = take_pack(lengths, order, first, count);
            source.begin(pack);
            stage_steps(pack, source, weights.features, 0, 1, true, ends, x + packs * row);
            Real* const dh_here = dh + packs * state;
            Real* const dc_here = dc + packs * state;
            sink.gradients(pack, dh_here, dc_here);
            for (int l = 0; l < kLanes; ++l)
                if (pack.length[l] == 0)
                    for (int64_t u = 0; u < state; u += kLanes) dh_here[u + l] = dc_here[u + l] = 0;
        }
        kernels.backward_single({weights, packs, x, dh, dc, sums});
    }
}

// sink.begin(order, count) once; sink.initial as above; sink.gradients(pack, dh, dc) of the last state,
// sink.every(pack, first, steps, dh) where Sink::every_step, sink.inputs(pack, first, steps, dx) where
// Sink::input_gradients, and sink.state_gradients(pack, dh, dc) unless Sink::zero_state. Adds to sums.
template <class Real, class Source, class Sink>
void backward_sequences(
    const CellKernels<Real>& kernels, const CellWeights<Real>& weights, const int32_t* lengths,
    int32_t count, Source& source, Sink& sink, PackMemory<Real>& memory, Real* sums) {
    const int64_t state = int64_t{weights.hidden} * kLanes;
    const int64_t row = int64_t{weights.features} * kLanes;
    const int64_t tape_row = Tape<Real>::row_size(weights.hidden);
    const int32_t usual = steps_at_once(tape_row * int64_t(sizeof(Real)), 48 << 10, 8);
    const int32_t* order =
        order_by_length(lengths, count, memory.order.at_least(2 * int64_t{std::max(count, 1)}));
    sink.begin(order, count);
    constexpr bool only_weights = Sink::zero_state && !Sink::every_step && !Sink::input_gradients;
    Real* dh = memory.dh.at_least(state);
    Real* dc = memory.dc.at_least(state);
    TapedSteps<Real> taped{weights, {nullptr, 0}, 0, nullptr, nullptr, 0, sums};
    Real* x = nullptr;
    int32_t* moved = nullptr;
    // Packs share a tape until it is full, as sums over many steps are cheaper.
    const auto add_up = [&] {
        if (taped.rows > 0) kernels.weight_gradients(taped);
        taped.rows = taped.moved_count = 0;
    };
    const auto make_room = [&](int32_t steps) {
        if (taped.rows + steps <= taped.tape.rows) return;
        add_up();
        const int32_t rows = std::max(steps, usual);
        taped.tape = {memory.tape.at_least(tape_row * rows), rows};
        taped.x = x = memory.x.at_least(row * rows);
        taped.moved = moved = memory.moved.at_least(rows);
    };
    int32_t ends[kLanes];
    int32_t first = 0;
    for (; first < count; first += kLanes) {
        if (only_weights && lengths[order[first]] <= 1) break;
        const Pack pack = take_pack(lengths, order, first, count);
        // States are kept once a segment and the rest computed again. With segments that grow as the
        // square root of the length, even one endless pixel needs little memory; a quarter of it keeps
        // the tape of a segment near the cache.
        const int32_t segment = std::max(usual, int32_t(std::sqrt(double(pack.longest)) / 4));
        const int32_t segments = std::max(1, (pack.longest + segment - 1) / segment);
        Real* kept = memory.checkpoints.at_least(2 * state * segments);
        const int32_t most = std::min(segment, std::max(pack.longest, 1));
        Real* dx = Sink::input_gradients ? memory.dx.at_least(row * most) : nullptr;
        Real* every = Sink::every_step ? memory.every_h.at_least(state * most) : nullptr;
        make_room(most);
        source.begin(pack);
        if (!Sink::zero_state) sink.initial(pack, kept, kept + state);
        for (int32_t s = 0; s + 1 < segments; ++s) {
            Real* next = kept + 2 * state * (s + 1);
            if (s > 0 || !Sink::zero_state)
                std::copy(next - 2 * state, next, next);
            const PackSteps<Real> at = stage_steps(
                pack, source, weights.features, s * segment, segment, Sink::zero_state, ends,
                x + taped.rows * row);
            kernels.forward({weights, at, next, next + state, nullptr});
        }
        sink.gradients(pack, dh, dc);
        for (int32_t s = segments - 1; s >= 0; --s) {
            const int32_t k = s * segment;
            const int32_t steps = std::min(segment, pack.longest - k);
            make_room(steps);
            const PackSteps<Real> at = stage_steps(
                pack, source, weights.features, k, steps, Sink::zero_state, ends, x + taped.rows * row);
            if (Sink::every_step) sink.every(pack, k, steps, every);
            const Real* before = kept + 2 * state * s;
            kernels.backward({weights, at, before, before + state, every, dh, dc, dx, taped.tape, taped.rows});
            if (Sink::input_gradients) sink.inputs(pack, k, steps, dx);
            for (int32_t step = 0; step < steps; ++step)
                if (step > 0 || !at.zero_state) moved[taped.moved_count++] = taped.rows + step;
            taped.rows += steps;
        }
        if (!Sink::zero_state) sink.state_gradients(pack, dh, dc);
    }
    add_up();
    if (only_weights)
        backward_singles(kernels, weights, lengths, order, first, count, source, sink, memory, sums);
}

}  // namespace evsurf
