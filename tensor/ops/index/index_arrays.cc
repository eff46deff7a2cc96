// Converts users' indices to those that the operations take.

#include "firn/tensor/ops/index/index_arrays.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/index/masks.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/promotion.h"

namespace firn {

absl::Status CheckMask(const Shape& x, int dim, const Shape& mask) {
  bool fits = mask.rank() > 0 && dim + mask.rank() <= x.rank();
  for (int d = 0; fits && d < mask.rank(); ++d) fits = mask[d] == x[dim + d];
  FIRN_RETURN_IF(!fits, InvalidArgument("the mask ", mask.ToString(), " does not fit x ",
                                        x.ToString(), " from dim ", dim, " on"));
  return absl::OkStatus();
}

int AppendIndex(const Shape& x, int dim, const Tensor& t, std::string_view op, IndexArrays* to) {
  if (t.dtype() != DType::kBool) {
    to->dims.push_back(dim);
    to->arrays.push_back(t);
    return 1;
  }
  RaiseIfError(CheckMask(x, dim, t.shape()), op);
  const Tensor where = Nonzero(t);
  for (int d = 0; d < t.rank(); ++d) {
    to->dims.push_back(dim + d);
    to->arrays.push_back(Select(where, 1, d));
  }
  return t.rank();
}

IndexArrays ResolveIndices(const Tensor& x, const std::vector<Tensor>& indices,
                           std::string_view op) {
  CheckDefined(x, op);
  IndexArrays result;
  int dim = 0;
  for (const Tensor& t : indices) {
    if (dim >= x.rank()) {
      RaiseStatus(InvalidArgument(indices.size(), " indices for x ", x.shape().ToString()), op);
    }
    dim += t.defined() ? AppendIndex(x.shape(), dim, t, op, &result) : 1;
  }
  return result;
}

std::vector<Tensor> WriteInputs(const Tensor& x, const IndexArrays& indices, const Tensor& values,
                                std::string_view op, bool added) {
  CheckDefined(x, op);
  CheckDefined(values, op, "values");
  std::vector<const Shape*> shapes;
  for (const Tensor& t : indices.arrays) shapes.push_back(&t.shape());
  const absl::StatusOr<AdvancedIndex> a = internal::Resolve(x.shape(), shapes, indices.dims);
  RaiseIfError(a.status(), op);
  if (!BroadcastsTo(values.shape(), a->result)) {
    RaiseStatus(
        InvalidArgument("values ", values.shape().ToString(), " do not broadcast to ",
                        a->result.ToString(), ", what the indices say of x ", x.shape().ToString()),
        op);
  }
  const Tensor elements =
      added ? AsDType(values, x.dtype(), x.device()) : AsElement(values, x.dtype(), x.device(), op);
  std::vector<Tensor> inputs = {x, Expand(elements, a->result)};
  inputs.insert(inputs.end(), indices.arrays.begin(), indices.arrays.end());
  return inputs;
}

}  // namespace firn
