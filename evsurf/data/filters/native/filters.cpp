#include "data/filters/native/filters.h"

namespace evsurf::filters {

namespace {

// Each sample in turn; after it, the places that its events touched are as they were before.
template <class Place, class Keep>
void each_sample(const Stream& events, bool anew, int64_t* last, Place place, Keep keep) {
    for (int64_t s = 0; s < events.samples; ++s) {
        const int64_t start = events.offsets[s], stop = events.offsets[s + 1];
        for (int64_t i = start; i < stop; ++i) keep(i, place(i));
        if (!anew) continue;
        for (int64_t i = start; i < stop; ++i) last[place(i)] = kNever;
    }
}

template <int Radius>
void supported(
    const Stream& e, int32_t radius, int64_t duration, bool anew, int64_t* last, uint8_t* keep) {
    const int64_t r = Radius ? Radius : radius;
    // The margin spares the question whether a neighbour is on the sensor.
    const int64_t pitch = e.width + 2 * r;
    each_sample(
        e, anew, last, [&](int64_t i) { return (e.y[i] + r) * pitch + e.x[i] + r; },
        [&](int64_t i, int64_t place) {
            const int64_t oldest = e.t[i] - duration;
            last[place] = kNever;
            bool found = false;
            for (int64_t row = -r; row <= r; ++row) {
                const int64_t* const p = last + place + row * pitch;
                for (int64_t column = -r; column <= r; ++column) found |= p[column] >= oldest;
            }
            last[place] = e.t[i];
            keep[i] = found;
        });
}

}  // namespace

void keep_supported(
    const Stream& events, int32_t radius, int64_t duration, bool anew, int64_t* last, uint8_t* keep) {
    if (radius == 1) {
        supported<1>(events, radius, duration, anew, last, keep);
    } else {
        supported<0>(events, radius, duration, anew, last, keep);
    }
}

void keep_rested(const Stream& e, int64_t period, bool anew, int64_t* last, uint8_t* keep) {
    each_sample(
        e, anew, last, [&](int64_t i) { return int64_t(e.y[i]) * e.width + e.x[i]; },
        [&](int64_t i, int64_t place) {
            const bool rested = last[place] <= e.t[i] - period;
            last[place] = rested ? e.t[i] : last[place];
            keep[i] = rested;
        });
}

}  // namespace evsurf::filters
