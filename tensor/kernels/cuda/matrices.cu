// A thread for each element that is written; a team for each matrix whose diagonal is read.
#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/matrices.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/scaled_product.h"
#include "firn/tensor/kernels/vector_sign.h"
#include "firn/tensor/reorder.h"

namespace firn::cuda {
namespace {

template <class F>
absl::Status VisitMatrices(DType dtype, const F& f) {
  return dtype == DType::kF32 ? f(TypeTag<float>()) : f(TypeTag<double>());
}

// Strides of `batch` matrices in that order; only `own` of them exist.
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
  int32_t* infos;  // null: it looks for zeros
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

struct AddressBody {
  char* base;
  int64_t bytes;
  void** to;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { to[i] = base + i * bytes; }
};

struct WidenBody {
  const int32_t* from;
  int64_t* to;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { to[i] = from[i]; }
};

template <class T>
struct PartBody {
  const T* x;
  T* y;
  MatrixPart p;

  static FIRN_HOST_DEVICE int64_t At(const MatrixSteps& s, int64_t matrix, int64_t row,
                                     int64_t column) {
    return matrix * s.matrix + row * s.row + column * s.column;
  }
  FIRN_HOST_DEVICE T From(int64_t matrix, int64_t row, int64_t column) const {
    const bool has =
        p.part == Part::kAll || (p.part == Part::kUpper ? row <= column : row >= column);
    return has ? x[At(p.from, matrix, row, column)] : T(0);
  }
  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t matrix = i;
    const int64_t column = TakeDigit(matrix, p.columns), row = TakeDigit(matrix, p.rows);
    y[At(p.to, matrix, row, column)] = From(matrix, row, column);
  }
};

template <class T>
struct FiniteBody {
  PartBody<T> copy;
  int32_t* bad;
  IndexFaults faults;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t matrix) const {
    const MatrixPart& p = copy.p;
    int64_t first = p.rows;  // with an element that is not finite
    for (int64_t e = team.rank(); e < p.rows * p.columns; e += team.size()) {
      const T v = copy.From(matrix, e / p.columns, e % p.columns);
      if (!(std::abs(v) <= std::numeric_limits<T>::max())) first = Less()(first, e / p.columns);
    }
    first = team.Reduce(first, Less());
    for (int64_t e = team.rank(); e < p.rows * p.columns; e += team.size()) {
      const int64_t row = e / p.columns, column = e % p.columns;
      copy.y[copy.At(p.to, matrix, row, column)] =
          first < p.rows ? T(0) : copy.From(matrix, row, column);
    }
    if (team.rank() != 0) return;
    bad[matrix] = first < p.rows;
    if (first < p.rows) faults.Report(matrix, first, p.rows);
  }
};

struct Larger {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class T>
struct VectorsBody {
  SignedVectors v;
  IndexFaults faults;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t i) const {
    int64_t matrix = i;
    const int64_t line = TakeDigit(matrix, std::max(v.own.lines, v.other.lines));
    const bool lost = v.bad[matrix] != 0 || v.infos[matrix] != 0;
    T sign = lost ? std::numeric_limits<T>::quiet_NaN() : T(1);
    if (!lost && line < v.own.lines) sign = SignOf(team, matrix, line);
    Write(team, v.own, matrix, line, sign);
    Write(team, v.other, matrix, line, lost || line < v.paired ? sign : T(1));
    if (team.rank() != 0 || !lost) return;
    if (line < v.paired) static_cast<T*>(v.values)[matrix * v.paired + line] = sign;
    if (line == 0 && v.bad[matrix] == 0) faults.Report(matrix, 0, 1);
  }

  template <class Team>
  FIRN_HOST_DEVICE T SignOf(const Team& team, int64_t matrix, int64_t line) const {
    const MatrixSteps& s = v.own.from_steps;
    const T* const from = static_cast<const T*>(v.own.from) + matrix * s.matrix + line * s.row;
    T largest = 0;
    for (int64_t e = team.rank(); e < v.own.size; e += team.size()) {
      largest = Larger()(largest, std::abs(from[e * s.column]));
    }
    const T least = team.Reduce(largest, Larger()) * static_cast<T>(kAsLarge);
    int64_t first = v.own.size;
    for (int64_t e = team.rank(); e < v.own.size; e += team.size()) {
      if (std::abs(from[e * s.column]) >= least) first = Less()(first, e);
    }
    first = team.Reduce(first, Less());
    return first < v.own.size && from[first * s.column] < T(0) ? T(-1) : T(1);
  }

  template <class Team>
  static FIRN_HOST_DEVICE void Write(const Team& team, const MatrixVectors& w, int64_t matrix,
                                     int64_t line, T sign) {
    if (line >= w.lines) return;
    const MatrixSteps &f = w.from_steps, &t = w.to_steps;
    const T* const from = static_cast<const T*>(w.from) + matrix * f.matrix + line * f.row;
    T* const to = static_cast<T*>(w.to) + matrix * t.matrix + line * t.row;
    for (int64_t e = team.rank(); e < w.size; e += team.size()) {
      to[e * t.column] = sign * from[e * f.column];
    }
  }
};

template <class T>
struct DivideRowsBody {
  DividedRows d;
  const T* s;
  T* y;
  IndexFaults faults;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t matrix = i;
    const int64_t row = TakeDigit(matrix, d.k), column = TakeDigit(matrix, d.columns);
    const double least = d.rtol * static_cast<double>(s[matrix * d.k]);
    const T value = s[matrix * d.k + row];
    if (d.bad[matrix] != 0 || d.infos[matrix] != 0) {
      y[i] = std::numeric_limits<T>::quiet_NaN();
      if (d.bad[matrix] == 0 && row + column == 0) faults.Report(matrix, 0, 1);
    } else {
      y[i] = value > static_cast<T>(std::max(least, d.atol)) ? y[i] * (T(1) / value) : T(0);
    }
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

absl::Status SetAddresses(const Queue& queue, int64_t count, const void* base, int64_t bytes,
                          void** to) {
  char* const first = static_cast<char*>(const_cast<void*>(base));
  return ForEach(queue, count, AddressBody{first, bytes, to});
}

absl::Status WidenPivots(const Queue& queue, int64_t count, const int32_t* from, int64_t* to) {
  return ForEach(queue, count, WidenBody{from, to});
}

absl::Status CopyPart(const Queue& queue, const MatrixPart& p, const void* x, void* y) {
  return VisitMatrices(p.dtype, [&]<class T>(TypeTag<T>) {
    return ForEach(queue, p.count * p.rows * p.columns,
                   PartBody<T>{static_cast<const T*>(x), static_cast<T*>(y), p});
  });
}

absl::Status CopyFinite(const Queue& queue, const MatrixSite& site, const MatrixPart& p,
                        const void* x, void* y, int32_t* bad) {
  const IndexFaults faults(IndexFaultOf(queue), site);
  return VisitMatrices(p.dtype, [&]<class T>(TypeTag<T>) {
    const PartBody<T> copy{static_cast<const T*>(x), static_cast<T*>(y), p};
    return ForEachLine(queue, p.count, p.rows * p.columns, FiniteBody<T>{copy, bad, faults});
  });
}

absl::Status CopyVectors(const Queue& queue, const MatrixSite& site, const SignedVectors& v) {
  const IndexFaults faults(IndexFaultOf(queue), site);
  const int64_t lines = std::max(v.own.lines, v.other.lines);
  return VisitMatrices(v.dtype, [&]<class T>(TypeTag<T>) {
    return ForEachLine(queue, v.count * lines, v.own.size, VectorsBody<T>{v, faults});
  });
}

absl::Status DivideRows(const Queue& queue, const MatrixSite& site, const DividedRows& d,
                        const void* s, void* y) {
  const IndexFaults faults(IndexFaultOf(queue), site);
  return VisitMatrices(d.dtype, [&]<class T>(TypeTag<T>) {
    return ForEach(queue, d.count * d.k * d.columns,
                   DivideRowsBody<T>{d, static_cast<const T*>(s), static_cast<T*>(y), faults});
  });
}

}  // namespace firn::cuda
