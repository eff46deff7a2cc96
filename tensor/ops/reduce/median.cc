// median, kthvalue: the largest one of the k smallest, which topk selects without sorting them.

#include "firn/tensor/ops/reduce/median.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/truth.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// x with at least one dimension, and the dimension that is meant.
struct Along {
  Tensor x;
  int dim;
};
Along Resolve(const Tensor& x, int64_t dim, const char* op) {
  CheckDefined(x, op);
  if (x.dtype() == DType::kBool) {
    RaiseStatus(InvalidArgument("x must be of numbers, got ", x.spec().ToString()), op);
  }
  const absl::StatusOr<int> at = NormalizeDim(dim, x.shape());
  RaiseIfError(at.status(), op);
  return x.rank() == 0 ? Along{Unsqueeze(x, 0), 0} : Along{x, *at};
}

// The place of the k-th smallest element of each line, with size 1 along the dimension.
Tensor IndexOfKth(const Along& a, int64_t k) {
  const ValuesAndIndices least = Topk(a.x, k, a.dim, {.largest = false, .sorted = false});
  return Gather(least.indices, a.dim, Argmax(least.values, a.dim, true));
}

// Squeezed where the dimension is dropped, or x had none.
ValuesAndIndices Picked(const Along& a, const Tensor& index, bool stays) {
  const Tensor values = Gather(a.x, a.dim, index);
  if (stays) return {values, index};
  return {Squeeze(values, a.dim), Squeeze(index, a.dim)};
}

}  // namespace

ValuesAndIndices Median(const Tensor& x, Integer dim, Flag keepdim) {
  const Along a = Resolve(x, dim, "median");
  const int64_t n = a.x.size(a.dim);
  if (n == 0) {
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " has no elements in dim ", a.dim),
                "median");
  }
  Tensor index;
  {
    NoGradScope no_grad;
    index = IndexOfKth(a, (n + 1) / 2);
    if (IsFloating(x.dtype())) {  // argmax finds NaN first
      index = Where(Any(Isnan(a.x), a.dim, true), Argmax(a.x, a.dim, true), index);
    }
  }
  return Picked(a, index, keepdim && x.rank() > 0);
}

Tensor Median(const Tensor& x) { return Median(Flatten(x), 0).values; }

ValuesAndIndices Kthvalue(const Tensor& x, Integer k, Integer dim, Flag keepdim) {
  const Along a = Resolve(x, dim, "kthvalue");
  const int64_t n = a.x.size(a.dim);
  if (k < 1 || k > n) {
    RaiseStatus(InvalidArgument("k must be from 1 to ", n, ", the size of dim ", a.dim, ", got ",
                                int64_t{k}),
                "kthvalue");
  }
  Tensor index;
  {
    NoGradScope no_grad;
    index = IndexOfKth(a, k);
  }
  return Picked(a, index, keepdim && x.rank() > 0);
}

}  // namespace firn
