// Fixed binary formats of events, decoded block by block: whatever the cuts, the same events come out.
#pragma once

#include <cstdint>

namespace evsurf {
namespace formats {

enum class Layout : int32_t { dat, evt2, evt21, evt21_swapped, evt3, atis };

// What can be wrong with a stream; violation_name gives the names that callers know.
enum Violation : int32_t {
    kOutOfBounds,
    kTimeBackwards,
    kTimeOutOfRange,
    kTimeHighBackwards,
    kTimeHighGap,
    kMissingTime,
    kMissingRow,
    kMissingVectorBase,
    kPartialVector,
    kPartialContinuation,
    kUnknownWord,
    kViolations,
};
const char* violation_name(Violation violation);

// How often each thing was wrong, and at which byte of the stream first.
struct Findings {
    int64_t count[kViolations] = {};
    int64_t first[kViolations] = {};

    void note(Violation violation, int64_t byte) {
        if (count[violation]++ == 0) first[violation] = byte;
    }
};

// What events have to satisfy. With keep_unsorted, one that is too early is noted and handed out.
struct Rules {
    int32_t width;
    int32_t height;
    bool keep_unsorted;
};

// All that a decoder remembers from one word to the next: plain numbers, so that an index of a file is
// an array of these. Which of them a format uses is its own business.
struct State {
    int64_t position = 0;          // byte of the next word in the stream
    int64_t high = kNoTime;        // upper part of the time, laps included
    int64_t time = kNoTime;        // time of the next event, where words and not events say it
    int64_t latest = 0;            // of the events handed out
    int64_t run_start = 0;         // byte at which the unfinished run of words began
    int64_t triggers = 0;          // words that report an external signal
    int32_t row = -1;              // -1: not said yet
    int32_t base = -1;             // column of the next vector; -1: not said yet
    int32_t polarity = 0;          // of the next vector
    int32_t phase = 0;             // how much of the unfinished run has come

    // Below every time that a stream can say, and far enough above the smallest number to be added to.
    static constexpr int64_t kNoTime = -(int64_t{1} << 40);
};

// Columns to fill. Vectors are written whole, so at least kSlack events of room are needed to go on.
struct Columns {
    int16_t* x;
    int16_t* y;
    int64_t* t;
    uint8_t* p;
    int64_t capacity;
    int64_t count = 0;
};
constexpr int64_t kSlack = 40;

struct Stream {
    Rules rules;
    State state;
    Findings findings;
};

// Each decodes whole words from the front of the bytes until they end or the room does, and gives the
// number of bytes it took. Nothing outside the bytes is read, and nothing beyond the capacity written.
int64_t decode_dat(Stream& stream, const uint8_t* bytes, int64_t length, Columns& out);
int64_t decode_evt2(Stream& stream, const uint8_t* bytes, int64_t length, Columns& out);
int64_t decode_evt21(
    Stream& stream, const uint8_t* bytes, int64_t length, Columns& out, bool swapped);
int64_t decode_evt3(Stream& stream, const uint8_t* bytes, int64_t length, Columns& out);
int64_t decode_atis(Stream& stream, const uint8_t* bytes, int64_t length, Columns& out);

int64_t decode(Layout layout, Stream& stream, const uint8_t* bytes, int64_t length, Columns& out);

// Notes the run of words that the end of the stream cuts off.
void finish(Layout layout, Stream& stream);
void finish_evt3(Stream& stream);

// At most this many events are in the bytes.
int64_t most_events(Layout layout, const uint8_t* bytes, int64_t length);

}  // namespace formats
}  // namespace evsurf
