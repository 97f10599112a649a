// The compiled recurrent ops: pointers in, pointers out.
#pragma once

#include <cstdint>

#include "grouping/tiles.h"
#include "recurrence/event_source.h"
#include "recurrence/weights.h"

namespace evsurf {

// Packed sequences: features [events, features], offsets [sequences + 1]; rows behind the last offset
// belong to no sequence. initial_h and initial_c are
// [sequences, hidden], both or neither null.
template <class Real>
struct RaggedSequences {
    const Real* features;
    const int64_t* offsets;
    int64_t sequences;
    int64_t events;
    const Real* initial_h;
    const Real* initial_c;
};

// every_h [events, hidden] may be null; h and c [sequences, hidden] may not.
template <class Real>
void ragged_lstm_forward(
    const RaggedSequences<Real>& in, const TorchWeights<Real>& weights, int threads,
    Real* every_h, Real* h, Real* c);

// Gradients of the outputs (null where there is none), then those of the inputs; d_features and the
// two of the initial state may be null where nobody asks for them.
template <class Real>
struct RaggedGradients {
    const Real* every_h;
    const Real* h;
    const Real* c;
    Real* features;
    Real* initial_h;
    Real* initial_c;
    Real* w_ih;
    Real* w_hh;
    Real* bias;
};

template <class Real>
void ragged_lstm_backward(
    const RaggedSequences<Real>& in, const TorchWeights<Real>& weights, int threads,
    const RaggedGradients<Real>& gradients);

struct SurfaceInput {
    PackedEvents events;
    Field field;
    int32_t bins;
    Cap cap;
    Reading reading;
};

// surface [samples, bins * hidden, rows, columns], every element written.
template <class Real>
void lstm_surface_forward(
    const SurfaceInput& in, const TorchWeights<Real>& weights, int threads, Real* surface);

template <class Real>
void lstm_surface_backward(
    const SurfaceInput& in, const TorchWeights<Real>& weights, int threads, const Real* d_surface,
    Real* w_ih, Real* w_hh, Real* bias);

// State of streams: h and c [cells, hidden], last and count [cells], start [samples]; cells are counted
// [samples, rows, columns].
template <class Real>
struct StreamMemory {
    Real* h;
    Real* c;
    int64_t* last;
    int64_t* count;
    const int64_t* start;
};

// Reads the next events of every sample's stream, in place. Only the cells that have any are touched.
template <class Real>
void lstm_live_step(
    const SurfaceInput& in, const TorchWeights<Real>& weights, int threads, const StreamMemory<Real>& memory);

}  // namespace evsurf
