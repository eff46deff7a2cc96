// int_conv2d and the operations that read its sums, a few images at a time: oneDNN computes their
// sums, channels-last, and these go through the other operations (sums_body.h) while they are in
// cache. Weights are laid out once.

#include "firn/tensor/ops/quantize/finished_conv.h"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/kernels/cpu/conv_bytes.h"
#include "firn/tensor/ops/quantize/sums_body.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn {
namespace {

struct In {
  enum : int { kX, kWeights, kScale, kBias, kOther, kStep, kZero };
};

struct FinishedConvAttrs {
  std::shared_ptr<const cpu::ByteSums> conv;
  bool relu = false, numbers = false, bytes = false;  // the results, in this order
  QuantizeAttrs quantize;
  template <class V>
  void Visit(V& v) {
    v.Field("relu", relu);
    v.Field("numbers", numbers);
    v.Field("bytes", bytes);
    v.Field("dtype", quantize.dtype);
  }
};

absl::Status Infer(InferContext& c) {
  const auto& a = c.attrs<FinishedConvAttrs>();
  const ConvProblem& p = cpu::ByteSumsProblem(*a.conv);
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(p.batch, p.out, p.out_size));
  if (a.numbers) c.set_out(0, DType::kF32, y);
  if (a.bytes) c.set_out(a.numbers ? 1 : 0, a.quantize.dtype, y);
  return absl::OkStatus();
}

absl::Status Prepare(const KernelQuery& q, Prepared& answer) {
  std::shared_ptr<const cpu::ByteSums> conv = cpu::ForThreadsNow(q.attrs<FinishedConvAttrs>().conv);
  answer.layouts.in[In::kX] = ChannelsLastBlock(q.in(In::kX).shape);
  const int32_t last = ChannelsLastBlock(q.out().shape);
  if (q.has(In::kOther)) answer.layouts.in[In::kOther] = last;
  std::fill(answer.layouts.out.begin(), answer.layouts.out.end(), last);
  answer.workspace = cpu::ByteSumsWorkspace(*conv);
  answer.state = std::move(conv);
  return absl::OkStatus();
}

template <class Q>
absl::Status RunTo(KernelContext& k) {
  const auto& a = k.attrs<FinishedConvAttrs>();
  const auto& conv = k.state<cpu::ByteSums>();
  const int64_t channels = cpu::ByteSumsProblem(conv).out;
  const cpu::NumbersOfSums numbers{k.in<float>(In::kScale), k.in<float>(In::kBias),
                                   k.in<float>(In::kOther), a.relu,
                                   a.numbers ? k.out<float>(0) : nullptr};
  const cpu::BytesOfNumbers<Q> bytes{
      QuantizeElement<float, Q>(a.quantize), a.bytes ? *k.in<float>(In::kStep) : 1,
      a.bytes ? *k.in<int32_t>(In::kZero) : 0, a.bytes ? k.out<Q>(a.numbers ? 1 : 0) : nullptr};
  const int64_t grain = std::max<int64_t>(1, 16384 / channels);
  return cpu::RunByteSums(conv, k.in<void>(In::kX), k.in<void>(In::kWeights), k.workspace(),
                          [&](int64_t first, int64_t pixels, const int32_t* sums) {
                            ParallelFor(pixels, grain, [&](int64_t begin, int64_t end) {
                              cpu::SumTiles(numbers, channels)
                                  .Run((first + begin) * channels, (first + end) * channels,
                                       sums + begin * channels, bytes);
                            });
                          });
}

absl::Status Run(KernelContext& k) {
  const DType dtype = k.attrs<FinishedConvAttrs>().quantize.dtype;
  return dtype == DType::kU8 ? RunTo<uint8_t>(k) : RunTo<int8_t>(k);
}

const OpDef& FinishedConvOp(bool both) {
  static const auto* const ops = [] {
    auto* made = new std::vector<OpDef>;
    for (const size_t results : {1u, 2u}) {
      OpDef op = {.name = "finished_conv2d",
                  .doc = "int_conv2d, and what its sums become.",
                  .inputs = {{.name = "x"},
                             {.name = "weights"},
                             {.name = "scale"},
                             {.name = "bias", .optional = true},
                             {.name = "other", .optional = true},
                             {.name = "step", .optional = true},
                             {.name = "zero_point", .optional = true}},
                  .attrs = AttrsOf<FinishedConvAttrs>(),
                  .infer = Infer,
                  .kernels = {{.name = "onednn", .run = Run, .prepare = Prepare}}};
      op.outputs.assign(results, {.name = "y"});
      made->push_back(std::move(op));
    }
    return made;
  }();
  return (*ops)[both ? 1 : 0];
}

}  // namespace

absl::StatusOr<std::optional<PackedCall>> inner::FinishIntConv2d(const KernelQuery& call,
                                                                 const FinishedSums& sums) {
  const TensorSpec &x = call.in(0), &w = call.in(2);
  if (!x.device.is_cpu() || w.dtype != DType::kI8 || !sums.weight.is_contiguous())
    return std::nullopt;
  const ConvProblem p = ConvProblemOf(x.shape, w.shape, call.out().shape, call.attrs<ConvAttrs>());
  auto conv = cpu::MakeByteSums(p, x.dtype, sums.x_zero.Item<int32_t>());
  if (!conv.ok()) return std::nullopt;
  const auto bytes = static_cast<int64_t>(cpu::PackedWeightBytes(**conv));
  const TensorSpec packed = TensorSpec::Contiguous(DType::kI8, Shape({bytes}), x.device);
  PackedCall result;
  FIRN_ASSIGN_OR_RETURN(result.packed, AllocateTensor(packed));
  FIRN_RETURN_IF_ERROR(cpu::PackWeights(**conv,
                                        reinterpret_cast<const int8_t*>(sums.weight.impl()->data),
                                        result.packed.impl()->data));
  FinishedConvAttrs attrs{
      *std::move(conv), sums.relu, sums.numbers, sums.quantize.data() != nullptr, {}};
  if (attrs.bytes) attrs.quantize = sums.quantize.get<QuantizeAttrs>();
  result.call = {&FinishedConvOp(attrs.numbers && attrs.bytes), Attrs(attrs)};
  return result;
}

}  // namespace firn
