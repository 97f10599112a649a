#include "data/filters/native/bindings.h"

#include <nanobind/stl/array.h>

#include <array>
#include <cstdint>

#include "data/filters/native/filters.h"

namespace nb = nanobind;

namespace evsurf::filters {

namespace {

using Address = uintptr_t;

template <class T>
T* at(Address a) {
    return reinterpret_cast<T*>(a);
}

using StreamAddresses = std::array<Address, 4>;  // x, y, t, offsets

Stream stream_of(const StreamAddresses& a, int64_t samples, const std::array<int32_t, 2>& size) {
    return {at<int16_t>(a[0]), at<int16_t>(a[1]), at<int64_t>(a[2]), at<int64_t>(a[3]),
            samples, size[0], size[1]};
}

}  // namespace

void bind_filters(nb::module_& m) {
    using Free = nb::call_guard<nb::gil_scoped_release>;
    m.def(
        "keep_supported",
        [](const StreamAddresses& events, int64_t samples, const std::array<int32_t, 2>& size, int32_t radius,
           int64_t duration, bool anew, Address last, Address keep) {
            keep_supported(
                stream_of(events, samples, size), radius, duration, anew, at<int64_t>(last), at<uint8_t>(keep));
        },
        Free());
    m.def(
        "keep_rested",
        [](const StreamAddresses& events, int64_t samples, const std::array<int32_t, 2>& size, int64_t period,
           bool anew, Address last, Address keep) {
            keep_rested(stream_of(events, samples, size), period, anew, at<int64_t>(last), at<uint8_t>(keep));
        },
        Free());
}

}  // namespace evsurf::filters
