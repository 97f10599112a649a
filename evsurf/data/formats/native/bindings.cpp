// Decoders as Python objects. Bytes and columns come as addresses, which the caller has checked.
#include "bindings.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "decoder.h"

namespace nb = nanobind;

namespace evsurf {
namespace formats {

namespace {

using Address = uintptr_t;

Layout layout_named(const std::string& name) {
    static const std::pair<const char*, Layout> known[] = {
        {"dat", Layout::dat},     {"evt2", Layout::evt2},
        {"evt21", Layout::evt21}, {"evt21_swapped", Layout::evt21_swapped},
        {"evt3", Layout::evt3},   {"atis", Layout::atis},
    };
    for (const auto& [text, layout] : known) {
        if (name == text) return layout;
    }
    throw std::invalid_argument("no layout is called " + name);
}

static_assert(std::is_trivially_copyable_v<State>);

class EventDecoder {
public:
    EventDecoder(const std::string& layout, int height, int width, bool keep_unsorted, int64_t position)
        : layout_(layout_named(layout)), stream_{{width, height, keep_unsorted}, {}, {}} {
        stream_.state.position = position;
    }

    // Bytes taken and events written.
    std::pair<int64_t, int64_t> decode(
        Address bytes, int64_t length, const std::array<Address, 4>& xytp, int64_t capacity) {
        Columns out{reinterpret_cast<int16_t*>(xytp[0]), reinterpret_cast<int16_t*>(xytp[1]),
                    reinterpret_cast<int64_t*>(xytp[2]), reinterpret_cast<uint8_t*>(xytp[3]),
                    capacity};
        const int64_t taken = formats::decode(
            layout_, stream_, reinterpret_cast<const uint8_t*>(bytes), length, out);
        return {taken, out.count};
    }

    void finish() { formats::finish(layout_, stream_); }

    int64_t most_events(Address bytes, int64_t length) const {
        return formats::most_events(layout_, reinterpret_cast<const uint8_t*>(bytes), length);
    }

    // Name, count and first byte of what was wrong since the last call, in the order of the bytes.
    std::vector<std::tuple<std::string, int64_t, int64_t>> take_findings() {
        std::vector<std::tuple<std::string, int64_t, int64_t>> found;
        const Findings& all = stream_.findings;
        for (int v = 0; v < kViolations; ++v) {
            if (all.count[v] == 0) continue;
            found.emplace_back(violation_name(Violation(v)), all.count[v], all.first[v]);
        }
        std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
            return std::get<2>(a) < std::get<2>(b);
        });
        stream_.findings = {};
        return found;
    }

    nb::bytes state() const { return nb::bytes(&stream_.state, sizeof(State)); }

    void restore(const nb::bytes& state) {
        if (state.size() != sizeof(State)) throw std::invalid_argument("no state of a decoder");
        std::memcpy(&stream_.state, state.data(), sizeof(State));
    }

    int64_t position() const { return stream_.state.position; }
    int64_t latest() const { return stream_.state.latest; }
    int64_t triggers() const { return stream_.state.triggers; }

private:
    Layout layout_;
    Stream stream_;
};

}  // namespace

void bind_decoders(nb::module_& m) {
    using Free = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<EventDecoder>(m, "EventDecoder")
        .def(nb::init<const std::string&, int, int, bool, int64_t>())
        .def("decode", &EventDecoder::decode, Free())
        .def("finish", &EventDecoder::finish)
        .def("most_events", &EventDecoder::most_events, Free())
        .def("take_findings", &EventDecoder::take_findings)
        .def("state", &EventDecoder::state)
        .def("restore", &EventDecoder::restore)
        .def_prop_ro("position", &EventDecoder::position)
        .def_prop_ro("latest", &EventDecoder::latest)
        .def_prop_ro("triggers", &EventDecoder::triggers);
    m.attr("decoder_slack") = kSlack;
}

}  // namespace formats
}  // namespace evsurf
