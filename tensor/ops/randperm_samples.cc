#include "device/philox.h"
#include "tensor/ops/randperm.h"
#include "tensor/samples.h"

namespace firn::testing::randperm {
namespace {

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const int64_t n = attrs.get<RandpermAttrs>().n;
  RefTensor state = in[0];
  const PhiloxState at{static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])};
  RefTensor y({n});
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<double>(i);
  for (int64_t i = 0; i < n; ++i) {
    const PhiloxResult r = PhiloxAt(at, static_cast<uint64_t>(i / 2));
    const long double u = (r.v[i % 2 * 2] * 0x1p32L + r.v[i % 2 * 2 + 1]) * 0x1p-64L;
    std::swap(y[i], y[i + static_cast<int64_t>(u * static_cast<long double>(n - i))]);
  }
  state[1] += static_cast<double>((n + 1) / 2);
  return {state, y};
}

}  // namespace

FIRN_REGISTER_SAMPLES(randperm) {
  s.Reference(Reference);
  const Tensor state = Indices({7, 100});
  s.Add("ten", {state}, RandpermAttrs{10});
  s.Add("odd", {state}, RandpermAttrs{101});
  s.Add("one", {state}, RandpermAttrs{1});
  s.Add("none", {state}, RandpermAttrs{0});
  s.AddLarge("60000", {state}, RandpermAttrs{60000}, 0, 0.48e6);
  s.AddError("negative", {state}, RandpermAttrs{-1}, "-1");
}

}  // namespace firn::testing::randperm
