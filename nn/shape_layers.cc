// Checks of the sizes that need no input.

#include "firn/nn/shape_layers.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::nn {

void UnflattenOptions::Check(const char* where) const {
  const bool sound = !sizes.empty() && *std::min_element(sizes.begin(), sizes.end()) >= -1 &&
                     std::count(sizes.begin(), sizes.end(), -1) <= 1;
  if (sound) return;
  RaiseStatus(InvalidArgument("sizes is [", absl::StrJoin(sizes, ", "),
                              "] (want numbers of elements, one of which may be -1)"),
              where);
}

}  // namespace firn::nn
