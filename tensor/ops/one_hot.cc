// one_hot: indices as rows of the identity matrix.

#include "tensor/ops/one_hot.h"

#include <algorithm>

#include "device/parallel.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/op.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const OneHotAttrs& a = c.attrs<OneHotAttrs>();
  FIRN_RETURN_IF(a.num_classes < 0, InvalidArgument("num_classes ", a.num_classes, " is negative"));
  Dims sizes = c.shape(0).dims();
  sizes.push_back(a.num_classes);
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, a.dtype, shape);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  return IndexBounds{0, q.attrs<OneHotAttrs>().num_classes};
}

template <class T, class I>
void Fill(KernelContext& k) {
  const int64_t classes = k.attrs<OneHotAttrs>().num_classes;
  const I* indices = k.in<I>(0);
  T* out = k.out<T>();
  const int64_t rows = k.in_spec(0).num_elements();
  ParallelFor(rows, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(classes, 1)),
              [&](int64_t begin, int64_t end) {
                std::fill(out + begin * classes, out + end * classes, T(0));
                for (int64_t r = begin; r < end; ++r) out[r * classes + indices[r]] = T(1);
              });
}

absl::Status Run(KernelContext& k) {
  VisitDType(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(0).dtype, [&]<class I>(TypeTag<I>) { Fill<T, I>(k); });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(one_hot) {
  return {
      .name = "one_hot",
      .doc = "1 at the index along a new last dimension, 0 elsewhere. Not differentiable.",
      .inputs = {{.name = "indices", .dtypes = kIndex, .max_rank = kMaxRank - 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<OneHotAttrs>(),
      .infer = Infer,
      .index_bounds = Bounds,
      .index_inputs = {0},
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor OneHot(const Tensor& indices, int64_t num_classes, DType dtype) {
  static const OpDef& op = Op("one_hot");
  if (num_classes == -1) {
    CheckDefined(indices, op.name, "indices");
    const std::vector<int64_t> values = indices.ToVector<int64_t>();
    if (values.empty()) {
      RaiseStatus(InvalidArgument("num_classes must be given for no indices"), op.name);
    }
    num_classes = *std::max_element(values.begin(), values.end()) + 1;
    num_classes = std::max<int64_t>(num_classes, 0);  // negative indices are refused below
  }
  return Apply1(op, {indices}, OneHotAttrs{num_classes, dtype});
}

}  // namespace firn
