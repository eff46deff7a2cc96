// Recurrent layers on a CUDA device: each layer and direction is one operation by cuDNN, forward
// and backward, with the results and the gradients of the CPU; without cuDNN they are computed by
// other operations.

#include "firn/tensor/ops/recurrent/rnn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/recurrent/gru.h"
#include "firn/tensor/ops/recurrent/lstm.h"
#include "tests/device/fake_libraries.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

// Counts calls of operations, by name.
class Calls final : public inner::ApplyObserver {
 public:
  Calls() : before_(inner::ThisThread().observer) { inner::ThisThread().observer = this; }
  ~Calls() override { inner::ThisThread().observer = before_; }
  void AfterApply(const inner::OpDef& op, absl::Span<const TensorRef>, inner::AttrsRef,
                  absl::Span<const Tensor>) override {
    ++count_[std::string(op.name)];
  }
  int of(const std::string& op) { return count_[op]; }

 private:
  inner::ApplyObserver* const before_;
  std::map<std::string, int> count_;
};

struct Network {
  int64_t gates;
  std::vector<RecurrentWeights> weights;
  RecurrentOptions options;
  std::vector<int64_t> batch_sizes;  // empty: x is [steps, batch, in]
};

Tensor Draw(const Shape& shape) { return Rand(shape, -0.7, 0.7, DType::kF64); }

// Two layers in two directions; with `projected`, an lstm with a projection.
Network TwoLayers(int64_t gates, int64_t in, bool projected, std::vector<int64_t> batch_sizes) {
  constexpr int64_t kHidden = 4;
  const int64_t state = projected ? 3 : kHidden;
  Network n{gates, {}, {.bidirectional = true}, std::move(batch_sizes)};
  for (int i = 0; i < 4; ++i) {
    n.weights.push_back({Draw({gates * kHidden, i < 2 ? in : 2 * state}),
                         Draw({gates * kHidden, state}), Draw({gates * kHidden}),
                         Draw({gates * kHidden}), projected ? Draw({state, kHidden}) : Tensor()});
  }
  return n;
}

// The results of the network on the device, and then the gradients of all its inputs.
std::vector<Tensor> RunOn(const Network& n, const Tensor& given, Device device) {
  std::vector<Tensor> leaves = {given.To(device)};
  std::vector<RecurrentWeights> weights;
  for (const RecurrentWeights& w : n.weights) {
    RecurrentWeights there;
    for (const auto part :
         {&RecurrentWeights::w_ih, &RecurrentWeights::w_hh, &RecurrentWeights::b_ih,
          &RecurrentWeights::b_hh, &RecurrentWeights::w_hr}) {
      if (!(w.*part).defined()) continue;
      there.*part = (w.*part).To(device);
      leaves.push_back(there.*part);
    }
    weights.push_back(std::move(there));
  }
  for (Tensor& t : leaves) t.SetRequiresGrad();
  const Tensor& x = leaves[0];
  const PackedSequence packed{x, n.batch_sizes};
  std::vector<Tensor> results;
  if (n.gates == 4 && n.batch_sizes.empty()) {
    const LstmResult r = Lstm(x, {}, weights, n.options);
    results = {r.y, r.state.h, r.state.c};
  } else if (n.gates == 4) {
    const PackedLstmResult r = Lstm(packed, {}, weights, n.options);
    results = {r.y.data, r.state.h, r.state.c};
  } else if (n.batch_sizes.empty()) {
    const RecurrentResult r =
        n.gates == 3 ? Gru(x, {}, weights, n.options) : Rnn(x, {}, weights, n.options);
    results = {r.y, r.h_n};
  } else {
    const PackedRecurrentResult r =
        n.gates == 3 ? Gru(packed, {}, weights, n.options) : Rnn(packed, {}, weights, n.options);
    results = {r.y.data, r.h_n};
  }
  GradOptions options;
  for (const Tensor& r : results) options.seeds.push_back(r.Detach());
  for (Tensor& g : Grad(results, leaves, options)) results.push_back(std::move(g));
  return results;
}

void ExpectNear(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].shape(), want[i].shape()) << i;
    const std::vector<double> g = got[i].To(Device::Cpu()).ToVector<double>();
    const std::vector<double> w = want[i].ToVector<double>();
    for (size_t j = 0; j < w.size(); ++j) {
      ASSERT_LE(std::abs(g[j] - w[j]), 1e-10) << i << ", element " << j;
    }
  }
}

class CudaRnnTest : public testing::CudaTest {};

TEST_F(CudaRnnTest, IsOneOperationALayerAndDirection) {
  const FakeLibraries libraries(fake_);
  ManualSeed(3);
  for (const int64_t gates : {1, 3, 4}) {
    for (const bool projected : {false, true}) {
      if (projected && gates != 4) continue;
      for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{}, {3, 3, 1}}) {
        const Network n = TwoLayers(gates, 5, projected, sizes);
        const Tensor x = sizes.empty() ? Draw({4, 3, 5}) : Draw({7, 5});
        Calls calls;
        const std::vector<Tensor> got = RunOn(n, x, device_);
        EXPECT_EQ(calls.of("recurrent_layer"), 4);
        EXPECT_EQ(calls.of("recurrent_layer_grad"), 4);
        ExpectNear(got, RunOn(n, x, Device::Cpu()));
        EXPECT_EQ(calls.of("recurrent_layer"), 4) << "the CPU has operations of its own";
      }
    }
  }
}

TEST_F(CudaRnnTest, IsOtherOperationsWithoutTheLibrary) {
  if (fake_ == nullptr) GTEST_SKIP() << "a GPU has it";
  ManualSeed(4);
  const Network n = TwoLayers(3, 5, false, {});
  const Tensor x = Draw({2, 3, 5});
  Calls calls;
  const std::vector<Tensor> got = RunOn(n, x, device_);
  EXPECT_EQ(calls.of("recurrent_layer"), 0);
  ExpectNear(got, RunOn(n, x, Device::Cpu()));
}

}  // namespace
}  // namespace firn
