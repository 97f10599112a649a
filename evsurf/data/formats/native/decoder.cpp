// Which decoder a layout has, and how many events it can find in so many bytes.
#include "decoder.h"

#include "lanes.h"
#include "words.h"

namespace evsurf {
namespace formats {

namespace {

EVSURF_ALWAYS_INLINE uint32_t bits_set(uint32_t word) {
    word -= word >> 1 & 0x55555555u;
    word = (word & 0x33333333u) + (word >> 2 & 0x33333333u);
    return ((word + (word >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
}

EVSURF_ALWAYS_INLINE int64_t count_evt3(const uint8_t* bytes, int64_t length) {
    const int64_t words = length / 2;
    int64_t total = 0;
    for (int64_t i = 0; i < words;) {
        // Few enough for a sum of 32 bits.
        const int64_t stop = words - i < (1 << 20) ? words : i + (1 << 20);
        uint32_t sum = 0;
        for (; i < stop; ++i) {
            const uint32_t word = word_at<uint16_t>(bytes + 2 * i), type = word >> 12;
            const uint32_t events = type == 4 ? word & 0xFFF : type == 5 ? word & 0xFF : type == 2;
            sum += bits_set(events);
        }
        total += sum;
    }
    return total;
}

EVSURF_ALWAYS_INLINE int64_t count_evt21(const uint8_t* bytes, int64_t length, bool swapped) {
    const int64_t words = length / 8;
    int64_t total = 0;
    for (int64_t i = 0; i < words; ++i) {
        const uint64_t word = word_at<uint64_t>(bytes + 8 * i);
        const uint32_t low = static_cast<uint32_t>(word), high = static_cast<uint32_t>(word >> 32);
        const uint32_t type = (swapped ? low : high) >> 28;
        total += type <= 1 ? bits_set(swapped ? high : low) : 0;
    }
    return total;
}

EVSURF_AVX2 int64_t count_evt3_avx2(const uint8_t* bytes, int64_t length) {
    return count_evt3(bytes, length);
}

EVSURF_AVX2 int64_t count_evt21_avx2(const uint8_t* bytes, int64_t length, bool swapped) {
    return count_evt21(bytes, length, swapped);
}

}  // namespace

const char* violation_name(Violation violation) {
    static const char* const names[kViolations] = {
        "out_of_bounds",      "time_backwards", "time_out_of_range",
        "time_high_backwards", "time_high_gap", "missing_time",
        "missing_row",        "missing_vector_base", "partial_vector",
        "partial_continuation", "unknown_word",
    };
    return names[violation];
}

int64_t decode(Layout layout, Stream& s, const uint8_t* bytes, int64_t length, Columns& out) {
    switch (layout) {
        case Layout::dat: return decode_dat(s, bytes, length, out);
        case Layout::evt2: return decode_evt2(s, bytes, length, out);
        case Layout::evt21: return decode_evt21(s, bytes, length, out, false);
        case Layout::evt21_swapped: return decode_evt21(s, bytes, length, out, true);
        case Layout::evt3: return decode_evt3(s, bytes, length, out);
        case Layout::atis: return decode_atis(s, bytes, length, out);
    }
    return 0;
}

void finish(Layout layout, Stream& s) {
    if (layout == Layout::evt3) finish_evt3(s);
}

int64_t most_events(Layout layout, const uint8_t* bytes, int64_t length) {
    const bool avx2 = avx2_chosen();
    switch (layout) {
        case Layout::dat: return length / 8;
        case Layout::evt2: return length / 4;
        case Layout::evt21:
        case Layout::evt21_swapped: {
            const bool swapped = layout == Layout::evt21_swapped;
            return avx2 ? count_evt21_avx2(bytes, length, swapped)
                        : count_evt21(bytes, length, swapped);
        }
        case Layout::evt3: return avx2 ? count_evt3_avx2(bytes, length) : count_evt3(bytes, length);
        case Layout::atis: return length / 5;
    }
    return 0;
}

}  // namespace formats
}  // namespace evsurf
