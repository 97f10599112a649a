// The Python face of the filters.
#pragma once

#include <nanobind/nanobind.h>

namespace evsurf::filters {

void bind_filters(nanobind::module_& m);

}  // namespace evsurf::filters
