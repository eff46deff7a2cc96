// Attention on all the weights:
//   W = softmax(scale q k^T + mask)    dW = Z (dy v^T)    dS = W (dW - sum(dW W))
//   dv = (W Z)^T dy    dq = scale dS k    dk = scale dS^T q    dmask = dS
// with the choice Z of the weights that are kept, which is that of Dropout from the same position.

#include "firn/tensor/ops/attention/attention_weights.h"

#include <array>
#include <limits>

#include "firn/tensor/apply.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

using In = AttentionIn;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The weights of a call and their products, in the compute type, with the heads of q in groups:
// [batch, heads of k, group, length, ...].
class Weights {
 public:
  explicit Weights(GradContext& g) : a_(g.attrs<AttentionAttrs>()) {
    const Tensor &q = g.input(In::kQ), &k = g.input(In::kK), &v = g.input(In::kV);
    groups_ = {q.size(0), k.size(1), k.size(1) == 0 ? 0 : q.size(1) / k.size(1), q.size(2)};
    wide_ = ComputeDType(q.dtype());
    q_ = ByGroups(Cast(q, wide_));
    k_ = Unsqueeze(Cast(k, wide_), 2);
    v_ = Unsqueeze(Cast(v, wide_), 2);
    dy_ = ByGroups(Cast(Permute(g.grad_output(0), {0, 2, 1, 3}), wide_));
    const Tensor scores = Mul(Matmul(q_, k_, false, true), a_.scale);
    weights_ = WeightsOfScores(scores, MaskByGroups(g.input(In::kMask)), a_.causal);
    if (a_.dropout > 0) kept_ = Kept(g.input(In::kPosition));
  }

  void SetGradients(GradContext& g) const {
    const DType dtype = g.input(In::kQ).dtype();
    const auto times_kept = [&](const Tensor& t) { return kept_.defined() ? Mul(t, kept_) : t; };
    if (g.needs(In::kV)) {
      const Tensor dv = Sum(Matmul(times_kept(weights_), dy_, true, false), 2);
      g.set_grad_input(In::kV, Cast(dv, dtype));
    }
    if (!g.needs(In::kQ) && !g.needs(In::kK) && !g.needs(In::kMask)) return;
    const Tensor dweights = times_kept(Matmul(dy_, v_, false, true));
    const Tensor dscores = SoftmaxGrad(dweights, weights_, -1);
    if (g.needs(In::kQ)) {
      const Tensor dq = Mul(Matmul(dscores, k_), a_.scale);
      g.set_grad_input(In::kQ, Cast(Reshape(dq, g.input(In::kQ).shape()), dtype));
    }
    if (g.needs(In::kK)) {
      const Tensor dk = Mul(Sum(Matmul(dscores, q_, true, false), 2), a_.scale);
      g.set_grad_input(In::kK, Cast(dk, dtype));
    }
    if (g.needs(In::kMask)) {  // added up before it is rounded
      g.set_grad_input(In::kMask, Cast(SumTo(ByHeads(dscores), g.input_shape(In::kMask)), dtype));
    }
  }

 private:
  Tensor ByGroups(const Tensor& x) const {
    return Reshape(x, {groups_[0], groups_[1], groups_[2], groups_[3], x.size(3)});
  }
  Tensor ByHeads(const Tensor& x) const {
    return Reshape(x, {groups_[0], groups_[1] * groups_[2], groups_[3], x.size(4)});
  }
  // Adds a dimension for the group of each head of k.
  Tensor MaskByGroups(const Tensor& mask) const {
    if (!mask.defined()) return mask;
    const int64_t source = k_.size(3);
    const Tensor whole = Expand(mask, {groups_[0], groups_[1] * groups_[2], groups_[3], source});
    const Tensor of_scores =
        Reshape(whole, {groups_[0], groups_[1], groups_[2], groups_[3], source});
    return mask.dtype() == DType::kBool ? of_scores : Cast(of_scores, wide_);
  }
  // The factors of the weights that are kept, 0 of those dropped.
  Tensor Kept(const Tensor& position) const {
    const Tensor ones = OnesLike(ByHeads(Detach(weights_)));
    const TensorList kept =
        Apply(TheOp<"dropout">(), {ones, Clone(position)}, DropoutAttrs{a_.dropout});
    return Reshape(kept[0], weights_.shape());
  }

  const AttentionAttrs a_;
  std::array<int64_t, 4> groups_;
  DType wide_;
  Tensor q_, k_, v_, dy_, weights_, kept_;
};

}  // namespace

Tensor WeightsOfScores(const Tensor& scores, const Tensor& mask, bool causal) {
  const auto none = [&] { return FullLike(scores, -kInfinity); };
  Tensor s = scores;
  if (mask.defined()) s = mask.dtype() == DType::kBool ? Where(mask, s, none()) : Add(s, mask);
  if (causal) {
    const auto count = [&](int64_t n) {
      return Arange(int64_t{0}, n, int64_t{1}, {.device = s.device()});
    };
    const Tensor seen = Ge(Unsqueeze(count(s.shape().dim(-2)), 1), count(s.shape().dim(-1)));
    s = Where(seen, s, none());
  }
  if (s.shape().dim(-1) == 0) return s;
  if (!mask.defined()) return Softmax(s, -1);  // every query sees the first key
  const Tensor blind = Eq(Amax(s.Detach(), -1, true), -kInfinity);
  return MaskedFill(Softmax(MaskedFill(s, blind, 0), -1), blind, 0);
}

void SetWrittenGradients(GradContext& g) { Weights(g).SetGradients(g); }

}  // namespace firn
