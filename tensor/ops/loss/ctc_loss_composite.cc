// ctc_loss written with operations, for gradients of its gradient: the forward pass over states of
// ctc_loss_body.h, a step of all samples at a time. Samples have as many states as the longest of
// them (in a capture with labels behind one another, as all together), and keep their values when
// their time is over. It computes in double, like the kernel. States that no path reaches have a
// finite number where the kernel has minus infinity: sums of only such states would have gradients
// of NaN.

#include <algorithm>

#include "firn/device/inner.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/loss/ctc_loss.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/logsumexp.h"
#include "firn/tensor/ops/scan/cumulative.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr double kNever = -1e100;

// A row for each sample, [n, longest], whose unused places are blanks. `lengths`: [n]
Tensor Labels(const Tensor& targets, const Tensor& lengths, int64_t blank) {
  const int64_t n = lengths.size(0);
  const int64_t total = targets.size(-1);
  int64_t longest = total;
  // If labels lie behind one another, a row may have as many as all samples together, because a
  // capture cannot read how many a sample has.
  if (targets.rank() == 1 && n > 0 && inner::ThisThread().capture == nullptr) {
    longest = Amax(lengths).Item<int64_t>();
  }
  const Tensor places = Unsqueeze(
      Arange(int64_t{0}, longest, int64_t{1}, {.dtype = DType::kI64, .device = targets.device()}),
      0);
  Tensor labels = Cast(targets, DType::kI64);
  if (targets.rank() == 1) {  // behind one another
    const Tensor first = Sub(Cumsum(lengths, 0), lengths);
    const Tensor at = Minimum(Add(Unsqueeze(first, 1), places), std::max<int64_t>(total - 1, 0));
    labels = Gather(Expand(Unsqueeze(labels, 0), Shape({n, total}).span()), 1, at);
  }
  return Where(Lt(places, Unsqueeze(lengths, 1)), labels, blank);
}

// The states of all samples, with blanks around labels, and where a path may skip one.
struct States {
  Tensor classes, skip;  // [n, 2 longest + 1]
};
States StatesOf(const Tensor& labels, int64_t blank) {
  const int64_t n = labels.size(0), longest = labels.size(1);
  const auto between = [&](const Tensor& x, const Tensor& rest) {
    const Tensor pairs = Reshape(Stack({Expand(rest, x.shape().span()), x}, 2), {n, 2 * longest});
    return Concat({pairs, Expand(rest, Shape({n, 1}).span())}, 1);
  };
  const Tensor blanks = Full({1, 1}, blank, DType::kI64, labels.device());
  // A path may skip the blank from a label to a different one; there is no such step to the first
  // label.
  const Tensor before = Slice(Pad(labels, {1, 0}, {.value = blank}), 1, 0, longest);
  const Tensor differs = LogicalAnd(Ne(labels, before), Ne(before, blank));
  return {between(labels, blanks),
          between(differs, Full({1, 1}, false, DType::kBool, labels.device()))};
}

}  // namespace

Tensor inner::CtcLossByOperations(const Tensor& log_probs, const Tensor& targets,
                                  const Tensor& input_lengths, const Tensor& target_lengths,
                                  const CtcLossAttrs& attrs) {
  const Device device = log_probs.device();
  const int64_t steps = log_probs.size(0), n = log_probs.size(1);
  const Tensor lengths = Cast(target_lengths, DType::kI64);
  const States states = StatesOf(Labels(targets, lengths, attrs.blank), attrs.blank);
  const int64_t count = states.classes.size(1);

  const Tensor x = Maximum(Cast(log_probs, DType::kF64), kNever);
  // Before time 0 a path stands at the first blank, to which nothing leads: it may stay there.
  Tensor alpha = Pad(Zeros({n, 1}, DType::kF64, device), {0, count - 1}, {.value = kNever});
  for (int64_t t = 0; t < steps; ++t) {
    const Tensor padded = Pad(alpha, {2, 0}, {.value = kNever});
    const Tensor skipped = Where(states.skip, Slice(padded, 1, 0, count), kNever);
    const Tensor ways = Stack({alpha, Slice(padded, 1, 1, count + 1), skipped}, 2);
    const Tensor next = Add(Logsumexp(ways, 2), Gather(Select(x, 0, t), 1, states.classes));
    alpha = Where(Unsqueeze(Gt(input_lengths, t), 1), next, alpha);
  }
  const Tensor last = Unsqueeze(Mul(lengths, 2), 1);
  const Tensor label = Where(Gt(last, 0), Gather(alpha, 1, Maximum(Sub(last, 1), 0)), kNever);
  const Tensor log_share = Logsumexp(Concat({Gather(alpha, 1, last), label}, 1), 1);
  const Tensor never = Lt(log_share, kNever / 2);
  const Tensor loss = Neg(log_share);
  if (attrs.zero_infinity) return Cast(Where(never, 0.0, loss), log_probs.dtype());
  // Makes the gradient of an infinite loss NaN, by 0 / 0 there, and only there.
  const Tensor reached = Cast(LogicalNot(never), DType::kF64);
  return Cast(Mul(loss, Div(reached, reached)), log_probs.dtype());
}

}  // namespace firn
