// Computed as unfold and a product: the columns of the windows are sampled by GridSample at the
// places of their taps, for each part of the channels as for a sample of its own.

#include "firn/tensor/ops/vision/deform_conv.h"

#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/grid_sample.h"
#include "firn/tensor/ops/vision/in_float.h"

namespace firn {
namespace {

constexpr int64_t kMostDeform = int64_t{1} << 30;  // so that no sum of options overflows

struct DeformPlan {
  int64_t n, in, out, kernel[2], size[2], parts;
  int64_t taps() const { return kernel[0] * kernel[1]; }
};

void CheckOption(const char* name, const Sizes& sizes, int64_t least) {
  bool fits = sizes.Fits(2);
  for (int i = 0; fits && i < 2; ++i) fits = sizes[i] >= least && sizes[i] <= kMostDeform;
  if (fits) return;
  RaiseStatus(InvalidArgument(name, " must be one or two numbers from ", least, " on, got ",
                              sizes.ToString()),
              "deform_conv2d");
}

DeformPlan PlanOf(const Tensor& x, const Tensor& offset, const Tensor& weight, const Tensor& bias,
                  const Tensor& mask, const DeformConv2dOptions& o) {
  CheckOption("stride", o.stride, 1);
  CheckOption("padding", o.padding, 0);
  CheckOption("dilation", o.dilation, 1);
  const auto refuse = [](const absl::Status& s) { RaiseStatus(s, "deform_conv2d"); };
  for (const Tensor* t : {&offset, &weight, &bias, &mask}) {
    if (IsFloating(x.dtype()) && (!t->defined() || t->dtype() == x.dtype())) continue;
    refuse(InvalidArgument("expected tensors of one floating dtype, got ", x.spec().ToString(),
                           " and ", t->defined() ? t->spec().ToString() : "nothing"));
  }
  const bool ranks = x.rank() == 4 && weight.rank() == 4 && offset.rank() == 4;
  if (!ranks || x.size(1) == 0 || x.size(2) == 0 || x.size(3) == 0 ||
      weight.shape().num_elements() == 0) {
    refuse(InvalidArgument(
        "expected x [n, in, h, w], weight [out, in / groups, kh, kw], neither of "
        "them without channels or elements, and offset [n, parts kh kw 2, oh, ow], got ",
        x.shape().ToString(), ", ", weight.shape().ToString(), " and ", offset.shape().ToString()));
  }
  DeformPlan p{x.size(0), x.size(1), weight.size(0), {weight.size(2), weight.size(3)}, {}, 0};
  if (o.groups < 1 || weight.size(1) * o.groups != p.in || p.out % o.groups != 0) {
    refuse(InvalidArgument("weight ", weight.shape().ToString(), " does not fit x ",
                           x.shape().ToString(), " in ", o.groups, " groups"));
  }
  if (bias.defined() && bias.shape() != Shape({p.out})) {
    refuse(InvalidArgument("bias ", bias.shape().ToString(), ", want [", p.out, "]"));
  }
  for (int i = 0; i < 2; ++i) {
    const int64_t room = x.size(i + 2) + 2 * o.padding[i] - o.dilation[i] * (p.kernel[i] - 1) - 1;
    if (room < 0) {
      refuse(InvalidArgument("weight ", weight.shape().ToString(), " with dilation ",
                             o.dilation.ToString(), " does not fit x ", x.shape().ToString(),
                             " with padding ", o.padding.ToString()));
    }
    p.size[i] = room / o.stride[i] + 1;
  }
  p.parts = offset.size(1) / (2 * p.taps());
  if (p.parts < 1 || p.in % p.parts != 0 ||
      offset.shape() != Shape({p.n, p.parts * p.taps() * 2, p.size[0], p.size[1]})) {
    refuse(InvalidArgument("offset ", offset.shape().ToString(), ", want [", p.n, ", parts x ",
                           2 * p.taps(), ", ", p.size[0], ", ", p.size[1],
                           "] with parts that divide ", p.in, " channels"));
  }
  const Shape masks({p.n, p.parts * p.taps(), p.size[0], p.size[1]});
  if (mask.defined() && mask.shape() != masks) {
    refuse(InvalidArgument("mask ", mask.shape().ToString(), ", want ", masks.ToString()));
  }
  return p;
}

// 0, step, 2 step, ... along dimension `dim` of the last four: tap rows and columns, rows, columns.
Tensor Steps(int64_t count, int64_t step, int dim, const Tensor& like) {
  Dims sizes(4, 1);
  sizes[dim] = count;
  const Tensor line =
      Arange(int64_t{0}, count * step, step, {.dtype = like.dtype(), .device = like.device()});
  return Reshape(line, Shape(sizes.span()));
}

// The places of all taps, for GridSample of a part of the channels: [n parts, kh kw oh, ow, 2].
Tensor Places(const Tensor& offset, const DeformPlan& p, const DeformConv2dOptions& o) {
  const Tensor moved =
      Reshape(offset, {p.n * p.parts, p.kernel[0], p.kernel[1], 2, p.size[0], p.size[1]});
  std::vector<Tensor> places;
  for (const int axis : {1, 0}) {  // x before y
    const Tensor taps = Steps(p.kernel[axis], o.dilation[axis], axis, offset);
    const Tensor windows = Steps(p.size[axis], o.stride[axis], axis + 2, offset);
    const Tensor plain = Sub(Add(taps, windows), o.padding[axis]);
    places.push_back(Add(Select(moved, 3, axis), plain));
  }
  return Reshape(Stack(places, -1), {p.n * p.parts, p.taps() * p.size[0], p.size[1], 2});
}

Tensor Convolved(const Tensor& x, const Tensor& offset, const Tensor& weight, const Tensor& bias,
                 const Tensor& mask, const DeformPlan& p, const DeformConv2dOptions& o) {
  const int64_t batch = p.n * p.parts, windows = p.size[0] * p.size[1];
  const Tensor parts = Reshape(x, {batch, p.in / p.parts, x.size(2), x.size(3)});
  Tensor columns = SampleElements(parts, Places(offset, p, o));
  if (mask.defined()) {
    columns = Mul(columns, Reshape(mask, {batch, 1, p.taps() * p.size[0], p.size[1]}));
  }
  columns = Reshape(columns, {p.n, o.groups, p.in / o.groups * p.taps(), windows});
  const Tensor rows = Reshape(weight, {1, o.groups, p.out / o.groups, p.in / o.groups * p.taps()});
  const Tensor y = Reshape(Matmul(rows, columns), {p.n, p.out, p.size[0], p.size[1]});
  return bias.defined() ? Add(y, Reshape(bias, {1, p.out, 1, 1})) : y;
}

}  // namespace

Tensor DeformConv2d(const Tensor& x, const Tensor& offset, const Tensor& weight, const Tensor& bias,
                    const Tensor& mask, const DeformConv2dOptions& options) {
  CheckDefined(x, "deform_conv2d");
  CheckDefined(offset, "deform_conv2d", "offset");
  CheckDefined(weight, "deform_conv2d", "weight");
  const DeformPlan plan = PlanOf(x, offset, weight, bias, mask, options);
  return InFloat({x, offset, weight, bias, mask}, [&](const std::vector<Tensor>& in) {
    return Convolved(in[0], in[1], in[2], in[3], in[4], plan, options);
  });
}

}  // namespace firn
