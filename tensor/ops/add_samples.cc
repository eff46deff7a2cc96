#include "tensor/ops/add.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(add) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    Samples broadcast;
    broadcast.Reference([](double x, double y) { return x + y; });
    std::vector<RefTensor> scaled(in.begin(), in.end());
    for (double& v : scaled[1].values) v *= attrs.get<AddAttrs>().alpha;
    return broadcast.reference(scaled, attrs);
  });
  s.Add("vectors", {Normal({7}), Normal({7}, 2)}, AddAttrs{});
  s.Add("a scalar", {Normal({3, 5}), Normal({}, 2)}, AddAttrs{});
  s.Add("rows and columns", {Normal({4, 1, 3}), Normal({2, 1}, 2)}, AddAttrs{});
  s.Add("alpha", {Normal({2, 3}), Normal({2, 3}, 2)}, AddAttrs{-0.5});
  s.Add("integers", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)}, AddAttrs{2});
  s.Add("bool", {Booleans({9}), Booleans({9}, 2)}, AddAttrs{});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2)}, AddAttrs{});
  s.Add("empty", {Normal({0, 3}), Normal({3}, 2)}, AddAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2)}, AddAttrs{}, 4.2e6, 50.3e6);
  s.AddError("shapes", {Normal({3}), Normal({4})}, AddAttrs{},
             "shapes [3] and [4] do not broadcast");
  s.AddError("undefined", {Normal({3}), Tensor()}, AddAttrs{}, "y is an undefined tensor");
  s.AddError("dtypes", {Normal({3}), Integers({3}, 0, 9)}, AddAttrs{},
             "x is f64 but y is i64: convert one with To(...)");
}

}  // namespace firn::testing
