// Prophesee's event compression inside HDF5, filter 0x8ECF: one chunk at a time.
#pragma once

#include <cstdint>

namespace evsurf {

// Decodes a chunk into columns with room for `capacity` events. Gives the number of events, or, of
// bytes that make no sense, -1 - the offset of the first such byte.
int64_t decode_ecf(
    const uint8_t* bytes, int64_t size, int64_t capacity, uint16_t* x, uint16_t* y, int64_t* t,
    uint8_t* p);

}  // namespace evsurf
