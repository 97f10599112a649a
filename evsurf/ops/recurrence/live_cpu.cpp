// A stream's next events through the cell: states are taken from the cells that the events touch and put
// back, so a step costs what its events cost.
#include <algorithm>
#include <vector>

#include "native/parallel.h"
#include "recurrence/ops.h"
#include "recurrence/packs.h"

namespace evsurf {

namespace {

template <class Real>
struct MoveState {
    static constexpr bool zero_state = false;
    static constexpr bool every_step = false;
    const int32_t* cells;
    const int hidden;
    Real* rows_h;  // of the tile's first cell
    Real* rows_c;

    void initial(const Pack& pack, Real* h, Real* c) const {
        for (int l = 0; l < kLanes; ++l) {
            const int64_t row = pack.sequence[l] >= 0 ? int64_t{cells[pack.sequence[l]]} * hidden : -1;
            for (int u = 0; u < hidden; ++u) {
                h[u * kLanes + l] = row >= 0 ? rows_h[row + u] : Real(0);
                c[u * kLanes + l] = row >= 0 ? rows_c[row + u] : Real(0);
            }
        }
    }
    void every(const Pack&, int32_t, int32_t, const Real*) const {}
    void last(const Pack& pack, const Real* h, const Real* c) const {
        for (int l = 0; l < kLanes && pack.sequence[l] >= 0; ++l) {
            const int64_t row = int64_t{cells[pack.sequence[l]]} * hidden;
            for (int u = 0; u < hidden; ++u) {
                rows_h[row + u] = h[u * kLanes + l];
                rows_c[row + u] = c[u * kLanes + l];
            }
        }
    }
};

template <class Real>
struct Worker {
    TileGroups groups;
    PackMemory<Real> packs;
};

void remember(const TileGroups& groups, int64_t window_start, int64_t* last, int64_t* count) {
    for (int32_t s = 0; s < groups.sequences(); ++s) {
        const int32_t cell = groups.cells()[s];
        const int32_t length = groups.lengths()[s];
        last[cell] = window_start + elapsed_of(groups.items()[groups.begins()[s] + length - 1]);
        count[cell] += length;
    }
}

}  // namespace

template <class Real>
void lstm_live_step(
    const SurfaceInput& in, const TorchWeights<Real>& weights, int threads, const StreamMemory<Real>& memory) {
    const Plan plan(in.events, in.field, 1, threads);
    const ArrangedWeights<Real> arranged(weights);
    const TileGroups::Content content =
        in.reading.coordinates ? TileGroups::kPayloadAndPlace : TileGroups::kPayload;
    std::vector<Worker<Real>> workers(size_t(std::max(threads, 1)));
    parallel_for(int64_t(plan.tiles.size()), threads, [&](int64_t k) {
        const Tile& tile = plan.tiles[size_t(k)];
        if (tile.begin == tile.end) return;
        Worker<Real>& worker = workers[size_t(thread_number())];
        worker.groups.group(plan, tile, {0, false}, content);
        const int64_t first =
            tile.window * plan.field.cells() + int64_t{tile.first_row} * plan.field.columns;
        const Past past{memory.last + first, memory.count + first, memory.start[tile.window]};
        EventSource<Real> source(plan, tile, worker.groups, in.reading, &past);
        MoveState<Real> sink{worker.groups.cells(), weights.hidden, memory.h + first * weights.hidden,
                             memory.c + first * weights.hidden};
        forward_sequences(kernels<Real>(), arranged.view(), worker.groups.lengths(),
                          worker.groups.sequences(), source, sink, worker.packs);
        remember(worker.groups, in.events.t[plan.window_begin(tile.window)], memory.last + first,
                 memory.count + first);
    });
}

template void lstm_live_step(
    const SurfaceInput&, const TorchWeights<float>&, int, const StreamMemory<float>&);
template void lstm_live_step(
    const SurfaceInput&, const TorchWeights<double>&, int, const StreamMemory<double>&);

}  // namespace evsurf
