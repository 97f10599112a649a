// Filters that remember when pixels last fired.
#pragma once

#include <cstdint>

namespace evsurf::filters {

// Packed samples; offsets has one entry more than there are samples.
struct Stream {
    const int16_t* x;
    const int16_t* y;
    const int64_t* t;
    const int64_t* offsets;
    int64_t samples;
    int32_t height, width;
};

// What `last` holds of a pixel that never fired: before every time minus every duration.
constexpr int64_t kNever = INT64_MIN;

// keep[i] = 1 where a pixel of the square of side 2 * radius + 1 around event i, but not its own, fired at
// most `duration` earlier. `last` has (height + 2 * radius) * (width + 2 * radius) times. With `anew` it is
// all kNever at the start of each sample, and left so; otherwise it goes on, and is left for what follows.
void keep_supported(
    const Stream& events, int32_t radius, int64_t duration, bool anew, int64_t* last, uint8_t* keep);

// keep[i] = 1 where the pixel's last event that was kept is at least `period` earlier. `last` has
// height * width times.
void keep_rested(const Stream& events, int64_t period, bool anew, int64_t* last, uint8_t* keep);

}  // namespace evsurf::filters
