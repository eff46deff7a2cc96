// searchsorted: binary searches.
//
// isin: sorts the values to look for, and compares each element with the one that a search finds.

#include "firn/tensor/ops/scan/search.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/scan/search_body.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status InferSearchsorted(InferContext& c) {
  const Shape &sorted = c.shape(0), &values = c.shape(1);
  bool fits = sorted.rank() == 1 || sorted.rank() == values.rank();
  for (int d = 0; fits && sorted.rank() > 1 && d + 1 < sorted.rank(); ++d) {
    fits = sorted[d] == values[d];
  }
  FIRN_RETURN_IF(!fits,
                 InvalidArgument("sorted ", sorted.ToString(), " and values ", values.ToString(),
                                 " must agree but for the last "
                                 "dimension, or sorted be 1-D"));
  c.set_out(0, DType::kI64, values);
  return absl::OkStatus();
}

FIRN_REGISTER_OP(searchsorted) {
  return {
      .doc = "Where values may be inserted into what is sorted. Not differentiable.",
      .inputs = {{.name = "sorted", .min_rank = 1}, {.name = "values", .same_dtype_as = "sorted"}},
      .outputs = {{.name = "indices"}},
      .attrs = AttrsOf<SearchsortedAttrs>(),
      .infer = InferSearchsorted,
      .kernels = cpu::Portable<SearchsortedKernel>(),
  };
}

}  // namespace

Tensor Searchsorted(const Tensor& sorted, const Tensor& values, Flag right) {
  const OpDef& op = TheOp<"searchsorted">();
  const Promoted p = PromoteCompared(sorted, values, op.name);
  return Apply1(op, {p.x(), p.y()}, SearchsortedAttrs{right});
}

Tensor Isin(const Tensor& x, const Tensor& test) {
  const Promoted p = PromoteCompared(x, test, "isin");
  const int64_t n = p.y().num_elements();
  if (n == 0) return Full(p.x().shape(), false, DType::kBool, p.x().device());
  NoGradScope no_grad;
  const Tensor sorted = Sort(Flatten(p.y()), 0).values;
  const Tensor at = Minimum(Searchsorted(sorted, p.x()), n - 1);
  return Eq(IndexSelect(sorted, 0, at), p.x());
}

}  // namespace firn
