// Lines of text to events and back.
#pragma once

#include <array>
#include <cstdint>

namespace evsurf {

struct TextLayout {
    int32_t fields;                 // how many a line has
    std::array<int32_t, 4> places;  // which of them are x, y, t and p
    int32_t power;                  // the unit of time is ten to this many microseconds
};

struct TextFound {
    int64_t consumed;  // bytes, up to the end of a line
    int64_t events;
    int64_t bad_lines, first_bad;            // lines that are no event, the first one's byte
    int64_t bad_polarities, first_polarity;  // events whose polarity is none
};

struct TextColumns {
    int16_t *x, *y;  // -1 for what lies beyond int16
    int64_t* t;      // beyond the range of times for what does not fit
    uint8_t* p;
};

// Reads whole lines until the text or the capacity ends. The last line needs no end if `last` is set.
TextFound parse_events(
    const char* text, int64_t length, bool last, const TextLayout& layout, int64_t capacity,
    const TextColumns& out);

enum class TextStyle : int32_t {
    commas,   // x,y,t,p in microseconds
    seconds,  // t x y p with six decimals
};

constexpr int64_t kLongestLine = 48;

// Writes a line per event to `out`, at most kLongestLine bytes each; gives the number of bytes.
int64_t format_events(
    const int16_t* x, const int16_t* y, const int64_t* t, const uint8_t* p, int64_t events,
    TextStyle style, char* out);

}  // namespace evsurf
