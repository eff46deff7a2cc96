#ifndef FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_CPU_BODY_H_
#define FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_CPU_BODY_H_

// int_matmul and int_conv2d by oneDNN's product of bytes, on processors that have an exact one. Its
// second factor must be i8: b, or for a convolution the columns, from which, with their zero point,
// 128 is subtracted if x is u8.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/gemm_pieces.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/quantize/products.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {

inline absl::Status CheckByteProducts(const KernelQuery& q) {
  FIRN_RETURN_IF(!MultipliesBytes(), Unimplemented("the processor has no VNNI"));
  FIRN_RETURN_IF(q.in(3).shape.rank() != 0, Unimplemented("oneDNN takes one zero point for all"));
  FIRN_RETURN_IF(q.out().num_elements() == 0 || q.in(0).num_elements() == 0,
                 Unimplemented("nothing to multiply"));
  return absl::OkStatus();
}

// C = (A - a_zero)(B - b_zero), on all threads.
template <class A>
void MultiplyBytes(const GemmShape& s, const A* a, A a_zero, const int8_t* b, int8_t b_zero,
                   int32_t* c) {
  ForEachPiece(s, [&](const GemmShape& part, int64_t i, int64_t j) {
    MultiplyOneDnn(part, a + i * s.a.row, a_zero, b + j * s.b.col, b_zero, c + i * s.c_row + j);
  });
}

struct ByteMatmul {
  static absl::Status Supports(const KernelQuery& q) {
    FIRN_RETURN_IF(q.in(2).dtype != DType::kI8, Unimplemented("oneDNN takes b of i8"));
    return CheckByteProducts(q);
  }
  static absl::Status Run(KernelContext& k) {
    const Shape &a = k.in_spec(0).shape, &y = k.out_spec().shape;
    const int64_t m = y[1], n = y[2], depth = a[2];
    const bool transposed = k.attrs<IntMatmulAttrs>().transpose_b;
    GemmShape s{m, n, depth, {depth, 1}, {n, 1}, n};
    if (transposed) s.b = {1, depth};
    const auto run = [&]<class A>(TypeTag<A>) {
      for (int64_t i = 0; i < y[0]; ++i) {
        MultiplyBytes(s, k.in<A>(0) + i * m * depth, *k.in<A>(1), k.in<int8_t>(2) + i * depth * n,
                      *k.in<int8_t>(3), k.out<int32_t>() + i * m * n);
      }
    };
    if (k.in_spec(0).dtype == DType::kU8) {
      run(TypeTag<uint8_t>());
    } else {
      run(TypeTag<int8_t>());
    }
    return absl::OkStatus();
  }
};

// The columns of an image, [in_per_group * kh * kw, oh * ow], each an element of x less `down`, and
// its zero point beyond the edges.
template <class X>
struct ByteColumns {
  const ConvProblem& p;
  int32_t down, zero;

  void Fill(const X* image, int8_t* columns) const {
    const int64_t taps = p.kernel.volume(), width = p.out_size.volume();
    ParallelFor(p.in_per_group() * taps, std::max<int64_t>(1, 16384 / width),
                [&](int64_t begin, int64_t end) {
                  for (int64_t r = begin; r < end; ++r) {
                    FillRow(image + r / taps * p.in_size.volume(), r % taps, columns + r * width);
                  }
                });
  }

 private:
  void FillRow(const X* plane, int64_t tap, int8_t* to) const {
    const ConvAttrs& a = p.attrs;
    const int64_t u = tap / p.kernel[1] * a.dilation[0] - a.padding[0];
    const int64_t v = tap % p.kernel[1] * a.dilation[1] - a.padding[1];
    const auto beyond = static_cast<int8_t>(zero - down);
    const int64_t width = p.in_size[1], step = a.stride[1], n = p.out_size[1];
    // The first columns that lie at or beyond the two edges.
    const auto from = [&](int64_t edge) {
      return std::clamp<int64_t>(edge <= v ? 0 : (edge - v + step - 1) / step, 0, n);
    };
    const int64_t first = from(0), last = std::max(first, from(width));
    for (int64_t i = 0; i < p.out_size[0]; ++i, to += n) {
      const int64_t row = i * a.stride[0] + u;
      const bool inside = row >= 0 && row < p.in_size[0] && first < last;
      if (!inside) {
        std::fill(to, to + n, beyond);
        continue;
      }
      std::fill(to, to + first, beyond);
      Copy(plane + row * width + v + first * step, step, last - first, to + first);
      std::fill(to + last, to + n, beyond);
    }
  }

  // Adjacent elements, which most convolutions read, have a loop of their own, which is vectorised.
  void Copy(const X* x, int64_t step, int64_t n, int8_t* to) const {
    if (step == 1) {
      for (int64_t j = 0; j < n; ++j) to[j] = static_cast<int8_t>(x[j] - down);
    } else {
      for (int64_t j = 0; j < n; ++j) to[j] = static_cast<int8_t>(x[j * step] - down);
    }
  }
};

struct ByteConv {
  static size_t Workspace(const KernelQuery& q) {
    const ConvProblem p =
        ConvProblemOf(q.in(0).shape, q.in(2).shape, q.out().shape, q.attrs<ConvAttrs>());
    return static_cast<size_t>(p.in_per_group() * p.kernel.volume() * p.out_size.volume());
  }
  template <class X, class W>
  static void Multiply(KernelContext& k, const ConvProblem& p) {
    const int64_t depth = p.in_per_group() * p.kernel.volume(), width = p.out_size.volume();
    const int64_t image = p.in_per_group() * p.in_size.volume();
    const GemmShape s{p.out_per_group(), width, depth, {depth, 1}, {width, 1}, width};
    const ByteColumns<X> columns{p, std::is_signed_v<X> ? 0 : 128, *k.in<X>(1)};
    auto* const to = k.workspace<int8_t>();
    for (int64_t i = 0; i < p.batch * p.attrs.groups; ++i) {
      columns.Fill(k.in<X>(0) + i * image, to);
      MultiplyBytes(s, k.in<W>(2) + i % p.attrs.groups * s.m * depth, *k.in<W>(3), to,
                    static_cast<int8_t>(columns.zero - columns.down),
                    k.out<int32_t>() + i * s.m * width);
    }
  }
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_CPU_BODY_H_
