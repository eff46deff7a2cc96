// shape_of: a tensor of one element for each size, made where x lies, so that a recorded run needs
// nothing of the host's.

#include "firn/tensor/ops/shape/shape_of.h"

#include <algorithm>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/join.h"

namespace firn {

Tensor ShapeOf(const Tensor& x, Integer start, Integer end) {
  CheckDefined(x, "shape_of");
  const int64_t rank = x.rank();
  const auto place = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  std::vector<Tensor> sizes;
  for (int64_t d = place(start); d < place(end); ++d) {
    sizes.push_back(Full({1}, x.size(d), DType::kI64, x.device()));
  }
  return sizes.empty() ? Zeros({0}, DType::kI64, x.device()) : Concat(sizes);
}

}  // namespace firn
