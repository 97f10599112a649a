#include "data/simulator/native/bindings.h"

#include <nanobind/stl/array.h>

#include <array>
#include <cstdint>

#include "data/simulator/native/camera.h"

namespace nb = nanobind;

namespace evsurf::simulator {

namespace {

using Address = uintptr_t;

template <class T>
T* at(Address a) {
    return reinterpret_cast<T*>(a);
}

}  // namespace

void bind_camera(nb::module_& m) {
    using Free = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Camera>(m, "Camera")
        .def("__init__",
             [](Camera* self, int32_t height, int32_t width, const std::array<double, 8>& numbers, bool hold,
                bool settled, int32_t hot_pixels, const std::array<double, 2>& hot_hz, uint64_t seed) {
                 new (self) Camera(CameraSettings{
                     height, width, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], hold, settled,
                     numbers[5], numbers[6], numbers[7], hot_pixels, hot_hz[0], hot_hz[1], seed});
             })
        .def("start", [](Camera& c, Address intensity, double t) { c.start(at<float>(intensity), t); }, Free())
        .def("step",
             [](Camera& c, Address intensity, double t, int threads) {
                 return c.step(at<float>(intensity), t, threads);
             },
             Free())
        .def("take",
             [](const Camera& c, Address x, Address y, Address t, Address p, Address exact_t) {
                 c.take(at<int16_t>(x), at<int16_t>(y), at<int64_t>(t), at<uint8_t>(p), at<double>(exact_t));
             })
        .def("state", [](const Camera& c, Address reference, Address light, Address on, Address off) {
            c.state(at<double>(reference), at<double>(light), at<double>(on), at<double>(off));
        });
}

}  // namespace evsurf::simulator
