// Winograd's method transforms its filters before it multiplies, which for a small batch takes
// longer than the rest. oneDNN's packed weights are not kept: their layout depends on the number of
// threads.

#include "firn/tensor/internal/packed_conv.h"

#include "firn/device/simd.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/kernels/cpu/winograd.h"

namespace firn::inner::internal {
namespace {

struct PackedConvAttrs {
  int64_t out_channels = 0, kernel = 3;
  template <class V>
  void Visit(V& v) {
    v.Field("out_channels", out_channels);
    v.Field("kernel", kernel);
  }
};

WinogradShape ShapeOf(const Shape& x, const PackedConvAttrs& a) {
  return {x[0], x[1], a.out_channels, x[2], x[3], static_cast<int>(a.kernel)};
}

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  const auto& a = c.attrs<PackedConvAttrs>();
  const int64_t want = WinogradFilterFloats(ShapeOf(x, a));
  FIRN_RETURN_IF(c.shape(1).num_elements() != want,
                 InvalidArgument("packed weights ", c.shape(1).ToString(), ", want ", want));
  c.set_out_blocked(0, c.dtype(0), Shape({x[0], a.out_channels, x[2], x[3]}), kChannelBlock);
  return absl::OkStatus();
}

void Layouts(const KernelQuery& /*q*/, LayoutRequest& want) {
  want.in[0] = want.out[0] = kChannelBlock;
}

size_t Workspace(const KernelQuery& q) {
  return WinogradFilteredWorkspace(ShapeOf(q.in(0).shape, q.attrs<PackedConvAttrs>()));
}

absl::Status Run(KernelContext& k) {
  WinogradForwardFiltered(ShapeOf(k.in_spec(0).shape, k.attrs<PackedConvAttrs>()), k.in<float>(0),
                          k.in<float>(1), k.in<float>(2), k.out<float>(), k.workspace());
  return absl::OkStatus();
}

const OpDef& PackedConvOp() {
  static const auto* const op = new OpDef{
      .name = "conv2d_packed",
      .doc = "conv2d whose weights are laid out for its kernel.",
      .inputs = {{.name = "x"}, {.name = "weights"}, {.name = "bias", .optional = true}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<PackedConvAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "winograd", .workspace = Workspace, .layouts = Layouts, .run = Run}}};
  return *op;
}

}  // namespace

absl::StatusOr<std::optional<PackedCall>> PackConv2d(const KernelQuery& call, const Kernel& kernel,
                                                     const Tensor& weight) {
  if (kernel.name != "winograd" || !weight.is_contiguous()) return std::nullopt;
  const Shape& w = weight.shape();
  const PackedConvAttrs attrs{w[0], w[2]};
  const WinogradShape shape = ShapeOf(call.in(0).shape, attrs);
  const TensorSpec spec =
      TensorSpec::Contiguous(DType::kF32, Shape({WinogradFilterFloats(shape)}), Device());
  PackedCall packed{{&PackedConvOp(), Attrs(attrs)}, {}};
  FIRN_ASSIGN_OR_RETURN(packed.packed, AllocateTensor(spec));
  WinogradTransformFilters(shape, reinterpret_cast<const float*>(weight.impl()->data),
                           reinterpret_cast<float*>(packed.packed.impl()->data));
  return packed;
}

}  // namespace firn::inner::internal
