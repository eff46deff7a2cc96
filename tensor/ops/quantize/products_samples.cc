#include "firn/tensor/ops/quantize/products.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/testing/samples.h"

// The functions, and i8 beside u8: tests/tensor/quantized_products_test.cc.

namespace firn::testing {
namespace {

Tensor Bytes(const Shape& shape, uint64_t seed, int64_t low = 0) {
  return Cast(Integers(shape, low, 100, seed), DType::kI8);
}
Tensor Byte(int64_t value) { return Cast(Indices({value}, {}), DType::kI8); }

// The zero point of column or channel i.
double ZeroAt(const RefTensor& zeros, int64_t i) { return zeros[zeros.size() == 1 ? 0 : i]; }

FIRN_REGISTER_SAMPLES(int_matmul) {
  s.Internal("the sums of quantized_matmul");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor &a = in[0], &b = in[2];
    const bool transposed = attrs.get<IntMatmulAttrs>().transpose_b;
    const int64_t k = a.shape[2];
    RefTensor y(Shape({a.shape[0], a.shape[1], b.shape[transposed ? 1 : 2]}));
    y.dtype = DType::kI32;
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      for (int64_t j = 0; j < k; ++j) {
        const double with = transposed ? b.at({at[0], at[2], j}) : b.at({at[0], j, at[2]});
        y.at(at) += (a.at({at[0], at[1], j}) - in[1][0]) * (with - ZeroAt(in[3], at[2]));
      }
    });
    return std::vector<RefTensor>{y};
  });
  const Tensor columns = Cast(Indices({1, 2, 3, 4}), DType::kI8);
  for (const bool t : {false, true}) {
    const auto b = [&](int64_t n, int64_t k, int64_t m, uint64_t seed, int64_t low = 0) {
      return Bytes(t ? Shape({n, m, k}) : Shape({n, k, m}), seed, low);
    };
    const std::string name = t ? "transposed, " : "";
    s.Add(name + "one", {Bytes({1, 3, 5}, 1), Byte(0), b(1, 5, 4, 2), Byte(0)}, IntMatmulAttrs{t});
    s.Add(name + "below 0", {Bytes({2, 3, 70}, 3, -100), Byte(-7), b(2, 70, 4, 4, -100), columns},
          IntMatmulAttrs{t});
    s.Add(name + "zero points", {Bytes({1, 2, 5}, 3), Byte(50), b(1, 5, 4, 4), columns},
          IntMatmulAttrs{t});
    s.Add(name + "no terms", {Bytes({1, 2, 0}, 3), Byte(50), b(1, 0, 4, 4), Byte(1)},
          IntMatmulAttrs{t});
  }
  s.Add("nothing", {Bytes({2, 0, 5}, 3), Byte(0), Bytes({2, 5, 4}, 4), Byte(0)}, IntMatmulAttrs{});
  s.AddError("sizes", {Bytes({1, 2, 3}, 1), Byte(0), Bytes({1, 4, 3}, 2), Byte(0)},
             IntMatmulAttrs{}, "cannot multiply a [1, 2, 3] by b [1, 4, 3]");
  s.AddError("zero points", {Bytes({1, 2, 3}, 1), Byte(0), Bytes({1, 3, 3}, 2), columns},
             IntMatmulAttrs{}, "the zero points [4] must be one or 3");
  s.AddError("i32", {Cast(Bytes({1, 2, 3}, 1), DType::kI32), Byte(0), Bytes({1, 3, 3}, 2), Byte(0)},
             IntMatmulAttrs{}, "a must be i8 or u8");
}

FIRN_REGISTER_SAMPLES(int_conv2d) {
  s.Internal("the sums of quantized_conv2d");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor &x = in[0], &w = in[2];
    const ConvProblem p = *ConvForward(x.shape, w.shape, attrs.get<ConvAttrs>());
    RefTensor y(Shape({p.batch, p.out, p.out_size[0], p.out_size[1]}));
    y.dtype = DType::kI32;
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      const int64_t first = at[1] / p.out_per_group() * p.in_per_group();
      ForEachIndex(Shape({w.shape[1], w.shape[2], w.shape[3]}), [&](absl::Span<const int64_t> tap) {
        int64_t place[2];
        for (int i = 0; i < 2; ++i) {
          place[i] = at[static_cast<size_t>(i + 2)] * p.attrs.stride[i] - p.attrs.padding[i] +
                     tap[static_cast<size_t>(i + 1)] * p.attrs.dilation[i];
          if (place[i] < 0 || place[i] >= p.in_size[i]) return;
        }
        y.at(at) += (x.at({at[0], first + tap[0], place[0], place[1]}) - in[1][0]) *
                    (w.at({at[1], tap[0], tap[1], tap[2]}) - ZeroAt(in[3], at[1]));
      });
    });
    return std::vector<RefTensor>{y};
  });
  const Tensor channels = Cast(Indices({1, 2, 3, 4}), DType::kI8);
  s.Add("3 x 3", {Bytes({2, 3, 5, 6}, 1, -100), Byte(5), Bytes({4, 3, 3, 3}, 2, -100), Byte(0)},
        ConvAttrs{1, 1});
  s.Add("blocks", {Bytes({2, 16, 5, 4}, 1), Byte(5), Bytes({4, 16, 1, 1}, 2), channels},
        ConvAttrs{});
  s.Add("stride, dilation, groups",
        {Bytes({1, 4, 9, 8}, 3), Byte(7), Bytes({4, 2, 3, 2}, 4), channels},
        ConvAttrs{{2, 1}, {2, 0}, {1, 2}, 2});
  s.Add("no images", {Bytes({0, 3, 5, 6}, 1), Byte(5), Bytes({4, 3, 3, 3}, 2), Byte(0)},
        ConvAttrs{});
  s.AddError("channels", {Bytes({1, 3, 5, 6}, 1), Byte(5), Bytes({4, 2, 3, 3}, 2), Byte(0)},
             ConvAttrs{}, "wants 2 input channels");
  s.AddError("zero points", {Bytes({1, 3, 5, 6}, 1), Byte(5), Bytes({3, 3, 3, 3}, 2), channels},
             ConvAttrs{}, "the zero points [4] must be one or 3");
}

}  // namespace
}  // namespace firn::testing
