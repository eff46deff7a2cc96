// Let y = x + b be what the batch norm normalises, and x what it shall normalise instead.
// Its result and 1 / std are those of x; its mean is larger by b. The gradient sees y and the mean
// only as y - mean. So b can go if nothing but the batch norm and its gradients reads y, and
// nothing but these the mean.
//
// The gradient: dx = w invstd (dz - mean(dz) - xhat mean(dz xhat)), and both dz - mean(dz) and xhat
// add up to zero over a channel.

#include "firn/autograd/graph/passes/remove_bias.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/passes/channel_source.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn {
namespace {

const std::optional<Centring>& CentringOf(const Instr& instr) {
  return TraitsOf(*instr.op).centring;
}
const std::optional<CentringGradient>& CentringGradientOf(const Instr& instr) {
  return TraitsOf(*instr.op).centring_gradient;
}

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
      removed[at] = std::exchange(BiasOf(graph_.instrs[*source]), kNoValue);
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
  // Requires: a ChannelMapOf the operation.
  ValueId& BiasOf(Instr& instr) const { return instr.in[ChannelMapOf(graph_, instr)->bias]; }

  // The operation whose bias batch norm `at` makes needless. Shifts of operations that only scale
  // are left to FoldBatchNorm.
  std::optional<size_t> SourceOf(size_t at) const {
    const Instr& norm = graph_.instrs[at];
    const std::optional<Centring>& centring = CentringOf(norm);
    if (!centring || !OnlyDifferencesSeen(at, *centring)) return {};
    const auto source = FindChannelSource(graph_, uses_, norm.in[centring->x], /*alone=*/true);
    if (!source) return {};
    const Instr& maker = graph_.instrs[source->maker];
    const ChannelMap* map = ChannelMapOf(graph_, maker);
    if (map == nullptr || map->scales_alone || maker.in[map->bias] == kNoValue) return {};
    if (!UnchangedBetween(graph_, uses_, maker.in[map->bias], source->maker, at)) return {};
    return source->maker;
  }

  // True if nothing reads what batch norm `at` normalises, nor its mean, but itself and gradients
  // that read both.
  bool OnlyDifferencesSeen(size_t at, const Centring& centring) const {
    const Instr& norm = graph_.instrs[at];
    const ValueId x = norm.in[centring.x], mean = norm.out[centring.mean];
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
    const std::optional<CentringGradient>& grad = CentringGradientOf(instr);
    return grad && instr.in[grad->x] == x && instr.in[grad->mean] == mean;
  }

  // True for a sum over each channel of a batch norm's dx.
  bool IsZeroSum(const Instr& instr) const {
    if (!SumsChannels(instr)) return false;
    const auto source = FindChannelSource(graph_, uses_, instr.in[0], /*alone=*/false);
    if (!source) return false;
    const Instr& maker = graph_.instrs[source->maker];
    const std::optional<CentringGradient>& grad = CentringGradientOf(maker);
    if (!grad || source->result != maker.out[grad->dx]) return false;
    const size_t at = uses_.maker(maker.in[grad->mean]);
    if (at == Uses::kNone) return false;
    const Instr& norm = graph_.instrs[at];
    const std::optional<Centring>& centring = CentringOf(norm);
    return centring && norm.in[centring->x] == maker.in[grad->x] &&
           norm.out[centring->mean] == maker.in[grad->mean];
  }

  bool SumsChannels(const Instr& instr) const {
    const auto sums = TraitsOf(*instr.op).sums_channels;
    return sums != nullptr && sums(instr.attrs.ref(), graph_.value(instr.in[0]).spec.shape);
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
    const Centring& centring = *CentringOf(norm);
    const ValueId running = norm.in[centring.running_mean];
    if (running == kNoValue) return absl::OkStatus();
    const NoGradScope no_grad;
    const NoCaptureScope no_capture;
    const TensorSpec spec = graph_.value(running).spec;
    const double momentum = centring.momentum(norm.attrs.ref());
    const ValueId factor = AddConstant(graph_, Full(Shape(), momentum, spec.dtype, spec.device));
    Emitter emit(graph_, norm, instrs);
    FIRN_ASSIGN_OR_RETURN(bias, emit.As(spec.dtype, bias));
    FIRN_ASSIGN_OR_RETURN(const ValueId shift, emit.Call(TheOp<"mul">(), {bias, factor}));
    return emit.Call(TheOp<"accumulate">(), {running, shift}).status();
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
