#include "tests/ops/cuda_rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/reduce/extreme.h"

namespace firn::testing {

void ExpectNearInTf32(const Tensor& got, const Tensor& want) {
  const std::vector<double> g = got.ToVector<double>(), w = want.ToVector<double>();
  double error = 0, size = 0, largest = 0;
  for (const double v : w) {
    ASSERT_TRUE(std::isfinite(v)) << "samples of products are finite";
    size += v * v;
    largest = std::max(largest, std::abs(v));
  }
  for (size_t i = 0; i < w.size(); ++i) {
    EXPECT_LE(std::abs(g[i] - w[i]), std::ldexp(largest, -8)) << i;
    error += (g[i] - w[i]) * (g[i] - w[i]);
  }
  EXPECT_LE(std::sqrt(error), std::ldexp(std::sqrt(size), -9));
}

double RoundingBeforeBias(std::string_view kernel, const Call& call, const Tensor& want) {
  const bool half = IsFloating(want.dtype()) && SizeOf(want.dtype()) == 2;
  const bool biased = call.inputs.size() > 2 && call.inputs[2].defined();
  if (!half || !biased || !kernel.starts_with("cudnn")) return 0;
  const double largest = Amax(Abs(want)).Item() + Amax(Abs(call.inputs[2])).Item();
  return std::ldexp(largest, want.dtype() == DType::kBF16 ? -8 : -11);
}

}  // namespace firn::testing
