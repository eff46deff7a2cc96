// grid_sample written with operations, for gradients of its gradient: elements are gathered where
// places are made of them, and added up with weights that are functions of the grid. Which elements
// a place is made of is a step function of the grid, whose derivative is 0; floor and comparisons
// have that already.
//
// It computes the same as grid_sample_body.h, also for derivatives at kinks; but the kernel may
// round once where this rounds twice, and then a place on a kink lies on the other side of it.

#include <utility>
#include <vector>

#include "firn/device/inner.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/modulo.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/grid_sample.h"

namespace firn {
namespace {

// The elements of places along one dimension, or along all: elements, counted from 0 (i64), and
// their weights, 0 for those outside, which count for nothing whatever they are. [n, places] each.
struct Tap {
  Tensor at, weight, inside;
};

// Along a dimension of `size` elements.
class Axis {
 public:
  Axis(int64_t size, const GridSampleAttrs& attrs)
      : a_(attrs), size_(size), last_(static_cast<double>(size - 1)) {}

  std::vector<Tap> Taps(const Tensor& g) const {
    Tensor place = Place(g);
    if (a_.mode == GridSampleMode::kCubic) return Cubic(place);
    place = Padded(place);
    if (a_.mode == GridSampleMode::kNearest) return {Inside(Round(place), OnesLike(place))};
    const Tensor low = Floor(place), part = Sub(place, low);
    return {Inside(low, Sub(1, part)), Inside(Add(low, 1), part)};
  }

 private:
  // In elements.
  Tensor Place(const Tensor& g) const {
    if (a_.pixels) return g;
    if (a_.align_corners) return Mul(Div(Add(g, 1), 2), last_);
    return Div(Sub(Mul(Add(g, 1), size_), 1), 2);
  }

  // Mirrored at the outermost elements or, unless corners are aligned, at their edges.
  Tensor Reflected(const Tensor& place) const {
    const double low = a_.align_corners ? 0 : -0.5;
    const double span = a_.align_corners ? last_ : last_ + 1;
    if (span == 0) return ZerosLike(place);
    const Tensor away = Sub(place, low), d = Where(Lt(away, 0), Neg(away), away);
    const Tensor times = Floor(Div(d, span)), rest = Sub(d, Mul(times, span));
    return Add(Where(Eq(Fmod(times, 2), 0), rest, Sub(span, rest)), low);
  }

  Tensor Padded(Tensor place) const {
    if (a_.padding == GridSamplePadding::kZeros) return place;
    if (a_.padding == GridSamplePadding::kReflection) place = Reflected(place);
    // What is held, and the first element for what is not a number.
    const Tensor held = Where(Ge(place, last_), Mul(OnesLike(place), last_), ZerosLike(place));
    return Where(LogicalAnd(Gt(place, 0), Lt(place, last_)), place, held);
  }

  // A whole number's element, and its weight if there is one.
  Tap Inside(const Tensor& place, const Tensor& weight) const {
    const Tensor inside = LogicalAnd(Ge(place, 0), Le(place, last_));
    // From 2^24 elements on, a float may be the last element's number rounded up.
    const Tensor at = Minimum(Cast(Where(inside, place, 0), DType::kI64), size_ - 1);
    return {at, Where(inside, weight, 0), inside};
  }

  std::vector<Tap> Cubic(const Tensor& place) const {
    constexpr double kA = -0.75;
    const Tensor low = Floor(place), part = Sub(place, low);
    std::vector<Tap> taps;
    for (int i = -1; i <= 2; ++i) {
      const bool near = i == 0 || i == 1;
      // Between 0 and 2, of which the first two taps are left and the others right.
      const auto weight_of = [&](const Tensor& p) {
        const Tensor d = i <= 0 ? Sub(p, i) : Sub(i, p), d2 = Mul(d, d);
        if (near) return Add(Mul(Sub(Mul(d, kA + 2), kA + 3), d2), 1);
        return Mul(Sub(Add(Sub(Mul(d2, d), Mul(d2, 5)), Mul(d, 8)), 4), kA);
      };
      // Infinities and NaN that are outside, where nothing is left of them, give no NaN either.
      const Tap tap = Inside(Round(Padded(Add(low, i))), OnesLike(part));
      taps.push_back({tap.at, Mul(weight_of(Where(tap.inside, part, 0)), tap.weight), tap.inside});
    }
    return taps;
  }

  const GridSampleAttrs& a_;
  int64_t size_;
  double last_;
};

}  // namespace

Tensor inner::SampledByOperations(const Tensor& x, const Tensor& grid,
                                  const GridSampleAttrs& attrs) {
  const int dims = x.rank() - 2;
  int64_t plane = 1, places = 1;
  Dims sizes = grid.shape().dims();
  sizes[1] = x.size(1);
  for (int i = 0; i < dims; ++i) {
    plane *= x.size(i + 2);
    places *= grid.size(i + 1);
    sizes[i + 2] = grid.size(i + 1);
  }
  const Shape gathered({x.size(0), x.size(1), places});
  const Tensor numbers = Reshape(grid, {x.size(0), places, dims});
  std::vector<Tap> taps;
  for (int i = dims; i-- > 0;) {  // of the grid's numbers the last is along the first dimension
    const std::vector<Tap> own = Axis(x.size(x.rank() - 1 - i), attrs).Taps(Select(numbers, 2, i));
    if (taps.empty()) {
      taps = own;
      continue;
    }
    std::vector<Tap> products;
    for (const Tap& outer : taps) {
      for (const Tap& tap : own) {
        products.push_back({Add(Mul(outer.at, x.size(x.rank() - 1 - i)), tap.at),
                            Mul(outer.weight, tap.weight), LogicalAnd(outer.inside, tap.inside)});
      }
    }
    taps = std::move(products);
  }
  const Tensor planes = Reshape(x, {x.size(0), x.size(1), plane});
  Tensor y;
  for (const Tap& tap : taps) {
    const Tensor inside = Unsqueeze(tap.inside, 1);
    const Tensor elements =
        Where(inside, Gather(planes, 2, Expand(Unsqueeze(tap.at, 1), gathered.span())), 0);
    const Tensor part = Where(inside, Mul(elements, Unsqueeze(tap.weight, 1)), 0);
    y = y.defined() ? Add(y, part) : part;
  }
  return Reshape(y, Shape(sizes.span()));
}

}  // namespace firn
