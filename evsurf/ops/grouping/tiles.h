// Grouping events by pixel or receptive field, tile by tile.
//
// A window is a sample, or one time bin of it: a run of events. A tile is a band of rows of one
// window's output, small enough for the cache; its events are grouped by counting, in stream order.
#pragma once

#include <cstdint>
#include <vector>

#include "native/memory.h"

namespace evsurf {

struct PackedEvents {
    const int16_t* x;
    const int16_t* y;
    const int64_t* t;
    const uint8_t* p;
    const int64_t* offsets;  // [samples + 1]
    int64_t samples;
    int64_t count;
};

// Output cell (i, j) sees the events with i * stride <= y + top < i * stride + kernel, and so for x.
struct Field {
    int32_t height, width;                 // sensor
    int32_t kernel_height, kernel_width;
    int32_t stride_height, stride_width;
    int32_t top, left;                     // padding before the first row and column
    int32_t rows, columns;                 // output

    int64_t cells() const { return int64_t{rows} * columns; }
    bool is_pixel() const {
        return kernel_height == 1 && kernel_width == 1 && stride_height == 1 && stride_width == 1 &&
               top == 0 && left == 0 && rows == height && columns == width;
    }
};

// At most this many events of a sequence are kept: the latest, or spread evenly over all of them.
struct Cap {
    int64_t most;  // 0: all
    bool latest;
};

// The output cells along one axis that see a coordinate: first[v] .. last[v], none when last < first.
struct Reach {
    std::vector<int32_t> first, last;
    Reach(int32_t size, int32_t kernel, int32_t stride, int32_t before, int32_t cells);
};

struct Tile {
    int64_t window;
    int32_t first_row, end_row;
    int64_t begin, end;  // a range of events, or of Plan::index where indexed
    bool indexed;
};

// How a batch is cut into windows and tiles. The cut depends on the events alone, never on threads.
struct Plan {
    PackedEvents events;
    Field field;
    int32_t bins;
    Reach reach_rows, reach_columns;
    std::vector<int64_t> windows;  // [samples * bins + 1] first event of each
    std::vector<Tile> tiles;       // by window, then by row
    Room<uint32_t> index;          // events of indexed tiles, counted from their window's first

    Plan(const PackedEvents& events, const Field& field, int32_t bins, int threads);
    int64_t window_begin(int64_t window) const { return windows[size_t(window)]; }

private:
    int32_t bands_of(int64_t window_events) const;
    void cut_windows();
    void cut_tiles(int threads);
    void scatter_to_bands(const std::vector<int64_t>& split, int threads);
};

// One event of a sequence: microseconds since its window's first event, and polarity in the lowest bit.
using Payload = uint64_t;
inline Payload payload_of(uint64_t elapsed, bool brighter) { return elapsed << 1 | uint64_t(brighter); }
inline int64_t elapsed_of(Payload e) { return int64_t(e >> 1); }
inline bool brighter_of(Payload e) { return e & 1; }

// The sequences of one tile, in raster order; memory is used again for the next tile.
class TileGroups {
public:
    enum Content { kPayload, kPayloadAndPlace, kEventIndex };

    // For kEventIndex, items() are event indices within the packed batch.
    void group(const Plan& plan, const Tile& tile, const Cap& cap, Content content);

    int32_t sequences() const { return sequences_; }
    const int32_t* cells() const { return cells_.get(); }      // within the tile
    const int32_t* begins() const { return begins_.get(); }    // into items()
    const int32_t* lengths() const { return lengths_.get(); }
    const uint64_t* items() const { return items_.get(); }
    // Place of an event in its receptive field: row * kernel_width + column.
    const uint32_t* places() const { return places_.get(); }
    int64_t kept() const { return kept_; }

private:
    void list_sequences(int32_t cells);
    void apply(const Cap& cap, bool places);

    std::vector<int32_t> counts_;    // per cell: zero between tiles
    std::vector<uint64_t> touched_;  // a bit per cell: zero between tiles
    Room<int32_t> cells_, begins_, lengths_;
    Room<uint64_t> items_;
    Room<uint32_t> places_;
    int32_t sequences_ = 0;
    int64_t kept_ = 0;
};

}  // namespace evsurf
