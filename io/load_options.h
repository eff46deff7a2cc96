#ifndef FIRN_IO_LOAD_OPTIONS_H_
#define FIRN_IO_LOAD_OPTIONS_H_

#include <functional>
#include <string_view>

#include "firn/io/load_limits.h"

namespace firn::io {

// Options for reading a file of named tensors. A plain value.
struct LoadOptions {
  LoadLimits limits = {};
  // Which entries are read, by their names in the StateDict; empty: all. Only the
  // places of the other entries are read, so a file may also hold text and the like there:
  //   io::Load("net.h5", {.want = [](std::string_view name) { return name != "version"; }})
  std::function<bool(std::string_view name)> want = {};
};

}  // namespace firn::io

#endif  // FIRN_IO_LOAD_OPTIONS_H_
