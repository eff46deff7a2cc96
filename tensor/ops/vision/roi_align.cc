// roi_align and its adjoint, which are each other's gradients: boxes count as constants.

#include "firn/tensor/ops/vision/roi_align.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/vision/in_float.h"
#include "firn/tensor/ops/vision/roi_align_cpu_body.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

// The shape of the result, of the shapes of x and the boxes.
absl::StatusOr<Shape> AlignedShape(const Shape& x, const Shape& boxes, const RoiAlignAttrs& a) {
  FIRN_RETURN_IF(x.rank() != 4 || x[2] == 0 || x[3] == 0 || boxes.rank() != 2 || boxes[1] != 5,
                 InvalidArgument("expected x [n, c, h, w] with h and w above 0 and boxes [k, 5], "
                                 "got ",
                                 x.ToString(), " and ", boxes.ToString()));
  const bool sizes = a.output_size.Fits(2) && a.output_size[0] > 0 && a.output_size[1] > 0;
  FIRN_RETURN_IF(!sizes, InvalidArgument("output_size must be one or two numbers above 0, got ",
                                         a.output_size.ToString()));
  FIRN_RETURN_IF(!(std::abs(a.spatial_scale) <= 1e30),
                 InvalidArgument("spatial_scale ", a.spatial_scale, " is not finite"));
  FIRN_RETURN_IF(a.sampling_ratio > kMostRoiSamples,
                 InvalidArgument("sampling_ratio must be ", kMostRoiSamples, " at most, got ",
                                 a.sampling_ratio));
  return Shape::Make({boxes[0], x[1], a.output_size[0], a.output_size[1]});
}

absl::Status InferRoiAlign(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape,
                        AlignedShape(c.shape(0), c.shape(1), c.attrs<RoiAlignAttrs>()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status InferRoiAlignGrad(InferContext& c) {
  const RoiAlignGradAttrs& a = c.attrs<RoiAlignGradAttrs>();
  FIRN_ASSIGN_OR_RETURN(const Shape x, Shape::Make(a.x.span()));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, AlignedShape(x, c.shape(1), a));
  FIRN_RETURN_IF(c.shape(0) != shape,
                 InvalidArgument("dy ", c.shape(0).ToString(), ", want ", shape.ToString()));
  c.set_out(0, c.dtype(0), x);
  return absl::OkStatus();
}

void GradRoiAlign(GradContext& g) {
  if (!g.needs(0)) return;
  RoiAlignGradAttrs a;
  static_cast<RoiAlignAttrs&>(a) = g.attrs<RoiAlignAttrs>();
  a.x = g.input_shape(0).dims();
  g.set_grad_input(0, RoiAlignGrad(g.grad_output(), g.input(1), a));
}
void GradRoiAlignGrad(GradContext& g) {
  if (!g.needs(0)) return;
  const RoiAlignAttrs& a = g.attrs<RoiAlignGradAttrs>();
  g.set_grad_input(0, Apply1(TheOp<"roi_align">(), {g.grad_output(), g.input(1)}, a));
}

// The shape of x in a call of either operation, and its other parts.
template <class T>
RoiAlignShape<T> ProblemOf(const KernelQuery& q, bool gradient) {
  const RoiAlignAttrs& a = gradient ? q.attrs<RoiAlignGradAttrs>() : q.attrs<RoiAlignAttrs>();
  return {gradient ? q.out().shape : q.in(0).shape, q.in(1).shape, a};
}

// Boxes with many bins on large images would have tables far larger than what they save.
template <bool kGradient>
absl::Status SupportsTables(const KernelQuery& q) {
  constexpr size_t kMostShares = size_t{1} << 18;
  const auto s = ProblemOf<float>(q, kGradient);
  using Shares = cpu::RoiShares<float>;
  FIRN_RETURN_IF(Shares::Room(s.a, s.bins_h, s.h) > kMostShares ||
                     Shares::Room(s.a, s.bins_w, s.w) > kMostShares,
                 Unimplemented("tables of so many bins"));
  return absl::OkStatus();
}

template <bool kGradient>
size_t TablesWorkspace(const KernelQuery& q) {
  size_t bytes = 0;
  const absl::Status status = VisitRoi(q.in(0).dtype, [&]<class T>(TypeTag<T>) {
    const auto s = ProblemOf<T>(q, kGradient);
    const int64_t work = (kGradient ? s.n : s.k) * s.c;
    bytes = static_cast<size_t>(cpu::NumParts(work, cpu::kRoiChannels)) * cpu::RoiGrid<T>::Bytes(s);
    return absl::OkStatus();
  });
  return status.ok() ? bytes : 0;
}

absl::Status RunTables(KernelContext& k) {
  return VisitRoi(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::RoiAlignParts(
        RoiAlignShape<T>(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<RoiAlignAttrs>()),
        k.in<T>(0), k.in<T>(1), k.out<T>(), k.workspace<char>());
    return absl::OkStatus();
  });
}
absl::Status RunGradTables(KernelContext& k) {
  return VisitRoi(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::RoiAlignGradParts(
        RoiAlignShape<T>(k.out_spec().shape, k.in_spec(1).shape, k.attrs<RoiAlignGradAttrs>()),
        k.in<T>(0), k.in<T>(1), k.out<T>(), k.workspace<char>());
    return absl::OkStatus();
  });
}

template <bool kGradient>
Kernel Tables() {
  return {.name = "tables",
          .supports = SupportsTables<kGradient>,
          .workspace = TablesWorkspace<kGradient>,
          .run = kGradient ? RunGradTables : RunTables};
}

FIRN_REGISTER_OP(roi_align) {
  return {
      .doc = "Means of bilinear samples of x in the bins of boxes.",
      .inputs = {{.name = "x", .dtypes = kStatistics, .min_rank = 4, .max_rank = 4},
                 {.name = "boxes", .same_dtype_as = "x", .min_rank = 2, .max_rank = 2}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<RoiAlignAttrs>(),
      .infer = InferRoiAlign,
      .grad = GradRoiAlign,
      .saves = {Saved::Input(1)},
      .kernels = cpu::Portable<RoiAlignKernel>({.name = "loop"}, {Tables<false>()}),
  };
}

FIRN_REGISTER_OP(roi_align_grad) {
  return {
      .doc = "The adjoint of roi_align.",
      .inputs = {{.name = "dy", .dtypes = kStatistics, .min_rank = 4, .max_rank = 4},
                 {.name = "boxes", .same_dtype_as = "dy", .min_rank = 2, .max_rank = 2}},
      .outputs = {{.name = "dx"}},
      .attrs = AttrsOf<RoiAlignGradAttrs>(),
      .infer = InferRoiAlignGrad,
      .grad = GradRoiAlignGrad,
      .saves = {Saved::Input(1)},
      .kernels = cpu::Portable<RoiAlignGradKernel>({.name = "loop"}, {Tables<true>()}),
  };
}

}  // namespace

Tensor inner::RoiAlignGrad(const Tensor& dy, const Tensor& boxes, const RoiAlignGradAttrs& attrs) {
  return Apply1(TheOp<"roi_align_grad">(), {dy, boxes}, attrs);
}

Tensor RoiAlign(const Tensor& x, const Tensor& boxes, const Sizes& output_size,
                const RoiAlignOptions& o) {
  CheckDefined(x, "roi_align");
  CheckDefined(boxes, "roi_align", "boxes");
  return ApplyInFloat(TheOp<"roi_align">(), {x, boxes},
                      RoiAlignAttrs{output_size, o.spatial_scale, o.sampling_ratio, o.aligned});
}

}  // namespace firn
