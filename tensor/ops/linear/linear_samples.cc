#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(linear) {
  s.Function<Linear>();
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    const int64_t width = in[1].shape[1], units = in[1].shape[0];
    Dims shape = in[0].shape.dims();
    shape[shape.rank - 1] = units;
    RefTensor y(Shape(shape.span()));
    for (int64_t i = 0; i < y.size(); ++i) {
      const int64_t row = i / units, unit = i % units;
      if (in.size() > 2 && in[2].defined()) y[i] = in[2][unit];
      for (int64_t j = 0; j < width; ++j) y[i] += in[0][row * width + j] * in[1][unit * width + j];
    }
    return std::vector<RefTensor>{y};
  });
  s.Add("one sample", {Normal({5}), Normal({3, 5}, 2), Normal({3}, 3)});
  s.Add("batch", {Normal({4, 5}), Normal({3, 5}, 2), Normal({3}, 3)});
  s.Add("no bias", {Normal({4, 5}), Normal({3, 5}, 2), Tensor()});
  s.Add("sequences", {Normal({2, 3, 4}), Normal({5, 4}, 2), Normal({5}, 3)});
  s.Add("images", {Normal({2, 2, 2, 3}), Normal({2, 3}, 2), Normal({2}, 3)});
  s.Add("one unit", {Normal({3, 4}), Normal({1, 4}, 2), Normal({1}, 3)});
  s.Add("no features", {Normal({3, 0}), Normal({2, 0}, 2), Normal({2}, 3)});
  s.Add("no units", {Normal({3, 2}), Normal({0, 2}, 2), Normal({0}, 3)});
  s.Add("no samples", {Normal({0, 2}), Normal({3, 2}, 2), Normal({3}, 3)});
  s.AddLarge("64x8192 to 1024", {Normal({64, 8192}), Normal({1024, 8192}, 2), Normal({1024}, 3)},
             {}, 2.0 * 64 * 8192 * 1024, 0);
  s.AddError("features", {Normal({4, 6}), Normal({3, 5}, 2), Tensor()}, {},
             "weight [3, 5] wants 5 features in the last dimension, x is f64 [4, 6]");
  s.AddError("bias", {Normal({4, 5}), Normal({3, 5}, 2), Normal({5}, 3)}, {},
             "bias [5] does not fit weight [3, 5] (want [3])");
  s.AddError("weight rank", {Normal({4, 5}), Normal({5}, 2), Tensor()}, {},
             "weight must have 2 dimensions");
  s.AddError("int", {Integers({4, 5}, 0, 5), Integers({3, 5}, 0, 5), Tensor()}, {}, "x must be");
}

}  // namespace
}  // namespace firn::testing
