// Weights in torch.nn.LSTM's layout, arranged for the kernels, and their gradients put back.
#pragma once

#include <cstdint>
#include <vector>

#include "recurrence/pack.h"

namespace evsurf {

// Weight matrices row-major: w_ih [4 * hidden, features], w_hh [4 * hidden, hidden]; biases may be null.
template <class Real>
struct TorchWeights {
    int hidden;
    int features;
    const Real* w_ih;
    const Real* w_hh;
    const Real* b_ih;
    const Real* b_hh;
};

template <class Real>
class ArrangedWeights {
public:
    explicit ArrangedWeights(const TorchWeights<Real>& w)
        : hidden_(w.hidden),
          features_(w.features),
          input_(size_t(4) * w.hidden * (w.features + w.hidden)),
          bias_(size_t(4) * w.hidden),
          back_(input_.size()) {
        const int columns = features_ + hidden_;
        for (int u = 0; u < hidden_; ++u)
            for (int gate = 0; gate < 4; ++gate) {
                const int64_t row = int64_t{gate} * hidden_ + u;
                for (int j = 0; j < columns; ++j) {
                    const Real value = j < features_ ? w.w_ih[row * features_ + j]
                                                     : w.w_hh[row * hidden_ + j - features_];
                    input_[(size_t(u) * columns + j) * 4 + gate] = value;
                    back_[(size_t(j) * hidden_ + u) * 4 + gate] = value;
                }
                const Real first = w.b_ih ? w.b_ih[row] : Real(0);
                const Real second = w.b_hh ? w.b_hh[row] : Real(0);
                bias_[size_t(u) * 4 + gate] = first + second;
            }
    }
    CellWeights<Real> view() const {
        return {hidden_, features_, input_.data(), bias_.data(), back_.data()};
    }

private:
    int hidden_;
    int features_;
    std::vector<Real> input_, bias_, back_;
};

// Gradient sums of parts of the work, each added up by one thread, put together in the parts' order:
// the result does not depend on how many threads there were.
template <class Real>
class WeightGradients {
public:
    WeightGradients(int hidden, int features, int64_t parts)
        : hidden_(hidden),
          features_(features),
          columns_(features + hidden + 1),
          sums_(size_t(parts) * 4 * hidden * columns_),
          parts_(parts) {}

    // Takes a thread's vector sums ([hidden][columns][4][width]) as the sums of this part.
    void put(int64_t part, const Real* lanes, int width) {
        const int64_t count = int64_t{4} * hidden_ * columns_;
        double* out = sums_.data() + part * count;
        for (int64_t k = 0; k < count; ++k) {
            double sum = 0;
            for (int lane = 0; lane < width; ++lane) sum += double(lanes[k * width + lane]);
            out[k] = sum;
        }
    }

    // w_ih [4 * hidden, features], w_hh [4 * hidden, hidden], bias [4 * hidden].
    void total(Real* w_ih, Real* w_hh, Real* bias) const {
        const int64_t count = int64_t{4} * hidden_ * columns_;
        for (int64_t k = 0; k < count; ++k) {
            double sum = 0;
            for (int64_t part = 0; part < parts_; ++part) sum += sums_[size_t(part * count + k)];
            const int gate = int(k % 4);
            const int column = int(k / 4 % columns_);
            const int64_t row = int64_t{gate} * hidden_ + k / 4 / columns_;
            if (column < features_)
                w_ih[row * features_ + column] = Real(sum);
            else if (column < features_ + hidden_)
                w_hh[row * hidden_ + column - features_] = Real(sum);
            else
                bias[row] = Real(sum);
        }
    }

private:
    int hidden_;
    int features_;
    int columns_;
    std::vector<double> sums_;
    int64_t parts_;
};

}  // namespace evsurf
