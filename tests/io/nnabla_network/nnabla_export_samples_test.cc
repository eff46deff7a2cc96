// Every sample of every operation that NNabla's files can say: read again, it gives what it gave.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "firn/autograd/network/definition.h"
#include "firn/autograd/network/network.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "tests/io/nnabla_network/nnabla_samples.h"

namespace firn::testing {
namespace {

// Compositions of f32 functions, of up to some thirty roundings each.
constexpr double kTolerance = 1e-5;

bool AnyOf(const std::vector<Tensor>& tensors, Tensor (*what)(const Tensor&)) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& x) { return Any(what(x)).Item<bool>(); });
}

// NNabla does not define comparisons with a NaN, numbers that an integer does not hold, and the
// order of the largest numbers if it is not asked for.
bool IsOpen(const NnablaSample& sample) {
  const std::string op = sample.name.substr(0, sample.name.find('.'));
  const auto is_nan = [](const Tensor& x) { return Isnan(x); };
  const auto is_large = [](const Tensor& x) { return Gt(Abs(x), Tensor(1e9)); };
  return sample.draws || op == "topk" || AnyOf(sample.inputs, is_nan) ||
         (op == "cast" && AnyOf(sample.inputs, is_large));
}

// How far two ways to add up the products of a transform may be apart. In the file it is a product
// with a matrix of numbers up to 1: N 2^-24 of the sum of their sizes for N products (N. Higham,
// "Accuracy and Stability of Numerical Algorithms", section 3.1), at most those of the whole input.
double RoundingOf(const NnablaSample& sample) {
  const std::string op = sample.name.substr(0, sample.name.find('.'));
  if (!op.ends_with("fft") || sample.inputs[0].num_elements() == 0) return 0;
  const Tensor& x = sample.inputs[0];
  return static_cast<double>(x.num_elements()) * 0x1p-24 * Sum(Abs(x)).Item<double>();
}

// The first difference; "" if there is none.
std::string Difference(const NnablaSample& sample) {
  const Network network = io::ImportNnabla(sample.path).executors.at(0).network;
  const TensorList results = network.Call(sample.inputs);
  const double rounding = RoundingOf(sample);
  for (const auto& [name, want] : sample.outputs) {
    size_t at = 0;
    while (at < results.size() && network.outputs()[at].name != name) ++at;
    if (at == results.size()) return "there is no " + name;
    const Tensor& got = results[at];
    if (got.shape() != want.shape()) return name + " is " + got.shape().ToString();
    if (IsOpen(sample)) continue;
    const std::vector<double> x = got.To(DType::kF64).ToVector<double>(),
                              y = want.To(DType::kF64).ToVector<double>();
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k]))) continue;
      if (!(std::abs(x[k] - y[k]) <= kTolerance * (1 + std::abs(y[k])) + rounding)) {
        return name + " has " + std::to_string(x[k]) + ", not " + std::to_string(y[k]);
      }
    }
  }
  return "";
}

TEST(NnablaExportSamples, ComeBackWithTheirResults) {
  const NoGradScope no_grad;
  std::map<std::string, int> equal;
  ForEachNnablaSample(::testing::TempDir(), false, [&](const NnablaSample& sample) {
    if (sample.path.empty()) return;
    std::string difference;
    try {
      difference = Difference(sample);
    } catch (const Error& error) {
      difference = error.what();
    }
    EXPECT_EQ(difference, "") << sample.name;
    if (difference.empty()) ++equal[sample.name.substr(0, sample.name.find('.'))];
  });
  std::cout << equal.size() << " operations and composites have equal results\n";
  EXPECT_GE(equal.size(), 150u);
}

}  // namespace
}  // namespace firn::testing
