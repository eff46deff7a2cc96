#ifndef FIRN_TENSOR_OPS_LINEAR_PRODUCTS_BODY_H_
#define FIRN_TENSOR_OPS_LINEAR_PRODUCTS_BODY_H_

// kron_matrices and cross_vectors, an element or a vector at a time. Half types are computed in
// float.

#include "firn/device/product_rest.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/dim_attrs.h"

namespace firn {

template <class T>
struct KronBody {
  using Acc = AccumulatorOf<T>;
  int64_t columns_of_x, rows_of_y, columns_of_y;
  const T *x, *y;
  T* out;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t rest = i;
    const int64_t e = TakeDigit(rest, columns_of_y), j = TakeDigit(rest, columns_of_x);
    const int64_t k = TakeDigit(rest, rows_of_y);
    const Acc factor = static_cast<Acc>(x[rest * columns_of_x + j]);
    out[i] = static_cast<T>(factor * static_cast<Acc>(y[k * columns_of_y + e]));
  }
};

template <class T>
struct CrossBody {
  using Acc = AccumulatorOf<T>;
  int64_t inner;  // elements from one element of a vector to the next
  const T *x, *y;
  T* out;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t outer = i;
    const int64_t first = TakeDigit(outer, inner) + outer * 3 * inner;
    Acc a[3], b[3];
    for (int k = 0; k < 3; ++k) {
      a[k] = static_cast<Acc>(x[first + k * inner]);
      b[k] = static_cast<Acc>(y[first + k * inner]);
    }
    for (int k = 0; k < 3; ++k) {
      const int next = (k + 1) % 3, last = (k + 2) % 3;
      // Rounded before they are subtracted, so that a vector's product with itself is 0.
      const Acc ahead = inner::RoundedProduct(a[next], b[last]);
      out[first + k * inner] = static_cast<T>(ahead - inner::RoundedProduct(a[last], b[next]));
    }
  }
};

// f(body) with the body of a call.
template <class F>
absl::Status VisitKron(KernelContext& k, const F& f) {
  const Shape &x = k.in_spec(0).shape, &y = k.in_spec(1).shape;
  return VisitFloat(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    return f(KronBody<T>{x[1], y[0], y[1], k.in<T>(0), k.in<T>(1), k.out<T>()});
  });
}
template <class F>
absl::Status VisitCross(KernelContext& k, const F& f) {
  const Shape& x = k.in_spec(0).shape;
  const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, x);
  int64_t inner = 1;
  for (int d = dim + 1; d < x.rank(); ++d) inner *= x[d];
  return VisitFloat(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    return f(CrossBody<T>{inner, k.in<T>(0), k.in<T>(1), k.out<T>()});
  });
}

struct KronKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitKron(
        k, [&](const auto& body) { return on.ForEach(k.out_spec().num_elements(), body); });
  }
};
struct CrossKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitCross(
        k, [&](const auto& body) { return on.ForEach(k.out_spec().num_elements() / 3, body); });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_PRODUCTS_BODY_H_
