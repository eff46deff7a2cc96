// Samples shared by elementwise operations. The reference walks every element of the broadcast
// shape by its full index.

#include "firn/tensor/ops/elementwise/elementwise_samples.h"

#include <cmath>
#include <utility>

#include "absl/status/statusor.h"
#include "firn/device/check.h"

namespace firn::testing {
namespace {

Shape BroadcastShape(absl::Span<const RefTensor> in) {
  Shape shape = in[0].shape;
  for (const RefTensor& t : in) {
    if (!t.defined()) continue;
    const absl::StatusOr<Shape> both = BroadcastShapes(shape, t.shape);
    FIRN_CHECK(both.ok(), "the sample's shapes do not broadcast");
    shape = *both;
  }
  return shape;
}

double ElementAt(const RefTensor& t, absl::Span<const int64_t> index) {
  if (!t.defined()) return NAN;
  std::vector<int64_t> own(index.end() - t.shape.rank(), index.end());
  for (int d = 0; d < t.shape.rank(); ++d) {
    if (t.shape[d] == 1) own[static_cast<size_t>(d)] = 0;
  }
  return t.at(own);
}

constexpr int64_t kLarge = 2048;

}  // namespace

void ElementReference(Samples& s, double (*f)(const double* in, AttrsRef attrs)) {
  s.Reference([f](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor out(BroadcastShape(in));
    std::vector<double> values(in.size());
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> index) {
      for (size_t i = 0; i < in.size(); ++i) values[i] = ElementAt(in[i], index);
      out.at(index) = f(values.data(), attrs);
    });
    return std::vector<RefTensor>{out};
  });
}

Tensor Grid(const Shape& shape, uint64_t seed) { return Distinct(shape, 0.0625, seed); }
Tensor Positive(const Shape& shape, uint64_t seed) { return Uniform(shape, 0.25, 2.25, seed); }

void AddUnary(Samples& s, Draw draw, AttrsRef attrs) {
  s.Add("a vector", {draw({7}, 1)}, attrs);
  s.Add("a matrix", {draw({3, 5}, 2)}, attrs);
  s.Add("a scalar", {draw({}, 3)}, attrs);
  s.Add("channels", {draw({2, 8, 3, 3}, 4)}, attrs);
  s.Add("nothing", {draw({0, 3}, 5)}, attrs);
  s.AddLarge("4M", {draw({kLarge, kLarge}, 6)}, attrs, 4.2e6, 33.6e6);
  s.AddError("undefined", {Tensor()}, attrs, "x is an undefined tensor");
}

void AddFloatUnary(Samples& s, double (*f)(double), Draw draw, std::vector<double> edges) {
  s.Reference(f);
  AddUnary(s, draw);
  edges.insert(edges.end(), {0.0, -0.0, INFINITY, -INFINITY, NAN});
  s.Add("edges", {Values(std::move(edges))}).check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

void AddBinary(Samples& s, Draw draw_x, Draw draw_y, AttrsRef attrs) {
  s.Add("vectors", {draw_x({7}, 1), draw_y({7}, 11)}, attrs);
  s.Add("a scalar", {draw_x({3, 5}, 2), draw_y({}, 12)}, attrs);
  s.Add("a scalar first", {draw_x({}, 3), draw_y({4}, 13)}, attrs);
  s.Add("rows and columns", {draw_x({4, 1, 3}, 4), draw_y({2, 1}, 14)}, attrs);
  s.Add("channels", {draw_x({2, 8, 3, 3}, 5), draw_y({2, 8, 3, 3}, 15)}, attrs);
  s.Add("channels and a scalar", {draw_x({2, 8, 3, 3}, 6), draw_y({1}, 16)}, attrs);
  s.Add("nothing", {draw_x({0, 3}, 7), draw_y({3}, 17)}, attrs);
  s.AddLarge("4M", {draw_x({kLarge, kLarge}, 8), draw_y({kLarge, kLarge}, 18)}, attrs, 4.2e6,
             50.3e6);
  s.AddError("shapes", {draw_x({3}, 1), draw_y({4}, 2)}, attrs,
             "shapes [3] and [4] do not broadcast");
  s.AddError("undefined", {draw_x({3}, 1), Tensor()}, attrs, "is an undefined tensor");
  s.AddError("dtypes", {draw_x({3}, 1), Integers({3}, 0, 9)}, attrs, ": convert one with To(...)");
}

void AddGradient(Samples& s, Draw draw_saved, AttrsRef attrs) {
  s.Add("vectors", {Normal({7}, 1), draw_saved({7}, 11)}, attrs);
  s.Add("matrices", {Normal({3, 5}, 2), draw_saved({3, 5}, 12)}, attrs);
  s.Add("channels", {Normal({2, 8, 3, 3}, 3), draw_saved({2, 8, 3, 3}, 13)}, attrs);
  s.Add("nothing", {Normal({0, 3}, 4), draw_saved({0, 3}, 14)}, attrs);
  s.AddLarge("4M", {Normal({kLarge, kLarge}, 5), draw_saved({kLarge, kLarge}, 15)}, attrs, 8.4e6,
             50.3e6);
  s.AddError("undefined", {Normal({3}), Tensor()}, attrs, "is an undefined tensor");
  s.AddError("dtypes", {Normal({3}), Integers({3}, 0, 9)}, attrs, "dy is f64 but");
}

}  // namespace firn::testing
