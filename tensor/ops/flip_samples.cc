#include "tensor/ops/flip.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(flip) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor& x = in[0];
    RefTensor out(x.shape);
    ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      for (int64_t d : attrs.get<FlipAttrs>().dims) {
        if (x.shape.rank() == 0) continue;
        const size_t i = static_cast<size_t>(d < 0 ? d + x.shape.rank() : d);
        from[i] = x.shape[static_cast<int>(i)] - 1 - from[i];
      }
      out.at(at) = x.at(from);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("vector", {Normal({7})}, FlipAttrs{{0}});
  s.Add("columns", {Normal({3, 5})}, FlipAttrs{{-1}});
  s.Add("rows", {Normal({3, 5})}, FlipAttrs{{0}});
  s.Add("an image", {Normal({2, 8, 3, 4})}, FlipAttrs{{2, -1}});
  s.Add("no dims", {Normal({2, 3})}, FlipAttrs{});
  s.Add("a scalar", {Normal({})}, FlipAttrs{{0}});
  s.Add("nothing", {Normal({0, 3})}, FlipAttrs{{0}});
  s.Add("integers", {Integers({2, 3}, -9, 9)}, FlipAttrs{{0, 1}});
  s.Add("bool", {Booleans({5})}, FlipAttrs{{0}});
  s.AddLarge("64 images", {Normal({64, 3, 128, 128})}, FlipAttrs{{3}}, 0, 25.2e6);
  s.AddError("dim", {Normal({3})}, FlipAttrs{{1}}, "dim 1 is outside");
  s.AddError("twice", {Normal({3, 5})}, FlipAttrs{{0, -2}}, "dim");
}

}  // namespace firn::testing
