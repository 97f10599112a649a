// The Python face of the simulator.
#pragma once

#include <nanobind/nanobind.h>

namespace evsurf::simulator {

void bind_camera(nanobind::module_& m);
void bind_render(nanobind::module_& m);

}  // namespace evsurf::simulator
