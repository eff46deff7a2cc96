// group_norm: a layer normalisation of [n * groups, rest] and a per-channel affine map.

#include "tensor/ops/group_norm.h"

#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/ops/channel_affine.h"
#include "tensor/ops/layer_norm.h"
#include "tensor/ops/reshape.h"

namespace firn {

Tensor GroupNorm(const Tensor& x, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                 double eps) {
  if (!x.defined() || x.rank() < 2) {
    RaiseStatus(InvalidArgument("x must have at least 2 dimensions, got ",
                                x.defined() ? x.spec().ToString() : "an undefined tensor"),
                "group_norm");
  }
  if (num_groups < 1 || x.size(1) % num_groups != 0) {
    RaiseStatus(InvalidArgument("num_groups ", num_groups, " must divide the ", x.size(1),
                                " channels of x ", x.shape().ToString()),
                "group_norm");
  }
  if (x.num_elements() == 0) return ChannelAffine(x, weight, bias);
  const int64_t rows = x.size(0) * num_groups;
  const Shape row{x.num_elements() / rows};
  const Tensor y = LayerNorm(Reshape(x, {rows, row[0]}), row, {}, {}, eps);
  return ChannelAffine(Reshape(y, x.shape()), weight, bias);
}

}  // namespace firn
