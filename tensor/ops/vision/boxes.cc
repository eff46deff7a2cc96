// The intersection of two boxes spans from the larger of their first corners to the smaller of
// their second ones; a side below 0 is none.

#include "firn/tensor/ops/vision/boxes.h"

#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/in_float.h"

namespace firn {
namespace {

// Both corners of boxes[.., 4], and the sides and areas that they span.
struct Corners {
  explicit Corners(const Tensor& boxes)
      : low(Slice(boxes, -1, 0, 2)), high(Slice(boxes, -1, 2, 4)) {}
  Corners(Tensor l, Tensor h) : low(std::move(l)), high(std::move(h)) {}
  Tensor Area() const {
    const Tensor sides = Clamp(Sub(high, low), 0);
    return Mul(Select(sides, -1, 0), Select(sides, -1, 1));
  }
  Tensor low, high;
};

Tensor Iou(const Tensor& boxes_a, const Tensor& boxes_b) {
  const Corners a(Unsqueeze(boxes_a, 1)), b(Unsqueeze(boxes_b, 0));
  const Tensor common = Corners(Maximum(a.low, b.low), Minimum(a.high, b.high)).Area();
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
