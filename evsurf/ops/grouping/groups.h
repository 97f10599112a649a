// Groups as arrays: the compiled half of evsurf.ops.group_by_pixel.
#pragma once

#include <cstdint>

#include "grouping/tiles.h"

namespace evsurf {

struct GroupCounts {
    int64_t sequences;
    int64_t kept;
};

// Writes, for every (sample, cell) with events, in raster order: its events' indices in stream order,
// where they start, and the cell's index within [samples, rows, columns]. The caller gives room for
// every event once per field that it belongs to.
GroupCounts group_events(
    const PackedEvents& events, const Field& field, const Cap& cap, int threads,
    int64_t* order, int64_t* offsets, int64_t* cell);

}  // namespace evsurf
