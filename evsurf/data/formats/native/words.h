// What the decoders share: words of any alignment, the upper part of times, events that pass the rules.
#pragma once

#include <cstdint>
#include <cstring>

#include "decoder.h"

namespace evsurf {
namespace formats {

template <class Word>
inline Word word_at(const uint8_t* bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof(Word));
    return word;
}

// Hands out one event, or notes why it cannot be one. Needs room for it.
inline void put(
    Stream& s, Columns& out, int32_t x, int32_t y, int64_t t, bool p, int64_t byte) {
    if (static_cast<uint32_t>(x) >= static_cast<uint32_t>(s.rules.width) ||
        static_cast<uint32_t>(y) >= static_cast<uint32_t>(s.rules.height)) {
        s.findings.note(kOutOfBounds, byte);
        return;
    }
    if (t < s.state.latest) {
        s.findings.note(kTimeBackwards, byte);
        if (!s.rules.keep_unsorted) return;
    } else {
        s.state.latest = t;
    }
    const int64_t n = out.count++;
    out.x[n] = static_cast<int16_t>(x);
    out.y[n] = static_cast<int16_t>(y);
    out.t[n] = t;
    out.p[n] = p;
}

// Takes a word with the upper part of the time: so many bits, counting in steps of 2^low_bits
// microseconds. Less than half of its range ahead is ahead, however often it wrapped around; anything
// else is a step back, unless that would be before the start of the first lap.
inline void take_time_high(Stream& s, int64_t value, int bits, int low_bits, int64_t byte) {
    State& state = s.state;
    const int64_t range = int64_t{1} << bits;
    if (state.high == State::kNoTime) {
        state.high = state.time = value << low_bits;
        return;
    }
    const int64_t ahead = (value - (state.high >> low_bits)) & (range - 1);
    if (ahead == 0) return;
    int64_t step = ahead << low_bits;
    if (ahead >= range / 2) {
        const int64_t back = (range - ahead) << low_bits;
        const bool possible = state.high >= back;
        s.findings.note(possible ? kTimeHighBackwards : kTimeHighGap, byte);
        if (possible) step = -back;
    }
    // Events may be as late as 2^62; no camera gets there, but a file made to would overflow.
    if (state.high + step > int64_t{1} << 61) {
        s.findings.note(kTimeOutOfRange, byte);
        return;
    }
    state.high += step;
    state.time = state.high;
}

}  // namespace formats
}  // namespace evsurf
