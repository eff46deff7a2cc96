// Checks of layer options: a layer that could never work is refused where it is made, and not at
// its first call.

#include "firn/nn/sizes.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/problems/images.h"

namespace firn::nn {

void CheckSizes(const char* layer, std::initializer_list<SizeOption> sizes) {
  for (const SizeOption& s : sizes) {
    if (s.value > 0 || (s.may_be_deferred && s.value == 0)) continue;
    RaiseStatus(
        InvalidArgument(s.name, " is ", s.value, " (want a positive number",
                        s.may_be_deferred ? ", or 0 to take it from the first input)" : ")"),
        layer);
  }
}

void CheckRange(const char* where, const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  RaiseStatus(InvalidArgument(name, " is ", value, " (want ", low,
                              std::isinf(high) ? " or more)" : absl::StrCat(" to ", high, ")")),
              where);
}

Sizes SpatialSizes(const char* layer, const char* name, const Sizes& value, int dims) {
  const absl::StatusOr<Sizes> all = inner::internal::FittedOption(name, value, dims);
  RaiseIfError(all.status(), layer);
  return *all;
}

void CheckSpatial(const char* where, const char* name, const Sizes& value, int64_t low) {
  const int dims = std::max(1, value.count());
  RaiseIfError(inner::internal::CheckedOption(name, value, low, dims).status(), where);
}

int64_t Smallest(const Sizes& sizes) {
  return *std::min_element(sizes.span().begin(), sizes.span().end());
}

void CheckGroups(const char* layer, int64_t in, int64_t out, int64_t groups) {
  if (groups > 0 && in % groups == 0 && out % groups == 0) return;
  RaiseStatus(InvalidArgument("groups is ", groups, ", which does not divide ", in, " input and ",
                              out, " output channels"),
              layer);
}

int64_t SizeOfInput(const char* layer, const Tensor& x, int64_t dim) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), layer);
  if (!x.shape().has_dim(dim)) {
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " has no dimension ", dim), layer);
  }
  return x.shape().dim(dim);
}

int64_t KnownSize(const Tensor& t, int64_t dim, int64_t otherwise) {
  return t.defined() && HasShape(t) ? t.size(dim) : otherwise;
}

init::Initializer FanInUniform(int64_t fan_in) {
  const double bound = fan_in == 0 ? 0 : 1 / std::sqrt(static_cast<double>(fan_in));
  return init::Uniform(-bound, bound);
}

}  // namespace firn::nn
