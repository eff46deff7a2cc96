#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/norm/unit_rows.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> Units(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const auto& a = attrs.get<UnitRowsAttrs>();
  const RefTensor& x = in[0];
  const int64_t rows = x.shape[0], cols = x.shape[1];
  RefTensor y(x.shape), inverse(Shape({rows}));
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += x[r * cols + c] * x[r * cols + c];
    inverse[r] = 1 / std::max(std::sqrt(squares + a.eps), a.least);
    for (int64_t c = 0; c < cols; ++c) {
      y[r * cols + c] = x[r * cols + c] * inverse[r] * (in[1].defined() ? in[1][r] : 1);
    }
  }
  return {y, inverse};
}

// The chain rule through the length, term by term.
std::vector<RefTensor> Gradients(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const double least = attrs.get<UnitRowsAttrs>().least;
  const RefTensor &dy = in[0], &x = in[1], &inverse = in[3];
  const int64_t rows = x.shape[0], cols = x.shape[1];
  RefTensor dx(x.shape), dscale(Shape({rows}));
  for (int64_t r = 0; r < rows; ++r) {
    const double scale = in[2].defined() ? in[2][r] : 1;
    double dlength = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t i = r * cols + c;
      dscale[r] += dy[i] * x[i] * inverse[r];
      dlength -= dy[i] * scale * x[i] * std::pow(inverse[r], 2);
      dx[i] = dy[i] * scale * inverse[r];
    }
    if (least > 0 && inverse[r] >= 1 / least) continue;
    for (int64_t c = 0; c < cols; ++c) dx[r * cols + c] += dlength * x[r * cols + c] * inverse[r];
  }
  return {dx, dscale};
}

FIRN_REGISTER_SAMPLES(unit_rows) {
  s.Internal("normalize and weight_norm of rows");
  s.Reference(Units);
  const Tensor none;
  s.Add("scaled", {Normal({3, 5}), Normal({3}, 2)}, UnitRowsAttrs{});
  s.Add("eps", {Normal({4, 7}), Normal({4}, 2)}, UnitRowsAttrs{.eps = 0.5});
  s.Add("least", {Normal({2, 70}), none}, UnitRowsAttrs{.least = 1e-12});
  s.Add("shorter than least", {Normal({2, 3}), none}, UnitRowsAttrs{.least = 100});
  s.Add("zeros", {Values({0, 0, 3, 4}, {2, 2}), none}, UnitRowsAttrs{.least = 1e-3})
      .check_gradient = false;
  s.Add("no rows", {Normal({0, 3}), none}, UnitRowsAttrs{});
  s.AddLarge("1024x4096", {Normal({1024, 4096}), Normal({1024}, 2)}, UnitRowsAttrs{}, 3 * 4.2e6,
             33.6e6);
  s.AddError("scale", {Normal({2, 3}), Normal({3})}, UnitRowsAttrs{},
             "scale [3] does not fit the rows of x [2, 3]");
  s.AddError("rank", {Normal({3}), none}, UnitRowsAttrs{}, "x must have 2 dimensions");
}

FIRN_REGISTER_SAMPLES(unit_rows_grad) {
  s.Internal("the gradient of unit_rows");
  s.Reference(Gradients);
  const Tensor none;
  s.Add("scaled", {Normal({3, 5}), Normal({3, 5}, 2), Normal({3}, 3), Uniform({3}, 0.125, 0.25, 4)},
        UnitRowsAttrs{});
  s.Add("some shorter than least",
        {Normal({3, 5}), Normal({3, 5}, 2), none, Values({0.25, 0.5, 0.25})},
        UnitRowsAttrs{.least = 2});
  s.AddLarge("1024x4096",
             {Normal({1024, 4096}), Normal({1024, 4096}, 2), Normal({1024}, 3),
              Uniform({1024}, 0.01, 0.02, 4)},
             UnitRowsAttrs{}, 6 * 4.2e6, 50.4e6);
  s.AddError("inverse", {Normal({3, 5}), Normal({3, 5}, 2), none, Normal({5}, 4)}, UnitRowsAttrs{},
             "do not fit x");
}

}  // namespace
}  // namespace firn::testing
