// The product is taken in double and rounded to float once, as NumPy does.
#include "benchmarks/hash_values.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/norm.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"

namespace firn::benchmarks {
namespace {

constexpr uint64_t kInputSalt = 1000, kLabelSalt = 2000;
constexpr int64_t kBatches = 2;
constexpr double kInputScale = 2;

// G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators", 2014.
uint64_t SplitMix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

uint64_t Hash(int64_t i, uint64_t salt) {
  return SplitMix64((salt << 32) + static_cast<uint64_t>(i));
}

// The parameter's own name, without those of its modules.
std::string NameOf(const std::string& parameter) {
  return parameter.substr(parameter.rfind('.') + 1);
}
std::string OwnerOf(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? "" : parameter.substr(0, dot);
}

}  // namespace

Tensor HashValues(const Shape& shape, uint64_t salt, double scale) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(shape.num_elements()));
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const auto bits = static_cast<double>(Hash(i, salt) >> 40);
    values.push_back(static_cast<float>((bits * 0x1p-24 - 0.5) * scale));
  }
  return FromVector(std::move(values), shape);
}

Tensor HashLabels(const Shape& shape, uint64_t salt, uint64_t classes) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    labels.push_back(static_cast<int64_t>(Hash(i, salt) % classes));
  }
  return FromVector(std::move(labels), shape);
}

HashBatch BatchOfStep(int64_t step, int64_t n, const Shape& input_shape) {
  const auto turn = static_cast<uint64_t>(step % kBatches);
  std::vector<int64_t> sizes = {n};
  sizes.insert(sizes.end(), input_shape.begin(), input_shape.end());
  return {HashValues(Shape(sizes), kInputSalt + turn, kInputScale),
          HashLabels({n}, kLabelSalt + turn)};
}

Tensor TokensOfStep(int64_t step, const Shape& shape, int64_t tokens) {
  return HashLabels(shape, kInputSalt + static_cast<uint64_t>(step % kBatches),
                    static_cast<uint64_t>(tokens));
}

void FillParameters(nn::Module& net) {
  const NoGradScope no_grad;
  std::set<std::string> norms;
  for (const auto& [name, module] : net.named_modules()) {
    if (dynamic_cast<const nn::BatchNorm2d*>(module) != nullptr ||
        dynamic_cast<const nn::LayerNorm*>(module) != nullptr) {
      norms.insert(name);
    }
  }
  uint64_t salt = 0;
  double fan_in = 1;  // of the latest weight, which a bias shares
  for (NamedTensor& p : net.named_parameters()) {
    const bool weight = NameOf(p.name).starts_with("weight");
    if (norms.contains(OwnerOf(p.name))) {
      p.tensor.Fill(weight ? 1 : 0);
    } else {
      const Shape& shape = p.tensor.shape();
      if (weight) fan_in = static_cast<double>(shape.num_elements() / shape[0]);
      p.tensor.CopyFrom(HashValues(shape, salt, 2 / std::sqrt(fan_in)));
    }
    ++salt;
  }
}

}  // namespace firn::benchmarks
