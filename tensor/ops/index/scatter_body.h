#ifndef FIRN_TENSOR_OPS_INDEX_SCATTER_BODY_H_
#define FIRN_TENSOR_OPS_INDEX_SCATTER_BODY_H_

// scatter, scatter_reduce: a line of indices along `dim` at a time, in order, so that each place
// sees the same elements in the same order, whichever thread takes a line. Products and extremes of
// half types are formed in float, in scratch memory of the result's size.

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
  // All of it is written: CUDA compares the bytes of a launch with those of an earlier one.
  int64_t sizes[kMaxRank] = {};
  At strides[kMaxRank] = {};
  At step = {};
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

// Combines an element `to` of the result with `v`.
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

// Parts shared by bodies for a line. The indices' type and the way to combine elements are chosen
// once for a line: a kernel for every choice would take long to compile.
template <class T, class Acc, class Range>
struct ScatterLine {
  ScatterLines lines;
  Range places;
  const void* indices;
  bool wide;  // whether they are int64 in place of int32
  const T* source;
  Acc* y;

  template <class There>
  FIRN_HOST_DEVICE void Put(const ScatterLines::At& at, There there) const {
    if (wide) {
      PutAt(static_cast<const int64_t*>(indices), at, there);
    } else {
      PutAt(static_cast<const int32_t*>(indices), at, there);
    }
  }
  int64_t cost() const { return 4 * lines.count; }

  template <class I, class There>
  FIRN_HOST_DEVICE void PutAt(const I* index, const ScatterLines::At& at, There there) const {
    // Copies, so that no element that is written can be one of them.
    const Range range = places;
    const ScatterLines::At step = lines.step;
    const T* from = source + at.source;
    Acc* const to = y + at.y;
    const int64_t count = lines.count;
    index += at.indices;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = range(index[i * step.indices]);
      if (place < 0) continue;
      there(to[place * step.y], static_cast<Acc>(from[i * step.source]));
    }
  }
};

template <class W, class Range>
struct ScatterBody {
  ScatterLine<W, W, Range> line;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { line.Put(line.lines.start(i), PutThere()); }
  int64_t cost() const { return line.cost(); }
};

template <class T, class Acc, class Range>
struct ScatterReduceBody {
  ScatterLine<T, Acc, Range> line;
  ScatterReduction reduce;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const ScatterLines::At at = line.lines.start(i);
    if (reduce == ScatterReduction::kProd) {
      line.Put(at, MultiplyThere());
    } else if (reduce == ScatterReduction::kAmax) {
      line.Put(at, ExtremeThere<true>());
    } else {
      line.Put(at, ExtremeThere<false>());
    }
  }
  int64_t cost() const { return line.cost(); }
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
      const ScatterLine<W, W, Range> line{lines,
                                          places,
                                          k.in<void>(1),
                                          k.in_spec(1).dtype == DType::kI64,
                                          static_cast<const W*>(k.in<void>(2)),
                                          static_cast<W*>(k.out<void>())};
      return on.ForEach(lines.lines, ScatterBody<W, Range>{line});
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
    return VisitNumeric(k.out_spec().dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
      using Acc = AccOf<T>;
      const int64_t n = k.out_spec().num_elements();
      Acc* sums = nullptr;
      if constexpr (std::is_same_v<T, Acc>) {
        sums = k.out<T>();
      } else {
        sums = k.workspace<Acc>();
        FIRN_RETURN_IF_ERROR(on.ForEach(n, CastBody<T, Acc>{k.out<T>(), sums}));
      }
      const ScatterLine<T, Acc, Range> line{
          lines, places, k.in<void>(1), k.in_spec(1).dtype == DType::kI64, k.in<T>(2), sums};
      FIRN_RETURN_IF_ERROR(
          on.ForEach(lines.lines, ScatterReduceBody<T, Acc, Range>{line, a.reduce}));
      if constexpr (std::is_same_v<T, Acc>) return absl::OkStatus();
      return on.ForEach(n, CastBody<Acc, T>{sums, k.out<T>()});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_SCATTER_BODY_H_
