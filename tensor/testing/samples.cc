// The registry of samples, and inputs made by a small integer hash, so that they are the same on
// every platform and in every order of calls.

#include "firn/tensor/testing/samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>

#include "absl/status/statusor.h"
#include "firn/device/check.h"
#include "firn/tensor/from.h"

namespace firn::testing {
namespace {

struct Entry {
  SamplesFn fn;
  bool composite;
};

std::map<std::string, Entry, std::less<>>& Registry() {
  static auto* registry = new std::map<std::string, Entry, std::less<>>;
  return *registry;
}

uint64_t SplitMix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t Bits(uint64_t seed, int64_t i) {
  return SplitMix(SplitMix(seed) + static_cast<uint64_t>(i));
}

// Uniform on (0, 1).
double Unit(uint64_t seed, int64_t i) {
  return (static_cast<double>(Bits(seed, i) >> 11) + 0.5) * 0x1p-53;
}

// A prime, so that rows of a large tensor differ.
constexpr size_t kPeriod = 65521;

constexpr int64_t kLarge = 262144;
thread_local bool making_large = false;

template <class T, class F>
Tensor Make(const Shape& shape, F f, size_t period = kPeriod) {
  if (shape.num_elements() > kLarge && !making_large) {
    auto value = std::make_shared<T>(f(0));
    return FromBlob(value.get(), shape, std::vector<int64_t>(static_cast<size_t>(shape.rank()), 0),
                    DTypeOf<T>(), [value](void*) {});
  }
  std::vector<T> values(static_cast<size_t>(shape.num_elements()));
  const size_t n = std::min(values.size(), period);
  for (size_t i = 0; i < n; ++i) values[i] = f(static_cast<int64_t>(i));
  for (size_t i = n; i < values.size(); i += n) {
    std::copy_n(values.begin(), std::min(n, values.size() - i),
                values.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return FromVector(std::move(values), shape);
}

// With stand-ins for large samples unless they are wanted; null when there are none.
std::unique_ptr<Samples> Build(std::string_view op, bool with_large) {
  auto it = Registry().find(op);
  if (it == Registry().end()) return nullptr;
  auto samples = std::make_unique<Samples>();
  samples->declaration.name = it->first;
  making_large = with_large;
  it->second.fn(*samples);
  making_large = false;
  return samples;
}

int64_t FlatIndex(const Shape& shape, absl::Span<const int64_t> index) {
  int64_t flat = 0;
  for (int d = 0; d < shape.rank(); ++d) flat = flat * shape[d] + index[static_cast<size_t>(d)];
  return flat;
}

// Index into an input that broadcasts to the output.
int64_t BroadcastIndex(const Shape& from, absl::Span<const int64_t> index) {
  const size_t lead = index.size() - static_cast<size_t>(from.rank());
  int64_t flat = 0;
  for (int d = 0; d < from.rank(); ++d) {
    flat = flat * from[d] + (from[d] == 1 ? 0 : index[lead + static_cast<size_t>(d)]);
  }
  return flat;
}

}  // namespace

double& RefTensor::at(absl::Span<const int64_t> index) { return (*this)[FlatIndex(shape, index)]; }
double RefTensor::at(absl::Span<const int64_t> index) const {
  return (*this)[FlatIndex(shape, index)];
}

void ForEachIndex(const Shape& shape, const std::function<void(absl::Span<const int64_t>)>& f) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t n = shape.num_elements(); n > 0; --n) {
    f(index);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[static_cast<int>(d)]) break;
      index[d] = 0;
    }
  }
}

void Samples::Declare(std::vector<ArgDecl> inputs, std::vector<ArgDecl> outputs) {
  declaration.inputs = std::move(inputs);
  declaration.outputs = std::move(outputs);
  for (const ArgDecl& decl : declaration.inputs) {  // as of an operation that is registered
    declaration.cycle += decl.variadic ? 1u : 0u;
    declaration.any_inout |= decl.inout;
  }
}

Sample& Samples::Add(std::string name, std::vector<Tensor> inputs, AttrsRef attrs) {
  samples.push_back({std::move(name), std::move(inputs), Attrs(attrs)});
  return samples.back();
}

Sample& Samples::AddLarge(std::string name, std::vector<Tensor> inputs, AttrsRef attrs,
                          double flops, double bytes) {
  large.push_back({std::move(name), std::move(inputs), Attrs(attrs)});
  large.back().flops = flops;
  large.back().bytes = bytes;
  return large.back();
}

void Samples::AddError(std::string name, std::vector<Tensor> inputs, AttrsRef attrs,
                       std::string message) {
  errors.push_back({std::move(name), std::move(inputs), Attrs(attrs), std::move(message)});
}

void Samples::Reference(double (*f)(double)) {
  reference = [f](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor out(in[0].shape);
    for (int64_t i = 0; i < out.size(); ++i) out[i] = f(in[0][i]);
    return std::vector<RefTensor>{out};
  };
}

void Samples::Reference(double (*f)(double, double)) {
  reference = [f](absl::Span<const RefTensor> in, AttrsRef) {
    const absl::StatusOr<Shape> shape = BroadcastShapes(in[0].shape, in[1].shape);
    FIRN_CHECK(shape.ok(), "the sample's shapes do not broadcast");
    RefTensor out(*shape);
    ForEachIndex(*shape, [&](absl::Span<const int64_t> at) {
      out.at(at) =
          f(in[0][BroadcastIndex(in[0].shape, at)], in[1][BroadcastIndex(in[1].shape, at)]);
    });
    return std::vector<RefTensor>{out};
  };
}

SamplesRegistration::SamplesRegistration(std::string_view name, SamplesFn fn, bool composite) {
  const bool inserted = Registry().emplace(std::string(name), Entry{fn, composite}).second;
  FIRN_CHECK(inserted, "samples registered twice: ", std::string(name));
}

std::unique_ptr<Samples> SamplesOf(std::string_view op, bool with_large) {
  std::unique_ptr<Samples> samples = Build(op, with_large);
  if (samples != nullptr && !with_large) samples->large.clear();
  return samples;
}

std::vector<std::string> LargeSampleNames(std::string_view op) {
  std::vector<std::string> names;
  const std::unique_ptr<Samples> samples = Build(op, false);
  if (samples == nullptr) return names;
  for (const Sample& sample : samples->large) names.push_back(sample.name);
  return names;
}

bool HasSamples(std::string_view op) { return Registry().contains(op); }

std::vector<std::string> Composites() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry()) {
    if (entry.composite) names.push_back(name);
  }
  return names;
}

Tensor Normal(const Shape& shape, uint64_t seed) {
  return Make<double>(shape, [&](int64_t i) {  // Box-Muller
    return std::sqrt(-2 * std::log(Unit(seed, 2 * i))) *
           std::cos(2 * std::numbers::pi * Unit(seed, 2 * i + 1));
  });
}

Tensor Uniform(const Shape& shape, double low, double high, uint64_t seed) {
  return Make<double>(shape, [&](int64_t i) { return low + (high - low) * Unit(seed, i); });
}

Tensor Distinct(const Shape& shape, double gap, uint64_t seed) {
  const int64_t n = shape.num_elements() > kLarge && !making_large ? 1 : shape.num_elements();
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) {
    const auto j = Bits(seed, i) % static_cast<uint64_t>(i + 1);
    std::swap(order[static_cast<size_t>(i)], order[j]);
  }
  const auto value = [&](int64_t i) {
    return (static_cast<double>(order[static_cast<size_t>(i)] - n / 2) + 0.5) * gap;
  };
  return Make<double>(shape, value, order.size() + 1);
}

Tensor Integers(const Shape& shape, int64_t low, int64_t high, uint64_t seed) {
  return Make<int64_t>(shape, [&](int64_t i) {
    return low + static_cast<int64_t>(Bits(seed, i) % static_cast<uint64_t>(high - low));
  });
}

Tensor Booleans(const Shape& shape, uint64_t seed) {
  return Make<bool>(shape, [&](int64_t i) { return (Bits(seed, i) & 1) != 0; });
}

Tensor Values(std::vector<double> values) { return FromVector(std::move(values)); }
Tensor Values(std::vector<double> values, const Shape& shape) {
  return FromVector(std::move(values), shape);
}
Tensor Indices(std::vector<int64_t> values) { return FromVector(std::move(values)); }
Tensor Indices(std::vector<int64_t> values, const Shape& shape) {
  return FromVector(std::move(values), shape);
}

}  // namespace firn::testing
