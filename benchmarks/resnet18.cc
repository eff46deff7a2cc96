// A unit that widens halves the picture.
#include "benchmarks/resnet18.h"

#include <cstdint>

#include "firn/tensor/ops/reduce/sum.h"

namespace firn::benchmarks {

Resnet18::Resnet18() {
  int64_t in = 64;
  for (const int64_t width : {64, 128, 256, 512}) {
    units_.Append({.in = in, .out = width, .stride = width == in ? 1 : 2});
    units_.Append({.in = width, .out = width});
    in = width;
  }
}

Tensor Resnet18::Forward(const Tensor& x) {
  Tensor h = bn1_(conv1_(x));  // the norm applies relu
  for (size_t i = 0; i < units_.size(); ++i) h = units_[i](h);
  return fc_(Mean(h, {2, 3}));
}

}  // namespace firn::benchmarks
