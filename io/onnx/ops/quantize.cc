// Quantized numbers and products of them. Where Firn's products of 8-bit numbers do not fit, sums
// are made in f64, which holds them exactly.
#include <algorithm>
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// --- QuantizeLinear, DequantizeLinear -----------------------------------------------------------

// How scales lie over x: one, one for each index of `dim`, or one for each block along it.
struct Scales {
  std::optional<int64_t> dim;
  int64_t block = 0;
};

Scales ScalesOf(const OnnxCall& call) {
  const Shape &x = call.node.ShapeAt(0), &scale = call.node.ShapeAt(1);
  if (call.node.Has(2)) {
    const Shape& zero = call.node.ShapeAt(2);
    if (zero != scale && (zero.num_elements() != 1 || scale.num_elements() != 1)) {
      RefuseNode("zero point is expected to have the shape of scale, ", scale.ToString(),
                 ", it is ", zero.ToString());
    }
  }
  Scales s;
  s.block = call.Int("block_size", 0);
  if (s.block > 0) {
    s.dim = call.Axis(call.Int("axis", 1), x.rank());
  } else if (scale.num_elements() != 1 || (scale.rank() == 1 && call.Has("axis") && x.rank() > 0)) {
    s.dim = call.Axis(call.Int("axis", 1), x.rank());
    if (scale.rank() != 1 || scale[0] != x[*s.dim]) {
      if (scale.num_elements() == 1) {
        s.dim.reset();
      } else {
        RefuseNode("scale is expected to have ", x[*s.dim], " elements, it is ", scale.ToString());
      }
    }
  }
  return s;
}

// Each block's number for each of its elements.
Tensor Spread(const Tensor& t, const Tensor& x, const Scales& s) {
  const int64_t dim = *s.dim, n = t.size(dim);
  std::vector<int64_t> wide(t.shape().begin(), t.shape().end()), flat = wide;
  wide.insert(wide.begin() + dim + 1, s.block);
  flat[static_cast<size_t>(dim)] = n * s.block;
  const Tensor spread = Reshape(Expand(Unsqueeze(t, dim + 1), wide), flat);
  return n * s.block == x.size(dim) ? spread : Narrow(spread, dim, 0, x.size(dim));
}

// The attribute output_dtype; what it is otherwise, also for 0.
DType OutputOf(const OnnxNodeAttributes& node, DType otherwise) {
  const bool given = node.Int("output_dtype", 0) != 0;
  return given ? node.Element("output_dtype", otherwise) : otherwise;
}

void RequireBytes(const OnnxNodeAttributes& node, DType dtype) {
  if (node.Int("block_size", 0) <= 0 || dtype == DType::kI8 || dtype == DType::kU8) return;
  RefuseUnsupported("blocks are supported of 8-bit integers alone");
}

Tensor QuantizeBlocks(const Tensor& x, const Tensor& scale, const Tensor& zero, DType dtype,
                      const Scales& s) {
  Tensor y = Round(x / Spread(scale, x, s));
  if (zero.defined()) y = y + Spread(zero, x, s).To(y.dtype());
  return Clamp(y, dtype == DType::kI8 ? -128 : 0, dtype == DType::kI8 ? 127 : 255).To(dtype);
}

Step LowerQuantizeLinear(OnnxCall& call) {
  const Scales s = ScalesOf(call);
  const DType dtype = call.node.Has(2) ? call.node.DTypeAt(2) : OutputOf(call, DType::kU8);
  RequireBytes(call, dtype);
  return One([=](In in) {
    const Tensor x = IsFloating(in[0].dtype()) ? in[0] : in[0].To(DType::kF32);
    if (s.block > 0) return QuantizeBlocks(x, in[1], At(in, 2), dtype, s);
    return QuantizeLinear(x, s.dim ? in[1] : Reshape(in[1], {1}),
                          s.dim || !At(in, 2).defined() ? At(in, 2) : Reshape(in[2], {1}),
                          {.dim = s.dim, .dtype = dtype});
  });
}
const OnnxOps kQuantizeLinear("QuantizeLinear", 10, LowerQuantizeLinear,
                              {.check = [](const OnnxNodeAttributes& node) {
                                RequireBytes(node, OutputOf(node, DType::kU8));
                              }});

Step LowerDequantizeLinear(OnnxCall& call) {
  if (IsFloating(call.node.DTypeAt(0))) {
    RefuseUnsupported("x is expected to be of integers, it is ", call.node.Spec(0).ToString(),
                      " of a smaller floating type");
  }
  const Scales s = ScalesOf(call);
  const DType dtype = OutputOf(call, call.node.DTypeAt(1));
  return One([=](In in) {
    if (s.block > 0) {
      Tensor x = in[0].To(DType::kF32);
      if (At(in, 2).defined()) x = x - Spread(in[2], in[0], s).To(DType::kF32);
      return (x * Spread(in[1], in[0], s).To(DType::kF32)).To(dtype);
    }
    return DequantizeLinear(in[0], s.dim ? in[1] : Reshape(in[1], {1}),
                            s.dim || !At(in, 2).defined() ? At(in, 2) : Reshape(in[2], {1}),
                            {.dim = s.dim})
        .To(dtype);
  });
}
const OnnxOps kDequantizeLinear("DequantizeLinear", 10, LowerDequantizeLinear,
                                {.check = [](const OnnxNodeAttributes& node) {
                                  OutputOf(node, DType::kF32);
                                }});

// u8 of the range that x has, with 0 in it.
const OnnxOps kDynamic("DynamicQuantizeLinear", 11, [](OnnxCall& call) -> Step {
  call.node.Spec(0);
  return [](In in) {
    const Tensor most = Clamp(Amax(in[0]), 0), least = Clamp(Amin(in[0]), Tensor(), 0);
    const Tensor scale = (most - least) / 255;
    const Tensor zero = Round(Clamp(0 - least / scale, 0, 255)).To(DType::kU8);
    const Tensor y = QuantizeLinear(in[0], scale, zero, {.dtype = DType::kU8});
    return TensorList{y, scale, zero};
  };
});

// --- Products -----------------------------------------------------------------------------------

// The numbers that quantized ones stand for but for their scale. A zero point of several elements
// is one for each row of matrices (`rows`) or their columns.
Tensor Centred(const Tensor& q, const Tensor& zero, bool rows) {
  const Tensor x = q.To(DType::kF64);
  if (!zero.defined()) return x;
  const Tensor z = zero.To(DType::kF64);
  return x - (rows && z.rank() == 1 && z.size(0) > 1 ? Unsqueeze(z, 1) : z);
}

Tensor IntegerProducts(const Tensor& a, const Tensor& a_zero, const Tensor& b,
                       const Tensor& b_zero) {
  const auto eight = [](const Tensor& t) {
    return t.dtype() == DType::kI8 || t.dtype() == DType::kU8;
  };
  const bool fits = a.rank() >= 2 && b.rank() == 2 && eight(a) && eight(b) &&
                    (!a_zero.defined() || a_zero.num_elements() == 1) &&
                    (!b_zero.defined() || b_zero.num_elements() == 1);
  if (!fits) {
    return Matmul(Centred(a, a_zero, true), Centred(b, b_zero, false)).To(DType::kI32);
  }
  const auto one = [](const Tensor& zero) {
    return zero.defined() ? Reshape(zero, std::initializer_list<int64_t>{}) : zero;
  };
  return QuantizedMatmul(a, Tensor(1.f), one(a_zero), b, Tensor(1.f), one(b_zero));
}

const OnnxOps kMatMulInteger("MatMulInteger", 10, [](OnnxCall& call) -> Step {
  call.node.Spec(1);
  return One([](In in) { return IntegerProducts(in[0], At(in, 2), in[1], At(in, 3)); });
});

Tensor RowScale(const Tensor& t) { return t.rank() == 1 && t.size(0) > 1 ? Unsqueeze(t, 1) : t; }

// In the dtype of the zero point, with half scales in f32.
Tensor QuantizeProducts(const Tensor& sums, const Tensor& scale, const Tensor& y_scale,
                        const Tensor& y_zero) {
  return QuantizeLinear(sums.To(DType::kF32) * scale, Reshape(y_scale.To(DType::kF32), {1}),
                        Reshape(y_zero, {1}), {.dtype = y_zero.dtype()});
}

const OnnxOps kQLinearMatMul("QLinearMatMul", 10, [](OnnxCall& call) -> Step {
  for (size_t i = 0; i < 8; ++i) call.node.Spec(i);
  return One([](In in) {
    const Tensor sums = IntegerProducts(in[0], in[2], in[3], in[5]);
    const Tensor scale = RowScale(in[1].To(DType::kF32)) * in[4].To(DType::kF32);
    return QuantizeProducts(sums, scale, in[6], in[7]);
  });
});

// --- Convolutions -------------------------------------------------------------------------------

OnnxWindows ConvolutionWindows(const OnnxCall& call, size_t weight) {
  std::vector<int64_t> image = ImageAt(call, 0);
  const Shape& w = call.node.ShapeAt(weight);
  if (w.rank() != call.node.Rank(0)) RefuseNode("weight is expected to have the rank of X");
  return WindowsOf(call, std::move(image), {w.begin() + 2, w.end()});
}

// Sums in i32; beyond the image lie zero points.
Tensor IntegerConvolution(const Tensor& x, const Tensor& x_zero, const Tensor& w,
                          const Tensor& w_zero, const OnnxWindows& windows, int64_t groups) {
  Tensor weight = w.To(DType::kF64), image = x.To(DType::kF64);
  if (w_zero.defined()) {
    std::vector<int64_t> shape(static_cast<size_t>(w.rank()), 1);
    shape[0] = w_zero.num_elements();
    weight = weight - Reshape(w_zero.To(DType::kF64), shape);
  }
  if (x_zero.defined()) image = image - Reshape(x_zero.To(DType::kF64), {1});
  return Round(ConvolveOnnx(image, weight, {}, windows, groups)).To(DType::kI32);
}

const OnnxOps kConvInteger("ConvInteger", 10, [](OnnxCall& call) -> Step {
  const OnnxWindows windows = ConvolutionWindows(call, 1);
  const int64_t groups = call.Int("group", 1);
  const bool fits = windows.dims() == 2 && windows.IsEven();
  return One([=](In in) {
    if (!fits) return IntegerConvolution(in[0], At(in, 2), in[1], At(in, 3), windows, groups);
    const auto zero = [&](size_t i) {
      const Tensor t = At(in, i);
      if (!t.defined() || t.num_elements() != 1) return t;
      return Reshape(t, std::initializer_list<int64_t>{});
    };
    return QuantizedConv2d(in[0], {}, zero(2), in[1], {}, zero(3), {}, {}, {},
                           {.stride = SizesOf(windows.stride),
                            .padding = ConvPadding(SizesOf(windows.begin)),
                            .dilation = SizesOf(windows.dilation),
                            .groups = groups});
  });
});

// x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias.
const OnnxOps kQLinearConv("QLinearConv", 10, [](OnnxCall& call) -> Step {
  const OnnxWindows windows = ConvolutionWindows(call, 3);
  const int64_t groups = call.Int("group", 1);
  const bool fits =
      windows.dims() == 2 && windows.IsEven() && call.node.DTypeAt(7) == call.node.DTypeAt(0);
  return One([=](In in) {
    const auto one = [&](size_t i) { return Reshape(in[i], std::initializer_list<int64_t>{}); };
    const auto some = [&](size_t i) { return in[i].num_elements() == 1 ? one(i) : Flatten(in[i]); };
    if (fits) {
      return QuantizedConv2d(in[0], one(1), one(2), in[3], some(4), some(5), At(in, 8), one(6),
                             one(7),
                             {.stride = SizesOf(windows.stride),
                              .padding = ConvPadding(SizesOf(windows.begin)),
                              .dilation = SizesOf(windows.dilation),
                              .groups = groups});
    }
    Tensor sums = IntegerConvolution(in[0], in[2], in[3], in[5], windows, groups);
    if (At(in, 8).defined()) sums = sums + PerChannel(in[8], sums.rank());
    const Tensor w_scale = in[4].num_elements() == 1 ? one(4) : PerChannel(in[4], sums.rank());
    return QuantizeProducts(sums, one(1) * w_scale, in[6], in[7]);
  });
});

}  // namespace
}  // namespace firn::io::internal
