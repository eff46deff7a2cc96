// The intersection of two boxes spans from the larger of their first corners to the smaller of
// their second ones; a side below 0 is none.

#include "firn/tensor/ops/vision/boxes.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/in_float.h"

namespace firn {
namespace {

// Numbers `i` of all boxes: those of boxes_a stand in a column, [n, 1], those of boxes_b in a row,
// [1, m]. Rows of [n, m] are long; of [n, m, 2] they would be pairs.
struct Boxes {
  Boxes(const Tensor& boxes, int64_t dim)
      : numbers(Contiguous(Transpose(boxes, 0, 1))), across(dim) {}
  Tensor operator[](int64_t i) const { return Unsqueeze(Select(numbers, 0, i), across); }
  Tensor Area() const { return Mul(Side((*this)[0], (*this)[2]), Side((*this)[1], (*this)[3])); }
  static Tensor Side(const Tensor& low, const Tensor& high) { return Clamp(Sub(high, low), 0); }
  Tensor numbers;
  int64_t across;
};

Tensor Iou(const Tensor& boxes_a, const Tensor& boxes_b) {
  const Boxes a(boxes_a, 1), b(boxes_b, 0);
  const auto overlap = [&](int64_t axis) {
    return Boxes::Side(Maximum(a[axis], b[axis]), Minimum(a[axis + 2], b[axis + 2]));
  };
  const Tensor common = Mul(overlap(0), overlap(1));
  const Tensor joined = Sub(Add(a.Area(), b.Area()), common);
  const Tensor any = Gt(joined, 0);
  return Where(any, Div(common, Where(any, joined, 1)), 0);
}

}  // namespace

Tensor BoxIou(const Tensor& a, const Tensor& b) {
  CheckDefined(a, "box_iou", "a");
  CheckDefined(b, "box_iou", "b");
  const auto are_boxes = [](const Tensor& t) { return t.rank() == 2 && t.size(1) == 4; };
  if (!are_boxes(a) || !are_boxes(b) || a.dtype() != b.dtype() || !IsFloating(a.dtype())) {
    RaiseStatus(InvalidArgument("expected floating boxes [n, 4] and [m, 4] of one dtype, got ",
                                a.spec().ToString(), " and ", b.spec().ToString()),
                "box_iou");
  }
  return InFloat({a, b}, [](const std::vector<Tensor>& in) { return Iou(in[0], in[1]); });
}

}  // namespace firn
