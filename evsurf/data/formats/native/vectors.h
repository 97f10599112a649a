// Vectors of events: up to 32 neighbours in a row that share time and polarity, one bit each.
#pragma once

#include <cstdint>

#include "words.h"

namespace evsurf {
namespace formats {

// Of each byte, the places of its bits that are set, then zeros; and how many they are.
struct BitPlaces {
    int16_t place[256][8] = {};
    uint8_t count[256] = {};

    constexpr BitPlaces() {
        for (int byte = 0; byte < 256; ++byte) {
            int n = 0;
            for (int bit = 0; bit < 8; ++bit) {
                if (byte >> bit & 1) place[byte][n++] = static_cast<int16_t>(bit);
            }
            count[byte] = static_cast<uint8_t>(n);
        }
    }
};
inline constexpr BitPlaces kBitPlaces{};

// The events of a vector without any check. Writes whole groups of eight, hence kSlack.
inline void put_whole_vector(
    Columns& out, uint32_t mask, int32_t base, int32_t y, int64_t t, bool p) {
    int16_t* const x = out.x + out.count;
    int n = 0;
    for (int k = 0; k < 4; ++k) {
        const uint32_t byte = mask >> (8 * k) & 0xFF;
        const int16_t from = static_cast<int16_t>(base + 8 * k);
        for (int j = 0; j < 8; ++j) {
            x[n + j] = static_cast<int16_t>(from + kBitPlaces.place[byte][j]);
        }
        n += kBitPlaces.count[byte];
    }
    for (int i = 0; i < n; i += 8) {
        const int64_t at = out.count + i;
        for (int j = 0; j < 8; ++j) out.y[at + j] = static_cast<int16_t>(y);
        for (int j = 0; j < 8; ++j) out.t[at + j] = t;
        for (int j = 0; j < 8; ++j) out.p[at + j] = p;
    }
    out.count += n;
}

// The events of a vector, of which some may break the rules.
inline void put_vector(
    Stream& s, Columns& out, uint32_t mask, int32_t base, int32_t y, int64_t t, bool p,
    int64_t byte) {
    const bool whole = base + 32 <= s.rules.width &&
                       static_cast<uint32_t>(y) < static_cast<uint32_t>(s.rules.height) &&
                       t >= s.state.latest;
    if (whole && mask) {
        s.state.latest = t;
        put_whole_vector(out, mask, base, y, t, p);
        return;
    }
    for (int32_t x = base; mask; ++x, mask >>= 1) {
        if (mask & 1) put(s, out, x, y, t, p, byte);
    }
}

}  // namespace formats
}  // namespace evsurf
