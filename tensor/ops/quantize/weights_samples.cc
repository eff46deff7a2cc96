#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/quantize/weights.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_COMPOSITE(fake_quantize_weights) {
  s.gradient_is_derivative = false;  // tests/tensor/quantize_test has that of fake_quantize
  s.Declare({{.name = "w", .dtypes = kFloating, .min_rank = 1}},
            {{.name = "y", .same_dtype_as = "w"}});
  s.Function<FakeQuantizeWeights>();
  s.WithoutVectors("PyTorch takes scales for it");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor y = in[0];
    const int64_t size = y.size() / y.shape[0];
    for (int64_t row = 0; row < y.shape[0]; ++row) {
      double most = 0;
      for (int64_t i = 0; i < size; ++i) most = std::max(most, std::abs(y[row * size + i]));
      const double scale = static_cast<float>(most) / 127.0F;  // for any w
      for (int64_t i = row * size; most > 0 && i < (row + 1) * size; ++i) {
        y[i] = std::nearbyint(y[i] / scale) * scale;
      }
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("matrix", {Normal({3, 7})});
  s.Add("filters", {Normal({4, 8, 3, 2})});
  s.Add("numbers", {Values({1, -3, 0})});
  s.Add("a row of zeros", {Values({0, 0, 127, -3}, {2, 2})});
  s.AddLarge("2048x2048", {Normal({2048, 2048})}, {}, 4 * 4.2e6, 33.6e6);
  s.AddError("nothing", {Normal({0, 3})}, {}, "w must be floating [out, ...] and not empty");
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "w must be floating");
}

}  // namespace
}  // namespace firn::testing
