// DAT and ATIS files: records of one size with one event each.
#include "lanes.h"
#include "words.h"

namespace evsurf {
namespace formats {

namespace {

constexpr uint32_t kCoordinate = 0x3FFF;

// kLanes records at once, if all of them pass the rules; else nothing.
EVSURF_ALWAYS_INLINE bool put_lanes(Stream& s, const uint8_t* bytes, Columns& out) {
    uint32_t stamp[kLanes], address[kLanes], bad = 0;
    for (int k = 0; k < kLanes; ++k) {
        const uint64_t record = word_at<uint64_t>(bytes + 8 * k);
        stamp[k] = static_cast<uint32_t>(record);
        address[k] = static_cast<uint32_t>(record >> 32);
    }
    const uint32_t width = static_cast<uint32_t>(s.rules.width);
    const uint32_t height = static_cast<uint32_t>(s.rules.height);
    for (int k = 0; k < kLanes; ++k) {
        bad |= ((address[k] & kCoordinate) >= width) | ((address[k] >> 14 & kCoordinate) >= height);
    }
    for (int k = 1; k < kLanes; ++k) bad |= stamp[k] < stamp[k - 1];
    const int64_t high = s.state.high;
    if (bad || high + stamp[0] < s.state.latest) return false;
    int16_t* const x = out.x + out.count;
    int16_t* const y = out.y + out.count;
    int64_t* const t = out.t + out.count;
    uint8_t* const p = out.p + out.count;
    for (int k = 0; k < kLanes; ++k) x[k] = static_cast<int16_t>(address[k] & kCoordinate);
    for (int k = 0; k < kLanes; ++k) y[k] = static_cast<int16_t>(address[k] >> 14 & kCoordinate);
    for (int k = 0; k < kLanes; ++k) t[k] = high + static_cast<int64_t>(stamp[k]);
    for (int k = 0; k < kLanes; ++k) p[k] = static_cast<uint8_t>(address[k] >> 28 & 1);
    s.state.latest = high + stamp[kLanes - 1];
    out.count += kLanes;
    return true;
}

// A stamp has 32 bits, which last 71 minutes. From their last sixteenth to their first is a new lap;
// any other step back is damage.
void note_lap(State& state, uint32_t stamp) {
    const int64_t before = state.latest - state.high;
    if (before >= 0xF0000000LL && stamp < 0x10000000u) state.high += int64_t{1} << 32;
}

EVSURF_ALWAYS_INLINE int64_t
decode_records(Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    State& state = s.state;
    const int64_t records = length / 8, start = state.position;
    if (state.high < 0) state.high = 0;
    int64_t i = 0, one_by_one_until = 0;
    while (i < records && out.count < out.capacity) {
        const bool room = i + kLanes <= records && out.count + kLanes <= out.capacity;
        if (room && i >= one_by_one_until) {
            if (put_lanes(s, bytes + 8 * i, out)) {
                i += kLanes;
                continue;
            }
            one_by_one_until = i + kLanes;
        }
        const uint32_t stamp = word_at<uint32_t>(bytes + 8 * i);
        const uint32_t address = word_at<uint32_t>(bytes + 8 * i + 4);
        note_lap(state, stamp);
        put(s, out, static_cast<int32_t>(address & kCoordinate),
            static_cast<int32_t>(address >> 14 & kCoordinate), state.high + stamp,
            address >> 28 & 1, start + 8 * i);
        ++i;
    }
    state.position = start + 8 * i;
    return 8 * i;
}

EVSURF_AVX2 int64_t
decode_records_avx2(Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    return decode_records(s, bytes, length, out);
}

}  // namespace

int64_t decode_dat(Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    return avx2_chosen() ? decode_records_avx2(s, bytes, length, out)
                         : decode_records(s, bytes, length, out);
}

// Five bytes: column, row, and 24 bits, the highest byte first, of polarity and time. A row of 240
// says that another 2^13 microseconds have passed.
int64_t decode_atis(Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    State& state = s.state;
    const int64_t records = length / 5, start = state.position;
    if (state.high < 0) state.high = 0;
    int64_t i = 0;
    for (; i < records && out.count < out.capacity; ++i) {
        const uint8_t* const record = bytes + 5 * i;
        if (record[1] == 240) {
            state.high += int64_t{1} << 13;
            continue;
        }
        const int64_t stamp = (record[2] & 0x7F) << 16 | record[3] << 8 | record[4];
        put(s, out, record[0], record[1], state.high + stamp, record[2] >> 7, start + 5 * i);
    }
    state.position = start + 5 * i;
    return 5 * i;
}

}  // namespace formats
}  // namespace evsurf
