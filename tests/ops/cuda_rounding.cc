#include "tests/ops/cuda_rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "tests/ops/compare.h"
#include "tests/ops/on_device.h"

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

bool IsAllRounding(std::string_view op, std::string_view kernel, DType dtype) {
  return (dtype == DType::kF32 || op == "slogdet" || op == "qr" || op == "svd") &&
         (kernel == "cufft" || kernel.starts_with("cusolver") || kernel == "cublas" ||
          kernel == "cublas_batched");
}

void ExpectSameAsOfCopies(const OpDef& on_device, const LayoutVariant& v, Device device) {
  const Outcome got = Run(on_device, OnDevice(v.call, device));
  const Outcome want = Run(on_device, OnDevice(v.plain, device));
  ASSERT_TRUE(got.status.ok() && want.status.ok()) << got.error << want.error;
  for (size_t i = 0; i < want.results.size(); ++i) {
    const Tensor g = got.results[i].To(Device::Cpu()), w = want.results[i].To(Device::Cpu());
    EXPECT_TRUE(Near(g, w, {})) << "result " << i << ", which is that of copies";
  }
}

}  // namespace firn::testing
