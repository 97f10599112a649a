// From packed events to a dense Matrix-LSTM surface and back, tile by tile: events are grouped, read,
// run through the cell and placed while they are in the cache. Nothing is kept for the backward pass,
// which groups again; that costs less than writing and reading what it would need.
#include <algorithm>
#include <vector>

#include "native/parallel.h"
#include "recurrence/ops.h"
#include "recurrence/packs.h"

namespace evsurf {

namespace {

// The part of a surface that a tile covers: channel u of its window starts at plane(u).
struct TileImage {
    int64_t first;   // of channel 0
    int64_t plane;   // cells of the whole output
    int64_t cells;   // of the tile

    TileImage(const Plan& plan, const Tile& tile, int hidden)
        : first(tile.window * hidden * plan.field.cells() + int64_t{tile.first_row} * plan.field.columns),
          plane(plan.field.cells()),
          cells(int64_t{tile.end_row - tile.first_row} * plan.field.columns) {}
};

template <class Real>
struct PlaceLast {
    static constexpr bool zero_state = true;
    static constexpr bool every_step = false;
    const TileImage image;
    const int32_t* cells;
    const int hidden;
    Real* const surface;

    void initial(const Pack&, Real*, Real*) const {}
    void every(const Pack&, int32_t, int32_t, const Real*) const {}
    void last(const Pack& pack, const Real* h, const Real*) const {
        int32_t at[kLanes];
        int lanes = 0;
        for (; lanes < kLanes && pack.sequence[lanes] >= 0; ++lanes)
            at[lanes] = cells[pack.sequence[lanes]];
        for (int u = 0; u < hidden; ++u) {
            Real* out = surface + image.first + u * image.plane;
            for (int l = 0; l < lanes; ++l) out[at[l]] = h[u * kLanes + l];
        }
    }
};

// The gradient of every sequence's place. It is read plane by plane in raster order, which prefetchers
// follow, and written to where the packs, long sequences first, will ask for it.
template <class Real>
struct PassGradient {
    static constexpr bool zero_state = true;
    static constexpr bool every_step = false;
    static constexpr bool input_gradients = false;
    const TileImage image;
    const int32_t* cells;
    const int hidden;
    const Real* d_surface;
    Room<Real>& d_last;  // [hidden][ranks], in the packs' order, with zeros behind the last
    Room<int32_t>& rank;
    int64_t ranks = 0;

    void begin(const int32_t* order, int32_t count) {
        int32_t* rank_of = rank.at_least(std::max(count, 1));
        for (int32_t r = 0; r < count; ++r) rank_of[order[r]] = r;
        ranks = int64_t{count} + kLanes;
        Real* out = d_last.at_least(hidden * ranks);
        for (int u = 0; u < hidden; ++u, out += ranks) {
            const Real* in = d_surface + image.first + u * image.plane;
            const int64_t ahead = u + 1 < hidden ? image.plane : 0;
            for (int32_t s = 0; s < count; ++s) {
                __builtin_prefetch(in + cells[s] + ahead);
                out[rank_of[s]] = in[cells[s]];
            }
            std::fill(out + count, out + ranks, Real(0));
        }
    }
    void initial(const Pack&, Real*, Real*) const {}
    void every(const Pack&, int32_t, int32_t, Real*) const {}
    void inputs(const Pack&, int32_t, int32_t, const Real*) const {}
    void state_gradients(const Pack&, const Real*, const Real*) const {}
    void gradients(const Pack& pack, Real* dh, Real* dc) const {
        std::fill(dc, dc + hidden * kLanes, Real(0));
        const Real* in = d_last.get() + pack.first;
        for (int u = 0; u < hidden; ++u, in += ranks, dh += kLanes) std::copy(in, in + kLanes, dh);
    }
};

template <class Real>
struct Worker {
    TileGroups groups;
    PackMemory<Real> packs;
    Room<Real> d_last;
    Room<int32_t> rank;
};

TileGroups::Content content(const Reading& reading) {
    return reading.coordinates ? TileGroups::kPayloadAndPlace : TileGroups::kPayload;
}

}  // namespace

template <class Real>
void lstm_surface_forward(
    const SurfaceInput& in, const TorchWeights<Real>& weights, int threads, Real* surface) {
    const Plan plan(in.events, in.field, in.bins, threads);
    const ArrangedWeights<Real> arranged(weights);
    std::vector<Worker<Real>> workers(size_t(std::max(threads, 1)));
    parallel_for(int64_t(plan.tiles.size()), threads, [&](int64_t k) {
        const Tile& tile = plan.tiles[size_t(k)];
        Worker<Real>& worker = workers[size_t(thread_number())];
        worker.groups.group(plan, tile, in.cap, content(in.reading));
        const TileImage image(plan, tile, weights.hidden);
        for (int u = 0; u < weights.hidden; ++u) {
            Real* out = surface + image.first + u * image.plane;
            std::fill(out, out + image.cells, Real(0));
        }
        EventSource<Real> source(plan, tile, worker.groups, in.reading);
        PlaceLast<Real> sink{image, worker.groups.cells(), weights.hidden, surface};
        forward_sequences(kernels<Real>(), arranged.view(), worker.groups.lengths(),
                          worker.groups.sequences(), source, sink, worker.packs);
    });
}

template <class Real>
void lstm_surface_backward(
    const SurfaceInput& in, const TorchWeights<Real>& weights, int threads, const Real* d_surface,
    Real* w_ih, Real* w_hh, Real* bias) {
    const Plan plan(in.events, in.field, in.bins, threads);
    const ArrangedWeights<Real> arranged(weights);
    const int64_t tiles = int64_t(plan.tiles.size());
    // Tiles share a sum in runs, so that many small ones do not need many sums.
    const int64_t run = std::max<int64_t>(1, tiles / 256);
    const int64_t parts = (tiles + run - 1) / run;
    WeightGradients<Real> total(weights.hidden, weights.features, parts);
    std::vector<Worker<Real>> workers(size_t(std::max(threads, 1)));
    const int width = kernels<Real>().width;
    const int64_t room = int64_t{4} * weights.hidden * (weights.features + weights.hidden + 1) * width;
    parallel_for(parts, threads, [&](int64_t part) {
        Worker<Real>& worker = workers[size_t(thread_number())];
        Real* sums = worker.packs.sums.at_least(room);
        std::fill(sums, sums + room, Real(0));
        for (int64_t k = part * run; k < std::min(tiles, (part + 1) * run); ++k) {
            const Tile& tile = plan.tiles[size_t(k)];
            worker.groups.group(plan, tile, in.cap, content(in.reading));
            EventSource<Real> source(plan, tile, worker.groups, in.reading);
            PassGradient<Real> sink{TileImage(plan, tile, weights.hidden), worker.groups.cells(),
                                    weights.hidden, d_surface, worker.d_last, worker.rank};
            backward_sequences(kernels<Real>(), arranged.view(), worker.groups.lengths(),
                               worker.groups.sequences(), source, sink, worker.packs, sums);
        }
        total.put(part, sums, width);
    });
    total.total(w_ih, w_hh, bias);
}

template void lstm_surface_forward(const SurfaceInput&, const TorchWeights<float>&, int, float*);
template void lstm_surface_forward(const SurfaceInput&, const TorchWeights<double>&, int, double*);
template void lstm_surface_backward(
    const SurfaceInput&, const TorchWeights<float>&, int, const float*, float*, float*, float*);
template void lstm_surface_backward(
    const SurfaceInput&, const TorchWeights<double>&, int, const double*, double*, double*, double*);

}  // namespace evsurf
