#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(assign) {
  s.Function([](In in) { Assign(in[0], in[1]); });
  s.Reference(
      [](absl::Span<const RefTensor> in, AttrsRef) { return std::vector<RefTensor>{in[1]}; });
  s.Add("vectors", {Normal({7}), Normal({7}, 2)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2)});
  s.Add("scalars", {Normal({}), Normal({}, 2)});
  s.Add("nothing", {Normal({0, 3}), Normal({0, 3}, 2)});
  s.Add("integers", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)});
  s.Add("bool", {Booleans({5}), Booleans({5}, 2)});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2)}, {}, 0, 33.6e6);
  s.AddError("shapes", {Normal({3, 5}), Normal({5})}, {}, "target [3, 5] and source [5] differ");
  s.AddError("dtypes", {Normal({3}), Integers({3}, 0, 9)}, {}, "target is f64 but source is i64");
}

FIRN_REGISTER_SAMPLES(accumulate) {
  s.Function([](In in) { Accumulate(in[0], in[1]); });
  s.Reference([](double x, double y) { return x + y; });
  s.Add("vectors", {Normal({7}), Normal({7}, 2)});
  s.Add("matrices", {Normal({3, 5}), Normal({3, 5}, 2)});
  s.Add("nothing", {Normal({0, 3}), Normal({0, 3}, 2)});
  s.Add("channels", {Normal({2, 8, 3, 3}), Normal({2, 8, 3, 3}, 2)});
  s.Add("integers", {Integers({5}, -9, 9), Integers({5}, -9, 9, 2)});
  s.Add("bool", {Booleans({5}), Booleans({5}, 2)});
  s.AddLarge("4M", {Normal({2048, 2048}), Normal({2048, 2048}, 2)}, {}, 4.2e6, 50.3e6);
  s.AddError("broadcast", {Normal({3, 5}), Normal({5})}, {}, "target [3, 5] and source [5] differ");
}

}  // namespace
}  // namespace firn::testing
