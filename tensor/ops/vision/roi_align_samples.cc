#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/ops/vision/box_samples.h"
#include "firn/tensor/ops/vision/roi_align.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// How much the mean of samples in bin `bin` of [from, to] takes of each of `size` elements.
std::vector<double> LineOf(double from, double to, int64_t bin, int64_t bins, int64_t size,
                           const RoiAlignAttrs& a) {
  std::vector<double> line(static_cast<size_t>(size));
  const double half = a.aligned ? 0.5 : 0, last = static_cast<double>(size - 1);
  from = from * a.spatial_scale - half;
  to = to * a.spatial_scale - half;
  const double length = a.aligned ? to - from : std::max(to - from, 1.0);
  const double width = length / static_cast<double>(bins);
  const double count =
      a.sampling_ratio > 0 ? static_cast<double>(a.sampling_ratio) : std::ceil(width);
  for (double i = 0; i < count; ++i) {
    const double place = from + width * (static_cast<double>(bin) + (i + 0.5) / count);
    if (!(place >= -1 && place <= last + 1)) continue;
    const double held = std::clamp(place, 0.0, last), low = std::floor(held);
    line[static_cast<size_t>(low)] += (1 - (held - low)) / count;
    line[static_cast<size_t>(std::min(low + 1, last))] += (held - low) / count;
  }
  return line;
}

// Calls f(index of y, index of x, weight) for all products of the sum.
template <class F>
void ForEachProduct(const Shape& x, const RefTensor& boxes, const RoiAlignAttrs& a, const F& f) {
  const int64_t bins_h = a.output_size[0], bins_w = a.output_size[1];
  ForEachIndex(Shape({boxes.shape[0], x[1], bins_h, bins_w}), [&](absl::Span<const int64_t> at) {
    const auto box = [&](int64_t i) { return boxes.at({at[0], i}); };
    const std::vector<double> rows = LineOf(box(2), box(4), at[2], bins_h, x[2], a);
    const std::vector<double> columns = LineOf(box(1), box(3), at[3], bins_w, x[3], a);
    for (int64_t n = 0; n < x[0]; ++n) {
      if (std::floor(box(0)) != static_cast<double>(n)) continue;
      for (int64_t i = 0; i < x[2]; ++i) {
        for (int64_t j = 0; j < x[3]; ++j) {
          f(at, std::vector<int64_t>{n, at[1], i, j},
            rows[static_cast<size_t>(i)] * columns[static_cast<size_t>(j)]);
        }
      }
    }
  });
}

// Boxes of two samples, one beyond the edges, one small; none has a number of samples that rounds.
Tensor Boxes() {
  return Values({0, 0.25, 0.5, 3.5, 4.75, 1, -3.25, 1.5, 6.5, 8.25, 1, 1.5, 2, 1.75, 2.25}, {3, 5});
}

// One that takes more than a register of each row, and one whose samples are far from each other.
Tensor LongBox() { return Values({0, 0.75, 0.5, 17.25, 5.25}, {1, 5}); }
Tensor SparseBox() { return Values({0, 0.25, 0.5, 198, 1.75}, {1, 5}); }

FIRN_REGISTER_SAMPLES(roi_align) {
  s.Function([](In in, const RoiAlignAttrs& a) {
    return RoiAlign(in[0], in[1], a.output_size, {a.spatial_scale, a.sampling_ratio, a.aligned});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<RoiAlignAttrs>();
    RefTensor y(Shape({in[1].shape[0], in[0].shape[1], a.output_size[0], a.output_size[1]}));
    ForEachProduct(in[0].shape, in[1], a,
                   [&](auto to, auto from, double w) { y.at(to) += w * in[0].at(from); });
    return std::vector<RefTensor>{y};
  });
  const auto add = [&](const char* name, const Tensor& x, const Tensor& boxes,
                       const RoiAlignAttrs& a) {
    s.Add(name, {x, boxes}, a).constant_inputs = {1};
  };
  const Tensor x = Normal({2, 3, 5, 4});
  add("boxes", x, Boxes(), {.output_size = 2});
  add("aligned", x, Boxes(), {.output_size = {2, 3}, .aligned = true});
  add("two samples", x, Boxes(), {.output_size = {3, 2}, .sampling_ratio = 2});
  add("scale", x, Boxes(),
      {.output_size = 2, .spatial_scale = 0.625, .sampling_ratio = 3, .aligned = true});
  add("blocked channels", Normal({2, 16, 4, 4}), Boxes(), {.output_size = 2});
  add("no such sample", x, Values({2, 0, 0, 3, 3, -1, 0, 0, 3, 3}, {2, 5}), {.output_size = 2});
  add("upside down", x, Values({0, 3, 4, 1.25, 0.5}, {1, 5}), {.output_size = 2, .aligned = true});
  add("upside down, samples", x, Values({0, 3, 4, 1.25, 0.5}, {1, 5}),
      {.output_size = 2, .sampling_ratio = 2, .aligned = true});
  add("far away", x, Values({0, 100, 100, 110, 120}, {1, 5}), {.output_size = 2});
  add("no boxes", x, Normal({0, 5}), {.output_size = 2});
  add("many samples", x, Boxes(), {.output_size = 2, .sampling_ratio = 12});
  add("one channel, a long row", Normal({1, 1, 6, 19}), LongBox(), {.output_size = {3, 4}});
  add("few samples of a long row", Normal({1, 1, 2, 200}), SparseBox(),
      {.output_size = 2, .sampling_ratio = 1});
  const Tensor image = Normal({2, 64, 50, 50}), many = BoxesOfSamples(256, 2, 200, 32, 160);
  s.AddLarge("256x14x14 of 64", {image, many}, RoiAlignAttrs{14, 0.25, 2}, 8e7, 1.4e7)
      .constant_inputs = {1};
  s.AddLarge("256x7x7 of 64, samples by size", {image, many}, RoiAlignAttrs{7, 0.25, -1, true}, 8e7,
             4.5e6)
      .constant_inputs = {1};
  s.AddError("boxes", {x, Normal({3, 4})}, RoiAlignAttrs{},
             "expected x [n, c, h, w] with h and w above 0 and boxes [k, 5], got [2, 3, 5, 4] and "
             "[3, 4]");
  s.AddError("size", {x, Boxes()}, RoiAlignAttrs{0},
             "output_size must be one or two numbers above 0, got 0");
  s.AddError("samples", {x, Boxes()}, RoiAlignAttrs{.sampling_ratio = 2000},
             "sampling_ratio must be 1024 at most, got 2000");
  s.AddError("scale", {x, Boxes()},
             RoiAlignAttrs{.spatial_scale = std::numeric_limits<double>::infinity()},
             "spatial_scale inf is not finite");
}

FIRN_REGISTER_SAMPLES(roi_align_grad) {
  s.Internal("the gradient of roi_align");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<RoiAlignGradAttrs>();
    RefTensor dx{Shape(a.x.span())};
    ForEachProduct(dx.shape, in[1], a,
                   [&](auto to, auto from, double w) { dx.at(from) += w * in[0].at(to); });
    return std::vector<RefTensor>{dx};
  });
  const auto add = [&](const char* name, const Tensor& boxes, const RoiAlignAttrs& a,
                       const Shape& x = Shape({2, 3, 5, 4})) {
    RoiAlignGradAttrs with;
    static_cast<RoiAlignAttrs&>(with) = a;
    with.x = x.dims();
    const Shape dy({boxes.size(0), x[1], a.output_size[0], a.output_size[1]});
    s.Add(name, {Normal(dy), boxes}, with).constant_inputs = {1};
  };
  add("boxes", Boxes(), {.output_size = 2});
  add("aligned", Boxes(), {.output_size = {2, 3}, .sampling_ratio = 2, .aligned = true});
  add("no boxes", Normal({0, 5}), {.output_size = 2});
  add("one channel, a long row", LongBox(), {.output_size = {3, 4}}, Shape({1, 1, 6, 19}));
  add("few samples of a long row", SparseBox(), {.output_size = 2, .sampling_ratio = 1},
      Shape({1, 1, 2, 200}));
  RoiAlignGradAttrs wrong;
  wrong.x = Shape({2, 3, 5, 4}).dims();
  s.AddError("dy", {Normal({3, 3, 2, 2}), Boxes()}, wrong, "dy [3, 3, 2, 2], want [3, 3, 1, 1]");
}

}  // namespace
}  // namespace firn::testing
