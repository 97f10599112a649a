// A pixel compares the logarithm of its light, L = log(I + floor), with a reference r. Whenever L - r
// reaches the threshold C_on it fires ON and r rises by C_on; at -C_off it fires OFF and r falls by C_off.
// Between two pictures L is linear in time, so that the time of every crossing is known exactly.
#include "data/simulator/native/camera.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/parallel.h"
#include "data/simulator/native/exact_math.h"

namespace evsurf {

namespace {

enum Stream : uint64_t { kThresholdOn = 1, kThresholdOff, kStart, kLeakSpread, kHot, kPerStep };

constexpr double kLeastThreshold = 0.01;
constexpr double kSecond = 1e6;
constexpr int32_t kRowsAtOnce = 8;

// How bright a pixel is for the parts of the circuit that depend on it, from dark to white.
inline double brightness(float intensity) { return (255.0 * intensity + 20.0) / 275.0; }

}  // namespace

Camera::Camera(const CameraSettings& settings) : settings_(settings) {
    const int64_t pixels = int64_t{settings.height} * settings.width;
    on_.resize(size_t(pixels));
    off_.resize(size_t(pixels));
    reference_.assign(size_t(pixels), 0.0);
    light_.assign(size_t(pixels), 0.0);
    last_.assign(size_t(pixels), -std::numeric_limits<double>::infinity());
    const Uniform on(settings.seed, kThresholdOn), off(settings.seed, kThresholdOff);
    for (int64_t k = 0; k < pixels; ++k) {
        const size_t i = size_t(k);
        on_[i] = std::max(kLeastThreshold, settings.on * (1.0 + settings.spread * on.normal(uint64_t(k))));
        off_[i] = std::max(kLeastThreshold, settings.off * (1.0 + settings.spread * off.normal(uint64_t(k))));
    }
    if (settings.leak > 0) {
        // Spread over a tenth of a decade: 10^(0.1 n), as a power series of its small exponent.
        const Uniform spread(settings.seed, kLeakSpread);
        leak_.resize(size_t(pixels));
        for (int64_t k = 0; k < pixels; ++k) {
            const double a = 0.23025850929940458 * spread.normal(uint64_t(k));
            double sum = 1.0;
            for (int n = 16; n > 0; --n) sum = 1.0 + a / n * sum;
            leak_[size_t(k)] = sum;
        }
    }
    const Uniform hot(settings.seed, kHot);
    for (int32_t k = 0; k < settings.hot_pixels; ++k) {
        const uint64_t draw = uint64_t(k) << 40;
        const int32_t pixel = std::min(int32_t(hot(draw) * double(pixels)), int32_t(pixels - 1));
        const double rate = settings.hot_least + (settings.hot_most - settings.hot_least) * hot(draw + 1);
        hot_.push_back({pixel, rate, 0.0, draw + 2});
    }
}

void Camera::start(const float* intensity, double t) {
    now_ = t;
    steps_ = 0;
    const Uniform start(settings_.seed, kStart);
    for (size_t k = 0; k < on_.size(); ++k) {
        light_[k] = exact_log(double(intensity[k]) + settings_.floor);
        const double u = settings_.settled ? 0.0 : -on_[k] + (on_[k] + off_[k]) * start(k);
        reference_[k] = light_[k] + u;
        last_[k] = -std::numeric_limits<double>::infinity();
    }
    const Uniform hot(settings_.seed, kHot);
    for (Hot& one : hot_) one.next = t - kSecond / one.rate * exact_log(1.0 - hot(one.drawn++));
}

int64_t Camera::step(const float* intensity, double t, int threads) {
    const double before = now_;
    const int32_t pieces = (settings_.height + kRowsAtOnce - 1) / kRowsAtOnce;
    parts_.resize(size_t(pieces) + 1);
    ++steps_;
    parallel_for(pieces, threads, [&](int64_t k) {
        std::vector<Fired>& fired = parts_[size_t(k)];
        fired.clear();
        const int32_t first = int32_t(k) * kRowsAtOnce;
        step_rows(intensity, before, t, first, std::min(first + kRowsAtOnce, settings_.height), fired);
    });
    parts_.back().clear();
    fire_hot(before, t, parts_.back());
    sort(parts_, before, t);
    now_ = t;
    return int64_t(sorted_.size());
}

void Camera::step_rows(
    const float* intensity, double t0, double t1, int32_t first, int32_t last, std::vector<Fired>& fired) {
    const size_t begin = size_t(first) * size_t(settings_.width), end = size_t(last) * size_t(settings_.width);
    const double dt = (t1 - t0) / kSecond;
    const Uniform drift(settings_.seed, kPerStep + 2 * uint64_t(steps_));
    const Uniform chance(settings_.seed, kPerStep + 2 * uint64_t(steps_) + 1);
    constexpr size_t kAtOnce = 64;
    double now[kAtOnce];
    for (size_t from = begin; from < end; from += kAtOnce) {
        const size_t count = std::min(kAtOnce, end - from);
        for (size_t k = 0; k < count; ++k) now[k] = exact_log(double(intensity[from + k]) + settings_.floor);
        if (settings_.cutoff > 0)
            for (size_t k = 0; k < count; ++k) {
                const double pace = 6.283185307179586 * settings_.cutoff * dt * brightness(intensity[from + k]);
                now[k] = light_[from + k] + std::min(pace, 1.0) * (now[k] - light_[from + k]);
            }
        if (settings_.leak > 0)
            for (size_t k = 0; k < count; ++k) {
                const size_t i = from + k;
                const double jitter = 1.0 - 0.1 * drift.normal(i);
                reference_[i] -= dt * settings_.leak * leak_[i] * jitter * on_[i];
            }
        for (size_t k = 0; k < count; ++k) {
            const size_t i = from + k;
            const double was = light_[i];
            light_[i] = now[k];
            double shot = 1.0;
            bool shot_on = false;
            if (settings_.shot > 0) {
                // Fewer where it is bright, more where the threshold is low.
                const double rate = 0.5 * settings_.shot * dt * (1.0 - 0.75 * brightness(intensity[i]));
                const double u = chance(2 * i);
                const double on = rate * settings_.on / on_[i], off = rate * settings_.off / off_[i];
                if (u < on + off) {
                    shot_on = u < on;
                    shot = chance(2 * i + 1);
                }
            }
            const double above = now[k] - reference_[i];
            const bool quiet = above < on_[i] && above > -off_[i];
            if (quiet && shot == 1.0) continue;
            if (shot == 1.0) {
                fire_between(int64_t(i), t0, t1, was, now[k], fired);
                continue;
            }
            const double t = t0 + shot * (t1 - t0), between = was + shot * (now[k] - was);
            fire_between(int64_t(i), t0, t, was, between, fired);
            if (t - last_[i] >= settings_.refractory) {
                fired.push_back({t, int32_t(i), uint8_t(shot_on)});
                last_[i] = t;
            }
            reference_[i] = between;
            fire_between(int64_t(i), t, t1, between, now[k], fired);
        }
    }
}

// The crossings of one pixel while its light goes from one level to another.
void Camera::fire_between(
    int64_t pixel, double ta, double tb, double from, double to, std::vector<Fired>& fired) {
    const size_t i = size_t(pixel);
    for (;;) {
        const double above = to - reference_[i];
        const bool on = above >= on_[i], off = above <= -off_[i];
        if (!on && !off) return;
        const double level = reference_[i] + (on ? on_[i] : -off_[i]);
        // Rounding may put a crossing of a nearly level piece outside of it.
        const double share = to == from ? 0.0 : (level - from) / (to - from);
        double t = ta + std::min(std::max(share, 0.0), 1.0) * (tb - ta);
        if (t - last_[i] < settings_.refractory) {
            if (settings_.hold) {
                t = last_[i] + settings_.refractory;
                if (t > tb) return;
            } else {
                reference_[i] = level;
                continue;
            }
        }
        fired.push_back({t, int32_t(i), uint8_t(on)});
        last_[i] = t;
        reference_[i] = level;
    }
}

void Camera::fire_hot(double t0, double t1, std::vector<Fired>& fired) {
    const Uniform hot(settings_.seed, kHot);
    for (Hot& one : hot_)
        while (one.next <= t1) {
            if (one.next > t0) fired.push_back({one.next, one.pixel, uint8_t(hot(one.drawn++) < 0.5)});
            one.next -= kSecond / one.rate * exact_log(1.0 - hot(one.drawn++));
        }
}

// By whole microseconds; those of one in raster order, and those of one pixel in their own.
void Camera::sort(const std::vector<std::vector<Fired>>& parts, double t0, double t1) {
    const int64_t first = int64_t(std::floor(t0 + 0.5));
    const size_t slots = size_t(int64_t(std::floor(t1 + 0.5)) - first) + 2;
    const auto slot = [&](const Fired& one) { return size_t(int64_t(std::floor(one.t + 0.5)) - first); };
    size_t total = 0;
    for (const auto& part : parts) total += part.size();
    if (slots > 4 * total + 4096) {
        sorted_.clear();
        for (const auto& part : parts) sorted_.insert(sorted_.end(), part.begin(), part.end());
        std::stable_sort(sorted_.begin(), sorted_.end(),
                         [&](const Fired& a, const Fired& b) { return slot(a) < slot(b); });
        return;
    }
    counts_.assign(slots, 0);
    for (const auto& part : parts)
        for (const Fired& one : part) ++counts_[slot(one) + 1];
    for (size_t k = 1; k < slots; ++k) counts_[k] += counts_[k - 1];
    sorted_.resize(total);
    for (const auto& part : parts)
        for (const Fired& one : part) sorted_[size_t(counts_[slot(one)]++)] = one;
}

void Camera::take(int16_t* x, int16_t* y, int64_t* t, uint8_t* p, double* exact_t) const {
    for (size_t k = 0; k < sorted_.size(); ++k) {
        const Fired& one = sorted_[k];
        x[k] = int16_t(one.pixel % settings_.width);
        y[k] = int16_t(one.pixel / settings_.width);
        t[k] = int64_t(std::floor(one.t + 0.5));
        p[k] = one.on;
        if (exact_t) exact_t[k] = one.t;
    }
}

void Camera::state(double* reference, double* light, double* on, double* off) const {
    std::copy(reference_.begin(), reference_.end(), reference);
    std::copy(light_.begin(), light_.end(), light);
    std::copy(on_.begin(), on_.end(), on);
    std::copy(off_.begin(), off_.end(), off);
}

}  // namespace evsurf
