// Grouping on the CPU: windows, tiles, and the counting sort of one tile.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "grouping/groups.h"
#include "grouping/tiles.h"
#include "native/parallel.h"

namespace evsurf {

namespace {

constexpr int64_t kTileCells = 32768;       // counts of a tile stay in the second-level cache
constexpr int64_t kTileEvents = 65536;      // and so do its events, unless one row holds more
constexpr int64_t kChunkEvents = 65536;     // events that one thread scatters to bands at a time

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// First event at or after the time where bin `bin` of `bins` starts. The edge is
// first + ceil(bin * span / bins), computed without overflow for any span below 2^63.
int64_t bin_start(const int64_t* t, int64_t begin, int64_t end, int64_t bin, int64_t bins) {
    if (begin == end || bin == 0) return begin;
    const int64_t first = t[begin];
    const int64_t span = t[end - 1] - first;
    // When all times are equal every event belongs to bin 0.
    if (span == 0) return end;
    const int64_t edge = first + span / bins * bin + ceil_div(span % bins * bin, bins);
    return std::lower_bound(t + begin, t + end, edge) - t;
}

}  // namespace

Reach::Reach(int32_t size, int32_t kernel, int32_t stride, int32_t before, int32_t cells)
    : first(size_t(size)), last(size_t(size)) {
    for (int32_t v = 0; v < size; ++v) {
        const int64_t position = int64_t{v} + before;
        const int64_t lowest = position < kernel ? 0 : (position - kernel) / stride + 1;
        first[size_t(v)] = int32_t(std::min<int64_t>(lowest, cells));
        last[size_t(v)] = int32_t(std::min<int64_t>(position / stride, cells - 1));
    }
}

Plan::Plan(const PackedEvents& e, const Field& f, int32_t b, int threads)
    : events(e),
      field(f),
      bins(b),
      reach_rows(f.height, f.kernel_height, f.stride_height, f.top, f.rows),
      reach_columns(f.width, f.kernel_width, f.stride_width, f.left, f.columns) {
    cut_windows();
    cut_tiles(threads);
}

void Plan::cut_windows() {
    if (events.offsets[0] != 0 || events.offsets[events.samples] != events.count)
        throw std::invalid_argument(
            "offsets must start at 0 and end at the number of events, " +
            std::to_string(events.count) + "; they start at " + std::to_string(events.offsets[0]) +
            " and end at " + std::to_string(events.offsets[events.samples]));
    windows.reserve(size_t(events.samples * bins + 1));
    for (int64_t n = 0; n < events.samples; ++n) {
        const int64_t begin = events.offsets[n];
        const int64_t end = events.offsets[n + 1];
        if (end < begin)
            throw std::invalid_argument(
                "offsets must not decrease; offsets[" + std::to_string(n + 1) + "] = " +
                std::to_string(end) + " comes after " + std::to_string(begin));
        // A bin cannot start before the one before it, even where times were never sorted.
        for (int32_t b = 0; b < bins; ++b) {
            const int64_t start = bin_start(events.t, begin, end, b, bins);
            windows.push_back(b == 0 ? start : std::max(start, windows.back()));
        }
    }
    windows.push_back(events.count);
}

int32_t Plan::bands_of(int64_t window_events) const {
    const int64_t copies = ceil_div(field.kernel_height, field.stride_height) *
                           ceil_div(field.kernel_width, field.stride_width);
    const int64_t wanted = std::max(
        ceil_div(field.cells(), kTileCells), ceil_div(window_events * copies, kTileEvents));
    return int32_t(std::clamp<int64_t>(wanted, 1, std::max(field.rows, 1)));
}

void Plan::cut_tiles(int threads) {
    const int64_t count = events.samples * bins;
    std::vector<int64_t> split;  // first tiles of the windows that have several
    for (int64_t w = 0; w < count; ++w) {
        const int64_t begin = window_begin(w);
        const int64_t end = window_begin(w + 1);
        if (end - begin > int64_t{UINT32_MAX})
            throw std::invalid_argument(
                "a sample may hold at most 4294967295 events; sample " + std::to_string(w / bins) +
                " holds " + std::to_string(end - begin));
        const int32_t bands = bands_of(end - begin);
        const int32_t height = int32_t(ceil_div(field.rows, bands));
        if (bands > 1) split.push_back(int64_t(tiles.size()));
        for (int32_t row = 0; row < field.rows; row += height)
            tiles.push_back(
                {w, row, std::min(row + height, field.rows), begin, end, bands > 1});
    }
    scatter_to_bands(split, threads);
}

// Gives every band of the windows that have several the list of its own events, in stream order.
void Plan::scatter_to_bands(const std::vector<int64_t>& split, int threads) {
    struct Chunk {
        int64_t first_tile, begin, end, bands, counts;
        int32_t band_height;
    };
    std::vector<Chunk> chunks;
    int64_t room = 0;
    for (const int64_t first : split) {
        const Tile& tile = tiles[size_t(first)];
        const int32_t height = tile.end_row - tile.first_row;
        const int64_t bands = ceil_div(field.rows, height);
        for (int64_t begin = tile.begin; begin < tile.end; begin += kChunkEvents) {
            chunks.push_back(
                {first, begin, std::min(begin + kChunkEvents, tile.end), bands, room, height});
            room += bands;
        }
    }
    std::vector<int64_t> positions(size_t(room), 0);
    const auto visit_bands = [this](const Chunk& chunk, auto visit) {
        for (int64_t e = chunk.begin; e < chunk.end; ++e) {
            const uint32_t y = uint32_t(int32_t(events.y[e]));
            if (y >= uint32_t(field.height)) continue;
            const int32_t last = reach_rows.last[y] / chunk.band_height;
            if (reach_rows.last[y] < reach_rows.first[y]) continue;
            for (int32_t b = reach_rows.first[y] / chunk.band_height; b <= last; ++b) visit(b, e);
        }
    };
    parallel_for(int64_t(chunks.size()), threads, [&](int64_t k) {
        int64_t* counts = positions.data() + chunks[size_t(k)].counts;
        visit_bands(chunks[size_t(k)], [counts](int32_t band, int64_t) { ++counts[band]; });
    });
    int64_t at = 0;
    for (size_t k = 0; k < chunks.size();) {
        size_t end = k;
        while (end < chunks.size() && chunks[end].first_tile == chunks[k].first_tile) ++end;
        for (int64_t band = 0; band < chunks[k].bands; ++band) {
            Tile& tile = tiles[size_t(chunks[k].first_tile + band)];
            tile.begin = at;
            for (size_t c = k; c < end; ++c) {
                int64_t& position = positions[size_t(chunks[c].counts + band)];
                const int64_t here = position;
                position = at;
                at += here;
            }
            tile.end = at;
        }
        k = end;
    }
    uint32_t* out = index.at_least(std::max<int64_t>(at, 1));
    parallel_for(int64_t(chunks.size()), threads, [&](int64_t k) {
        const Chunk& chunk = chunks[size_t(k)];
        int64_t* next = positions.data() + chunk.counts;
        const int64_t base = window_begin(tiles[size_t(chunk.first_tile)].window);
        visit_bands(chunk, [=](int32_t band, int64_t e) { out[next[band]++] = uint32_t(e - base); });
    });
}

// Calls visit(cell of the tile, event, place in its field) for every event of the tile.
template <bool Pixel, bool Indexed, class Visit>
void visit_events(const Plan& plan, const Tile& tile, Visit visit) {
    const PackedEvents& e = plan.events;
    const Field f = plan.field;
    const uint32_t* index = plan.index.get();
    const int64_t base = plan.window_begin(tile.window);
    const uint32_t rows = uint32_t(tile.end_row - tile.first_row);
    for (int64_t k = tile.begin; k < tile.end; ++k) {
        const int64_t at = Indexed ? base + index[k] : k;
        const int32_t x = e.x[at];
        const int32_t y = e.y[at];
        // Validation keeps such events out; where it was switched off, they must not harm memory.
        if (uint32_t(x) >= uint32_t(f.width) || uint32_t(y) >= uint32_t(f.height)) continue;
        if (Pixel) {
            const uint32_t row = uint32_t(y - tile.first_row);
            if (row < rows) visit(int32_t(row) * f.columns + x, at, 0u);
            continue;
        }
        const int32_t last_row = std::min(plan.reach_rows.last[size_t(y)], tile.end_row - 1);
        const int32_t last_column = plan.reach_columns.last[size_t(x)];
        for (int32_t i = std::max(plan.reach_rows.first[size_t(y)], tile.first_row); i <= last_row; ++i)
            for (int32_t j = plan.reach_columns.first[size_t(x)]; j <= last_column; ++j) {
                const int32_t row = y + f.top - i * f.stride_height;
                const int32_t column = x + f.left - j * f.stride_width;
                visit((i - tile.first_row) * f.columns + j, at,
                      uint32_t(row * f.kernel_width + column));
            }
    }
}

template <class Visit>
void visit_tile(const Plan& plan, const Tile& tile, Visit visit) {
    if (plan.field.is_pixel())
        tile.indexed ? visit_events<true, true>(plan, tile, visit)
                     : visit_events<true, false>(plan, tile, visit);
    else
        tile.indexed ? visit_events<false, true>(plan, tile, visit)
                     : visit_events<false, false>(plan, tile, visit);
}

// Turns counts into positions, and lists the cells that have events.
void TileGroups::list_sequences(int32_t cells) {
    int32_t sequences = 0;
    for (int32_t word = 0; word * 64 < cells; ++word)
        sequences += __builtin_popcountll(touched_[size_t(word)]);
    cells_.at_least(std::max(sequences, 1));
    begins_.at_least(std::max(sequences, 1));
    lengths_.at_least(std::max(sequences, 1));
    sequences_ = 0;
    int32_t at = 0;
    for (int32_t word = 0; word * 64 < cells; ++word) {
        uint64_t bits = touched_[size_t(word)];
        touched_[size_t(word)] = 0;
        for (; bits; bits &= bits - 1) {
            const int32_t cell = word * 64 + __builtin_ctzll(bits);
            const int32_t here = counts_[size_t(cell)];
            cells_.get()[sequences_] = cell;
            begins_.get()[sequences_] = at;
            lengths_.get()[sequences_] = here;
            counts_[size_t(cell)] = at;
            at += here;
            ++sequences_;
        }
    }
    kept_ = at;
}

void TileGroups::group(const Plan& plan, const Tile& tile, const Cap& cap, Content content) {
    const int64_t cells = int64_t{tile.end_row - tile.first_row} * plan.field.columns;
    if (int64_t(counts_.size()) < cells) {
        counts_.assign(size_t(cells), 0);
        touched_.assign(size_t(ceil_div(cells, 64)), 0);
    }
    int64_t events = 0;
    int32_t* next = counts_.data();
    uint64_t* touched = touched_.data();
    visit_tile(plan, tile, [next, touched, &events](int32_t cell, int64_t, uint32_t) {
        ++next[cell];
        touched[cell >> 6] |= uint64_t{1} << (cell & 63);
        ++events;
    });
    if (events > INT32_MAX)
        throw std::invalid_argument("too many events in one band of rows: " + std::to_string(events));
    list_sequences(int32_t(cells));
    uint64_t* items = items_.at_least(std::max<int64_t>(events, 1));
    const int64_t* t = plan.events.t;
    const uint8_t* p = plan.events.p;
    const int64_t begin = plan.window_begin(tile.window);
    const uint64_t origin = events > 0 && content != kEventIndex ? uint64_t(t[begin]) : 0;
    if (content == kEventIndex) {
        visit_tile(plan, tile, [=](int32_t cell, int64_t e, uint32_t) { items[next[cell]++] = uint64_t(e); });
    } else if (content == kPayload) {
        visit_tile(plan, tile, [=](int32_t cell, int64_t e, uint32_t) {
            items[next[cell]++] = payload_of(uint64_t(t[e]) - origin, p[e] != 0);
        });
    } else {
        uint32_t* places = places_.at_least(std::max<int64_t>(events, 1));
        visit_tile(plan, tile, [=](int32_t cell, int64_t e, uint32_t place) {
            const int32_t at = next[cell]++;
            items[at] = payload_of(uint64_t(t[e]) - origin, p[e] != 0);
            places[at] = place;
        });
    }
    for (int32_t s = 0; s < sequences_; ++s) next[cells_.get()[s]] = 0;
    if (cap.most > 0) apply(cap, content == kPayloadAndPlace);
}

// Keeps at most cap.most events of every sequence, moved to the front of its own place.
void TileGroups::apply(const Cap& cap, bool places) {
    kept_ = 0;
    for (int32_t s = 0; s < sequences_; ++s) {
        const int64_t n = lengths_.get()[s];
        const int64_t m = std::min(n, cap.most);
        kept_ += m;
        if (m == n) continue;
        lengths_.get()[s] = int32_t(m);
        if (cap.latest || m == 1) {
            begins_.get()[s] += int32_t(n - m);
            continue;
        }
        const int64_t apart = n / (m - 1);
        uint64_t* items = items_.get() + begins_.get()[s];
        uint32_t* place = places ? places_.get() + begins_.get()[s] : nullptr;
        for (int64_t q = 1; q < m; ++q) {
            const int64_t from = n - 1 - apart * (m - 1 - q);
            items[q] = items[from];
            if (place) place[q] = place[from];
        }
    }
}

GroupCounts group_events(
    const PackedEvents& events, const Field& field, const Cap& cap, int threads,
    int64_t* order, int64_t* offsets, int64_t* cell) {
    Plan plan(events, field, 1, threads);
    const int64_t tiles = int64_t(plan.tiles.size());
    std::vector<TileGroups> groups(size_t(std::max(threads, 1)));
    std::vector<int64_t> sequences(size_t(tiles + 1), 0), kept(size_t(tiles + 1), 0);
    parallel_for(tiles, threads, [&](int64_t k) {
        TileGroups& g = groups[size_t(thread_number())];
        g.group(plan, plan.tiles[size_t(k)], cap, TileGroups::kEventIndex);
        sequences[size_t(k + 1)] = g.sequences();
        kept[size_t(k + 1)] = g.kept();
    });
    for (int64_t k = 0; k < tiles; ++k) {
        sequences[size_t(k + 1)] += sequences[size_t(k)];
        kept[size_t(k + 1)] += kept[size_t(k)];
    }
    // A second pass is cheaper than keeping what every tile gave until all have been counted.
    parallel_for(tiles, threads, [&](int64_t k) {
        const Tile& tile = plan.tiles[size_t(k)];
        TileGroups& g = groups[size_t(thread_number())];
        g.group(plan, tile, cap, TileGroups::kEventIndex);
        int64_t at = kept[size_t(k)];
        const int64_t first = sequences[size_t(k)];
        const int64_t base = tile.window * field.cells() + int64_t{tile.first_row} * field.columns;
        for (int32_t s = 0; s < g.sequences(); ++s) {
            cell[first + s] = base + g.cells()[s];
            offsets[first + s] = at;
            const uint64_t* from = g.items() + g.begins()[s];
            for (int32_t e = 0; e < g.lengths()[s]; ++e) order[at++] = int64_t(from[e]);
        }
    });
    return {sequences[size_t(tiles)], kept[size_t(tiles)]};
}

}  // namespace evsurf
