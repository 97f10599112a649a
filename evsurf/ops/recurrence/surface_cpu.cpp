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

// The gradient of every sequence's place, read plane by plane in raster order: packs would ask for it
// in an order that no prefetcher follows.
template <class Real>
const Real* read_gradient(
    const TileImage& image, const TileGroups& groups, int hidden, const Real* d_surface, Room<Real>& room) {
    const int32_t count = groups.sequences();
    Real* out = room.at_least(std::max(int64_t{hidden} * count, int64_t{1}));
    for (int u = 0; u < hidden; ++u) {
        const Real* in = d_surface + image.first + u * image.plane;
        for (int32_t s = 0; s < count; ++s) out[int64_t{u} * count + s] = in[groups.cells()[s]];
    }
    return out;
}

template <class Real>
struct PassGradient {
    static constexpr bool zero_state = true;
    static constexpr bool every_step = false;
    static constexpr bool input_gradients = false;
    const Real* d_last;  // [hidden][sequences]
    const int64_t sequences;
    const int hidden;

    void initial(const Pack&, Real*, Real*) const {}
    void every(const Pack&, int32_t, int32_t, Real*) const {}
    void inputs(const Pack&, int32_t, int32_t, const Real*) const {}
    void state_gradients(const Pack&, const Real*, const Real*) const {}
    void gradients(const Pack& pack, Real* dh, Real* dc) const {
        std::fill(dc, dc + hidden * kLanes, Real(0));
        std::fill(dh, dh + hidden * kLanes, Real(0));
        int lanes = 0;
        while (lanes < kLanes && pack.sequence[lanes] >= 0) ++lanes;
        for (int u = 0; u < hidden; ++u, dh += kLanes)
            for (int l = 0; l < lanes; ++l) dh[l] = d_last[u * sequences + pack.sequence[l]];
    }
};

template <class Real>
struct Worker {
    TileGroups groups;
    PackMemory<Real> packs;
    Room<Real> d_last;
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
            const Real* d_last = read_gradient(
                TileImage(plan, tile, weights.hidden), worker.groups, weights.hidden, d_surface, worker.d_last);
            PassGradient<Real> sink{d_last, worker.groups.sequences(), weights.hidden};
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
