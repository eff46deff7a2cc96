// Initial values. Element i of a fill comes from counter i of the piece of the random stream that
// the fill reserved, so loops may run on any number of threads. Elements are made on the host:
// every device starts from the same numbers.

#include "firn/nn/init.h"

#include <cmath>
#include <utility>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/device/philox.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/rng.h"

namespace firn::nn::init {
namespace {

constexpr int64_t kGrain = 4096;  // random elements worth a thread

// Sets element i to f(i), a double.
template <class F>
void Fill(Tensor& t, const char* name, F f) {
  if (!t.defined()) RaiseStatus(InvalidArgument("the tensor is undefined"), name);
  if (IsPending(t)) RaiseStatus(PendingError(t), name);
  if (!IsFloating(t.dtype())) {
    RaiseStatus(InvalidArgument("wants a floating tensor, got ", t.spec().ToString()), name);
  }
  VisitFloat(t.dtype(), [&]<class T>(TypeTag<T>) {
    const absl::Span<T> out = t.mutable_host_view<T>();
    ParallelFor(t.num_elements(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[static_cast<size_t>(i)] = static_cast<T>(static_cast<AccumulatorOf<T>>(f(i)));
      }
    });
  });
}

PhiloxState Reserve(const Tensor& t, int64_t counters_per_element = 1) {
  const int64_t n = t.defined() && !IsPending(t) ? t.num_elements() : 0;
  return DefaultGenerator().Reserve(static_cast<uint64_t>(n * counters_per_element));
}

double UniformAt(const PhiloxState& s, int64_t i) {
  const PhiloxResult r = PhiloxAt(s, static_cast<uint64_t>(i));
  return UniformDouble(r.v[0], r.v[1]);
}

double NormalAt(const PhiloxState& s, int64_t i) {
  return NormalDoubles(PhiloxAt(s, static_cast<uint64_t>(i))).first;
}

void FillUniform(Tensor& t, const char* name, double low, double high) {
  const PhiloxState s = Reserve(t);
  Fill(t, name, [=](int64_t i) { return low + (high - low) * UniformAt(s, i); });
}

void FillNormal(Tensor& t, const char* name, double mean, double stddev) {
  const PhiloxState s = Reserve(t);
  Fill(t, name, [=](int64_t i) { return mean + stddev * NormalAt(s, i); });
}

// The standard deviation of a uniform distribution on [-b, b) is b / sqrt(3).
void FillUniformOfStddev(Tensor& t, const char* name, double stddev) {
  const double bound = std::sqrt(3.0) * stddev;
  FillUniform(t, name, -bound, bound);
}

double KaimingStddev(const Tensor& t, const KaimingOptions& o) {
  const Fans fans = FansOf(t.shape());
  return o.gain / std::sqrt(o.fan == Fan::kIn ? fans.in : fans.out);
}

double XavierStddev(const Tensor& t, double gain) {
  const Fans fans = FansOf(t.shape());
  return gain * std::sqrt(2 / (fans.in + fans.out));
}

// Makes the `count` rows of `m` (each `length` long, count <= length) orthonormal: modified
// Gram-Schmidt, each row twice, which is as good as Householder's method (Giraud et al., 2005).
void Orthonormalise(std::vector<double>& m, int64_t count, int64_t length) {
  const auto row = [&](int64_t r) { return m.data() + r * length; };
  for (int64_t r = 0; r < count; ++r) {
    double* v = row(r);
    for (int64_t q = 0; q < 2 * r; ++q) {
      const double* u = row(q % r);
      double dot = 0;
      for (int64_t i = 0; i < length; ++i) dot += u[i] * v[i];
      for (int64_t i = 0; i < length; ++i) v[i] -= dot * u[i];
    }
    double square = 0;
    for (int64_t i = 0; i < length; ++i) square += v[i] * v[i];
    const double scale = 1 / std::sqrt(square);
    for (int64_t i = 0; i < length; ++i) v[i] *= scale;
  }
}

}  // namespace

Fans FansOf(const Shape& weight) {
  if (weight.rank() < 2) {
    RaiseStatus(
        InvalidArgument("fan_in and fan_out need at least 2 dimensions, got ", weight.ToString()),
        "init");
  }
  double receptive = 1;
  for (int i = 2; i < weight.rank(); ++i) receptive *= static_cast<double>(weight[i]);
  return {static_cast<double>(weight[1]) * receptive, static_cast<double>(weight[0]) * receptive};
}

double LeakyReluGain(Real negative_slope) {
  return std::sqrt(2 / (1 + negative_slope * negative_slope));
}

Initializer Constant(Real value) {
  return [=](Tensor& t) { Fill(t, "init::constant", [=](int64_t) { return value; }); };
}

Initializer Uniform(Real low, Real high) {
  return [=](Tensor& t) { FillUniform(t, "init::uniform", low, high); };
}

Initializer Normal(Real mean, Real stddev) {
  return [=](Tensor& t) { FillNormal(t, "init::normal", mean, stddev); };
}

Initializer TruncatedNormal(Real mean, Real stddev, Real low, Real high) {
  // The inverse of the distribution function would need no rejection but loses digits in the
  // tails; with the bounds that people use nearly every draw is taken. If the bounds are far from
  // the mean, the nearer bound is taken after kTries draws.
  constexpr int64_t kTries = 64;
  return [=](Tensor& t) {
    const PhiloxState s = Reserve(t, kTries);
    Fill(t, "init::truncated_normal", [=](int64_t i) {
      for (int64_t k = 0; k < kTries; ++k) {
        const double x = mean + stddev * NormalAt(s, i * kTries + k);
        if (x >= low && x <= high) return x;
      }
      return double{mean < low ? low : high};
    });
  };
}

Initializer XavierUniform(Real gain) {
  return [=](Tensor& t) { FillUniformOfStddev(t, "init::xavier_uniform", XavierStddev(t, gain)); };
}

Initializer XavierNormal(Real gain) {
  return [=](Tensor& t) { FillNormal(t, "init::xavier_normal", 0, XavierStddev(t, gain)); };
}

Initializer KaimingUniform(const KaimingOptions& options) {
  return [=](Tensor& t) {
    FillUniformOfStddev(t, "init::kaiming_uniform", KaimingStddev(t, options));
  };
}

Initializer KaimingNormal(const KaimingOptions& options) {
  return [=](Tensor& t) { FillNormal(t, "init::kaiming_normal", 0, KaimingStddev(t, options)); };
}

Initializer Orthogonal(Real gain) {
  return [=](Tensor& t) {
    const Fans unused = FansOf(t.shape());  // refuses ranks below 2
    static_cast<void>(unused);
    if (t.num_elements() == 0) return;
    const int64_t rows = t.shape()[0], columns = t.num_elements() / rows;
    const bool wide = rows <= columns;
    const int64_t count = wide ? rows : columns, length = wide ? columns : rows;
    const PhiloxState s = Reserve(t);
    std::vector<double> m(static_cast<size_t>(t.num_elements()));
    for (size_t i = 0; i < m.size(); ++i) m[i] = NormalAt(s, static_cast<int64_t>(i));
    Orthonormalise(m, count, length);
    Fill(t, "init::orthogonal", [&](int64_t i) {
      const int64_t at = wide ? i : i % columns * length + i / columns;
      return gain * m[static_cast<size_t>(at)];
    });
  };
}

}  // namespace firn::nn::init
