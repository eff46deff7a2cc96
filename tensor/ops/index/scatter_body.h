#ifndef FIRN_TENSOR_OPS_INDEX_SCATTER_BODY_H_
#define FIRN_TENSOR_OPS_INDEX_SCATTER_BODY_H_

// scatter, scatter_reduce: a line of indices along `dim` at a time, in order, so that whoever takes
// which line, each place sees the same elements in the same order. Products and extremes of half
// types are formed in float, in scratch memory of the result's size.

#include <algorithm>
#include <type_traits>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/index_range.h"
#include "firn/tensor/ops/index/scatter.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/reorder.h"

namespace firn {

// Where the lines of indices along a dimension lie in three row-major tensors.
struct ScatterLines {
  struct At {
    int64_t y, indices, source;
  };
  int rank = 0;  // of what is outside the dimension
  int64_t sizes[kMaxRank];
  At strides[kMaxRank];
  At step;
  int64_t count = 0, lines = 1;

  ScatterLines(const Shape& y, const Shape& indices, const Shape& source, int dim) {
    const Dims in_y = ContiguousStrides(y), in_indices = ContiguousStrides(indices),
               in_source = ContiguousStrides(source);
    for (int d = 0; d < indices.rank(); ++d) {
      const At at{in_y[d], in_indices[d], in_source[d]};
      if (d == dim) {
        step = at;
        count = indices[d];
      } else {
        sizes[rank] = indices[d];
        strides[rank++] = at;
        lines *= indices[d];
      }
    }
  }
  FIRN_HOST_DEVICE At start(int64_t line) const {
    At at{0, 0, 0};
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t digit = TakeDigit(line, sizes[d]);
      at.y += digit * strides[d].y;
      at.indices += digit * strides[d].indices;
      at.source += digit * strides[d].source;
    }
    return at;
  }
};

// What becomes of an element `to` of the result where `v` is put.
struct PutThere {
  template <class T>
  FIRN_HOST_DEVICE void operator()(T& to, T v) const {
    to = v;
  }
};
struct MultiplyThere {
  template <class T>
  FIRN_HOST_DEVICE void operator()(T& to, T v) const {
    to = static_cast<T>(to * v);
  }
};
template <bool kLargest>
struct ExtremeThere {  // NaN stays
  template <class T>
  FIRN_HOST_DEVICE void operator()(T& to, T v) const {
    if ((kLargest ? v > to : v < to) || v != v) to = v;
  }
};

template <class T, class Acc, class I, class Range, class There>
struct ScatterBody {
  ScatterLines lines;
  Range places;
  const I* indices;
  const T* source;
  Acc* y;
  There there;

  FIRN_HOST_DEVICE void operator()(int64_t line) const {
    const ScatterLines::At at = lines.start(line);
    for (int64_t i = 0; i < lines.count; ++i) {
      const int64_t place = places(indices[at.indices + i * lines.step.indices]);
      if (place < 0) continue;
      there(y[at.y + place * lines.step.y],
            static_cast<Acc>(source[at.source + i * lines.step.source]));
    }
  }
  int64_t cost() const { return 4 * lines.count; }
};

struct ScatterKernel {
  static constexpr IndexSite kSite = {"scatter", "indices"};

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const Shape &y = k.out_spec().shape, &indices = k.in_spec(1).shape;
    const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, indices);
    FIRN_RETURN_IF_ERROR(
        CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream()));
    const ScatterLines lines(y, indices, k.in_spec(2).shape, dim);
    const auto places = on.Indices(kSite, -y[dim], y[dim]);
    using Range = std::remove_const_t<decltype(places)>;
    return VisitWidth(k.out_spec().dtype, [&]<class W>(TypeTag<W>) {
      return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
        return on.ForEach(lines.lines,
                          ScatterBody<W, W, I, Range, PutThere>{
                              lines, places, k.in<I>(1), static_cast<const W*>(k.in<void>(2)),
                              static_cast<W*>(k.out<void>()), PutThere()});
      });
    });
  }
};

struct ScatterReduceKernel {
  static constexpr IndexSite kSite = {"scatter_reduce", "indices"};

  template <class On>
  static size_t Workspace(const KernelQuery& q) {
    const bool half = ComputeDType(q.out().dtype) != q.out().dtype;
    return half ? static_cast<size_t>(q.out().num_elements()) * sizeof(float) : 0;
  }

  template <class T>
  using AccOf = std::conditional_t<std::is_integral_v<T>, T, AccumulatorOf<T>>;

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const ScatterReduceAttrs& a = k.attrs<ScatterReduceAttrs>();
    const Shape &y = k.out_spec().shape, &indices = k.in_spec(1).shape;
    const int dim = *NormalizeDim(a.dim, indices);
    FIRN_RETURN_IF_ERROR(
        CopyElements(k.in_spec(0), k.in<void>(0), k.out_spec(), k.out<void>(), k.stream()));
    const ScatterLines lines(y, indices, k.in_spec(2).shape, dim);
    const auto places = on.Indices(kSite, -y[dim], y[dim]);
    using Range = std::remove_const_t<decltype(places)>;
    return VisitNumeric(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
      using Acc = AccOf<T>;
      return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) -> absl::Status {
        const int64_t n = k.out_spec().num_elements();
        Acc* sums = nullptr;
        if constexpr (std::is_same_v<T, Acc>) {
          sums = k.out<T>();
        } else {
          sums = k.workspace<Acc>();
          FIRN_RETURN_IF_ERROR(on.ForEach(n, CastBody<T, Acc>{k.out<T>(), sums}));
        }
        const auto run = [&]<class There>(There there) {
          return on.ForEach(lines.lines, ScatterBody<T, Acc, I, Range, There>{
                                             lines, places, k.in<I>(1), k.in<T>(2), sums, there});
        };
        FIRN_RETURN_IF_ERROR(a.reduce == ScatterReduction::kProd   ? run(MultiplyThere())
                             : a.reduce == ScatterReduction::kAmax ? run(ExtremeThere<true>())
                                                                   : run(ExtremeThere<false>()));
        if constexpr (std::is_same_v<T, Acc>) return absl::OkStatus();
        return on.ForEach(n, CastBody<Acc, T>{sums, k.out<T>()});
      });
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_SCATTER_BODY_H_
