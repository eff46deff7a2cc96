#include "benchmarks/sequences.h"

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/nn/recurrent.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/attention/attention.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/split.h"

namespace firn::benchmarks {
namespace {

constexpr int64_t kSteps = 64, kIn = 128, kHidden = 256;
constexpr int64_t kHeads = 8, kLength = 2048, kWidth = 64;

// x: [steps, batch, in]      y: [steps, batch, hidden]
// Parameters in the order of nn::Lstm, which is that of the salts of their values.
class LstmLoop final : public nn::Layer {
 protected:
  Tensor Forward(const Tensor& x) override {
    Tensor h = Zeros({x.size(1), kHidden}, x.dtype(), x.device()), c = h;
    std::vector<Tensor> hs;
    for (int64_t t = 0; t < x.size(0); ++t) {
      const Tensor sums = Linear(Select(x, 0, t), w_ih_, b_ih_) + Linear(h, w_hh_, b_hh_);
      const std::vector<Tensor> gates = Split(sums, kHidden, 1);
      c = Sigmoid(gates[1]) * c + Sigmoid(gates[0]) * Tanh(gates[2]);
      h = Sigmoid(gates[3]) * Tanh(c);
      hs.push_back(h);
    }
    return Stack(hs);
  }

 private:
  Tensor& w_ih_ = AddParameter("weight_ih_l0", Zeros({4 * kHidden, kIn}));
  Tensor& w_hh_ = AddParameter("weight_hh_l0", Zeros({4 * kHidden, kHidden}));
  Tensor& b_ih_ = AddParameter("bias_ih_l0", Zeros({4 * kHidden}));
  Tensor& b_hh_ = AddParameter("bias_hh_l0", Zeros({4 * kHidden}));
};

// q, k, v: [batch, heads, length, width], parameters      y: the same
class Attention final : public nn::Layer {
 public:
  explicit Attention(int64_t batch) : shape_({batch, kHeads, kLength, kWidth}) {}

 protected:
  Tensor Forward(const Tensor& /*x*/) override { return ScaledDotProductAttention(q_, k_, v_); }

 private:
  const Shape shape_;
  Tensor& q_ = AddParameter("q", Zeros(shape_));
  Tensor& k_ = AddParameter("k", Zeros(shape_));
  Tensor& v_ = AddParameter("v", Zeros(shape_));
};

// The mean square of the network's results.
class Square final : public Workload {
 public:
  // `input`: the dimensions of a batch, with a 0 for its size.
  Square(std::unique_ptr<nn::Layer> net, std::vector<int64_t> input,
         StepKind kind = StepKind::kTrain)
      : Workload(std::move(net), kind), input_(std::move(input)) {}

  HashBatch Batch(int64_t step, int64_t n) const override {
    std::vector<int64_t> sizes = input_;
    for (int64_t& size : sizes) size = size == 0 ? n : size;
    const Shape rest(absl::MakeConstSpan(sizes).subspan(1));
    return {BatchOfStep(step, sizes[0], rest).input, Zeros({0}, DType::kI64)};
  }
  Tensor Loss(const Tensor& input, const Tensor& /*labels*/) override {
    const Tensor y = net()(input);
    return Mean(y * y);
  }

 private:
  const std::vector<int64_t> input_;
};

}  // namespace

std::unique_ptr<Workload> MakeLstm() {
  auto net = std::make_unique<nn::Lstm>(nn::LstmOptions{.in = kIn, .hidden = kHidden});
  return std::make_unique<Square>(std::move(net), std::vector<int64_t>{kSteps, 0, kIn});
}

std::unique_ptr<Workload> MakeLstmLoop() {
  return std::make_unique<Square>(std::make_unique<LstmLoop>(),
                                  std::vector<int64_t>{kSteps, 0, kIn});
}

std::unique_ptr<Workload> MakeAttention(int64_t batch) {
  return std::make_unique<Square>(std::make_unique<Attention>(batch), std::vector<int64_t>{0, 1},
                                  StepKind::kDifferentiate);
}

}  // namespace firn::benchmarks
