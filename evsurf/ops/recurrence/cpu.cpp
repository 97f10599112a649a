// The ragged LSTM on packed features, forward and backward.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "native/parallel.h"
#include "recurrence/ops.h"
#include "recurrence/packs.h"

namespace evsurf {

namespace {

// A run of sequences that one thread works on. The cut depends on the offsets alone.
struct Run {
    int64_t first, end;
};

std::vector<Run> cut_runs(const int64_t* offsets, int64_t sequences, int64_t events, int64_t least_events) {
    constexpr int64_t kMostSequences = 8192;
    if (offsets[0] != 0 || offsets[sequences] > events)
        throw std::invalid_argument(
            "offsets must start at 0 and end within the number of events, " + std::to_string(events) +
            "; they start at " + std::to_string(offsets[0]) + " and end at " +
            std::to_string(offsets[sequences]));
    std::vector<Run> runs;
    int64_t first = 0;
    for (int64_t s = 0; s < sequences; ++s) {
        const int64_t length = offsets[s + 1] - offsets[s];
        if (length < 0 || length > INT32_MAX)
            throw std::invalid_argument(
                "offsets must not decrease, nor give a sequence over 2147483647 events; offsets[" +
                std::to_string(s) + "] = " + std::to_string(offsets[s]) + " is followed by " +
                std::to_string(offsets[s + 1]));
        if (offsets[s + 1] - offsets[first] >= least_events || s + 1 - first >= kMostSequences) {
            runs.push_back({first, s + 1});
            first = s + 1;
        }
    }
    if (first < sequences) runs.push_back({first, sequences});
    return runs;
}

template <class Real>
struct FeatureSource {
    const RaggedSequences<Real>& in;
    const int64_t first;  // sequence of lane index 0
    const int features;

    void begin(const Pack&) const {}
    void stage(const Pack& pack, int32_t from, int32_t steps, Real* x) const {
        for (int l = 0; l < kLanes; ++l) {
            const int32_t end = std::min(pack.length[l], from + steps);
            if (end <= from) continue;
            const Real* row = in.features + (in.offsets[first + pack.sequence[l]] + from) * features;
            Real* out = x + l;
            for (int64_t k = 0; k < int64_t{end - from} * features; ++k) out[k * kLanes] = row[k];
        }
    }
};

// Between [sequences, hidden] arrays and a pack's [hidden][lanes].
template <class Real>
void gather_rows(const Pack& pack, const Real* rows, int64_t first, int hidden, Real* lanes) {
    for (int l = 0; l < kLanes; ++l)
        for (int u = 0; u < hidden; ++u)
            lanes[u * kLanes + l] =
                rows && pack.sequence[l] >= 0 ? rows[(first + pack.sequence[l]) * hidden + u] : Real(0);
}

template <class Real>
void scatter_rows(const Pack& pack, const Real* lanes, int64_t first, int hidden, Real* rows) {
    for (int l = 0; l < kLanes && pack.sequence[l] >= 0; ++l)
        for (int u = 0; u < hidden; ++u)
            rows[(first + pack.sequence[l]) * hidden + u] = lanes[u * kLanes + l];
}

template <class Real, bool Zero, bool Every>
struct ForwardSink {
    static constexpr bool zero_state = Zero;
    static constexpr bool every_step = Every;
    const RaggedSequences<Real>& in;
    const int64_t first;
    const int hidden;
    Real* every_h;
    Real* last_h;
    Real* last_c;

    void initial(const Pack& pack, Real* h, Real* c) const {
        gather_rows(pack, in.initial_h, first, hidden, h);
        gather_rows(pack, in.initial_c, first, hidden, c);
    }
    void every(const Pack& pack, int32_t from, int32_t steps, const Real* h) const {
        for (int l = 0; l < kLanes && pack.sequence[l] >= 0; ++l) {
            Real* row = every_h + (in.offsets[first + pack.sequence[l]] + from) * hidden;
            const int32_t count = std::min(pack.length[l] - from, steps);
            for (int64_t k = 0; k < int64_t{count} * hidden; ++k) row[k] = h[k * kLanes + l];
        }
    }
    void last(const Pack& pack, const Real* h, const Real* c) const {
        scatter_rows(pack, h, first, hidden, last_h);
        scatter_rows(pack, c, first, hidden, last_c);
    }
};

template <class Real, bool Zero, bool Every, bool Inputs>
struct BackwardSink {
    static constexpr bool zero_state = Zero;
    static constexpr bool every_step = Every;
    static constexpr bool input_gradients = Inputs;
    const RaggedSequences<Real>& in;
    const RaggedGradients<Real>& g;
    const int64_t first;
    const int hidden;
    const int features;

    void initial(const Pack& pack, Real* h, Real* c) const {
        gather_rows(pack, in.initial_h, first, hidden, h);
        gather_rows(pack, in.initial_c, first, hidden, c);
    }
    void begin(const int32_t*, int32_t) const {}
    void gradients(const Pack& pack, Real* dh, Real* dc) const {
        gather_rows(pack, g.h, first, hidden, dh);
        gather_rows(pack, g.c, first, hidden, dc);
    }
    void every(const Pack& pack, int32_t from, int32_t steps, Real* dh) const {
        std::fill(dh, dh + int64_t{steps} * hidden * kLanes, Real(0));
        for (int l = 0; l < kLanes && pack.sequence[l] >= 0; ++l) {
            const Real* row = g.every_h + (in.offsets[first + pack.sequence[l]] + from) * hidden;
            const int32_t count = std::min(pack.length[l] - from, steps);
            for (int64_t k = 0; k < int64_t{count} * hidden; ++k) dh[k * kLanes + l] = row[k];
        }
    }
    void inputs(const Pack& pack, int32_t from, int32_t steps, const Real* dx) const {
        for (int l = 0; l < kLanes && pack.sequence[l] >= 0; ++l) {
            Real* row = g.features + (in.offsets[first + pack.sequence[l]] + from) * features;
            const int32_t count = std::min(pack.length[l] - from, steps);
            for (int64_t k = 0; k < int64_t{count} * features; ++k) row[k] = dx[k * kLanes + l];
        }
    }
    void state_gradients(const Pack& pack, const Real* dh, const Real* dc) const {
        if (g.initial_h) scatter_rows(pack, dh, first, hidden, g.initial_h);
        if (g.initial_c) scatter_rows(pack, dc, first, hidden, g.initial_c);
    }
};

// Lengths of a run's sequences, in memory of the thread.
const int32_t* run_lengths(const int64_t* offsets, const Run& run, Room<int32_t>& room) {
    int32_t* lengths = room.at_least(run.end - run.first);
    for (int64_t s = run.first; s < run.end; ++s)
        lengths[s - run.first] = int32_t(offsets[s + 1] - offsets[s]);
    return lengths;
}

template <class Real>
struct Worker {
    PackMemory<Real> packs;
    Room<int32_t> lengths;
};

// Calls body with the flags as compile-time constants.
template <class Body>
void with_flags(bool a, bool b, Body body) {
    if (a)
        b ? body(std::true_type(), std::true_type()) : body(std::true_type(), std::false_type());
    else
        b ? body(std::false_type(), std::true_type()) : body(std::false_type(), std::false_type());
}

constexpr int64_t kRunEvents = 16384;

// Rows behind the last sequence belong to nobody and get zeros.
template <class Real>
void clear_rest(const RaggedSequences<Real>& in, int width, Real* rows) {
    if (rows) std::fill(rows + in.offsets[in.sequences] * width, rows + in.events * width, Real(0));
}

}  // namespace

template <class Real>
void ragged_lstm_forward(
    const RaggedSequences<Real>& in, const TorchWeights<Real>& weights, int threads,
    Real* every_h, Real* h, Real* c) {
    const std::vector<Run> runs = cut_runs(in.offsets, in.sequences, in.events, kRunEvents);
    const ArrangedWeights<Real> arranged(weights);
    std::vector<Worker<Real>> workers(size_t(std::max(threads, 1)));
    clear_rest(in, weights.hidden, every_h);
    with_flags(in.initial_h == nullptr, every_h != nullptr, [&](auto zero, auto every) {
        parallel_for(int64_t(runs.size()), threads, [&](int64_t k) {
            Worker<Real>& worker = workers[size_t(thread_number())];
            const Run run = runs[size_t(k)];
            FeatureSource<Real> source{in, run.first, weights.features};
            ForwardSink<Real, zero.value, every.value> sink{
                in, run.first, weights.hidden, every_h, h, c};
            forward_sequences(
                kernels<Real>(), arranged.view(), run_lengths(in.offsets, run, worker.lengths),
                int32_t(run.end - run.first), source, sink, worker.packs);
        });
    });
}

template <class Real>
void ragged_lstm_backward(
    const RaggedSequences<Real>& in, const TorchWeights<Real>& weights, int threads,
    const RaggedGradients<Real>& gradients) {
    const int64_t columns = weights.features + weights.hidden + 1;
    // The sums of a run take a small share of what its events do.
    const int64_t least = std::max(kRunEvents, 8 * weights.hidden * columns);
    const std::vector<Run> runs = cut_runs(in.offsets, in.sequences, in.events, least);
    const ArrangedWeights<Real> arranged(weights);
    const int width = kernels<Real>().width;
    const int64_t room = int64_t{4} * weights.hidden * columns * width;
    WeightGradients<Real> total(weights.hidden, weights.features, int64_t(runs.size()));
    std::vector<Worker<Real>> workers(size_t(std::max(threads, 1)));
    clear_rest(in, weights.features, gradients.features);
    const auto work = [&](auto zero, auto every, auto inputs) {
        parallel_for(int64_t(runs.size()), threads, [&](int64_t k) {
            Worker<Real>& worker = workers[size_t(thread_number())];
            const Run run = runs[size_t(k)];
            FeatureSource<Real> source{in, run.first, weights.features};
            BackwardSink<Real, zero.value, every.value, inputs.value> sink{
                in, gradients, run.first, weights.hidden, weights.features};
            Real* sums = worker.packs.sums.at_least(room);
            std::fill(sums, sums + room, Real(0));
            backward_sequences(
                kernels<Real>(), arranged.view(), run_lengths(in.offsets, run, worker.lengths),
                int32_t(run.end - run.first), source, sink, worker.packs, sums);
            total.put(k, sums, width);
        });
    };
    with_flags(in.initial_h == nullptr, gradients.every_h != nullptr, [&](auto zero, auto every) {
        if (gradients.features)
            work(zero, every, std::true_type());
        else
            work(zero, every, std::false_type());
    });
    total.total(gradients.w_ih, gradients.w_hh, gradients.bias);
}

template void ragged_lstm_forward(
    const RaggedSequences<float>&, const TorchWeights<float>&, int, float*, float*, float*);
template void ragged_lstm_forward(
    const RaggedSequences<double>&, const TorchWeights<double>&, int, double*, double*, double*);
template void ragged_lstm_backward(
    const RaggedSequences<float>&, const TorchWeights<float>&, int, const RaggedGradients<float>&);
template void ragged_lstm_backward(
    const RaggedSequences<double>&, const TorchWeights<double>&, int, const RaggedGradients<double>&);

}  // namespace evsurf
