// A pack: the sequences that the cell kernels advance side by side, and the kernels' two calls.
#pragma once

#include <cstdint>

namespace evsurf {

// Sequences in a pack. Arrays of a pack have the lane last, so that a vector is a run of lanes.
constexpr int kLanes = 32;
constexpr int kLargestHidden = 64;

// One cell's weights, laid out for the kernels (see arrange_weights in weights.h).
template <class Real>
struct CellWeights {
    int hidden;
    int features;
    const Real* input;    // [hidden][features + hidden][4 gates]
    const Real* bias;     // [hidden][4 gates]
    const Real* back;     // [features + hidden][hidden][4 gates]
};

template <class Real>
struct PackSteps {
    int steps;                // steps to take
    int full_steps;           // of these, the first that every lane takes part in
    const int32_t* lengths;   // [lanes] steps that each lane takes; afterwards it keeps its state
    const Real* x;            // [steps][features][lanes]
    bool zero_state;          // h and c are zero and need not be read
};

template <class Real>
struct ForwardPack {
    CellWeights<Real> weights;
    PackSteps<Real> at;
    Real* h;                  // [hidden][lanes], replaced
    Real* c;                  // [hidden][lanes], replaced
    Real* every_h;            // [steps][hidden][lanes] or null
};

// What a step back needs to know of the step: activations, the state before it, and the tanh of the memory
// after it; then the gradients of z in place of the activations.
template <class Real>
struct Tape {
    Real* numbers;
    int rows;                 // that there is room for

    // Numbers in a row, of all lanes.
    static int64_t row_size(int hidden) { return int64_t{7} * hidden * kLanes; }
};

template <class Real>
struct BackwardPack {
    CellWeights<Real> weights;
    PackSteps<Real> at;
    const Real* h;            // [hidden][lanes], the state before the steps
    const Real* c;
    const Real* every_dh;     // [steps][hidden][lanes] gradients of each step's h, or null
    Real* dh;                 // [hidden][lanes] gradient of the state, taken back over the steps
    Real* dc;
    Real* dx;                 // [steps][features][lanes] or null
    Tape<Real> tape;
    int first_row;            // of the tape's rows, one for each step
};

// Steps on a tape, of one pack or several, whose weights' gradients are summed.
template <class Real>
struct TapedSteps {
    CellWeights<Real> weights;
    Tape<Real> tape;
    int rows;
    const Real* x;            // [rows][features][lanes]
    const int32_t* moved;     // the rows whose steps did not start from zero
    int moved_count;
    Real* sums;               // [hidden][features + hidden + 1][4 gates][width], added to
};

// Packs of sequences of one step each, from a zero state: most of what a camera gives.
template <class Real>
struct SinglePacks {
    CellWeights<Real> weights;
    int packs;
    const Real* x;            // [packs][features][lanes]
    const Real* dh;           // [packs][hidden][lanes] gradient of the state after the step, zero in
    const Real* dc;           // lanes without one
    Real* sums;               // as TapedSteps'
};

template <class Real>
struct CellKernels {
    const char* name;
    int width;                // lanes of one vector
    void (*forward)(const ForwardPack<Real>&);
    void (*backward)(const BackwardPack<Real>&);
    void (*weight_gradients)(const TapedSteps<Real>&);
    void (*backward_single)(const SinglePacks<Real>&);
};

// The kernels that this processor runs.
template <class Real>
const CellKernels<Real>& kernels();
template <>
const CellKernels<float>& kernels<float>();
template <>
const CellKernels<double>& kernels<double>();

// For tests and for the doctor: the kernels of another instruction set. False when the machine lacks it.
bool choose_isa(const char* name);
const char* isa();

}  // namespace evsurf
