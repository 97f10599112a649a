// EVT 2.0, words of 32 bits with one event each, and EVT 2.1, words of 64 bits with a vector each.
#include "lanes.h"
#include "vectors.h"

namespace evsurf {
namespace formats {

namespace {

enum Type : uint32_t {
    kOff = 0x0,
    kOn = 0x1,
    kTimeHigh = 0x8,
    kTrigger = 0xA,
    kOther = 0xE,
    kContinued = 0xF,
};

constexpr int kHighBits = 28, kLowBits = 6;

// The words that are no events; the same in both formats.
void take_word(Stream& s, uint32_t type, uint32_t time_high, int64_t byte) {
    switch (type) {
        case kTimeHigh: take_time_high(s, time_high, kHighBits, kLowBits, byte); break;
        case kTrigger: ++s.state.triggers; break;
        case kOther:
        case kContinued: break;
        default: s.findings.note(kUnknownWord, byte);
    }
}

// kLanes words at once, if all of them are events that pass the rules; else nothing.
EVSURF_ALWAYS_INLINE bool put_lanes(Stream& s, const uint8_t* bytes, Columns& out) {
    uint32_t word[kLanes];
    std::memcpy(word, bytes, sizeof(word));
    const uint32_t width = static_cast<uint32_t>(s.rules.width);
    const uint32_t height = static_cast<uint32_t>(s.rules.height);
    const int64_t high = s.state.high;
    uint32_t low[kLanes], bad = 0;
    for (int k = 0; k < kLanes; ++k) {
        low[k] = word[k] >> 22 & 0x3F;
        bad |= (word[k] >> 29) | ((word[k] >> 11 & 0x7FF) >= width) | ((word[k] & 0x7FF) >= height);
    }
    for (int k = 1; k < kLanes; ++k) bad |= low[k] < low[k - 1];
    if (bad || high + low[0] < s.state.latest) return false;
    int16_t* const x = out.x + out.count;
    int16_t* const y = out.y + out.count;
    int64_t* const t = out.t + out.count;
    uint8_t* const p = out.p + out.count;
    for (int k = 0; k < kLanes; ++k) x[k] = static_cast<int16_t>(word[k] >> 11 & 0x7FF);
    for (int k = 0; k < kLanes; ++k) y[k] = static_cast<int16_t>(word[k] & 0x7FF);
    for (int k = 0; k < kLanes; ++k) t[k] = high + static_cast<int64_t>(low[k]);
    for (int k = 0; k < kLanes; ++k) p[k] = static_cast<uint8_t>(word[k] >> 28);
    s.state.latest = high + low[kLanes - 1];
    out.count += kLanes;
    return true;
}

EVSURF_ALWAYS_INLINE int64_t
decode_words(Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    State& state = s.state;
    const int64_t words = length / 4, start = state.position;
    int64_t i = 0, one_by_one_until = 0;
    while (i < words && out.count < out.capacity) {
        const uint32_t word = word_at<uint32_t>(bytes + 4 * i), type = word >> 28;
        if (type > kOn) {
            take_word(s, type, word & 0xFFFFFFF, start + 4 * i);
        } else if (state.high < 0) {
            s.findings.note(kMissingTime, start + 4 * i);
        } else {
            const bool room = i + kLanes <= words && out.count + kLanes <= out.capacity;
            if (room && i >= one_by_one_until) {
                if (put_lanes(s, bytes + 4 * i, out)) {
                    i += kLanes;
                    continue;
                }
                one_by_one_until = i + kLanes;
            }
            put(s, out, static_cast<int32_t>(word >> 11 & 0x7FF), static_cast<int32_t>(word & 0x7FF),
                state.high + (word >> 22 & 0x3F), type == kOn, start + 4 * i);
        }
        ++i;
    }
    state.position = start + 4 * i;
    return 4 * i;
}

EVSURF_AVX2 int64_t
decode_words_avx2(Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    return decode_words(s, bytes, length, out);
}

// With `swapped`, the two halves of each word come in the other order.
EVSURF_ALWAYS_INLINE int64_t decode_vectors(
    Stream& s, const uint8_t* bytes, int64_t length, Columns& out, bool swapped) {
    State& state = s.state;
    const int64_t words = length / 8, start = state.position, most = out.capacity - kSlack;
    int64_t i = 0;
    while (i < words && out.count <= most) {
        const uint32_t first = word_at<uint32_t>(bytes + 8 * i);
        const uint32_t second = word_at<uint32_t>(bytes + 8 * i + 4);
        const uint32_t word = swapped ? first : second, mask = swapped ? second : first;
        const uint32_t type = word >> 28;
        if (type > kOn) {
            take_word(s, type, word & 0xFFFFFFF, start + 8 * i);
        } else if (state.high < 0) {
            s.findings.note(kMissingTime, start + 8 * i);
        } else {
            put_vector(s, out, mask, static_cast<int32_t>(word >> 11 & 0x7FF),
                       static_cast<int32_t>(word & 0x7FF), state.high + (word >> 22 & 0x3F),
                       type == kOn, start + 8 * i);
        }
        ++i;
    }
    state.position = start + 8 * i;
    return 8 * i;
}

EVSURF_AVX2 int64_t decode_vectors_avx2(
    Stream& s, const uint8_t* bytes, int64_t length, Columns& out, bool swapped) {
    return decode_vectors(s, bytes, length, out, swapped);
}

}  // namespace

int64_t decode_evt2(Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    return avx2_chosen() ? decode_words_avx2(s, bytes, length, out)
                         : decode_words(s, bytes, length, out);
}

int64_t decode_evt21(
    Stream& s, const uint8_t* bytes, int64_t length, Columns& out, bool swapped) {
    return avx2_chosen() ? decode_vectors_avx2(s, bytes, length, out, swapped)
                         : decode_vectors(s, bytes, length, out, swapped);
}

}  // namespace formats
}  // namespace evsurf
