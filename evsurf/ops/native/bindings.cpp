// The Python face of the compiled core. Arrays come as addresses of contiguous memory whose types and
// sizes the calling Python code has checked; the interpreter is free to run while the core works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "data/filters/native/bindings.h"
#include "data/formats/native/bindings.h"
#include "data/formats/native/ecf.h"
#include "data/formats/native/text.h"
#include "data/simulator/native/bindings.h"
#include "grouping/groups.h"
#include "native/memory.h"
#include "native/parallel.h"
#include "recurrence/ops.h"
#include "recurrence/pack.h"

namespace nb = nanobind;
using namespace evsurf;

namespace {

using Address = uintptr_t;

template <class T>
T* at(Address a) {
    return reinterpret_cast<T*>(a);
}

using EventAddresses = std::array<Address, 5>;  // x, y, t, p, offsets
using FieldNumbers = std::array<int32_t, 10>;   // in the order of Field's members

PackedEvents events_of(const EventAddresses& a, int64_t samples, int64_t count) {
    return {at<int16_t>(a[0]), at<int16_t>(a[1]), at<int64_t>(a[2]), at<uint8_t>(a[3]),
            at<int64_t>(a[4]), samples, count};
}

Field field_of(const FieldNumbers& n) {
    return {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]};
}

using WeightAddresses = std::array<Address, 4>;  // w_ih, w_hh, b_ih, b_hh

template <class Real>
TorchWeights<Real> weights_of(const WeightAddresses& a, int hidden, int features) {
    return {hidden, features, at<Real>(a[0]), at<Real>(a[1]), at<Real>(a[2]), at<Real>(a[3])};
}

std::pair<int64_t, int64_t> group(
    const EventAddresses& events, int64_t samples, int64_t count, const FieldNumbers& field,
    int64_t most, bool latest, int threads, Address order, Address offsets, Address cell) {
    const GroupCounts counts = group_events(
        events_of(events, samples, count), field_of(field), {most, latest}, threads,
        at<int64_t>(order), at<int64_t>(offsets), at<int64_t>(cell));
    return {counts.sequences, counts.kept};
}

using RaggedAddresses = std::array<Address, 4>;  // features, offsets, initial h, initial c

template <class Real>
RaggedSequences<Real> ragged_of(const RaggedAddresses& a, int64_t sequences, int64_t events) {
    return {at<Real>(a[0]), at<int64_t>(a[1]), sequences, events, at<Real>(a[2]), at<Real>(a[3])};
}

template <class Real>
void ragged_forward(
    const RaggedAddresses& in, int64_t sequences, int64_t events, const WeightAddresses& weights,
    int hidden, int features, int threads, Address every_h, Address h, Address c) {
    ragged_lstm_forward<Real>(
        ragged_of<Real>(in, sequences, events), weights_of<Real>(weights, hidden, features), threads,
        at<Real>(every_h), at<Real>(h), at<Real>(c));
}

template <class Real>
void ragged_backward(
    const RaggedAddresses& in, int64_t sequences, int64_t events, const WeightAddresses& weights,
    int hidden, int features, int threads, const std::array<Address, 9>& g) {
    ragged_lstm_backward<Real>(
        ragged_of<Real>(in, sequences, events), weights_of<Real>(weights, hidden, features), threads,
        {at<Real>(g[0]), at<Real>(g[1]), at<Real>(g[2]), at<Real>(g[3]), at<Real>(g[4]),
         at<Real>(g[5]), at<Real>(g[6]), at<Real>(g[7]), at<Real>(g[8])});
}

using ReadingNumbers = std::array<int32_t, 6>;  // in the order of Reading's members

SurfaceInput surface_of(
    const EventAddresses& events, int64_t samples, int64_t count, const FieldNumbers& field, int bins,
    int64_t most, bool latest, const ReadingNumbers& r, double time_scale) {
    return {events_of(events, samples, count), field_of(field), bins, {most, latest},
            {Reading::Time(r[0]), Reading::Scope(r[1]), r[2] != 0, r[3] != 0, r[4] != 0, r[5] != 0,
             time_scale}};
}

template <class Real>
void surface_forward(
    const EventAddresses& events, int64_t samples, int64_t count, const FieldNumbers& field, int bins,
    int64_t most, bool latest, const ReadingNumbers& reading, double time_scale,
    const WeightAddresses& weights, int hidden, int threads, Address surface) {
    const SurfaceInput in =
        surface_of(events, samples, count, field, bins, most, latest, reading, time_scale);
    lstm_surface_forward<Real>(
        in, weights_of<Real>(weights, hidden, in.reading.features()), threads, at<Real>(surface));
}

using Bytes = nb::ndarray<nb::pytorch, uint8_t, nb::ndim<1>>;

struct Pages {
    void* memory;
    size_t bytes;
};

// Unwritten memory that is kept for the next output when the last tensor that looks at it goes.
Bytes large_memory(size_t bytes) {
    auto pages = std::make_unique<Pages>(Pages{take_pages(bytes), bytes});
    void* const memory = pages->memory;
    nb::capsule owner(pages.get(), [](void* p) noexcept {
        const std::unique_ptr<Pages> done(static_cast<Pages*>(p));
        give_back_pages(done->memory, done->bytes);
    });
    pages.release();
    return Bytes(memory, {bytes}, owner);
}

template <class Real>
void surface_backward(
    const EventAddresses& events, int64_t samples, int64_t count, const FieldNumbers& field, int bins,
    int64_t most, bool latest, const ReadingNumbers& reading, double time_scale,
    const WeightAddresses& weights, int hidden, int threads, Address d_surface,
    const std::array<Address, 3>& gradients) {
    const SurfaceInput in =
        surface_of(events, samples, count, field, bins, most, latest, reading, time_scale);
    lstm_surface_backward<Real>(
        in, weights_of<Real>(weights, hidden, in.reading.features()), threads, at<Real>(d_surface),
        at<Real>(gradients[0]), at<Real>(gradients[1]), at<Real>(gradients[2]));
}

template <class Real>
void live_step(
    const EventAddresses& events, int64_t samples, int64_t count, const FieldNumbers& field,
    const ReadingNumbers& reading, double time_scale, const WeightAddresses& weights, int hidden,
    int threads, const std::array<Address, 5>& memory) {
    const SurfaceInput in =
        surface_of(events, samples, count, field, 1, 0, false, reading, time_scale);
    lstm_live_step<Real>(
        in, weights_of<Real>(weights, hidden, in.reading.features()), threads,
        {at<Real>(memory[0]), at<Real>(memory[1]), at<int64_t>(memory[2]), at<int64_t>(memory[3]),
         at<int64_t>(memory[4])});
}

int64_t ecf_decode(
    Address bytes, int64_t size, int64_t capacity, const std::array<Address, 4>& columns) {
    return decode_ecf(
        at<uint8_t>(bytes), size, capacity, at<uint16_t>(columns[0]), at<uint16_t>(columns[1]),
        at<int64_t>(columns[2]), at<uint8_t>(columns[3]));
}

using LayoutNumbers = std::array<int32_t, 6>;  // fields, places of x, y, t and p, power
using ColumnAddresses = std::array<Address, 4>;  // x, y, t, p

std::array<int64_t, 6> text_to_events(
    Address text, int64_t length, bool last, const LayoutNumbers& n, int64_t capacity,
    const ColumnAddresses& out) {
    const TextFound found = parse_events(
        at<char>(text), length, last, {n[0], {n[1], n[2], n[3], n[4]}, n[5]}, capacity,
        {at<int16_t>(out[0]), at<int16_t>(out[1]), at<int64_t>(out[2]), at<uint8_t>(out[3])});
    return {found.consumed,  found.events,         found.bad_lines,
            found.first_bad, found.bad_polarities, found.first_polarity};
}

int64_t events_to_text(const ColumnAddresses& in, int64_t events, bool seconds, Address text) {
    return format_events(
        at<int16_t>(in[0]), at<int16_t>(in[1]), at<int64_t>(in[2]), at<uint8_t>(in[3]), events,
        seconds ? TextStyle::seconds : TextStyle::commas, at<char>(text));
}

}  // namespace

NB_MODULE(_core, m) {
    watch_forks();
    using Free = nb::call_guard<nb::gil_scoped_release>;
    m.def("group", &group, Free());
    m.def("ragged_forward_float", &ragged_forward<float>, Free());
    m.def("ragged_forward_double", &ragged_forward<double>, Free());
    m.def("ragged_backward_float", &ragged_backward<float>, Free());
    m.def("ragged_backward_double", &ragged_backward<double>, Free());
    m.def("surface_forward_float", &surface_forward<float>, Free());
    m.def("surface_forward_double", &surface_forward<double>, Free());
    m.def("surface_backward_float", &surface_backward<float>, Free());
    m.def("surface_backward_double", &surface_backward<double>, Free());
    m.def("large_memory", &large_memory);
    m.def("live_step_float", &live_step<float>, Free());
    m.def("live_step_double", &live_step<double>, Free());
    m.def("ecf_decode", &ecf_decode, Free());
    m.def("isa", &isa);
    m.def("choose_isa", [](const std::string& name) { return choose_isa(name.c_str()); });
    m.def("text_to_events", &text_to_events, Free());
    m.def("events_to_text", &events_to_text, Free());
    m.attr("longest_line") = kLongestLine;
    m.attr("largest_hidden") = kLargestHidden;
    simulator::bind_camera(m);
    filters::bind_filters(m);
    formats::bind_decoders(m);
    simulator::bind_render(m);
}
