#include "tests/fuzz/run.h"

#include <limits>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/network/definition.h"
#include "firn/device/cpu_allocator.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::testing {
namespace {

constexpr size_t kMaxTensorBytes = size_t{32} << 20;
constexpr int64_t kMaxElements = 4096;
constexpr int64_t kOpenSize = 2;

Shape ShapeOf(const autograd::NetworkPort& port) {
  if (!port.dims) return Shape({kOpenSize, 3});
  std::vector<int64_t> sizes;
  for (const autograd::NetworkDim& dim : *port.dims) sizes.push_back(dim.size.value_or(kOpenSize));
  return Shape(sizes);
}

void Backward(const TensorList& results) {
  Tensor sum;
  for (const Tensor& result : results) {
    if (!result.defined() || !result.requires_grad()) continue;
    sum = sum.defined() ? Add(sum, Mean(result)) : Mean(result);
  }
  if (sum.defined()) sum.Backward();
}

}  // namespace

TensorLimit::TensorLimit() { CpuAllocator().SetLimit(kMaxTensorBytes); }
TensorLimit::~TensorLimit() { CpuAllocator().SetLimit(std::nullopt); }

std::optional<Tensor> InputOf(const Shape& shape, DType dtype, bool extreme) {
  if (shape.num_elements() > kMaxElements) return std::nullopt;
  const auto n = static_cast<size_t>(shape.num_elements());
  if (IsFloating(dtype)) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kExtreme[] = {std::numeric_limits<float>::quiet_NaN(),
                                  kInfinity,
                                  -kInfinity,
                                  1e30f,
                                  -1e30f,
                                  0,
                                  1e-40f,
                                  -3e9f};
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) {
      values[i] = extreme ? kExtreme[i % std::size(kExtreme)] : 0.25f * static_cast<float>(i) - 1;
    }
    return FromVector(values, shape).To(dtype);
  }
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = -kMost - 1;
  constexpr int64_t kExtreme[] = {-1, kMost, kLeast, 127, -128, 1 << 20, int64_t{1} << 40};
  std::vector<int64_t> values(n);
  for (size_t i = 0; i < n; ++i) {
    values[i] = extreme ? kExtreme[i % std::size(kExtreme)] : static_cast<int64_t>(i % 3);
  }
  return FromVector(values, shape).To(dtype);
}

bool Runs(const Network& network) {
  const TensorLimit limit;
  bool ran = false;
  for (const bool extreme : {false, true}) {
    try {
      TensorList inputs;
      for (const autograd::NetworkPort& port : network.inputs()) {
        const auto input = InputOf(ShapeOf(port), port.dtype.value_or(DType::kF32), extreme);
        if (!input) return false;
        inputs.push_back(*input);
      }
      const TensorList results = network.Call(inputs);
      ran = true;
      if (!extreme) Backward(results);
    } catch (const Error&) {
    }
  }
  return ran;
}

bool Runs(StaticGraph& graph) {
  const TensorLimit limit;
  bool ran = false;
  for (const bool extreme : {false, true}) {
    try {
      TensorList inputs;
      for (const inner::ValueId id : graph.captured().inputs) {
        const TensorSpec& spec = graph.captured().value(id).spec;
        const auto input = InputOf(spec.shape, spec.dtype, extreme);
        if (!input) return false;
        inputs.push_back(*input);
      }
      graph.Call(inputs);
      ran = true;
    } catch (const Error&) {
    }
  }
  return ran;
}

}  // namespace firn::testing
