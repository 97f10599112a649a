// Grouping on a GPU: events to the sequences of every tile, in stream order, without waiting for the host.
//
// A tile is a run of cells of one window, few enough for their counters to fit into shared memory. One
// block groups a tile by counting. Where windows hold many events and many tiles, the events are first
// parted by tile, so that no block reads those of others. Everything has its place by its number: no
// result depends on which thread or block came first.
#include "native/device.h"

namespace evsurf {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kMostTileCells = 4096;
constexpr int kMostTiles = 8192;   // of a window that is parted
constexpr int kAtOnce = 4;         // events that a thread reads before it looks at the first
constexpr int kBuckets = 140;

struct Grouping {
    const i16* x;
    const i16* y;
    const i64* t;
    const u8* p;
    const i64* offsets;    // [samples + 1]
    u32* matrix;           // [windows][tiles][chunks] members of each chunk, then where they go
    u32* totals;           // [windows * tiles + 1] members of each tile, then where they start
    u32* ticket;
    u64* parted_items;
    u16* parted_cells;
    u32* parted_places;
    u64* items;            // of every sequence, one after another
    u32* places;           // place within the field of every item, or null
    u32* begins;           // of every sequence: its first item
    u32* lengths;
    u16* cells;            // within the tile
    uint2* table;          // of every tile: where its sequences stand, and how many there are
    i64* windows;          // of every window: times of its first and last event
    float* surface;        // to be filled with zeros, or null
    i64 count;             // events
    i64 room;              // members, at most
    i64 most;              // events of a sequence that are kept, 0: all
    i32 samples, bins;
    i32 height, width, kernel_height, kernel_width, stride_height, stride_width, top, left, rows, columns;
    i32 shift;             // 1 << shift cells are a tile
    i32 tiles;             // of a window
    i32 chunks;            // of a window, 0 where events are not parted
    i32 event_index;       // items are event numbers, not times and polarities
    i32 by_length;         // sequences stand by falling length, not in raster order
    i32 hidden;            // channels of the surface in a bin
};

struct Window {
    i64 begin, end;        // events
    int copies;            // members that an event may have, one for each cell that may see it
    __device__ i64 members() const { return (end - begin) * copies; }
};

__device__ inline i64 bounded(i64 value, i64 low, i64 high) { return min(max(value, low), high); }

// First event of bin `bin`; the edge is first + ceil(bin * span / bins), without overflow.
__device__ inline i64 bin_start(const i64* t, i64 begin, i64 end, i64 bin, i64 bins) {
    if (begin == end || bin == 0) return begin;
    if (bin == bins) return end;
    const i64 first = t[begin];
    const i64 span = t[end - 1] - first;
    if (span <= 0) return end;
    const i64 edge = first + span / bins * bin + (span % bins * bin + bins - 1) / bins;
    return warp_lower_bound(t, begin, end, edge);
}

// The block's window, found by its first warp.
__device__ inline Window find_window(const Grouping& g, i64 window) {
    __shared__ i64 edges[2];
    if (threadIdx.x < 32) {
        const i64 sample = window / g.bins, bin = window % g.bins;
        const i64 begin = bounded(g.offsets[sample], 0, g.count);
        const i64 end = bounded(g.offsets[sample + 1], begin, g.count);
        const i64 from = bin_start(g.t, begin, end, bin, g.bins);
        const i64 to = max(from, bin_start(g.t, begin, end, bin + 1, g.bins));
        if (threadIdx.x == 0) {
            edges[0] = from;
            edges[1] = to;
        }
    }
    __syncthreads();
    const int copies = ((g.kernel_height + g.stride_height - 1) / g.stride_height) *
                       ((g.kernel_width + g.stride_width - 1) / g.stride_width);
    return {edges[0], edges[1], copies};
}

struct Member {
    i32 cell;              // of the window, -1 for none
    u32 place;             // within the field
    i64 event;
};

// Member m of a window: event m / copies, as one of the cells that may see it does.
__device__ inline Member find_member(const Grouping& g, const Window& window, i64 m) {
    Member none{-1, 0, 0};
    if (m >= window.members()) return none;
    const i64 event = window.begin + (window.copies == 1 ? m : m / window.copies);
    const i32 x = g.x[event], y = g.y[event];
    // Validation keeps such events out; where it was switched off, they must not harm memory.
    if (u32(x) >= u32(g.width) || u32(y) >= u32(g.height)) return none;
    const int across = (g.kernel_width + g.stride_width - 1) / g.stride_width;
    const int copy = window.copies == 1 ? 0 : int(m % window.copies);
    const i32 i = (y + g.top) / g.stride_height - copy / across;
    const i32 j = (x + g.left) / g.stride_width - copy % across;
    const i32 row = y + g.top - i * g.stride_height, column = x + g.left - j * g.stride_width;
    if (row >= g.kernel_height || column >= g.kernel_width) return none;
    if (i < 0 || i >= g.rows || j < 0 || j >= g.columns) return none;
    return {i * g.columns + j, u32(row) * u32(g.kernel_width) + u32(column), event};
}

// Time since the window's first event and polarity in the lowest bit, or the event's number.
__device__ inline u64 item_of(const Grouping& g, const Window& window, i64 event) {
    if (g.event_index) return u64(event);
    return u64(g.t[event] - g.t[window.begin]) << 1 | u64(g.p[event] != 0);
}

// Every thread's place among those of its key, in the order of the threads, from next[key] on, which
// moves on. Warps take turns; threads without a key say -1.
__device__ inline u32 take_places(u32* next, i32 key) {
    const u32 peers = __match_any_sync(kAll, key);
    const int leader = __ffs(int(peers)) - 1;
    u32 first = 0;
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp_number() && lane_number() == leader && key >= 0) {
            first = next[key];
            next[key] = first + u32(__popc(peers));
        }
        __syncthreads();
    }
    return __shfl_sync(kAll, first, leader) + u32(__popc(peers & lanes_before()));
}

struct Chunk {
    i64 window;
    int number;
    i64 begin, end;        // members
};

__device__ inline Chunk find_chunk(const Grouping& g, const Window& window) {
    const int number = int(blockIdx.x) % g.chunks;
    const i64 members = window.members(), each = members / g.chunks, rest = members % g.chunks;
    const i64 begin = each * number + min(i64(number), rest);
    return {blockIdx.x / g.chunks, number, begin, begin + each + i64(number < rest)};
}

// How many members of each tile a chunk holds.
extern "C" __global__ void __launch_bounds__(kThreads) count_chunks(const Grouping g) {
    extern __shared__ u32 counts[];
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.ticket = 0;
    for (int k = threadIdx.x; k < g.tiles; k += kThreads) counts[k] = 0;
    const Window window = find_window(g, blockIdx.x / g.chunks);
    const Chunk chunk = find_chunk(g, window);
    for (i64 m = chunk.begin + threadIdx.x; m < chunk.end; m += kThreads * kAtOnce) {
        i32 cell[kAtOnce];
        for (int k = 0; k < kAtOnce; ++k) {
            const i64 at = m + k * kThreads;
            cell[k] = at < chunk.end ? find_member(g, window, at).cell : -1;
        }
        for (int k = 0; k < kAtOnce; ++k)
            if (cell[k] >= 0) atomicAdd(&counts[cell[k] >> g.shift], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < g.tiles; k += kThreads)
        g.matrix[(chunk.window * g.tiles + k) * g.chunks + chunk.number] = counts[k];
}

// A warp for each tile turns the counts of its chunks into places within the tile; the block that comes
// last turns the tiles' totals into where they start.
extern "C" __global__ void __launch_bounds__(kThreads) place_chunks(const Grouping g) {
    const i64 tiles = i64(g.samples) * g.bins * g.tiles;
    const i64 tile = i64(blockIdx.x) * kWarps + warp_number();
    if (tile < tiles) {
        u32 sum = 0;
        for (int first = 0; first < g.chunks; first += 32) {
            const int k = first + lane_number();
            u32* const at = g.matrix + tile * g.chunks + k;
            const u32 here = k < g.chunks ? *at : 0;
            const u32 inclusive = warp_inclusive_sum(here);
            if (k < g.chunks) *at = sum + inclusive - here;
            sum += __shfl_sync(kAll, inclusive, 31);
        }
        if (lane_number() == 0) g.totals[tile] = sum;
    }
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(g.ticket, 1u) + 1 == gridDim.x;
    __syncthreads();
    if (!last) return;
    __threadfence();
    __shared__ u32 room[kWarps];
    u32 sum = 0;
    for (i64 first = 0; first < tiles; first += kThreads) {
        const i64 k = first + threadIdx.x;
        const u32 here = k < tiles ? __ldcg(g.totals + k) : 0;
        u32 total;
        const u32 before = block_exclusive_sum<kThreads>(here, room, total);
        if (k < tiles) g.totals[k] = sum + before;
        sum += total;
        __syncthreads();
    }
    if (threadIdx.x == 0) g.totals[tiles] = sum;
}

// Members to their tiles, in stream order.
extern "C" __global__ void __launch_bounds__(kThreads) part_chunks(const Grouping g) {
    extern __shared__ u32 next[];
    const Window window = find_window(g, blockIdx.x / g.chunks);
    const Chunk chunk = find_chunk(g, window);
    for (int k = threadIdx.x; k < g.tiles; k += kThreads) {
        const i64 tile = chunk.window * g.tiles + k;
        next[k] = g.totals[tile] + g.matrix[tile * g.chunks + chunk.number];
    }
    __syncthreads();
    const u32 within = (1u << g.shift) - 1u;
    for (i64 first = chunk.begin; first < chunk.end; first += kThreads * kAtOnce) {
        Member member[kAtOnce];
        u64 item[kAtOnce];
        for (int k = 0; k < kAtOnce; ++k) {
            const i64 m = first + k * kThreads + threadIdx.x;
            member[k] = m < chunk.end ? find_member(g, window, m) : Member{-1, 0, 0};
            item[k] = member[k].cell >= 0 ? item_of(g, window, member[k].event) : 0;
        }
        for (int k = 0; k < kAtOnce; ++k) {
            if (first + k * kThreads >= chunk.end) break;
            const i32 cell = member[k].cell;
            const u32 at = take_places(next, cell >= 0 ? cell >> g.shift : -1);
            if (cell < 0 || at >= g.room) continue;
            g.parted_items[at] = item[k];
            g.parted_cells[at] = u16(u32(cell) & within);
            if (g.places) g.parted_places[at] = member[k].place;
        }
    }
}

// Longer sequences have smaller numbers: exact below 32 events, in quarters of an octave above.
__device__ inline int bucket_of(u32 length) {
    if (length < 32) return kBuckets - 1 - int(length);
    const int octave = 31 - __clz(int(length));
    return kBuckets - 1 - (32 + 4 * (octave - 5) + int(length >> (octave - 2) & 3u));
}

// What a tile's block shares. Warp w looks after a run of the cells.
struct TileRoom {
    u32 next[kMostTileCells];          // members of each cell, then where its next one goes
    u32 slots[kBuckets][kWarps];       // sequences of each length in each warp's run
    u32 sums[kWarps];
};

__device__ inline int bucket_in(const Grouping& g, u32 length) {
    if (!g.by_length) return 0;
    return bucket_of(g.most > 0 ? u32(min(i64(length), g.most)) : length);
}

// Counts to sequences: `next` becomes where each cell's items go, and the sequences are listed.
__device__ inline void list_sequences(const Grouping& g, i64 tile, u32 base, TileRoom& room) {
    const int cells = 1 << g.shift, run = cells / kWarps;
    for (int k = threadIdx.x; k < kBuckets * kWarps; k += kThreads) (&room.slots[0][0])[k] = 0;
    __syncthreads();
    u32 events = 0;
    for (int first = 0; first < run; first += 32) {
        const u32 length = room.next[warp_number() * run + first + lane_number()];
        events += length;
        const int bucket = length > 0 ? bucket_in(g, length) : -1;
        const u32 peers = __match_any_sync(kAll, bucket);
        if (bucket >= 0 && lane_number() == __ffs(int(peers)) - 1)
            room.slots[bucket][warp_number()] += u32(__popc(peers));
        __syncwarp();
    }
    for (int apart = 16; apart > 0; apart /= 2) events += __shfl_xor_sync(kAll, events, apart);
    if (lane_number() == 0) room.sums[warp_number()] = events;
    __syncthreads();
    u32 begin = base;
    for (int w = 0; w < warp_number(); ++w) begin += room.sums[w];
    __syncthreads();
    u32 here = 0, sequences;
    if (threadIdx.x < kBuckets)
        for (int w = 0; w < kWarps; ++w) here += room.slots[threadIdx.x][w];
    u32 slot = block_exclusive_sum<kThreads>(here, room.sums, sequences);
    if (threadIdx.x < kBuckets)
        for (int w = 0; w < kWarps; ++w) {
            const u32 count = room.slots[threadIdx.x][w];
            room.slots[threadIdx.x][w] = slot;
            slot += count;
        }
    __syncthreads();
    for (int first = 0; first < run; first += 32) {
        const int cell = warp_number() * run + first + lane_number();
        const u32 length = room.next[cell];
        const u32 inclusive = warp_inclusive_sum(length);
        const u32 at = begin + inclusive - length;
        const int bucket = length > 0 ? bucket_in(g, length) : -1;
        const u32 peers = __match_any_sync(kAll, bucket);
        u32 number = 0;
        if (bucket >= 0) number = room.slots[bucket][warp_number()] + u32(__popc(peers & lanes_before()));
        __syncwarp();
        if (bucket >= 0) {
            if (lane_number() == __ffs(int(peers)) - 1) room.slots[bucket][warp_number()] += u32(__popc(peers));
            g.begins[base + number] = at;
            g.lengths[base + number] = length;
            g.cells[base + number] = u16(cell);
        }
        room.next[cell] = at;
        begin += __shfl_sync(kAll, inclusive, 31);
        __syncwarp();
    }
    if (threadIdx.x == 0) g.table[tile] = make_uint2(base, sequences);
    __syncthreads();
}

// The part of the surface that a tile covers, without events.
__device__ inline void clear_surface(const Grouping& g, i64 window, i64 first) {
    const i64 cells = i64(g.rows) * g.columns;
    const i64 end = min(cells, first + (i64(1) << g.shift));
    for (int u = 0; u < g.hidden; ++u) {
        float* const plane = g.surface + (window * g.hidden + u) * cells;
        for (i64 k = first + threadIdx.x; k < end; k += kThreads) plane[k] = 0.0f;
    }
}

// Groups the members of a tile that read(m, ...) names for m from 0 on: {cell of the tile, item, place}.
template <class Read>
__device__ inline void group_members(const Grouping& g, i64 members, TileRoom& room, Read read) {
    for (i64 first = 0; first < members; first += kThreads * kAtOnce) {
        i32 cell[kAtOnce];
        u64 item[kAtOnce];
        u32 place[kAtOnce];
        for (int k = 0; k < kAtOnce; ++k) {
            const i64 m = first + k * kThreads + threadIdx.x;
            cell[k] = -1;
            if (m < members) read(m, cell[k], item[k], place[k]);
        }
        for (int k = 0; k < kAtOnce; ++k) {
            if (first + k * kThreads >= members) break;
            if (!__syncthreads_or(cell[k] >= 0)) continue;
            const u32 at = take_places(room.next, cell[k]);
            if (cell[k] < 0) continue;
            g.items[at] = item[k];
            if (g.places) g.places[at] = place[k];
        }
    }
}

// Tiles of parted events.
__device__ inline void group_parted(const Grouping& g, i64 tile, TileRoom& room) {
    const i64 base = g.totals[tile];
    const i64 members = min(i64(g.totals[tile + 1]), g.room) - base;
    for (i64 m = threadIdx.x; m < members; m += kThreads) atomicAdd(&room.next[g.parted_cells[base + m]], 1u);
    __syncthreads();
    list_sequences(g, tile, u32(base), room);
    group_members(g, members, room, [&](i64 m, i32& cell, u64& item, u32& place) {
        cell = g.parted_cells[base + m];
        item = g.parted_items[base + m];
        place = g.places ? g.parted_places[base + m] : 0;
    });
}

// Tiles of events as they came: each block reads all of its window's, and leaves those of others.
__device__ inline void group_direct(const Grouping& g, i64 tile, const Window& window, TileRoom& room) {
    const i32 first_cell = i32(tile % g.tiles) << g.shift, cells = 1 << g.shift;
    const i64 members = window.members();
    u32 before = 0;
    for (i64 m = threadIdx.x; m < members; m += kThreads * kAtOnce) {
        i32 cell[kAtOnce];
        for (int k = 0; k < kAtOnce; ++k) cell[k] = find_member(g, window, m + k * kThreads).cell;
        for (int k = 0; k < kAtOnce; ++k) {
            const u32 within = u32(cell[k] - first_cell);
            if (cell[k] >= 0 && within < u32(cells)) atomicAdd(&room.next[within], 1u);
            before += u32(cell[k] >= 0 && cell[k] < first_cell);
        }
    }
    u32 base;
    block_exclusive_sum<kThreads>(before, room.sums, base);
    __syncthreads();
    base += u32(window.begin * window.copies);
    list_sequences(g, tile, base, room);
    group_members(g, members, room, [&](i64 m, i32& cell, u64& item, u32& place) {
        const Member member = find_member(g, window, m);
        const u32 within = u32(member.cell - first_cell);
        if (member.cell < 0 || within >= u32(cells)) return;
        cell = i32(within);
        item = item_of(g, window, member.event);
        place = member.place;
    });
}

extern "C" __global__ void __launch_bounds__(kThreads) group_tiles(const Grouping g) {
    __shared__ TileRoom room;
    const i64 tile = blockIdx.x, number = tile / g.tiles;
    if (g.surface) clear_surface(g, number, (tile % g.tiles) << g.shift);
    for (int k = threadIdx.x; k < (1 << g.shift); k += kThreads) room.next[k] = 0;
    const Window window = find_window(g, number);
    if (tile % g.tiles == 0 && threadIdx.x == 0) {
        const bool some = window.end > window.begin;
        g.windows[2 * number] = some ? g.t[window.begin] : 0;
        g.windows[2 * number + 1] = some ? g.t[window.end - 1] : 0;
    }
    if (g.chunks > 0)
        group_parted(g, tile, room);
    else
        group_direct(g, tile, window, room);
}

// Groups as tensors: evsurf::group.
struct Listing {
    const uint2* table;
    const u32* begins;
    const u32* lengths;
    const u16* cells;
    const u64* items;
    i64* starts;           // [tiles][2] sequences and kept events before each tile
    i64* order;            // [room]
    i64* offsets;          // [room + 1]
    i64* cell;             // [room]
    i64* counts;           // [2]
    i64 room;
    i64 most;
    i64 window_cells;
    i64 outside;
    i32 latest;
    i32 tile_count, tiles, shift;
};

__device__ inline i64 kept_of(const Listing& l, u32 length) {
    return l.most > 0 ? min(i64(length), l.most) : i64(length);
}

// A block for each tile: how many events it keeps.
extern "C" __global__ void __launch_bounds__(kThreads) count_kept(const Listing l) {
    const uint2 tile = l.table[blockIdx.x];
    __shared__ i64 sums[kWarps];
    i64 kept = 0;
    for (u32 s = threadIdx.x; s < tile.y; s += kThreads) kept += kept_of(l, l.lengths[tile.x + s]);
    for (int apart = 16; apart > 0; apart /= 2) kept += __shfl_xor_sync(kAll, kept, apart);
    if (lane_number() == 0) sums[warp_number()] = kept;
    __syncthreads();
    if (threadIdx.x > 0) return;
    kept = 0;
    for (int w = 0; w < kWarps; ++w) kept += sums[w];
    l.starts[2 * i64(blockIdx.x)] = tile.y;
    l.starts[2 * i64(blockIdx.x) + 1] = kept;
}

// One block: what is before each tile.
extern "C" __global__ void __launch_bounds__(kThreads) place_tiles(const Listing l) {
    __shared__ i64 sums[2][kWarps];
    i64 before[2] = {0, 0};
    for (i64 first = 0; first < l.tile_count; first += kThreads) {
        const i64 k = first + threadIdx.x;
        for (int which = 0; which < 2; ++which) {
            const i64 here = k < l.tile_count ? l.starts[2 * k + which] : 0;
            i64 inclusive = here;
            for (int apart = 1; apart < 32; apart *= 2) {
                const i64 other = __shfl_up_sync(kAll, inclusive, apart);
                if (lane_number() >= apart) inclusive += other;
            }
            if (lane_number() == 31) sums[which][warp_number()] = inclusive;
            __syncthreads();
            i64 all = 0, earlier = 0;
            for (int w = 0; w < kWarps; ++w) {
                if (w < warp_number()) earlier += sums[which][w];
                all += sums[which][w];
            }
            if (k < l.tile_count) l.starts[2 * k + which] = before[which] + earlier + inclusive - here;
            before[which] += all;
            __syncthreads();
        }
    }
    if (threadIdx.x < 2) l.counts[threadIdx.x] = before[threadIdx.x];
}

// A block for each tile writes its sequences; all together fill the room behind the last one.
extern "C" __global__ void __launch_bounds__(kThreads) write_groups(const Listing l) {
    const uint2 tile = l.table[blockIdx.x];
    const i64 first = l.starts[2 * i64(blockIdx.x)];
    const i64 base = blockIdx.x / l.tiles * l.window_cells + (i64(blockIdx.x % l.tiles) << l.shift);
    __shared__ u32 room[kWarps];
    __shared__ i64 places[kThreads];
    i64 at = l.starts[2 * i64(blockIdx.x) + 1];
    for (u32 from = 0; from < tile.y; from += kThreads) {
        const u32 s = from + threadIdx.x;
        const u32 here = s < tile.y ? u32(kept_of(l, l.lengths[tile.x + s])) : 0;
        u32 total;
        places[threadIdx.x] = at + block_exclusive_sum<kThreads>(here, room, total);
        if (s < tile.y) {
            l.offsets[first + s] = places[threadIdx.x];
            l.cell[first + s] = base + l.cells[tile.x + s];
        }
        __syncthreads();
        // A warp for each sequence.
        for (u32 k = warp_number(); k < kThreads && from + k < tile.y; k += kWarps) {
            const i64 n = l.lengths[tile.x + from + k], m = kept_of(l, u32(n));
            const u64* const items = l.items + l.begins[tile.x + from + k];
            const bool spread = m < n && !l.latest && m > 1;
            const i64 apart = spread ? n / (m - 1) : 1;
            for (i64 q = lane_number(); q < m; q += 32)
                l.order[places[k] + q] = i64(items[spread && q == 0 ? 0 : n - 1 - apart * (m - 1 - q)]);
        }
        at += total;
        __syncthreads();
    }
    const i64 sequences = l.counts[0], kept = l.counts[1];
    const i64 threads = i64(gridDim.x) * kThreads, me = i64(blockIdx.x) * kThreads + threadIdx.x;
    for (i64 k = me; k <= l.room; k += threads) {
        if (k >= sequences) l.offsets[k] = kept;
        if (k >= sequences && k < l.room) l.cell[k] = l.outside;
        if (k >= kept && k < l.room) l.order[k] = 0;
    }
}

}  // namespace evsurf
