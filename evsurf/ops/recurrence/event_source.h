// What Matrix-LSTM feeds its cell: polarity and time features, made from packed integers as the packs
// ask for them, so that no feature array ever exists.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "grouping/tiles.h"
#include "recurrence/packs.h"

namespace evsurf {

// How events are read. The feature vector is [polarity, global time, column, row, time].
struct Reading {
    enum Time { kTimestamp, kDelay, kLogDelay };
    enum Scope { kRelative, kAbsolute, kFixed };
    Time time;
    Scope scope;
    bool by_maximum;       // t / max t instead of the range from 0 to 1
    bool global_time;
    bool coordinates;
    bool signed_polarity;
    double time_scale;     // microseconds that make 1, for fixed scope

    int features() const { return 2 + int(global_time) + 2 * int(coordinates); }
};

// value = (t - origin) * rate, with t counted from the window's first event. The difference is taken in
// integers: behind 2^53 microseconds, doubles could not tell neighbours apart.
struct TimeScale {
    int64_t origin;
    double rate;

    double of(int64_t t) const { return double(t - origin) * rate; }
};

inline double safe_reciprocal(double a) { return a == 0 ? 0 : 1 / a; }

// Scale of the times from first to last (since the window's first event, which was at start).
inline TimeScale range_scale(int64_t first, int64_t last, int64_t start, bool by_maximum) {
    if (!by_maximum) return {first, safe_reciprocal(double(last - first))};
    const double most = double(start + last);
    return {-start, most == 0 ? 1 : 1 / most};
}

// What a stream remembers of the cells that a tile covers, and of its own beginning.
struct Past {
    const int64_t* last;   // [cells] time of each cell's last event
    const int64_t* count;  // [cells] events so far
    int64_t start;         // time of the stream's first event
};

template <class Real>
class EventSource {
public:
    // Without a past, every window begins with its own first event.
    EventSource(
        const Plan& plan, const Tile& tile, const TileGroups& groups, const Reading& reading,
        const Past* past = nullptr)
        : groups_(groups), reading_(reading), past_(past), features_(reading.features()) {
        const int64_t* t = plan.events.t;
        const int64_t begin = plan.window_begin(tile.window);
        const int64_t end = plan.window_begin(tile.window + 1);
        if (begin == end) return;
        start_ = t[begin];
        window_ = range_scale(0, t[end - 1] - start_, start_, reading.by_maximum);
        const int64_t sample = tile.window / plan.bins;
        const int64_t first = t[plan.events.offsets[sample]];
        const int64_t last = t[plan.events.offsets[sample + 1] - 1];
        // Bins count time from their own first event, the sample from its first.
        global_ = range_scale(first - start_, last - start_, start_, reading.by_maximum);
        const Field& f = plan.field;
        kernel_width_ = uint32_t(f.kernel_width);
        across_ = Real(1) / Real(std::max(1, f.kernel_width - 1));
        down_ = Real(1) / Real(std::max(1, f.kernel_height - 1));
    }

    void begin(const Pack& pack) {
        // A lone event has no delay to scale.
        if (pack.longest == 1 && !past_ && reading_.time != Reading::kTimestamp) return;
        for (int l = 0; l < kLanes; ++l)
            if (pack.sequence[l] >= 0) scale_[l] = scale_of(pack.sequence[l]);
    }

    // Steps that every lane takes are staged across the lanes, the rest lane by lane.
    void stage(const Pack& pack, int32_t first, int32_t steps, Real* x) const {
        const Payload* events[kLanes] = {};
        for (int l = 0; l < kLanes && pack.sequence[l] >= 0; ++l)
            events[l] = groups_.items() + groups_.begins()[pack.sequence[l]];
        const int32_t common = std::clamp(pack.shortest, first, first + steps);
        for (int32_t k = first; k < common; ++k, x += features_ * kLanes) {
            polarities(events, k, x);
            if (features_ > 2)
                for (int l = 0; l < kLanes; ++l) rest(pack, events[l], k, l, x);
            times(pack, events, k, x + (features_ - 1) * kLanes);
        }
        for (int l = 0; l < kLanes && pack.sequence[l] >= 0; ++l) {
            const int32_t end = std::min(pack.length[l], first + steps);
            Real* out = x;
            for (int32_t k = common; k < end; ++k, out += features_ * kLanes) {
                out[l] = polarity(events[l][k]);
                if (features_ > 2) rest(pack, events[l], k, l, out);
                out[(features_ - 1) * kLanes + l] = time_of(pack.sequence[l], events[l], k, scale_[l]);
            }
        }
    }

private:
    TimeScale scale_of(int32_t sequence) const {
        const Payload* events = groups_.items() + groups_.begins()[sequence];
        const int32_t length = groups_.lengths()[sequence];
        const bool delays = reading_.time != Reading::kTimestamp;
        if (delays && length == 1 && !past_) return {0, 0};
        if (reading_.scope == Reading::kFixed || reading_.time == Reading::kLogDelay)
            return {past_ ? past_->start - start_ : 0, 1 / reading_.time_scale};
        if (!delays && reading_.scope == Reading::kAbsolute) return window_;
        if (!delays)
            return range_scale(elapsed_of(events[0]), elapsed_of(events[length - 1]), start_,
                               reading_.by_maximum);
        int64_t longest = 0;
        for (int32_t k = 1; k < length; ++k)
            longest = std::max(longest, elapsed_of(events[k]) - elapsed_of(events[k - 1]));
        return {0, safe_reciprocal(double(longest))};
    }

    Real polarity(Payload e) const {
        const Real brighter = Real(brighter_of(e));
        return reading_.signed_polarity ? brighter + brighter - Real(1) : brighter;
    }

    void polarities(const Payload* const* events, int32_t k, Real* out) const {
        for (int l = 0; l < kLanes; ++l) out[l] = polarity(events[l][k]);
    }

    void times(const Pack& pack, const Payload* const* events, int32_t k, Real* out) const {
        if (k == 0 && reading_.time != Reading::kTimestamp && !past_)
            std::fill(out, out + kLanes, Real(0));
        else
            for (int l = 0; l < kLanes; ++l)
                out[l] = time_of(pack.sequence[l], events[l], k, scale_[l]);
    }

    // The features between polarity and time.
    void rest(const Pack& pack, const Payload* events, int32_t k, int lane, Real* out) const {
        Real* row = out + kLanes + lane;
        if (reading_.global_time) {
            *row = Real(global_.of(elapsed_of(events[k])));
            row += kLanes;
        }
        if (reading_.coordinates) {
            const uint32_t place = groups_.places()[groups_.begins()[pack.sequence[lane]] + k];
            row[0] = Real(place % kernel_width_) * across_;
            row[kLanes] = Real(place / kernel_width_) * down_;
        }
    }

    Real time_of(int32_t sequence, const Payload* events, int32_t k, const TimeScale& scale) const {
        const int64_t now = elapsed_of(events[k]);
        if (reading_.time == Reading::kTimestamp) return Real(scale.of(now));
        if (k == 0 && !remembered(sequence)) return Real(0);
        const int64_t before =
            k > 0 ? elapsed_of(events[k - 1]) : past_->last[groups_.cells()[sequence]] - start_;
        const double delay = double(now - before) * scale.rate;
        return Real(reading_.time == Reading::kDelay ? delay : std::log1p(delay));
    }

    bool remembered(int32_t sequence) const {
        return past_ && past_->count[groups_.cells()[sequence]] > 0;
    }

    const TileGroups& groups_;
    const Reading reading_;
    const Past* const past_;
    const int features_;
    int64_t start_ = 0;
    TimeScale window_ = {0, 0};
    TimeScale global_ = {0, 0};
    uint32_t kernel_width_ = 1;
    Real across_ = 1, down_ = 1;
    TimeScale scale_[kLanes] = {};
};

}  // namespace evsurf
