#include <numeric>

#include "firn/tensor/ops/reduce/reduction_samples.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/expand.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(sum) {
  s.Function([](In in, const ReduceAttrs& a) { return Sum(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    return std::accumulate(elements.begin(), elements.end(), 0.0);
  }));
  AddReductionSamples(s, true);
  s.Add("nothing", {Normal({0, 3})}, ReduceAttrs{{0}});
  s.Add("integers", {Integers({4, 3}, -9, 9)}, ReduceAttrs{{1}});
  s.Add("bool", {Booleans({4, 3})}, ReduceAttrs{{0}});
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddLarge("columns of 2048", {Normal({2048, 2048})}, ReduceAttrs{{0}}, 4.2e6, 16.8e6);
  s.AddLarge("64x128x16x16 by channel", {Normal({64, 128, 16, 16})}, ReduceAttrs{{0, 2, 3}}, 2.1e6,
             8.4e6);
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
  s.AddError("repeated", {Normal({3, 5})}, ReduceAttrs{{0, -2}},
             "dim -2 is given twice in [0, -2]");
}

FIRN_REGISTER_SAMPLES(mean) {
  s.Function([](In in, const ReduceAttrs& a) { return Mean(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference([](const std::vector<double>& elements) {
    return std::accumulate(elements.begin(), elements.end(), 0.0) /
           static_cast<double>(elements.size());
  }));
  AddReductionSamples(s, true);
  s.Add("of nothing", {Normal({0, 3})}, ReduceAttrs{{0}});
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddError("int", {Integers({3, 5}, 0, 9)}, ReduceAttrs{},
             "x must be f32, f64, f16 or bf16, got i64 [3, 5]");
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{-3}}, "dim -3 is outside [3, 5]");
}

FIRN_REGISTER_COMPOSITE(sum_to) {
  s.Declare({{.name = "x", .dtypes = kFloating}});
  s.Function([](In in, const ShapeAttrs& a) { return SumTo(in[0], Shape(a.shape.span())); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor y(Shape(attrs.get<ShapeAttrs>().shape.span()));
    const int lead = in[0].shape.rank() - y.shape.rank();
    ForEachIndex(in[0].shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> to(at.begin() + lead, at.end());
      for (int d = 0; d < y.shape.rank(); ++d) {
        if (y.shape[d] == 1) to[static_cast<size_t>(d)] = 0;
      }
      y.at(to) += in[0].at(at);
    });
    return std::vector<RefTensor>{y};
  });
  const auto to = [](std::initializer_list<int64_t> shape) {
    return ShapeAttrs{Shape(shape).dims()};
  };
  s.Add("rows", {Normal({4, 3})}, to({3}));
  s.Add("columns", {Normal({4, 3})}, to({4, 1}));
  s.Add("one of each channel", {Normal({2, 8, 3, 3})}, to({8, 1, 1}));
  s.Add("all", {Normal({2, 3})}, to({}));
  s.Add("as it is", {Normal({2, 3})}, to({2, 3}));
  s.Add("nothing", {Normal({0, 3})}, to({3}));
  s.AddError("shape", {Normal({4, 3})}, to({4}), "x [4, 3] was not broadcast from [4]");
}

}  // namespace
}  // namespace firn::testing
