#include "data/simulator/native/bindings.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <vector>

#include "data/simulator/native/camera.h"
#include "data/simulator/native/render.h"

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

// numbers: focal lengths, centre, axes row by row, position, sky.
void bind_render(nb::module_& m) {
    m.attr("rectangle_bytes") = sizeof(Rectangle);
    m.def(
        "render",
        [](std::array<int32_t, 3> shape, const std::array<double, 17>& numbers, Address rectangles,
           int32_t count, const std::vector<std::array<Address, 4>>& textures, int threads, Address intensity,
           Address depth, Address seen) {
            View view{shape[0], shape[1], {numbers[0], numbers[1]}, {numbers[2], numbers[3]}, {}, {},
                      numbers[16], shape[2]};
            for (size_t k = 0; k < 9; ++k) view.axes[k] = numbers[4 + k];
            for (size_t k = 0; k < 3; ++k) view.position[k] = numbers[13 + k];
            std::vector<Texture> all;
            for (const auto& t : textures)
                all.push_back({at<const float>(t[0]), at<const float>(t[1]), int32_t(t[2]), int32_t(t[3])});
            render(view, at<const Rectangle>(rectangles), count, all.data(), threads, at<float>(intensity),
                   at<double>(depth), at<int16_t>(seen));
        },
        nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace evsurf::simulator
