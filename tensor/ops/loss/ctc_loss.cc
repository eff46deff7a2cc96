// ctc_loss: a loss for each sample, by the forward pass over its states (ctc_loss_body.h); the
// reduction is made of operations. Its gradient runs the forward pass again, keeps it for all
// times, and then goes backward: so a loss without a gradient needs only two rows of memory.
// Samples are computed side by side; on the CPU lengths and labels are checked first.

#include "firn/tensor/ops/loss/ctc_loss.h"

#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/composite_gradient.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/loss/ctc_loss_body.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// Checks inputs from `first`, log_probs, on.
absl::Status CheckInputs(const InferContext& c, int first) {
  const Shape &x = c.shape(first), &targets = c.shape(first + 1);
  const int64_t blank = c.attrs<CtcLossAttrs>().blank;
  FIRN_RETURN_IF(
      targets.rank() == 2 && targets[0] != x[1],
      InvalidArgument("targets ", targets.ToString(), " must have a row for each of the ", x[1],
                      " samples of log_probs ", x.ToString()));
  for (int i : {first + 2, first + 3}) {
    FIRN_RETURN_IF(c.shape(i)[0] != x[1],
                   InvalidArgument(i == first + 2 ? "input_lengths " : "target_lengths ",
                                   c.shape(i).ToString(), " must have a number for each of the ",
                                   x[1], " samples of log_probs ", x.ToString()));
  }
  FIRN_RETURN_IF(blank < 0 || blank >= x[2],
                 InvalidArgument("blank ", blank, " is none of the ", x[2], " classes"));
  return absl::OkStatus();
}

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckInputs(c, 0));
  c.set_out(0, c.dtype(0), Shape({c.shape(0)[1]}));
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckInputs(c, 1));
  FIRN_RETURN_IF(c.shape(0)[0] != c.shape(1)[1],
                 InvalidArgument("dy must have a number for each of the ", c.shape(1)[1],
                                 " samples, got ", c.shape(0).ToString()));
  c.set_out_like(0, 1);
  return absl::OkStatus();
}

absl::Status CheckLabels(const ctc::Inputs& in, int64_t n, int64_t first, int64_t length) {
  for (int64_t j = 0; j < length; ++j) {
    const int64_t label = in.targets[first + j];
    FIRN_RETURN_IF(label < 0 || label >= in.classes,
                   OutOfRange("label ", label, " at place ", j, " of sample ", n,
                              " is outside [0, ", in.classes, ")"));
    FIRN_RETURN_IF(label == in.blank,
                   OutOfRange("label ", label, " at place ", j, " of sample ", n, " is the blank"));
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const ctc::Inputs& in) {
  int64_t sum = 0;
  for (int64_t n = 0; n < in.samples; ++n) {
    const int64_t steps = in.input_lengths[n], length = in.target_lengths[n];
    const int64_t most = in.padded ? in.longest() : in.labels - sum;
    FIRN_RETURN_IF(steps < 0 || steps > in.steps, OutOfRange("input length ", steps, " of sample ",
                                                             n, " is outside [0, ", in.steps, "]"));
    FIRN_RETURN_IF(length < 0 || length > most, OutOfRange("target length ", length, " of sample ",
                                                           n, " is outside [0, ", most, "]"));
    FIRN_RETURN_IF_ERROR(CheckLabels(in, n, in.padded ? n * most : sum, length));
    sum += length;
  }
  FIRN_RETURN_IF(
      !in.padded && sum != in.labels,
      InvalidArgument("target_lengths add up to ", sum, " for ", in.labels, " labels of targets"));
  return absl::OkStatus();
}

// A sample for each step of a loop over all of them.
template <class Body>
struct OneEach {
  Body body;
  void operator()(int64_t n) const { body(ctc::Alone(), n); }
  int64_t cost() const { return body.cost(); }
};
template <class Body>
void ForEachSample(const Body& body) {
  cpu::ForEach(body.in.samples, OneEach<Body>{body});
}

ctc::Ranges<CheckedRange> RangesOf(const ctc::Inputs& in) {
  return {{in.steps + 1}, {in.longest() + 1}, {in.classes}};
}

size_t Workspace(const KernelQuery& q) {
  return ctc::RowBytes(q.in(1), q.in(0).shape[1], ctc::LossBody<float, CheckedRange>::kRows);
}

absl::Status Run(KernelContext& k) {
  const ctc::Inputs in(k, 0);
  FIRN_RETURN_IF_ERROR(CheckValues(in));
  const bool zero_infinity = k.attrs<CtcLossAttrs>().zero_infinity;
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const ctc::LossBody<T, CheckedRange> body = {in,         RangesOf(in),          k.in<T>(0),
                                                 k.out<T>(), k.workspace<double>(), zero_infinity};
    ForEachSample(body);
  });
  return absl::OkStatus();
}

size_t WorkspaceGrad(const KernelQuery& q) {
  const Shape& x = q.in(1).shape;
  return ctc::RowBytes(q.in(2), x[1], ctc::GradBody<float, CheckedRange>::Rows(x[0]));
}

absl::Status RunGrad(KernelContext& k) {
  const ctc::Inputs in(k, 1);
  FIRN_RETURN_IF_ERROR(CheckValues(in));
  const bool zero_infinity = k.attrs<CtcLossAttrs>().zero_infinity;
  VisitFloat(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    const ctc::GradBody<T, CheckedRange> body = {
        in, RangesOf(in), k.in<T>(0), k.in<T>(1), k.out<T>(), k.workspace<double>(), zero_infinity};
    ForEachSample(body);
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  if (!g.needs(0)) return;
  if (GradEnabled()) {
    return CompositeGradient(g, [&](const std::vector<Tensor>& in) {
      return CtcLossByOperations(in[0], in[1], in[2], in[3], g.attrs<CtcLossAttrs>());
    });
  }
  g.set_grad_input(0, Apply1(TheOp<"ctc_loss_grad">(),
                             {g.grad_output(), g.input(0), g.input(1), g.input(2), g.input(3)},
                             g.attrs<CtcLossAttrs>()));
}

ArgDecl LogProbs() {
  return {.name = "log_probs", .dtypes = kFloating, .min_rank = 3, .max_rank = 3};
}
ArgDecl Lengths(std::string_view name) {
  return {.name = name, .dtypes = kIndex, .min_rank = 1, .max_rank = 1};
}
ArgDecl Targets() { return {.name = "targets", .dtypes = kIndex, .min_rank = 1, .max_rank = 2}; }

FIRN_REGISTER_OP(ctc_loss) {
  return {
      .doc = "Minus the log probability of each target, over all its alignments.",
      .autocast = Autocast::kFull,
      .inputs = {LogProbs(), Targets(), Lengths("input_lengths"), Lengths("target_lengths")},
      .outputs = {{.name = "loss"}},
      .attrs = AttrsOf<CtcLossAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2), Saved::Input(3)},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

FIRN_REGISTER_OP(ctc_loss_grad) {
  ArgDecl log_probs = LogProbs();
  log_probs.same_dtype_as = "dy";
  return {
      .doc = "The gradient of ctc_loss in log_probs. Not differentiable.",
      .inputs = {{.name = "dy", .dtypes = kFloating, .min_rank = 1, .max_rank = 1},
                 log_probs,
                 Targets(),
                 Lengths("input_lengths"),
                 Lengths("target_lengths")},
      .outputs = {{.name = "dlog_probs"}},
      .attrs = AttrsOf<CtcLossAttrs>(),
      .infer = InferGrad,
      .kernels = {{.name = "loop", .workspace = WorkspaceGrad, .run = RunGrad}},
  };
}

}  // namespace

void CtcLossOptions::Check(const char* where) const {
  if (blank < 0) RaiseStatus(OutOfRange("blank is ", blank, ", which is no class"), where);
  CheckLossReduction(reduction, where);
}

Tensor CtcLoss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
               const Tensor& target_lengths, const CtcLossOptions& options) {
  const OpDef& op = TheOp<"ctc_loss">();
  CheckDefined(log_probs, op.name, "log_probs");
  CheckDefined(targets, op.name, "targets");
  CheckDefined(input_lengths, op.name, "input_lengths");
  CheckDefined(target_lengths, op.name, "target_lengths");
  CheckLossReduction(options.reduction, "ctc_loss");
  const bool single = log_probs.rank() == 2;
  const auto batch = [&](const Tensor& x, int64_t dim) { return single ? Unsqueeze(x, dim) : x; };
  const auto lengths = [](const Tensor& x) { return x.rank() == 0 ? Unsqueeze(x, 0) : x; };
  const Tensor target_sizes = lengths(target_lengths);
  const Tensor losses =
      Apply1(op, {batch(log_probs, 1), batch(targets, 0), lengths(input_lengths), target_sizes},
             CtcLossAttrs{options.blank, options.zero_infinity});
  if (options.reduction == Reduction::kNone) return single ? Squeeze(losses, 0) : losses;
  if (options.reduction == Reduction::kSum) return Sum(losses);
  return Mean(Div(losses, Cast(Clamp(target_sizes, 1), losses.dtype())));
}

}  // namespace firn
