#include <cmath>

#include "firn/tensor/ops/random/vat_noise.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct VatNoiseAttrs {
  double xi = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("xi", xi);
  }
};

FIRN_REGISTER_COMPOSITE(vat_noise) {
  s.Declare({{.name = "noise", .dtypes = kFloating}}, {{.name = "y", .same_dtype_as = "noise"}});
  s.Function([](In in, const VatNoiseAttrs& a) { return VatNoise(in[0], a.xi); });
  s.WithoutVectors("PyTorch has no such function");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor& x = in[0];
    RefTensor y(x.shape);
    const int64_t size = x.size() == 0 ? 1 : x.size() / x.shape[0];
    for (int64_t first = 0; first < x.size(); first += size) {
      double squares = 0;
      for (int64_t i = first; i < first + size; ++i) squares += x[i] * x[i];
      for (int64_t i = first; i < first + size && squares > 0; ++i) {
        y[i] = attrs.get<VatNoiseAttrs>().xi * x[i] / std::sqrt(squares);
      }
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("rows", {Normal({3, 5})}, VatNoiseAttrs{});
  s.Add("images", {Normal({2, 8, 3, 2})}, VatNoiseAttrs{0.25});
  s.Add("no noise", {Values({0, 0, 3, 4}, {2, 2})}, VatNoiseAttrs{10}).check_gradient = false;
  s.Add("short noise", {Values({3e-20, 4e-20}, {1, 2})}, VatNoiseAttrs{}).check_gradient = false;
  s.Add("nothing", {Normal({0, 3})}, VatNoiseAttrs{});
  s.AddLarge("64x3x128x128", {Normal({64, 3, 128, 128})}, VatNoiseAttrs{}, 3 * 3.1e6, 25e6);
  s.AddError("vector", {Normal({3})}, VatNoiseAttrs{}, "noise must be [n, ...] of f32");
  s.AddError("ints", {Integers({3, 2}, 0, 5)}, VatNoiseAttrs{}, "noise must be [n, ...] of f32");
  s.AddError("xi", {Normal({3, 2})}, VatNoiseAttrs{INFINITY}, "xi must be finite, got inf");
}

}  // namespace
}  // namespace firn::testing
