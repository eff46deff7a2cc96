// Crops, flips and shifts choose elements: a draw for each sample gives the places along one
// dimension, and a gather takes them. What is erased is chosen by masks of rectangles; the affine
// maps of images go through grid_sample.

#include "firn/tensor/ops/vision/augment.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/straight_through.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/modulo.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/grid_sample.h"
#include "firn/tensor/ops/vision/in_float.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

void RefuseIf(bool refused, std::string_view op, const absl::Status& status) {
  if (refused) RaiseStatus(status, op);
}

void CheckBase(const Tensor& x, int64_t base_dim, std::string_view op) {
  CheckDefined(x, op);
  RefuseIf(base_dim < 0 || base_dim > x.rank(), op,
           InvalidArgument("base_dim ", base_dim, " is no dimension of x ", x.shape().ToString()));
  RefuseIf(base_dim == 0 && x.rank() == kMaxRank, op,
           InvalidArgument("with base_dim 0 expected x of less than ", kMaxRank,
                           " dimensions, got ", x.shape().ToString()));
}

void CheckProbability(double p, std::string_view what, std::string_view op) {
  RefuseIf(!(p >= 0 && p <= 1), op, InvalidArgument(what, " ", p, " is outside [0, 1]"));
}

// x whose dimensions before base_dim are one, and back.
struct InSamples {
  InSamples(const Tensor& x, int64_t base_dim) : shape(x.shape().dims()), base(base_dim) {
    Dims sizes(0);
    sizes.push_back(1);
    for (int64_t i = 0; i < base; ++i) sizes[0] *= shape[i];
    for (int64_t i = base; i < shape.rank; ++i) sizes.push_back(shape[i]);
    flat = Reshape(x, sizes.span());
  }
  // y in x's place, of any sizes behind its first dimension.
  Tensor Back(const Tensor& y) const {
    Dims sizes = shape;
    for (int i = 1; i < y.rank(); ++i) sizes[base + i - 1] = y.size(i);
    return Reshape(y, sizes.span());
  }
  Dims shape;
  int64_t base;
  Tensor flat;
};

Tensor Counted(int64_t count, const Tensor& like) {
  return Arange(int64_t{0}, count, int64_t{1}, {.device = like.device()});
}

// An integer in [low, high] for each sample of x: [samples, 1].
Tensor DrawnEach(const Tensor& x, int64_t low, int64_t high, RandomGenerator* generator) {
  return Randint(low, high + 1, {x.size(0), 1}, DType::kI64,
                 {.device = x.device(), .generator = generator});
}

// numbers [samples, size] along dimension `dim` of x[samples, ..], and 1 along all others.
Tensor Along(const Tensor& x, int dim, const Tensor& numbers) {
  Dims sizes(x.rank(), 1);
  sizes[0] = x.size(0);
  sizes[dim] = numbers.size(1);
  return Reshape(numbers, sizes.span());
}

// The elements of x[samples, ..] at places [samples, size] of dimension `dim`.
Tensor Chosen(const Tensor& x, int dim, const Tensor& places) {
  Dims sizes = x.shape().dims();
  sizes[dim] = places.size(1);
  return Gather(x, dim, Expand(Along(x, dim, places), sizes.span()));
}

}  // namespace

Tensor RandomCrop(const Tensor& x, const Shape& shape, Integer base_dim,
                  RandomGenerator* generator) {
  constexpr std::string_view kOp = "random_crop";
  CheckBase(x, base_dim, kOp);
  bool fits = shape.rank() <= x.rank() - base_dim;
  const int first = x.rank() - shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i) fits = shape[i] <= x.size(first + i);
  RefuseIf(!fits, kOp,
           InvalidArgument("a window ", shape.ToString(), " does not fit x ", x.shape().ToString(),
                           " from dimension ", int64_t{base_dim}, " on"));
  const InSamples samples(x, base_dim);
  Tensor y = samples.flat;
  for (int i = 0; i < shape.rank(); ++i) {
    const int dim = y.rank() - shape.rank() + i;
    const int64_t room = y.size(dim) - shape[i];
    const Tensor places = Add(DrawnEach(y, 0, room, generator), Counted(shape[i], x));
    y = Chosen(y, dim, places);
  }
  return samples.Back(y);
}

Tensor RandomFlip(const Tensor& x, const RandomFlipOptions& o) {
  constexpr std::string_view kOp = "random_flip";
  CheckBase(x, o.base_dim, kOp);
  CheckProbability(o.p, "p", kOp);
  const absl::StatusOr<Dims> dims = NormalizeDims(o.dims, x.shape());
  RefuseIf(!dims.ok(), kOp, dims.status());
  const InSamples samples(x, o.base_dim);
  Tensor y = samples.flat;
  for (int i = 0; i < dims->rank; ++i) {
    RefuseIf((*dims)[i] < o.base_dim, kOp,
             InvalidArgument("dimension ", (*dims)[i], " stands before base_dim ", o.base_dim));
    const int dim = static_cast<int>((*dims)[i] - o.base_dim) + 1;
    const Tensor flips = Lt(
        Rand({y.size(0), 1}, DType::kF32, {.device = x.device(), .generator = o.generator}), o.p);
    const Tensor places = Counted(y.size(dim), x);
    y = Chosen(y, dim, Where(flips, Sub(y.size(dim) - 1, places), places));
  }
  return samples.Back(y);
}

Tensor RandomShift(const Tensor& x, const std::vector<int64_t>& shifts,
                   const RandomShiftOptions& o) {
  constexpr std::string_view kOp = "random_shift";
  constexpr int64_t kMost = int64_t{1} << 40;
  CheckBase(x, o.base_dim, kOp);
  const int count = static_cast<int>(shifts.size());
  bool fits = count <= x.rank() - o.base_dim;
  for (int64_t s : shifts) fits = fits && s >= 0 && s <= kMost;
  RefuseIf(
      !fits, kOp,
      InvalidArgument("expected at most ", x.rank() - o.base_dim, " shifts of 0 or more for x ",
                      x.shape().ToString(), ", got [", absl::StrJoin(shifts, ", "), "]"));
  if (o.border == ShiftBorder::kConstant) RaiseIfError(CheckHolds(o.value, x.dtype()), kOp);
  const InSamples samples(x, o.base_dim);
  Tensor y = samples.flat;
  Tensor outside;
  for (int i = 0; i < count; ++i) {
    const int dim = y.rank() - count + i;
    const int64_t s = shifts[static_cast<size_t>(i)], size = y.size(dim);
    if (s == 0 || size == 0) continue;
    const Tensor from = Sub(Counted(size, x), DrawnEach(y, -s, s, o.generator));
    Tensor held = Clamp(from, 0, size - 1);
    if (o.border == ShiftBorder::kReflect) {
      const Tensor turned = Remainder(from, 2 * size);
      held = Minimum(turned, Sub(2 * size - 1, turned));
    } else if (o.border == ShiftBorder::kConstant) {
      const Tensor beyond = Along(y, dim, Ne(from, held));
      outside = outside.defined() ? LogicalOr(outside, beyond) : beyond;
    }
    y = Chosen(y, dim, held);
  }
  if (outside.defined()) y = Where(outside, Full({}, o.value, x.dtype(), x.device()), y);
  return samples.Back(y);
}

namespace {

constexpr double kMostDraw = 1e38;  // from its negative to it is a difference that f32 has
constexpr int64_t kMostRectangles = 1000;
constexpr int64_t kMostPad = int64_t{1} << 24;  // places are counted in f32

void CheckRange(const RandomRange& r, double least, double most, std::string_view what,
                std::string_view op) {
  RefuseIf(!(r.low >= least && r.high >= r.low && r.high <= most), op,
           InvalidArgument(what, " must be a range within ", least, " to ", most, ", got ", r.low,
                           " to ", r.high));
}

// Numbers of x's device, or one number where the range has no other.
class Draws {
 public:
  Draws(const Tensor& x, RandomGenerator* generator)
      : dtype_(x.dtype()), options_{.device = x.device(), .generator = generator} {}
  Tensor Uniform(const Shape& shape, double low, double high) const {
    if (low == high) return Full(shape, low, dtype_, options_.device);
    return Rand(shape, low, high, dtype_, options_);
  }
  Tensor Normal(const Shape& shape) const { return Randn(shape, 0, 1, dtype_, options_); }

 private:
  DType dtype_;
  RandomOptions options_;
};

// Which elements of [0, size) along `dim` of four lie in [start, start + length).
Tensor Within(const Tensor& start, const Tensor& length, int64_t size, int dim) {
  Dims sizes(4, 1);
  sizes[dim] = size;
  const Tensor places = Reshape(Cast(Counted(size, start), start.dtype()), sizes.span());
  return LogicalAnd(Ge(places, start), Lt(places, Add(start, length)));
}

// x[samples, c, h, w] with one rectangle of each image erased.
Tensor Erased(const Tensor& x, const RandomEraseOptions& o) {
  const Tensor like = Empty({0}, DType::kF32, x.device());
  const Draws draws(like, o.generator);
  const Shape each({x.size(0), o.share ? 1 : x.size(1), 1, 1});
  const double h = static_cast<double>(x.size(2)), w = static_cast<double>(x.size(3));
  const Tensor area = Mul(draws.Uniform(each, o.area.low, o.area.high), h * w);
  const Tensor aspect = draws.Uniform(each, o.aspect.low, o.aspect.high);
  const Tensor height = Minimum(Floor(Sqrt(Mul(area, aspect))), h);
  const Tensor width = Minimum(Floor(Sqrt(Div(area, aspect))), w);
  // A draw that rounds up to the end of its interval would lie one further.
  const auto start = [&](const Tensor& length, double size) {
    const Tensor room = Sub(size, length);
    return Minimum(Floor(Mul(draws.Uniform(each, 0, 1), Add(room, 1))), room);
  };
  const Tensor top = start(height, h), left = start(width, w);
  const Tensor inside =
      LogicalAnd(Within(top, height, x.size(2), 2), Within(left, width, x.size(3), 3));
  const Tensor mask = LogicalAnd(inside, Lt(draws.Uniform(each, 0, 1), o.prob));
  return Where(mask, Cast(draws.Uniform(x.shape(), o.value.low, o.value.high), x.dtype()), x);
}

}  // namespace

Tensor RandomErase(const Tensor& x, const RandomEraseOptions& o) {
  constexpr std::string_view kOp = "random_erase";
  CheckBase(x, o.base_dim, kOp);
  RefuseIf(x.rank() - o.base_dim != 3 || !IsFloating(x.dtype()), kOp,
           InvalidArgument("x must be samples of [c, h, w] from dimension ", o.base_dim,
                           " on, floating, got ", x.spec().ToString()));
  CheckProbability(o.prob, "prob", kOp);
  CheckRange(o.area, 0, 1, "area", kOp);
  CheckRange(o.aspect, 1e-6, 1e6, "aspect", kOp);
  CheckRange(o.value, -kMostDraw, kMostDraw, "value", kOp);
  RefuseIf(o.n < 0 || o.n > kMostRectangles, kOp,
           InvalidArgument("n must be 0 to ", kMostRectangles, ", got ", o.n));
  const InSamples samples(x, o.base_dim);
  Tensor y = o.straight_through ? samples.flat.Detach() : samples.flat;
  for (int64_t i = 0; i < o.n; ++i) y = Erased(y, o);
  return samples.Back(o.straight_through ? StraightThrough(y, samples.flat) : y);
}

namespace {

constexpr std::string_view kAugment = "image_augmentation";

void CheckAugmentation(const Tensor& x, const ImageAugmentationOptions& o) {
  CheckDefined(x, kAugment);
  RefuseIf(x.rank() != 4 || !IsFloating(x.dtype()) || x.size(2) == 0 || x.size(3) == 0, kAugment,
           InvalidArgument("x must be [n, c, h, w] with h and w above 0, floating, got ",
                           x.spec().ToString()));
  const int rank = o.shape.rank();
  const bool shape = rank == 0 || rank == 2 || (rank == 3 && o.shape[0] == x.size(1));
  RefuseIf(
      !shape || (rank > 0 && o.shape.num_elements() == 0 && x.size(1) > 0), kAugment,
      InvalidArgument("shape must be [h, w] or [", x.size(1), ", h, w], got ", o.shape.ToString()));
  bool pad = o.pad.Fits(2);
  for (int i = 0; pad && i < 2; ++i) pad = o.pad[i] >= 0 && o.pad[i] <= kMostPad;
  RefuseIf(!pad, kAugment,
           InvalidArgument("pad must be one or two numbers from 0 to ", kMostPad, ", got ",
                           o.pad.ToString()));
  CheckRange({o.min_scale, o.max_scale}, 1e-6, 1e6, "min_scale to max_scale", kAugment);
  CheckRange({o.angle, o.angle}, 0, 1e6, "angle", kAugment);
  CheckRange({o.aspect_ratio, o.aspect_ratio}, 1, 1e6, "aspect_ratio", kAugment);
  CheckRange({o.distortion, o.distortion}, 0, 80, "distortion", kAugment);
  CheckRange({o.brightness, o.brightness}, 0, kMostDraw, "brightness", kAugment);
  CheckRange({o.contrast, o.contrast}, 1, 1e30, "contrast", kAugment);
  CheckRange({o.contrast_center, o.contrast_center}, -kMostDraw, kMostDraw, "contrast_center",
             kAugment);
  CheckRange({o.noise, o.noise}, 0, kMostDraw, "noise", kAugment);
}

// 1, or -1 for half of the samples.
Tensor Sign(const Draws& draws, const Shape& each, bool flips) {
  if (!flips) return draws.Uniform(each, 1, 1);
  const Tensor u = draws.Uniform(each, 0, 1);
  return Sub(1, Mul(Cast(Lt(u, 0.5), u.dtype()), 2));
}

// Places [1, h, w] of the result along one dimension, pushed from or to its middle with the square
// of their distance, so that the middles of the edges stay.
Tensor Distorted(const Tensor& place, const Tensor& radius2, double half, const Tensor& by) {
  const Tensor from_middle = Sub(place, half);
  const Tensor factor = Div(Add(Mul(radius2, by), 1), Add(by, 1));
  return Add(Mul(from_middle, factor), half);
}

// Where in x [n, c, h, w] the elements of the result lie: [n, oh, ow, 2].
Tensor PlacesIn(const Tensor& x, int64_t oh, int64_t ow, const Draws& draws,
                const ImageAugmentationOptions& o) {
  const Shape each({x.size(0), 1, 1});
  const double h = static_cast<double>(oh), w = static_cast<double>(ow);
  const double aspect = std::log(o.aspect_ratio) / 2;
  const Tensor scale = draws.Uniform(each, std::log(o.min_scale), std::log(o.max_scale));
  const Tensor stretch = draws.Uniform(each, -aspect, aspect);
  const Tensor scale_x = Exp(Add(scale, stretch)), scale_y = Exp(Sub(scale, stretch));
  const Tensor angle = draws.Uniform(each, -o.angle, o.angle);
  const Tensor lr = Sign(draws, each, o.flip_lr), ud = Sign(draws, each, o.flip_ud);

  Tensor column = Reshape(Cast(Counted(ow, x), x.dtype()), {1, 1, ow});
  Tensor row = Reshape(Cast(Counted(oh, x), x.dtype()), {1, oh, 1});
  if (o.distortion > 0) {
    const Tensor by = Sub(Exp(draws.Uniform(each, -o.distortion, o.distortion)), 1);
    const Tensor radius2 = Add(Square(Sub(Mul(column, 2 / w), 1)), Square(Sub(Mul(row, 2 / h), 1)));
    const Tensor flat_column = column;
    column = Distorted(flat_column, radius2, w / 2, by);
    row = Distorted(row, radius2, h / 2, by);
  }
  const Tensor dx = Sub(column, (w - 1) / 2), dy = Sub(row, (h - 1) / 2);
  // The middle of the result lies where the scaled image leaves room for it, drawn evenly.
  const auto middle = [&](int64_t size, int64_t pad, double out, const Tensor& factor) {
    const Tensor scaled = Mul(factor, static_cast<double>(size + 2 * pad));
    const Tensor at = Add(Mul(draws.Uniform(each, 0, 1), Sub(scaled, out)), (out - 1) / 2);
    return Sub(Div(at, factor), static_cast<double>(pad));
  };
  const Tensor u = Div(dx, scale_x), v = Div(dy, scale_y);
  const Tensor across = Mul(lr, Sub(Mul(Cos(angle), u), Mul(Sin(angle), v)));
  const Tensor down = Mul(ud, Add(Mul(Sin(angle), u), Mul(Cos(angle), v)));
  return Stack({Add(across, middle(x.size(3), o.pad[1], w, scale_x)),
                Add(down, middle(x.size(2), o.pad[0], h, scale_y))},
               -1);
}

Tensor Augmented(const Tensor& x, const ImageAugmentationOptions& o) {
  const Draws draws(x, o.generator);
  const int rank = o.shape.rank();
  const int64_t oh = rank > 0 ? o.shape[rank - 2] : x.size(2);
  const int64_t ow = rank > 0 ? o.shape[rank - 1] : x.size(3);
  Tensor y =
      SampleElements(x, PlacesIn(x, oh, ow, draws, o), {.padding = GridSamplePadding::kBorder});
  const auto each = [&](bool channels) {
    return Shape({x.size(0), channels ? x.size(1) : 1, 1, 1});
  };
  const double contrast = std::log(o.contrast);
  const Tensor light = draws.Uniform(each(o.brightness_each), -o.brightness, o.brightness);
  const Tensor factor = Exp(draws.Uniform(each(o.contrast_each), -contrast, contrast));
  y = Add(Mul(Add(y, Sub(light, o.contrast_center)), factor), o.contrast_center);
  if (o.noise == 0) return y;
  return Add(y, Mul(draws.Normal(y.shape()), draws.Uniform(each(false), 0, o.noise)));
}

}  // namespace

Tensor ImageAugmentation(const Tensor& x, const ImageAugmentationOptions& o) {
  CheckAugmentation(x, o);
  const NoGradScope no_grad;
  return InFloat({x}, [&](const std::vector<Tensor>& in) { return Augmented(in[0], o); });
}

}  // namespace firn
