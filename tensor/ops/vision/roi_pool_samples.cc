#include <algorithm>
#include <cmath>
#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/ops/vision/box_samples.h"
#include "firn/tensor/ops/vision/roi_pool.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// The first and last element of a bin, which may lie outside.
std::pair<double, double> BinOf(double from, double to, int64_t bin, int64_t bins) {
  from = std::round(from);
  const double width = std::max(std::round(to) - from + 1, 1.0) / static_cast<double>(bins);
  return {from + std::floor(static_cast<double>(bin) * width),
          from + std::ceil(static_cast<double>(bin + 1) * width) - 1};
}

FIRN_REGISTER_SAMPLES(roi_pool) {
  // The second result is for the gradient; the function gives the first.
  s.Function([](In in, const RoiPoolAttrs& a) {
    std::vector<Tensor> y = {RoiPool(in[0], in[1], a.output_size, a.spatial_scale)};
    y.push_back(Apply(TheOp<"roi_pool">(), {in[0], in[1]}, a)[1]);
    return y;
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<RoiPoolAttrs>();
    const RefTensor &x = in[0], &boxes = in[1];
    RefTensor y(Shape({boxes.shape[0], x.shape[1], a.output_size[0], a.output_size[1]}));
    RefTensor indices(y.shape, static_cast<double>(x.size()));
    indices.dtype = DType::kI64;
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      const auto corner = [&](int64_t i) { return boxes.at({at[0], i}) * a.spatial_scale; };
      const auto rows = BinOf(corner(2), corner(4), at[2], a.output_size[0]);
      const auto columns = BinOf(corner(1), corner(3), at[3], a.output_size[1]);
      double best = -INFINITY;
      int64_t e = -1;
      ForEachIndex(x.shape, [&](absl::Span<const int64_t> from) {
        ++e;
        const auto i = static_cast<double>(from[2]), j = static_cast<double>(from[3]);
        if (std::floor(boxes.at({at[0], 0})) != static_cast<double>(from[0])) return;
        if (from[1] != at[1] || i < rows.first || i > rows.second) return;
        if (j < columns.first || j > columns.second || !(x.at(from) > best)) return;
        y.at(at) = best = x.at(from);
        indices.at(at) = static_cast<double>(e);
      });
    });
    return std::vector<RefTensor>{y, indices};
  });
  const auto add = [&](const char* name, const Tensor& x, const Tensor& boxes,
                       const RoiPoolAttrs& a) {
    s.Add(name, {x, boxes}, a).constant_inputs = {1};
  };
  const Tensor x = Distinct({2, 3, 5, 4});
  const Tensor boxes = Values({0, 0, 1, 3, 4, 1, -3.25, 1.75, 6.25, 8.25, 1, 2, 2, 2, 2}, {3, 5});
  add("boxes", x, boxes, {2});
  add("rows", x, boxes, {{3, 1}});
  add("scale", x, boxes, {2, 0.625});
  add("blocked channels", Distinct({2, 16, 3, 3}), boxes, {2});
  add("no such sample", x, Values({2, 0, 0, 3, 3, -1, 0, 0, 3, 3}, {2, 5}), {2});
  add("upside down", x, Values({0, 3, 4, 1, 1}, {1, 5}), {2});
  add("far away", x, Values({0, 100, 100, 110, 120}, {1, 5}), {2});
  add("no boxes", x, Normal({0, 5}), {2});
  s.AddLarge("256x7x7 of 64", {Normal({2, 64, 50, 50}), BoxesOfSamples(256, 2, 200, 32, 160)},
             RoiPoolAttrs{7, 0.25}, 1.5e7, 1.1e7)
      .constant_inputs = {1};
  s.AddError("boxes", {x, Normal({3, 4})}, RoiPoolAttrs{},
             "expected x [n, c, h, w] with h and w above 0 and boxes [k, 5], got [2, 3, 5, 4] and "
             "[3, 4]");
  s.AddError("size", {x, boxes}, RoiPoolAttrs{{2, 0}},
             "output_size must be one or two numbers above 0, got (2, 0)");
  s.AddError("scale", {x, boxes}, RoiPoolAttrs{2, NAN}, "spatial_scale nan is not finite");
}

}  // namespace
}  // namespace firn::testing
