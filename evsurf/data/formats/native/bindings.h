// The decoders' part of the core's Python face.
#pragma once

#include <nanobind/nanobind.h>

namespace evsurf {
namespace formats {

void bind_decoders(nanobind::module_& m);

}  // namespace formats
}  // namespace evsurf
