#include <algorithm>

#include "firn/tensor/operators.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/vision/boxes.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

double Overlap(const RefTensor& a, const RefTensor& b, int64_t i, int64_t j) {
  double common = 1, area_a = 1, area_b = 1;
  for (int64_t d = 0; d < 2; ++d) {
    const double low_a = a.at({i, d}), high_a = a.at({i, d + 2});
    const double low_b = b.at({j, d}), high_b = b.at({j, d + 2});
    common *= std::max(0.0, std::min(high_a, high_b) - std::max(low_a, low_b));
    area_a *= std::max(0.0, high_a - low_a);
    area_b *= std::max(0.0, high_b - low_b);
  }
  const double joined = area_a + area_b - common;
  return joined > 0 ? common / joined : 0;
}

FIRN_REGISTER_COMPOSITE(box_iou) {
  s.Declare({{.name = "a", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
             {.name = "b", .same_dtype_as = "a", .min_rank = 2, .max_rank = 2}},
            {{.name = "y", .same_dtype_as = "a"}});
  s.Function<BoxIou>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor y(Shape({in[0].shape[0], in[1].shape[0]}));
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      y.at(at) = Overlap(in[0], in[1], at[0], at[1]);
    });
    return std::vector<RefTensor>{y};
  });
  const Tensor a = Values({0, 0, 4, 3, 1, 1, 5, 2.5, -2, -1.5, 0.5, 0.75}, {3, 4});
  const Tensor b = Values({0.25, 0.5, 3, 2, 6, 6, 7, 8}, {2, 4});
  s.Add("boxes", {a, b});
  s.Add("the same", {a, a}).check_gradient = false;
  s.Add("apart", {b, Values({-5, -5, -4, -3}, {1, 4})});
  s.Add("upside down", {a, Values({3, 2.25, 0.25, 0.5}, {1, 4})});
  s.Add("without area", {Values({1, 1, 1, 2}, {1, 4}), Values({1, 1, 1, 2, 0, 0, 2, 3}, {2, 4})})
      .check_gradient = false;
  s.Add("none", {Normal({0, 4}), b});
  const auto boxes = [](int64_t n, uint64_t seed) {
    const Tensor corners = Uniform({n, 2}, 0, 100, seed);
    return Concat({corners, corners + Uniform({n, 2}, 1, 50, seed + 1)}, 1);
  };
  s.AddLarge("2048x1024", {boxes(2048, 1), boxes(1024, 3)}, {}, 13 * 2.1e6, 8.4e6);
  s.AddError("shape", {a, Normal({3, 5})}, {},
             "expected floating boxes [n, 4] and [m, 4] of one dtype, got f64 [3, 4] on cpu and "
             "f64 [3, 5] on cpu");
}

}  // namespace
}  // namespace firn::testing
