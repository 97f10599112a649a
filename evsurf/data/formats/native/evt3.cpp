// EVT 3.0: words of 16 bits that each change one thing of the state: time, row, or an event's column.
#include <algorithm>

#include "vectors.h"

namespace evsurf {
namespace formats {

namespace {

enum Type : uint32_t {
    kRow = 0x0,
    kEvent = 0x2,
    kVectorBase = 0x3,
    kVector12 = 0x4,
    kVector8 = 0x5,
    kTimeLow = 0x6,
    kContinued4 = 0x7,
    kTimeHigh = 0x8,
    kTrigger = 0xA,
    kOther = 0xE,
    kContinued12 = 0xF,
};

// Messages of the camera that are followed by a count in three words.
constexpr uint32_t kCountIn = 0x14, kCountOut = 0x16;

// A vector comes as 12 + 12 + 8 columns, a count as 12 + 12 + 4 bits. The phase says which word of
// which run is due, so that a word that is not it shows at once, whatever lies between two blocks.
enum Phase : int32_t { kNoRun, kSecond12, kLast8, kCount12, kCountSecond12, kCount4 };

constexpr uint32_t kPlain = 1u << kRow | 1u << kEvent | 1u << kTimeLow;

// Far right of every sensor, where a base stays that too many vectors have moved.
constexpr int32_t kFarRight = 1 << 15;

bool due(int32_t phase, uint32_t type) {
    switch (phase) {
        case kSecond12: return type == kVector12;
        case kLast8: return type == kVector8;
        case kCount12:
        case kCountSecond12: return type == kContinued12;
        case kCount4: return type == kContinued4;
        default: return false;
    }
}

void break_run(Stream& s) {
    State& state = s.state;
    if (state.phase == kNoRun) return;
    const bool vector = state.phase == kSecond12 || state.phase == kLast8;
    s.findings.note(vector ? kPartialVector : kPartialContinuation, state.run_start);
    state.phase = kNoRun;
}

// Why an event is none, or the event after all where late ones are wanted.
void put_doubtful(Stream& s, Columns& out, int32_t x, bool p, int64_t byte) {
    const State& state = s.state;
    if (state.high == State::kNoTime) return s.findings.note(kMissingTime, byte);
    if (state.row < 0) return s.findings.note(kMissingRow, byte);
    put(s, out, x, state.row, state.time, p, byte);
}

void take_vector(Stream& s, Columns& out, uint32_t mask, int32_t columns, int64_t byte) {
    State& state = s.state;
    if (state.high == State::kNoTime) {
        s.findings.note(kMissingTime, byte);
    } else if (state.base < 0) {
        s.findings.note(kMissingVectorBase, byte);
    } else if (state.row < 0) {
        s.findings.note(kMissingRow, byte);
    } else {
        put_vector(s, out, mask, state.base, state.row, state.time, state.polarity, byte);
    }
    if (state.base >= 0) state.base = std::min(state.base + columns, kFarRight);
}

// The words that are neither row, event nor lower time, one at a time.
void take_word(Stream& s, Columns& out, uint32_t word, int64_t byte) {
    State& state = s.state;
    const uint32_t type = word >> 12;
    const bool expected = due(state.phase, type);
    if (!expected) break_run(s);
    switch (type) {
        case kVectorBase:
            state.base = static_cast<int32_t>(word & 0x7FF);
            state.polarity = word >> 11 & 1;
            break;
        case kVector12:
            take_vector(s, out, word & 0xFFF, 12, byte);
            if (!expected) state.run_start = byte;
            state.phase = expected ? kLast8 : kSecond12;
            break;
        case kVector8:
            if (!expected) s.findings.note(kPartialVector, byte);
            take_vector(s, out, word & 0xFF, 8, byte);
            state.phase = kNoRun;
            break;
        case kTimeHigh: take_time_high(s, word & 0xFFF, 12, 12, byte); break;
        case kTrigger: ++state.triggers; break;
        case kOther:
            if ((word & 0xFFF) == kCountIn || (word & 0xFFF) == kCountOut) {
                state.phase = kCount12;
                state.run_start = byte;
            }
            break;
        case kContinued12:
        case kContinued4:
            if (expected) state.phase = state.phase == kCount4 ? kNoRun : state.phase + 1;
            break;
        default: s.findings.note(kUnknownWord, byte);
    }
}

}  // namespace

void finish_evt3(Stream& s) { break_run(s); }

int64_t decode_evt3(Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    State& state = s.state;
    const int64_t words = length / 2, start = state.position, most = out.capacity - kSlack;
    const uint32_t width = static_cast<uint32_t>(s.rules.width);
    const uint32_t height = static_cast<uint32_t>(s.rules.height);
    const auto word_of = [bytes](int64_t i) -> uint32_t { return word_at<uint16_t>(bytes + 2 * i); };
    int64_t i = 0;
    while (i < words && out.count <= most) {
        // Rows, events and lower times are most of a stream and come in no order that a processor
        // could foresee, so they are decoded without asking which it is.
        if (state.phase == kNoRun) {
            int32_t row = state.row;
            int64_t n = out.count, time = state.time, latest = state.latest;
            const int64_t high = state.high;
            while (i < words && n <= most) {
                const uint32_t word = word_of(i), type = word >> 12;
                if (!(kPlain >> type & 1)) break;
                const uint32_t x = word & 0x7FF;
                row = type == kRow ? static_cast<int32_t>(x) : row;
                time = type == kTimeLow ? high + (word & 0xFFF) : time;
                out.x[n] = static_cast<int16_t>(x);
                out.y[n] = static_cast<int16_t>(row);
                out.t[n] = time;
                out.p[n] = word >> 11 & 1;
                const bool event = type == kEvent;
                const bool good = (x < width) & (static_cast<uint32_t>(row) < height) & (time >= latest);
                if (event & !good) break;
                latest = event ? time : latest;
                n += event;
                ++i;
            }
            state.row = row;
            state.time = time;
            state.latest = latest;
            out.count = n;
            if (i >= words || n > most) break;
        }
        const uint32_t word = word_of(i), type = word >> 12;
        const int64_t byte = start + 2 * i;
        if (kPlain >> type & 1) {
            break_run(s);
            // Others go round the loop again, now that no run is pending.
            if (type == kEvent) {
                put_doubtful(s, out, static_cast<int32_t>(word & 0x7FF), word >> 11 & 1, byte);
                ++i;
            }
            continue;
        }
        // A whole vector inside the sensor at once. All else goes word by word, so that what is noted
        // of it does not depend on where a block ends.
        const bool vector = type == kVector12 && state.phase == kNoRun && i + 2 < words &&
                            state.base >= 0 && state.base + 32 <= s.rules.width &&
                            static_cast<uint32_t>(state.row) < height && state.time >= state.latest;
        if (vector && word_of(i + 1) >> 12 == kVector12 && word_of(i + 2) >> 12 == kVector8) {
            const uint32_t mask =
                (word & 0xFFF) | (word_of(i + 1) & 0xFFF) << 12 | (word_of(i + 2) & 0xFF) << 24;
            if (mask) state.latest = state.time;
            put_whole_vector(out, mask, state.base, state.row, state.time, state.polarity);
            state.base += 32;
            i += 3;
            continue;
        }
        take_word(s, out, word, byte);
        ++i;
    }
    state.position = start + 2 * i;
    return 2 * i;
}

}  // namespace formats
}  // namespace evsurf
