// Winograd's method transforms its filters before it multiplies, and oneDNN brings weights into the
// layout of its primitive. For a small batch that takes a good part of the time, or most of it.
// Packed weights are bytes that only this process can read: saved graphs have the plain ones.

#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/internal/packed_conv.h"
#include "firn/tensor/kernels/cpu/conv_packed.h"
#include "firn/tensor/kernels/cpu/half.h"

namespace firn::inner::internal {
namespace {

template <ConvPass kPass>
absl::Status Infer(InferContext& c) {
  const auto& a = c.attrs<PackedConvAttrs>();
  const Shape weight(a.weight.span());
  if constexpr (kPass == ConvPass::kForward) {
    FIRN_ASSIGN_OR_RETURN(const ConvProblem p, ConvForward(c.shape(0), weight, a.conv));
    FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(p.batch, p.out, p.out_size));
    c.set_out(0, c.dtype(0), y);
  } else {
    FIRN_ASSIGN_OR_RETURN(const ConvProblem p, ConvBackwardData(c.shape(0), weight, a.conv));
    FIRN_ASSIGN_OR_RETURN(const Shape x, ShapeOfImages(p.batch, p.in, p.in_size));
    c.set_out(0, c.dtype(0), x);
  }
  return absl::OkStatus();
}

template <ConvPass kPass>
OpDef MakeOp(std::string_view name, std::string_view doc, bool bias) {
  OpDef op = {.name = name,
              .doc = doc,
              .inputs = {{.name = "x", .dtypes = kFloating},
                         {.name = "weights", .dtypes = SetOf(DType::kU8)}},
              .outputs = {{.name = "y"}},
              .attrs = AttrsOf<PackedConvAttrs>(),
              .infer = Infer<kPass>,
              .kernels = cpu::PackedConvKernels(kPass)};
  if (bias) op.inputs.push_back({.name = "bias", .optional = true});
  return op;
}

const OpDef& PackedConvOp() {
  static const auto* const op = new OpDef(MakeOp<ConvPass::kForward>(
      "conv_packed", "A convolution whose weight is laid out for its kernel.", true));
  return *op;
}

const OpDef& PackedConvTransposeOp() {
  static const auto* const op = new OpDef(MakeOp<ConvPass::kBackwardData>(
      "conv_transpose_packed", "A transposed convolution whose weight is laid out for its kernel.",
      false));
  return *op;
}

// A copy in f32.
absl::StatusOr<Tensor> Widened(const Tensor& weight) {
  FIRN_ASSIGN_OR_RETURN(Tensor wide, AllocateTensor(TensorSpec::Contiguous(
                                         DType::kF32, weight.shape(), weight.device())));
  cpu::ToFloats(weight.dtype(), weight.impl()->data, weight.num_elements(),
                reinterpret_cast<float*>(wide.impl()->data));
  return wide;
}

}  // namespace

absl::StatusOr<std::optional<PackedCall>> PackConv(const KernelQuery& call, const Kernel& kernel,
                                                   const Tensor& weight) {
  if (kernel.device != DeviceType::kCpu || !weight.is_contiguous()) return std::nullopt;
  FIRN_ASSIGN_OR_RETURN(const cpu::WeightPacking packing, cpu::WeightPackingOf(call, kernel));
  if (packing.bytes == 0) return std::nullopt;
  const bool forward = packing.pass() == ConvPass::kForward;
  const PackedConvAttrs attrs = {call.attrs<ConvAttrs>(), weight.shape().dims(), packing.threads()};
  PackedCall packed{{forward ? &PackedConvOp() : &PackedConvTransposeOp(), Attrs(attrs)}, {}};
  FIRN_ASSIGN_OR_RETURN(packed.packed,
                        AllocateTensor(TensorSpec::Contiguous(
                            DType::kU8, Shape({static_cast<int64_t>(packing.bytes)}), Device())));
  Tensor plain = weight;
  if (packing.in_f32) {
    FIRN_ASSIGN_OR_RETURN(plain, Widened(weight));
  }
  FIRN_RETURN_IF_ERROR(cpu::PackWeight(packing, plain.impl()->data, packed.packed.impl()->data));
  return packed;
}

}  // namespace firn::inner::internal
