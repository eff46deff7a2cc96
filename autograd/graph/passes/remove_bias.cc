// Let y = x + b be what the batch norm normalises, and x what it shall normalise instead.
// Its result and 1 / std are those of x; its mean is larger by b. The gradient sees y and the mean
// only as y - mean. So b can go if nothing but the batch norm and its gradients reads y, and
// nothing but these the mean.
//
// The gradient: dx = w invstd (dz - mean(dz) - xhat mean(dz xhat)), and both dz - mean(dz) and xhat
// add up to zero over a channel.

#include "autograd/graph/passes/remove_bias.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "autograd/graph/passes/channel_source.h"
#include "autograd/graph/passes/rewrite.h"
#include "device/status_macros.h"
#include "tensor/dispatch.h"
#include "tensor/ops/create/constant.h"
#include "tensor/ops/norm/norm_options.h"
#include "tensor/ops/reduce/reduce_attrs.h"

namespace firn {
namespace {

bool IsBatchNorm(const Instr& instr) {
  return instr.op->name == "batch_norm_train" || instr.op->name == "batch_norm_act_train";
}

// Positions among the arguments of batch_norm_grad, and of batch_norm_train.
constexpr size_t kGradX = 1, kGradMean = 4, kRunningMean = 3;
// Of the bias of convolutions and linear.
constexpr size_t kBias = 2;

class BiasRemoval {
 public:
  explicit BiasRemoval(Graph& graph) : graph_(graph), uses_(graph) {}

  absl::Status Run(PassReport& report) {
    const size_t count = graph_.instrs.size();
    std::vector<ValueId> removed(count, kNoValue);  // by batch norm: the bias before it
    std::vector<bool> zero(count, false);
    for (size_t at = 0; at < count; ++at) {
      zero[at] = IsZeroSum(graph_.instrs[at]);
      const std::optional<size_t> source = SourceOf(at);
      if (!source) continue;
      report.Add(absl::StrCat("the bias of ", Describe(graph_.instrs[*source])));
      removed[at] = std::exchange(graph_.instrs[*source].in[kBias], kNoValue);
    }
    std::vector<Instr> old = std::move(graph_.instrs);
    std::vector<Instr> instrs;
    for (size_t at = 0; at < count; ++at) {
      const Instr norm = old[at];
      if (zero[at]) {
        report.Add(absl::StrCat("the gradient of a bias: ", Describe(norm)));
        instrs.push_back(ZerosFor(norm));
        continue;
      }
      instrs.push_back(std::move(old[at]));
      if (removed[at] != kNoValue) {
        FIRN_RETURN_IF_ERROR(AddToRunningMean(norm, removed[at], &instrs));
      }
    }
    graph_.instrs = std::move(instrs);
    return absl::OkStatus();
  }

 private:
  // The operation whose bias batch norm `at` makes needless.
  std::optional<size_t> SourceOf(size_t at) const {
    const Instr& norm = graph_.instrs[at];
    if (!IsBatchNorm(norm) || !OnlyDifferencesSeen(at)) return {};
    const auto source = FindChannelSource(graph_, uses_, norm.in[0], /*alone=*/true);
    if (!source) return {};
    const Instr& maker = graph_.instrs[source->maker];
    const bool linear =
        maker.op->name == "linear" && graph_.value(maker.out[0]).spec.shape.rank() == 2;
    if ((!IsConvolution(maker) && !linear) || maker.in[kBias] == kNoValue) return {};
    if (!UnchangedBetween(graph_, uses_, maker.in[kBias], source->maker, at)) return {};
    return source->maker;
  }

  // True if nothing reads what batch norm `at` normalises, nor its mean, but itself and gradients
  // that read both.
  bool OnlyDifferencesSeen(size_t at) const {
    const ValueId x = graph_.instrs[at].in[0], mean = graph_.instrs[at].out[1];
    if (uses_.leaves(x) || uses_.leaves(mean)) return false;
    if (graph_.buffer_of(mean).kind != Buffer::Kind::kTemp) return false;
    if (uses_.changed(graph_.value(mean).buffer)) return false;
    for (ValueId id : {x, mean}) {
      for (size_t reader : uses_.readers(id)) {
        if (reader != at && !IsGradient(graph_.instrs[reader], x, mean)) return false;
      }
    }
    return true;
  }

  static bool IsGradient(const Instr& instr, ValueId x, ValueId mean) {
    return instr.op->name == "batch_norm_grad" && instr.in[kGradX] == x &&
           instr.in[kGradMean] == mean;
  }

  // True for a sum over each channel of a batch norm's dx.
  bool IsZeroSum(const Instr& instr) const {
    if (!SumsChannels(instr)) return false;
    const auto source = FindChannelSource(graph_, uses_, instr.in[0], /*alone=*/false);
    if (!source) return false;
    const Instr& grad = graph_.instrs[source->maker];
    if (grad.op->name != "batch_norm_grad" || source->result != grad.out[0]) return false;
    const size_t norm = uses_.maker(grad.in[kGradMean]);
    return norm != Uses::kNone && IsBatchNorm(graph_.instrs[norm]) &&
           graph_.instrs[norm].in[0] == grad.in[kGradX];
  }

  bool SumsChannels(const Instr& instr) const {
    if (instr.op->name == "channel_sum") return true;
    if (instr.op->name != "sum" || graph_.value(instr.in[0]).spec.shape.rank() != 2) return false;
    const DimList& dims = instr.attrs.ref().get<ReduceAttrs>().dims;
    return dims.size() == 1 && (dims[0] == 0 || dims[0] == -2);
  }

  Instr ZerosFor(const Instr& sum) const {
    const OpDef& op = TheOp<"full">();
    const TensorSpec& spec = graph_.value(sum.out[0]).spec;
    Instr zeros = sum;
    zeros.op = &op;
    zeros.attrs =
        Attrs(FullAttrs{spec.shape.dims(), 0, spec.dtype, spec.device.type, spec.device.index});
    zeros.in.clear();
    return zeros;
  }

  absl::Status AddToRunningMean(const Instr& norm, ValueId bias, std::vector<Instr>* instrs) {
    const ValueId running = norm.in[kRunningMean];
    if (running == kNoValue) return absl::OkStatus();
    const NoGradScope no_grad;
    const NoCaptureScope no_capture;
    const TensorSpec& spec = graph_.value(bias).spec;
    const double momentum = norm.attrs.ref().get<BatchNormAttrs>().momentum;
    const ValueId factor = AddConstant(graph_, Full(Shape(), momentum, spec.dtype, spec.device));
    Emitter emit(graph_, norm, instrs);
    FIRN_ASSIGN_OR_RETURN(const ValueId shift, emit.Call(Op("mul"), {bias, factor}));
    return emit.Call(Op("accumulate"), {running, shift}).status();
  }

  Graph& graph_;
  const Uses uses_;
};

}  // namespace

absl::StatusOr<PassReport> RemoveBiasBeforeBatchNorm(Graph& graph) {
  PassReport report{.pass = "remove_bias_before_batch_norm"};
  FIRN_RETURN_IF_ERROR(BiasRemoval(graph).Run(report));
  return report;
}

}  // namespace firn
