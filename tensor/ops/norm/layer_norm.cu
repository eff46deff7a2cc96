// layer_norm, rms_norm (not centred) and their gradients: see layer_norm.cc. A team computes a row:
// first its mean, then the squared deviations together with the rounded mean's error. dweight and
// dbias are a reduction over the rows.

#include <cmath>
#include <limits>
#include <type_traits>

#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/problems/norm_options.h"

namespace firn::layer_norm_cuda {
namespace {

template <class T>
struct Pair {
  T a, b;
  FIRN_HOST_DEVICE friend Pair operator+(const Pair& x, const Pair& y) {
    return {x.a + y.a, x.b + y.b};
  }
};

template <class Team, class V>
FIRN_HOST_DEVICE V SumOver(const Team& team, const V& v) {
  return team.Reduce(v, [](const V& x, const V& y) { return x + y; });
}

template <bool kCentred, class T>
struct RowBody {
  using Acc = AccumulatorOf<T>;

  const T *x, *weight, *bias;  // weight and bias may be null
  T* y;
  Acc *means, *invstds;
  int64_t cols;
  double eps;

  // The same for a row whose squares overflow float or lose digits in it.
  template <class Team>
  FIRN_HOST_DEVICE void InDouble(const Team& team, const T* from, Acc* mean, Acc* invstd) const {
    const auto n = static_cast<double>(cols);
    const auto wide = [](T v) { return static_cast<double>(static_cast<Acc>(v)); };
    double near = 0, squares = 0;
    if constexpr (kCentred) {
      double sum = 0;
      cuda::ReadElements(
          team, cols, 1, [&](int64_t, T v) { sum += wide(v); }, from);
      near = SumOver(team, sum) / n;
    }
    const auto deviate = [&](int64_t, T v) { squares += (wide(v) - near) * (wide(v) - near); };
    cuda::ReadElements(team, cols, 1, deviate, from);
    *mean = static_cast<Acc>(near);
    *invstd = static_cast<Acc>(1 / std::sqrt(SumOver(team, squares) / n + eps));
  }

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t row) const {
    const T* from = x + row * cols;
    const auto n = static_cast<Acc>(cols);
    Acc near = 0;
    if constexpr (kCentred) {
      Acc sum = 0;
      cuda::ReadElements(
          team, cols, 1, [&](int64_t, T v) { sum += static_cast<Acc>(v); }, from);
      near = SumOver(team, sum) / n;
    }
    Pair<Acc> s = {0, 0};
    const auto deviate = [&](int64_t, T v) {
      const Acc d = static_cast<Acc>(v) - near;
      s.a += d;
      s.b += d * d;
    };
    cuda::ReadElements(team, cols, 1, deviate, from);
    s = SumOver(team, s);
    const Acc lack = kCentred ? s.a / n : Acc{0}, var = s.b / n - lack * lack;
    Acc mean = near + lack;
    Acc invstd = 1 / std::sqrt((var < 0 ? Acc{0} : var) + static_cast<Acc>(eps));
    constexpr Acc kLeast = static_cast<Acc>(0x1p-102);
    const bool far = !(var <= std::numeric_limits<Acc>::max()) || (var < kLeast && eps < kLeast);
    if (std::is_same_v<Acc, float> && far) {
      InDouble(team, from, &mean, &invstd);
    }
    if (team.rank() == 0) {
      if (kCentred) means[row] = mean;
      invstds[row] = invstd;
    }
    if (weight != nullptr && bias != nullptr) {
      const auto f = [&](int64_t, T v, T w, T b) {
        return (static_cast<Acc>(v) - mean) * invstd * static_cast<Acc>(w) + static_cast<Acc>(b);
      };
      return cuda::MapElements(team, cols, 1, f, y + row * cols, from, weight, bias);
    }
    const auto f = [&](int64_t i, T v) {
      const Acc w = weight == nullptr ? Acc{1} : static_cast<Acc>(weight[i]);
      const Acc b = bias == nullptr ? Acc{0} : static_cast<Acc>(bias[i]);
      return (static_cast<Acc>(v) - mean) * invstd * w + b;
    };
    cuda::MapElements(team, cols, 1, f, y + row * cols, from);
  }
};

template <bool kCentred>
absl::Status Run(KernelContext& k) {
  const Shape& shape = k.in_spec(0).shape;
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    const RowBody<kCentred, T> body = {k.in<T>(0),
                                       k.in<T>(1),
                                       k.in<T>(2),
                                       k.out<T>(0),
                                       kCentred ? k.out<Acc>(1) : nullptr,
                                       k.out<Acc>(kCentred ? 2 : 1),
                                       shape[1],
                                       k.attrs<LayerNormAttrs>().eps};
    return cuda::ForEachLine(k, shape[0], shape[1], body);
  });
}

// --- The gradient: dy, x, weight, mean, invstd -> dx, dweight, dbias -----------------------------

template <bool kCentred, class T>
struct GradRowBody {
  using Acc = AccumulatorOf<T>;

  const T *dy, *x, *weight;  // weight may be null
  const Acc *means, *invstds;
  T* dx;
  int64_t cols;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t row) const {
    const int64_t at = row * cols;
    const Acc mean = kCentred ? means[row] : Acc{0}, invstd = invstds[row];
    const auto dxhat = [&](int64_t i, T d) {
      const Acc g = static_cast<Acc>(d);
      return weight == nullptr ? g : g * static_cast<Acc>(weight[i]);
    };
    Pair<Acc> s = {0, 0};  // of dxhat and dxhat xhat
    const auto add = [&](int64_t i, T d, T v) {
      const Acc g = dxhat(i, d);
      s.a += g;
      s.b += g * ((static_cast<Acc>(v) - mean) * invstd);
    };
    cuda::ReadElements(team, cols, 1, add, dy + at, x + at);
    s = SumOver(team, s);
    const auto n = static_cast<Acc>(cols);
    const Acc m = kCentred ? s.a / n : Acc{0}, mx = s.b / n;
    const auto f = [&](int64_t i, T d, T v) {
      const Acc xhat = (static_cast<Acc>(v) - mean) * invstd;
      return invstd * (dxhat(i, d) - m - xhat * mx);
    };
    cuda::MapElements(team, cols, 1, f, dx + at, dy + at, x + at);
  }
};

// Over the rows of a column.
template <bool kCentred, class T>
struct ColumnFold {
  using Real = AccumulatorOf<T>;
  using Acc = Pair<Real>;
  using State = Acc;

  const Real *means, *invstds;
  T *dweight, *dbias;

  FIRN_HOST_DEVICE State start() const { return {0, 0}; }
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t row, T dy, T x) const {
    const Real g = static_cast<Real>(dy);
    const Real mean = kCentred ? means[row] : Real{0};
    s.a += g * ((static_cast<Real>(x) - mean) * invstds[row]);
    s.b += g;
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const { return a + b; }
  FIRN_HOST_DEVICE void store(int64_t column, const Acc& a) const {
    dweight[column] = static_cast<T>(a.a);
    if (kCentred) dbias[column] = static_cast<T>(a.b);
  }
};

cuda::ReduceWork PlanColumns(const TensorSpec& x) {
  constexpr int64_t kRows[] = {0};
  return cuda::PlanWork(x, kRows);
}

size_t GradWorkspace(const KernelQuery& q) {
  return PlanColumns(q.in(1)).Bytes(2 * sizeof(double));
}

template <bool kCentred>
absl::Status RunGrad(KernelContext& k) {
  const Shape& shape = k.in_spec(1).shape;
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    const T *dy = k.in<T>(0), *x = k.in<T>(1);
    const Acc* const means = kCentred ? k.in<Acc>(3) : nullptr;
    const Acc* const invstds = k.in<Acc>(kCentred ? 4 : 3);
    const GradRowBody<kCentred, T> body = {dy,      x,           k.in<T>(2), means,
                                           invstds, k.out<T>(0), shape[1]};
    FIRN_RETURN_IF_ERROR(cuda::ForEachLine(k, shape[0], shape[1], body));
    const ColumnFold<kCentred, T> fold = {means, invstds, k.out<T>(1),
                                          kCentred ? k.out<T>(2) : nullptr};
    return cuda::ReduceWith(k, fold, PlanColumns(k.in_spec(1)), k.workspace(), dy, x);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(layer_norm) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run<true>}};
}
FIRN_REGISTER_KERNELS(layer_norm_grad) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = GradWorkspace,
           .run = RunGrad<true>}};
}
FIRN_REGISTER_KERNELS(rms_norm) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run<false>}};
}
FIRN_REGISTER_KERNELS(rms_norm_grad) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = GradWorkspace,
           .run = RunGrad<false>}};
}

}  // namespace firn::layer_norm_cuda
