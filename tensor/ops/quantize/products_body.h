#ifndef FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_BODY_H_
#define FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_BODY_H_

// int_matmul and int_conv2d by their definition, an element at a time. Sums are formed in uint32_t,
// which wraps around as the results must.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/quantize/products.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn {

// (a - a_zero) * (b - b_zero) modulo 2^32.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE uint32_t Times(int32_t a, int32_t b) {
  return static_cast<uint32_t>(a * b);
}

template <class A, class B>
struct IntMatmulBody {
  const A *a, *a_zero;
  const B *b, *b_zero;
  int64_t m, n, k;
  bool b_zeros, transposed;  // one zero point for each column; b is [n, k]
  int32_t* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t column = TakeDigit(row, n), batch = Quotient(row, m);
    const A* const from = a + row * k;
    const B* const with = b + batch * n * k + (transposed ? column * k : column);
    const int64_t step = transposed ? 1 : n;
    const int32_t az = *a_zero, bz = b_zero[b_zeros ? column : 0];
    uint32_t sum = 0;
    for (int64_t j = 0; j < k; ++j) sum += Times(from[j] - az, with[j * step] - bz);
    y[i] = static_cast<int32_t>(sum);
  }
  // Goes row by row where rows of b are contiguous.
  void operator()(int64_t begin, int64_t end) const {
    if (transposed) {
      for (int64_t i = begin; i < end; ++i) (*this)(i);
      return;
    }
    ForEachRowOf(begin, end, n, [&](int64_t row, int64_t first, int64_t last) {
      int32_t* const to = y + row * n;
      std::fill(to + first, to + last, 0);
      const B* with = b + row / m * n * k;
      const int32_t one = *b_zero;
      for (int64_t j = 0; j < k; ++j, with += n) {
        const int32_t factor = a[row * k + j] - static_cast<int32_t>(*a_zero);
        for (int64_t c = first; c < last; ++c) {
          const int32_t bz = b_zeros ? static_cast<int32_t>(b_zero[c]) : one;
          to[c] = static_cast<int32_t>(static_cast<uint32_t>(to[c]) + Times(factor, with[c] - bz));
        }
      }
    });
  }
  int64_t cost() const { return k; }
};

template <class X, class W>
struct IntConvBody {
  const X *x, *x_zero;
  const W *w, *w_zero;
  bool w_zeros;  // one zero point for each output channel
  int64_t in, out, in_per_group, out_per_group;
  int64_t height, width, out_height, out_width, kernel_h, kernel_w;
  int64_t stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
  int32_t* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t rest = i;
    const int64_t column = TakeDigit(rest, out_width), row = TakeDigit(rest, out_height);
    const int64_t o = TakeDigit(rest, out), image = rest;
    const X* plane = x + (image * in + o / out_per_group * in_per_group) * height * width;
    const W* weight = w + o * in_per_group * kernel_h * kernel_w;
    const int32_t xz = *x_zero, wz = w_zero[w_zeros ? o : 0];
    uint32_t sum = 0;
    for (int64_t c = 0; c < in_per_group; ++c, plane += height * width) {
      for (int64_t u = 0; u < kernel_h; ++u) {
        const int64_t r = row * stride_h - padding_h + u * dilation_h;
        for (int64_t v = 0; v < kernel_w; ++v, ++weight) {
          const int64_t s = column * stride_w - padding_w + v * dilation_w;
          const bool inside = (r >= 0) & (r < height) & (s >= 0) & (s < width);
          if (inside) sum += Times(plane[r * width + s] - xz, *weight - wz);
        }
      }
    }
    y[i] = static_cast<int32_t>(sum);
  }
  int64_t cost() const { return in_per_group * kernel_h * kernel_w; }
};

// f(TypeTag<A>(), TypeTag<B>()) for the bytes of these dtypes.
template <class F>
absl::Status VisitBytes(DType a, DType b, const F& f) {
  const auto with = [&](auto tag) {
    return b == DType::kU8 ? f(tag, TypeTag<uint8_t>()) : f(tag, TypeTag<int8_t>());
  };
  return a == DType::kU8 ? with(TypeTag<uint8_t>()) : with(TypeTag<int8_t>());
}

struct IntMatmulKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const Shape& a = k.in_spec(0).shape;
    const Shape& y = k.out_spec().shape;
    const bool zeros = k.in_spec(3).shape.rank() == 1;
    const bool transposed = k.attrs<IntMatmulAttrs>().transpose_b;
    return VisitBytes(
        k.in_spec(0).dtype, k.in_spec(2).dtype, [&]<class A, class B>(TypeTag<A>, TypeTag<B>) {
          return on.ForEach(
              y.num_elements(),
              IntMatmulBody<A, B>{k.in<A>(0), k.in<A>(1), k.in<B>(2), k.in<B>(3), y[1], y[2], a[2],
                                  zeros, transposed, k.out<int32_t>()});
        });
  }
};

struct IntConvKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const Shape& y = k.out_spec().shape;
    const ConvProblem p =
        ConvProblemOf(k.in_spec(0).shape, k.in_spec(2).shape, y, k.attrs<ConvAttrs>());
    const ConvAttrs& o = p.attrs;
    const bool zeros = k.in_spec(3).shape.rank() == 1;
    return VisitBytes(
        k.in_spec(0).dtype, k.in_spec(2).dtype, [&]<class X, class W>(TypeTag<X>, TypeTag<W>) {
          const IntConvBody<X, W> body{
              k.in<X>(0),    k.in<X>(1),      k.in<W>(2),       k.in<W>(3),        zeros,
              p.in,          p.out,           p.in_per_group(), p.out_per_group(), p.in_size[0],
              p.in_size[1],  p.out_size[0],   p.out_size[1],    p.kernel[0],       p.kernel[1],
              o.stride[0],   o.stride[1],     o.padding[0],     o.padding[1],      o.dilation[0],
              o.dilation[1], k.out<int32_t>()};
          return on.ForEach(y.num_elements(), body);
        });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_PRODUCTS_BODY_H_
