// One number stands for a pair in each dimension.

#include "firn/nn/padding.h"

#include "absl/strings/str_cat.h"
#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"

namespace firn::nn {

void CheckPadding(const char* where, int dims, const std::vector<int64_t>& padding) {
  const auto sides = 2 * static_cast<size_t>(dims);
  if (padding.size() == 1 || padding.size() == sides) return;
  RaiseStatus(InvalidArgument("padding must have 1 number or ", sides, ", got ", padding.size()),
              where);
}

Tensor PadLast(const char* layer, const Tensor& x, int dims, const std::vector<int64_t>& padding,
               const PadOptions& options) {
  const std::string name = absl::StrCat("nn::", layer);
  CheckDefined(x, name, "x");
  if (x.rank() < dims) {
    RaiseStatus(
        InvalidArgument("x must have at least ", dims, " dimensions, got ", x.shape().ToString()),
        name);
  }
  if (padding.size() != 1) return Pad(x, padding, options);
  return Pad(x, std::vector<int64_t>(2 * static_cast<size_t>(dims), padding[0]), options);
}

}  // namespace firn::nn
