#include "firn/tensor/ops/vision/patch_correlation.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Calls f(index of y, index of x1, index of x2) for every product.
template <class F>
void ForEachProduct(const Shape& x, const PatchCorrelationOptions& o, const F& f) {
  std::vector<int64_t> sizes = {x[0]};
  for (int d = 0; d < 2; ++d) sizes.push_back(2 * o.shift[d] / o.shift_step[d] + 1);
  for (int d = 0; d < 2; ++d) {
    sizes.push_back((x[d + 2] + 2 * o.padding[d] - o.patch[d]) / o.patch_step[d] + 1);
  }
  ForEachIndex(Shape(sizes), [&](absl::Span<const int64_t> at) {
    ForEachIndex(Shape({x[1], o.patch[0], o.patch[1]}), [&](absl::Span<const int64_t> in) {
      std::vector<int64_t> a = {at[0], in[0]}, b = a;
      for (int d = 0; d < 2; ++d) {
        const auto i = static_cast<size_t>(d);
        a.push_back(at[i + 3] * o.patch_step[d] - o.padding[d] + in[i + 1]);
        b.push_back(a.back() + at[i + 1] * o.shift_step[d] - o.shift[d]);
        if (a.back() < 0 || a.back() >= x[d + 2] || b.back() < 0 || b.back() >= x[d + 2]) return;
      }
      f(at, a, b);
    });
  });
}

Shape ShapeOf(const Shape& x, const PatchCorrelationOptions& o) {
  const auto shifts = [&](int d) { return 2 * o.shift[d] / o.shift_step[d] + 1; };
  const auto places = [&](int d) {
    return (x[d + 2] + 2 * o.padding[d] - o.patch[d]) / o.patch_step[d] + 1;
  };
  return Shape({x[0], shifts(0), shifts(1), places(0), places(1)});
}

using Attrs = PatchCorrelationAttrs;

// Calls f(name, shape of the images, attrs).
template <class F>
void ForEachCase(const F& f) {
  f("places alone", Shape({2, 3, 3, 4}), Attrs{});
  f("shifts", Shape({1, 2, 4, 3}), Attrs{{.shift = {1, 2}}});
  f("patches", Shape({1, 2, 4, 5}), Attrs{{.patch = {2, 3}, .shift = 1}});
  f("steps", Shape({1, 2, 5, 6}),
    Attrs{{.patch = 2, .shift = {2, 3}, .patch_step = {2, 3}, .shift_step = {2, 2}}});
  f("padding", Shape({1, 1, 3, 3}),
    Attrs{{.patch = 3, .shift = 1, .patch_step = {1, 2}, .padding = {1, 2}}});
  f("shifts beyond the edges", Shape({1, 1, 2, 2}), Attrs{{.shift = 3}});
  f("no channels", Shape({1, 0, 3, 3}), Attrs{{.shift = 1}});
  f("no samples", Shape({0, 2, 3, 3}), Attrs{});
}

FIRN_REGISTER_SAMPLES(patch_correlation) {
  s.Function([](In in, const Attrs& a) { return PatchCorrelation(in[0], in[1], a); });
  s.WithoutVectors("PyTorch has no such function");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& o = attrs.get<Attrs>();
    RefTensor y(ShapeOf(in[0].shape, o));
    ForEachProduct(in[0].shape, o,
                   [&](auto at, auto a, auto b) { y.at(at) += in[0].at(a) * in[1].at(b); });
    return std::vector<RefTensor>{y};
  });
  ForEachCase([&](const char* name, const Shape& x, const Attrs& a) {
    s.Add(name, {Normal(x), Normal(x, 2)}, a);
  });
  s.Add("blocked channels", {Normal({1, 16, 3, 3}), Normal({1, 16, 3, 3}, 2)}, Attrs{{.shift = 1}});
  s.AddLarge("4x64x48x64", {Normal({4, 64, 48, 64}), Normal({4, 64, 48, 64}, 2)},
             Attrs{{.shift = 4, .shift_step = 2}}, 3.9e7, 6.8e6);
  s.AddError("shapes", {Normal({1, 2, 3, 4}), Normal({1, 2, 3, 3})}, Attrs{},
             "expected x1 and x2 of one shape [n, c, h, w], got [1, 2, 3, 4] and [1, 2, 3, 3]");
  s.AddError("patch", {Normal({1, 2, 3, 4}), Normal({1, 2, 3, 4})}, Attrs{{.patch = 4}},
             "patch 4 does not fit x1 [1, 2, 3, 4] with padding 0");
  s.AddError("step", {Normal({1, 2, 3, 4}), Normal({1, 2, 3, 4})}, Attrs{{.shift_step = 0}},
             "shift_step must be one or two numbers from 1 on, got 0");
}

FIRN_REGISTER_SAMPLES(patch_correlation_grad) {
  s.Internal("the gradient of patch_correlation");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& o = attrs.get<Attrs>();
    RefTensor da(in[1].shape), db(in[2].shape);
    ForEachProduct(in[1].shape, o, [&](auto at, auto a, auto b) {
      da.at(a) += in[0].at(at) * in[2].at(b);
      db.at(b) += in[0].at(at) * in[1].at(a);
    });
    return std::vector<RefTensor>{da, db};
  });
  ForEachCase([&](const char* name, const Shape& x, const Attrs& a) {
    s.Add(name, {Normal(ShapeOf(x, a)), Normal(x, 2), Normal(x, 3)}, a);
  });
  s.AddError("dy", {Normal({1, 1, 1, 3, 3}), Normal({1, 2, 3, 4}), Normal({1, 2, 3, 4})}, Attrs{},
             "dy [1, 1, 1, 3, 3], want [1, 1, 1, 3, 4]");
}

}  // namespace
}  // namespace firn::testing
