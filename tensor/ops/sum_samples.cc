#include "tensor/ops/sum.h"
#include "tensor/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const ReduceAttrs& a = attrs.get<ReduceAttrs>();
  const Shape& shape = in[0].shape;
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()), a.dims.empty());
  for (int64_t d : a.dims) reduced[static_cast<size_t>(d < 0 ? d + shape.rank() : d)] = true;
  Dims kept, squeezed;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool out = reduced[static_cast<size_t>(d)];
    kept.push_back(out ? 1 : shape[d]);
    if (!out) squeezed.push_back(shape[d]);
  }
  RefTensor sum(Shape(kept.span()));
  ForEachIndex(shape, [&](absl::Span<const int64_t> at) {
    std::vector<int64_t> to(at.begin(), at.end());
    for (size_t d = 0; d < to.size(); ++d) to[d] = reduced[d] ? 0 : to[d];
    sum.at(to) += in[0].at(at);
  });
  if (!a.keepdim) sum.shape = Shape(squeezed.span());
  return {sum};
}

}  // namespace

FIRN_REGISTER_SAMPLES(sum) {
  s.Reference(Reference);
  s.rtol_f32 = 1e-5;
  s.atol_f32 = 1e-5;  // terms cancel
  s.Add("all", {Normal({3, 5})}, ReduceAttrs{});
  s.Add("a vector", {Normal({17})}, ReduceAttrs{{0}});
  s.Add("rows", {Normal({3, 5})}, ReduceAttrs{{1}});
  s.Add("columns", {Normal({3, 5})}, ReduceAttrs{{0}, true});
  s.Add("middle", {Normal({2, 3, 4})}, ReduceAttrs{{-2}});
  s.Add("outer two", {Normal({2, 3, 4, 5})}, ReduceAttrs{{0, -3}, true});
  s.Add("per channel", {Normal({2, 8, 3, 3})}, ReduceAttrs{{0, 2, 3}});
  s.Add("a scalar", {Normal({})}, ReduceAttrs{});
  s.Add("nothing", {Normal({0, 3})}, ReduceAttrs{{0}});
  s.Add("integers", {Integers({4, 3}, -9, 9)}, ReduceAttrs{{1}});
  s.Add("bool", {Booleans({4, 3})}, ReduceAttrs{{0}});
  s.AddLarge("rows of 2048", {Normal({2048, 2048})}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
  s.AddError("repeated", {Normal({3, 5})}, ReduceAttrs{{0, -2}},
             "dim -2 is given twice in [0, -2]");
}

}  // namespace firn::testing
