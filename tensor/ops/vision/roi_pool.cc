// roi_pool, and where its maxima lie in x seen as a line. The gradient adds dy up there, in a line
// with one more element for the bins that have no maximum.

#include "firn/tensor/ops/vision/roi_pool.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/in_float.h"
#include "firn/tensor/ops/vision/roi_pool_body.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

absl::Status InferRoiPool(InferContext& c) {
  const RoiPoolAttrs& a = c.attrs<RoiPoolAttrs>();
  const Shape &x = c.shape(0), &boxes = c.shape(1);
  FIRN_RETURN_IF(x.rank() != 4 || x[2] == 0 || x[3] == 0 || boxes.rank() != 2 || boxes[1] != 5,
                 InvalidArgument("expected x [n, c, h, w] with h and w above 0 and boxes [k, 5], "
                                 "got ",
                                 x.ToString(), " and ", boxes.ToString()));
  const bool sizes = a.output_size.Fits(2) && a.output_size[0] > 0 && a.output_size[1] > 0;
  FIRN_RETURN_IF(!sizes, InvalidArgument("output_size must be one or two numbers above 0, got ",
                                         a.output_size.ToString()));
  FIRN_RETURN_IF(!(std::abs(a.spatial_scale) <= 1e30),
                 InvalidArgument("spatial_scale ", a.spatial_scale, " is not finite"));
  FIRN_ASSIGN_OR_RETURN(const Shape shape,
                        Shape::Make({boxes[0], x[1], a.output_size[0], a.output_size[1]}));
  c.set_out(0, c.dtype(0), shape);
  c.set_out(1, DType::kI64, shape);
  return absl::OkStatus();
}

void GradRoiPool(GradContext& g) {
  if (!g.needs(0)) return;
  const TensorSpec& x = g.input_spec(0);
  const int64_t size = x.shape.num_elements();
  const Tensor line = ScatterAdd(Zeros({size + 1}, x.dtype, x.device), 0, Flatten(g.output(1)),
                                 Flatten(g.grad_output()));
  g.set_grad_input(0, Reshape(Slice(line, 0, 0, size), x.shape));
}

FIRN_REGISTER_OP(roi_pool) {
  return {
      .doc = "The maxima of x in the bins of boxes, and where they lie.",
      .inputs = {{.name = "x", .dtypes = kStatistics, .min_rank = 4, .max_rank = 4},
                 {.name = "boxes", .same_dtype_as = "x", .min_rank = 2, .max_rank = 2}},
      .outputs = {{.name = "y"}, {.name = "indices", .constant = true}},
      .attrs = AttrsOf<RoiPoolAttrs>(),
      .infer = InferRoiPool,
      .grad = GradRoiPool,
      .saves = {Saved::Output(1)},
      .kernels = cpu::Portable<RoiPoolKernel>(),
  };
}

}  // namespace

Tensor RoiPool(const Tensor& x, const Tensor& boxes, const Sizes& output_size, Real spatial_scale) {
  CheckDefined(x, "roi_pool");
  CheckDefined(boxes, "roi_pool", "boxes");
  const RoiPoolAttrs attrs{output_size, spatial_scale};
  return InFloat({x, boxes}, [&](const std::vector<Tensor>& in) {
    return Apply(TheOp<"roi_pool">(), {in[0], in[1]}, attrs)[0];
  });
}

}  // namespace firn
