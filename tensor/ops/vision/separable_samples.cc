#include "firn/tensor/ops/vision/separable.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// Calls f(index of y, of vertical, of horizontal, of x) for every product.
template <class F>
void ForEachProduct(const Shape& x, const Shape& vertical, const Shape& horizontal, const F& f) {
  ForEachIndex(Shape({x[0], x[1], vertical[2], vertical[3]}), [&](absl::Span<const int64_t> at) {
    for (int64_t u = 0; u < vertical[1]; ++u) {
      for (int64_t v = 0; v < horizontal[1]; ++v) {
        f(at, std::vector<int64_t>{at[0], u, at[2], at[3]},
          std::vector<int64_t>{at[0], v, at[2], at[3]},
          std::vector<int64_t>{at[0], at[1], at[2] + u, at[3] + v});
      }
    }
  });
}

// Calls f(name, x, vertical, horizontal).
template <class F>
void ForEachCase(const F& f) {
  f("kernels", Normal({2, 3, 4, 5}), Normal({2, 2, 3, 3}, 2), Normal({2, 3, 3, 3}, 3));
  f("one tap", Normal({1, 2, 3, 2}), Normal({1, 1, 3, 2}, 2), Normal({1, 1, 3, 2}, 3));
  f("a column", Normal({1, 2, 3, 2}), Normal({1, 3, 1, 2}, 2), Normal({1, 1, 1, 2}, 3));
  f("no channels", Normal({1, 0, 3, 3}), Normal({1, 2, 2, 2}, 2), Normal({1, 2, 2, 2}, 3));
  f("no samples", Normal({0, 2, 3, 3}), Normal({0, 2, 2, 2}, 2), Normal({0, 2, 2, 2}, 3));
}

FIRN_REGISTER_SAMPLES(adaptive_separable_conv2d) {
  s.Function<AdaptiveSeparableConv2d>();
  s.WithoutVectors("PyTorch has no such function");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    const Shape& v = in[1].shape;
    RefTensor y(Shape({in[0].shape[0], in[0].shape[1], v[2], v[3]}));
    ForEachProduct(in[0].shape, v, in[2].shape, [&](auto at, auto a, auto b, auto from) {
      y.at(at) += in[1].at(a) * in[2].at(b) * in[0].at(from);
    });
    return std::vector<RefTensor>{y};
  });
  ForEachCase([&](const char* name, const Tensor& x, const Tensor& v, const Tensor& h) {
    s.Add(name, {x, v, h});
  });
  s.Add("blocked channels",
        {Normal({1, 16, 3, 3}), Normal({1, 2, 2, 2}, 2), Normal({1, 2, 2, 2}, 3)});
  s.AddLarge("2x3x96x96, 25",
             {Normal({2, 3, 120, 120}), Normal({2, 25, 96, 96}, 2), Normal({2, 25, 96, 96}, 3)}, {},
             7e7, 4.3e6);
  s.AddError("vertical", {Normal({1, 2, 3, 3}), Normal({1, 2, 3, 2}), Normal({1, 2, 2, 2})}, {},
             "got [1, 2, 3, 3], [1, 2, 3, 2] and [1, 2, 2, 2]");
  s.AddError("no taps", {Normal({1, 2, 3, 3}), Normal({1, 0, 4, 2}), Normal({1, 2, 4, 2})}, {},
             "expected x [n, c, h, w], vertical [n, kv, h - kv + 1, w - kh + 1]");
}

FIRN_REGISTER_SAMPLES(adaptive_separable_conv2d_grad) {
  s.Internal("the gradient of adaptive_separable_conv2d");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor dx(in[1].shape), dv(in[2].shape), dh(in[3].shape);
    ForEachProduct(dx.shape, dv.shape, dh.shape, [&](auto at, auto a, auto b, auto from) {
      const double dy = in[0].at(at);
      dx.at(from) += dy * in[2].at(a) * in[3].at(b);
      dv.at(a) += dy * in[1].at(from) * in[3].at(b);
      dh.at(b) += dy * in[1].at(from) * in[2].at(a);
    });
    return std::vector<RefTensor>{dx, dv, dh};
  });
  ForEachCase([&](const char* name, const Tensor& x, const Tensor& v, const Tensor& h) {
    s.Add(name, {Normal({x.size(0), x.size(1), v.size(2), v.size(3)}, 4), x, v, h});
  });
  s.AddError(
      "dy",
      {Normal({1, 2, 2, 3}), Normal({1, 2, 3, 3}), Normal({1, 2, 2, 2}), Normal({1, 2, 2, 2})}, {},
      "dy [1, 2, 2, 3], want [1, 2, 2, 2]");
}

}  // namespace
}  // namespace firn::testing
