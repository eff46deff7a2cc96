#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/quantize/products.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/testing/samples.h"

// i8 beside u8, and products within graphs: tests/tensor/quantized_products_test.cc.

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
  s.AddLarge("512x512x512", {Bytes({1, 512, 512}, 1), Byte(0), Bytes({1, 512, 512}, 2), Byte(0)},
             IntMatmulAttrs{}, 2 * 512.0 * 512 * 512, 1.6e6);
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
  s.AddLarge("8x64x28x28, 3 x 3",
             {Bytes({8, 64, 28, 28}, 1), Byte(5), Bytes({64, 64, 3, 3}, 2), Byte(0)},
             ConvAttrs{1, 1}, 2 * 8 * 64 * 28.0 * 28 * 64 * 9, 0.8e6);
  s.AddError("channels", {Bytes({1, 3, 5, 6}, 1), Byte(5), Bytes({4, 2, 3, 3}, 2), Byte(0)},
             ConvAttrs{}, "wants 2 input channels");
  s.AddError("zero points", {Bytes({1, 3, 5, 6}, 1), Byte(5), Bytes({3, 3, 3, 3}, 2), channels},
             ConvAttrs{}, "the zero points [4] must be one or 3");
}

// A product of quantized numbers: its two sides with their scales and zero points and, between
// `more` inputs, those of the result, which may be left out.
void DeclareProduct(Samples& s, std::string_view x, std::string_view w, std::vector<ArgDecl> more) {
  const DTypeSet bytes = SetOf(DType::kI8) | SetOf(DType::kU8);
  std::vector<ArgDecl> inputs;
  for (const std::string_view side : {x, w}) {
    inputs.push_back({.name = side, .dtypes = bytes});
    inputs.push_back({.name = side == x ? "x_scale" : "w_scale", .dtypes = kFloating});
    inputs.push_back({.name = side == x ? "x_zero" : "w_zero", .dtypes = kIntegral});
  }
  for (ArgDecl& decl : more) inputs.push_back(decl);
  inputs.push_back({.name = "y_scale", .dtypes = kFloating, .optional = true});
  inputs.push_back({.name = "y_zero", .dtypes = kIntegral, .optional = true});
  s.Declare(std::move(inputs),
            {{.name = "y", .dtypes = bytes | SetOf(DType::kI32), .constant = true}});
  s.WithoutVectors("tests/tensor/quantized_products_test has the formulas");
}

// sums, whose dimension `dim` is that of w's scales, in numbers of y's quantization if there is
// one.
std::vector<RefTensor> Finished(RefTensor sums, absl::Span<const RefTensor> in, int dim, size_t y) {
  if (in.size() <= y || !in[y].defined()) return {sums};
  const bool u8 = in[0].dtype == DType::kU8;
  ForEachIndex(sums.shape, [&](absl::Span<const int64_t> at) {
    const double w_scale = ZeroAt(in[4], at[static_cast<size_t>(dim)]);
    const double real = sums.at(at) * in[1][0] * w_scale / in[y][0];
    sums.at(at) =
        std::clamp(std::nearbyint(real) + in[y + 1][0], u8 ? 0.0 : -128.0, u8 ? 255.0 : 127.0);
  });
  sums.dtype = in[0].dtype;
  return {sums};
}

Tensor Points(std::vector<int64_t> values) { return Cast(Indices(std::move(values)), DType::kI8); }

FIRN_REGISTER_COMPOSITE(quantized_matmul) {
  DeclareProduct(s, "a", "b", {});
  s.Function([](In in) {
    return QuantizedMatmul(in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7]);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    const RefTensor &a = in[0], &b = in[3];
    std::vector<int64_t> sizes(a.shape.begin(), a.shape.end());
    sizes.back() = b.shape.dim(-1);
    RefTensor y{Shape(sizes)};
    y.dtype = DType::kI32;
    const int64_t k = a.shape.dim(-1), n = sizes.back(), m = a.shape.dim(-2);
    for (int64_t i = 0; i < y.size(); ++i) {
      const int64_t matrix = b.shape.rank() == 2 ? 0 : i / (m * n);
      for (int64_t j = 0; j < k; ++j) {
        y[i] += (a[i / n * k + j] - in[2][0]) *
                (b[(matrix * k + j) * n + i % n] - ZeroAt(in[5], i % n));
      }
    }
    return Finished(y, in, y.shape.rank() - 1, 6);
  });
  // Scales are powers of two: no rounding but the last.
  const Tensor none, scale = Values({0.25}), scales = Values({0.5, 0.25, 2, 1});
  const Tensor y_scale = Values({256});
  s.Add("sums", {Bytes({3, 5}, 1), scale, Byte(7), Bytes({5, 4}, 2), scale, Byte(0), none, none});
  s.Add("zero points of columns", {Bytes({2, 3, 5}, 1, -100), scale, Byte(-7), Bytes({5, 4}, 2),
                                   scales, Points({1, 2, 3, 4}), none, none});
  s.Add("bytes",
        {Bytes({3, 5}, 1), scale, Byte(7), Bytes({5, 4}, 2), scales, Byte(0), y_scale, Byte(3)});
  s.Add("many matrices", {Bytes({2, 3, 5}, 1), scale, Byte(7), Bytes({2, 5, 4}, 2), scale, Byte(9),
                          y_scale, Byte(0)});
  s.Add("nothing",
        {Bytes({0, 5}, 1), scale, Byte(7), Bytes({5, 4}, 2), scale, Byte(0), none, none});
  s.AddLarge("512x512x512 to bytes",
             {Bytes({512, 512}, 1), scale, Byte(5), Bytes({512, 512}, 2), scale, Byte(0),
              Values({4096}), Byte(0)},
             {}, 2 * 512.0 * 512 * 512, 0.8e6);
  s.AddError("sizes", {Bytes({3, 5}, 1), scale, Byte(7), Bytes({4, 4}, 2), scale, Byte(0)}, {},
             "cannot multiply a [3, 5] by b [4, 4]");
  s.AddError("floats", {Normal({3, 5}), scale, Byte(7), Bytes({5, 4}, 2), scale, Byte(0)}, {},
             "a must be i8 or u8");
}

FIRN_REGISTER_COMPOSITE(quantized_conv2d) {
  DeclareProduct(s, "x", "w", {{.name = "bias", .dtypes = SetOf(DType::kI32), .optional = true}});
  s.Function([](In in, const ConvAttrs& a) {
    return QuantizedConv2d(
        in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8],
        {.stride = a.stride, .padding = a.padding, .dilation = a.dilation, .groups = a.groups});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor sides[] = {in[0], in[2], in[3], in[5]};
    RefTensor y = SamplesOf("int_conv2d")->reference(sides, attrs)[0];
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      if (in.size() > 6 && in[6].defined()) y.at(at) += in[6][at[1]];
    });
    return Finished(y, in, 1, 7);
  });
  const Tensor none, scale = Values({0.25}), scales = Values({0.5, 0.25, 2, 1});
  const Tensor bias = Cast(Indices({1, -2, 3, -4}), DType::kI32), y_scale = Values({512});
  s.Add("sums",
        {Bytes({2, 3, 5, 6}, 1, -100), scale, Byte(5), Bytes({4, 3, 3, 3}, 2, -100), scale, Byte(0),
         none, none, none},
        ConvAttrs{1, 1});
  s.Add("bias",
        {Bytes({2, 3, 5, 6}, 1), scale, Byte(5), Bytes({4, 3, 3, 3}, 2), scale, Byte(0), bias,
         y_scale, Byte(-3)},
        ConvAttrs{1, 1});
  s.Add("zero points of channels",
        {Bytes({2, 16, 5, 4}, 1), scale, Byte(5), Bytes({4, 16, 1, 1}, 2), scales,
         Points({1, 2, 3, 4}), none, none, none},
        ConvAttrs{});
  s.Add("bytes, stride, dilation, groups",
        {Bytes({1, 4, 9, 8}, 3), scale, Byte(7), Bytes({4, 2, 3, 2}, 4), scales, Byte(0), none,
         y_scale, Byte(3)},
        ConvAttrs{{2, 1}, {2, 0}, {1, 2}, 2});
  s.Add("no images",
        {Bytes({0, 3, 5, 6}, 1), scale, Byte(5), Bytes({4, 3, 3, 3}, 2), scale, Byte(0), none, none,
         none},
        ConvAttrs{});
  s.AddLarge("8x64x28x28, 3 x 3, to bytes",
             {Bytes({8, 64, 28, 28}, 1), scale, Byte(5), Bytes({64, 64, 3, 3}, 2), scale, Byte(0),
              none, Values({4096}), Byte(0)},
             ConvAttrs{1, 1}, 2 * 8 * 64 * 28.0 * 28 * 64 * 9, 0.8e6);
  s.AddError("bias",
             {Bytes({1, 3, 5, 6}, 1), scale, Byte(5), Bytes({3, 3, 3, 3}, 2), scale, Byte(0), bias},
             ConvAttrs{}, "bias must be i32 [3], got i32 [4]");
  s.AddError("channels",
             {Bytes({1, 3, 5, 6}, 1), scale, Byte(5), Bytes({4, 2, 3, 3}, 2), scale, Byte(0)},
             ConvAttrs{}, "wants 2 input channels");
}

}  // namespace
}  // namespace firn::testing
