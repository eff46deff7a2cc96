// A thread an element of what is written; a team a matrix of which the diagonal is read.
#include <cmath>
#include <limits>

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/matrices.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/scaled_product.h"
#include "firn/tensor/reorder.h"

namespace firn::cuda {
namespace {

template <class F>
absl::Status VisitMatrices(DType dtype, const F& f) {
  return dtype == DType::kF32 ? f(TypeTag<float>()) : f(TypeTag<double>());
}

// Strides of `batch` matrices in that order, of which there are `own`.
Dims StridesIn(const MatrixCopy& c, const Dims& own, Order order) {
  Dims strides(c.batch.rank, 0);
  int64_t step = c.rows * c.columns;
  for (int i = own.rank - 1; i >= 0; --i) {
    if (own[i] != 1) strides[c.batch.rank - own.rank + i] = step;
    step *= own[i];
  }
  strides.push_back(order == Order::kRows ? c.columns : 1);
  strides.push_back(order == Order::kRows ? 1 : c.rows);
  return strides;
}

template <class T>
struct UnitBody {
  int64_t rows, columns;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t column = TakeDigit(row, columns);
    y[i] = T(row % rows == column ? 1 : 0);
  }
};

struct Less {
  FIRN_HOST_DEVICE int64_t operator()(int64_t a, int64_t b) const { return b < a ? b : a; }
};

template <class T>
struct CheckPivotsBody {
  const T* a;
  int64_t n;
  int32_t* infos;  // null: what is looked for are zeros
  IndexFaults faults;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t matrix) const {
    int64_t bad = infos != nullptr && infos[matrix] > 0 ? infos[matrix] - 1 : n;
    for (int64_t row = team.rank(); row < bad; row += team.size()) {
      if (!IsFine(a[(matrix * n + row) * n + row])) bad = row;
    }
    bad = team.Reduce(bad, Less());
    if (bad == n || team.rank() != 0) return;
    faults.Report(matrix, bad, n);
    if (infos != nullptr) infos[matrix] = static_cast<int32_t>(bad + 1);
  }

  FIRN_HOST_DEVICE bool IsFine(T v) const {
    return infos == nullptr ? v != T(0) : v > T(0) && v <= std::numeric_limits<T>::max();
  }
};

template <class T>
struct TrianglesBody {
  const T* x;
  const int32_t* bad;
  T* y;
  int64_t n;
  bool upper;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t matrix = i;
    const int64_t column = TakeDigit(matrix, n), row = TakeDigit(matrix, n);
    if (bad != nullptr && bad[matrix] != 0) {
      y[i] = std::numeric_limits<T>::quiet_NaN();
    } else {
      y[i] = (upper ? row <= column : row >= column) ? x[i] : T(0);
    }
  }
};

struct Both {
  template <class T>
  FIRN_HOST_DEVICE ScaledProduct<T> operator()(ScaledProduct<T> a,
                                               const ScaledProduct<T>& b) const {
    a.exponent += b.exponent;
    a.Times(b.part);
    return a;
  }
};
struct Sum {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

template <class T>
struct DeterminantBody {
  const T* lu;
  const int64_t* pivots;
  T *signs, *logs;
  int64_t n;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t matrix) const {
    ScaledProduct<T> product;
    T log = 0;
    for (int64_t j = team.rank(); j < n; j += team.size()) {
      const T v = lu[(matrix * n + j) * n + j];
      const T factor = logs == nullptr ? v : v < 0 ? T(-1) : v > 0 ? T(1) : v;
      product.Times(pivots[matrix * n + j] == j + 1 ? factor : -factor);
      if (logs != nullptr) log += std::log(std::abs(v));
    }
    product = team.Reduce(product, Both());
    log = team.Reduce(log, Sum());
    if (team.rank() != 0) return;
    signs[matrix] = TimesPowerOf2(product.part, product.exponent);
    if (logs != nullptr) logs[matrix] = log;
  }
};

}  // namespace

absl::Status CopyMatrices(const Queue& queue, const MatrixCopy& copy, const void* x, void* y) {
  Dims sizes = copy.batch;
  sizes.push_back(copy.rows);
  sizes.push_back(copy.columns);
  const Shape shape = Shape::Trusted(sizes);
  const auto spec = [&](const Dims& own, Order order) {
    return TensorSpec::Strided(copy.dtype, shape, queue.device, StridesIn(copy, own, order));
  };
  return CopyElements(spec(copy.own, copy.from), x, spec(copy.batch, copy.to), y, queue.stream);
}

absl::Status SetToUnit(const Queue& queue, DType dtype, int64_t count, int64_t rows,
                       int64_t columns, void* y) {
  return VisitMatrices(dtype, [&]<class T>(TypeTag<T>) {
    return ForEach(queue, count * rows * columns, UnitBody<T>{rows, columns, static_cast<T*>(y)});
  });
}

absl::Status CheckPivots(const Queue& queue, const MatrixSite& site, DType dtype, int64_t count,
                         int64_t n, const void* a) {
  return CheckDefinite(queue, site, dtype, count, n, a, nullptr);
}

absl::Status CheckDefinite(const Queue& queue, const MatrixSite& site, DType dtype, int64_t count,
                           int64_t n, const void* a, int32_t* infos) {
  const IndexFaults faults(IndexFaultOf(queue), site);
  return VisitMatrices(dtype, [&]<class T>(TypeTag<T>) {
    return ForEachLine(queue, count, n,
                       CheckPivotsBody<T>{static_cast<const T*>(a), n, infos, faults});
  });
}

absl::Status CopyTriangles(const Queue& queue, DType dtype, int64_t count, int64_t n, bool upper,
                           const void* x, const int32_t* bad, void* y) {
  return VisitMatrices(dtype, [&]<class T>(TypeTag<T>) {
    return ForEach(queue, count * n * n,
                   TrianglesBody<T>{static_cast<const T*>(x), bad, static_cast<T*>(y), n, upper});
  });
}

absl::Status Determinants(const Queue& queue, DType dtype, int64_t count, int64_t n, const void* lu,
                          const int64_t* pivots, void* signs, void* logs) {
  return VisitMatrices(dtype, [&]<class T>(TypeTag<T>) {
    return ForEachLine(queue, count, n,
                       DeterminantBody<T>{static_cast<const T*>(lu), pivots, static_cast<T*>(signs),
                                          static_cast<T*>(logs), n});
  });
}

}  // namespace firn::cuda
