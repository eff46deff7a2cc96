// Tolerances for comparisons.
//
// A kernel may compute in float for everything below f64, so one rounding of the result's own dtype
// plus a few of float is what the defaults allow.

#include "tests/ops/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"
#include "firn/tensor/storage.h"
#include "tests/ops/calls.h"

namespace firn::testing {
namespace {

constexpr double kRtolF32 = 1e-5, kAtolF32 = 1e-6;

Tolerance DefaultFor(DType d) {
  switch (d) {
    case DType::kF64:
      return {1e-10, 1e-12};
    case DType::kF32:
      return {kRtolF32, kAtolF32};
    case DType::kF16:
      return {1e-3, 1e-6};
    case DType::kBF16:
      return {1e-2, 1e-6};
    default:
      return {};
  }
}

// The value as an element of `d` would hold it.
double Rounded(double v, DType d) {
  switch (d) {
    case DType::kF32:
      return static_cast<double>(static_cast<float>(v));
    case DType::kF16:
      return static_cast<double>(static_cast<float>(Half(static_cast<float>(v))));
    case DType::kBF16:
      return static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(v))));
    case DType::kBool:
      return v != 0;
    default:
      return v;
  }
}

bool Close(double got, double want, DType d, Tolerance t) {
  if (std::isnan(want)) return std::isnan(got);
  const double rounded = Rounded(want, d);
  if (got == want || got == rounded) return true;
  if (std::isinf(rounded) || std::isinf(got)) return false;
  // f16 has no normal numbers below 6e-5.
  const double tiny = d == DType::kF16 ? 6e-8 : 0;
  return std::abs(got - want) <= t.atol + t.rtol * std::abs(want) + tiny;
}

::testing::AssertionResult NearValues(const Tensor& got, const Shape& shape,
                                      const std::vector<double>& want, Tolerance t) {
  if (got.shape() != shape) {
    return ::testing::AssertionFailure()
           << "shape " << got.shape() << ", expected " << shape << " (" << got.spec() << ")";
  }
  const std::vector<double> values = got.ToVector<double>();
  int64_t wrong = 0, first = -1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (Close(values[i], want[i], got.dtype(), t)) continue;
    if (wrong++ == 0) first = static_cast<int64_t>(i);
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  const auto at = static_cast<size_t>(first);
  return ::testing::AssertionFailure()
         << wrong << " of " << values.size() << " elements are wrong, the first at " << first
         << ": " << absl::StrFormat("%.9g", values[at]) << ", expected "
         << absl::StrFormat("%.9g", want[at]) << " (difference " << values[at] - want[at]
         << ", rtol " << t.rtol << ", atol " << t.atol << ")";
}

}  // namespace

Tolerance ToleranceFor(const Samples& samples, DType result, const std::vector<Tensor>& inputs) {
  if (!IsFloating(result)) return {};
  const auto with_override = [&](DType d) {
    Tolerance t = DefaultFor(d);
    if (d == DType::kF64) {  // an operation that loses digits loses them in every dtype
      t.rtol *= samples.rtol_f32 > 0 ? samples.rtol_f32 / kRtolF32 : 1;
      t.atol *= samples.atol_f32 > 0 ? samples.atol_f32 / kAtolF32 : 1;
    } else {
      t.rtol =
          d == DType::kF32 && samples.rtol_f32 > 0 ? samples.rtol_f32 : t.rtol + samples.rtol_f32;
      t.atol = std::max(t.atol, samples.atol_f32);
    }
    return t;
  };
  Tolerance t = with_override(result);
  const bool computed_in_float = std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) {
    return x.defined() && IsFloating(x.dtype()) && x.dtype() != DType::kF64;
  });
  if (computed_in_float) {
    const Tolerance f = with_override(DType::kF32);
    t = {std::max(t.rtol, f.rtol), std::max(t.atol, f.atol)};
  }
  return t;
}

Tolerance OfSeveral(const Tolerance& one, const std::vector<double>& want) {
  double largest = 0;
  for (double v : want) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  return {10 * one.rtol, 10 * one.atol + one.rtol * largest};
}

::testing::AssertionResult Near(const Tensor& got, const RefTensor& want, Tolerance t) {
  return NearValues(got, want.shape, want.values, t);
}

::testing::AssertionResult Near(const Tensor& got, const Tensor& want, Tolerance t) {
  if (got.dtype() != want.dtype()) {
    return ::testing::AssertionFailure() << got.spec() << ", expected " << want.spec();
  }
  return NearValues(got, want.shape(), want.ToVector<double>(), t);
}

::testing::AssertionResult SameBits(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return ::testing::AssertionFailure() << "one is undefined";
  if (!a.defined()) return ::testing::AssertionSuccess();
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
    return ::testing::AssertionFailure() << a.spec() << " and " << b.spec();
  }
  const Tensor x = CopyOf(a).To(Device::Cpu()), y = CopyOf(b).To(Device::Cpu());
  const size_t n = x.spec().bytes();
  if (n == 0 || std::memcmp(x.impl()->data, y.impl()->data, n) == 0) {
    return ::testing::AssertionSuccess();
  }
  const std::vector<double> u = x.ToVector<double>(), v = y.ToVector<double>();
  const auto size = static_cast<size_t>(SizeOf(x.dtype()));
  const auto *of_x = static_cast<const char*>(x.impl()->data),
             *of_y = static_cast<const char*>(y.impl()->data);
  for (size_t i = 0; i < u.size(); ++i) {
    if (std::memcmp(of_x + i * size, of_y + i * size, size) == 0) continue;
    if (std::isnan(u[i]) && std::isnan(v[i])) continue;
    return ::testing::AssertionFailure()
           << "differ first at " << i << ": " << absl::StrFormat("%.17g", u[i]) << " and "
           << absl::StrFormat("%.17g", v[i]);
  }
  return ::testing::AssertionSuccess();
}

std::vector<unsigned char> BytesOf(const Tensor& t) {
  if (!t.defined()) return {};
  const Storage& s = *t.impl()->storage;
  const auto* data = static_cast<const unsigned char*>(s.data());
  return {data, data + s.bytes()};
}

}  // namespace firn::testing
