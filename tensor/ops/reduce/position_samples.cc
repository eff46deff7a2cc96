#include <cmath>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/reduction_samples.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

// Parts shared by both operations: `kLargest` for argmax.
template <bool kLargest>
void AddPositions(Samples& s) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const ArgReduceAttrs& a = attrs.get<ArgReduceAttrs>();
    ReduceAttrs over{{}, a.keepdim};
    if (!a.flatten) over.dims = {a.dim};
    return std::vector<RefTensor>{ReduceReference(in[0], over, FirstExtreme<kLargest>)};
  });
  const auto along = [](int64_t dim, bool keepdim = false) {
    return ArgReduceAttrs{dim, false, keepdim};
  };
  s.Add("all", {Distinct({3, 5})}, ArgReduceAttrs{});
  s.Add("all, kept", {Distinct({3, 5})}, ArgReduceAttrs{0, true, true}).check_function = false;
  s.Add("rows", {Distinct({3, 5})}, along(1));
  s.Add("columns", {Distinct({4, 3})}, along(0, true));
  s.Add("middle", {Distinct({2, 6, 3})}, along(-2));
  s.Add("ties", {Integers({6, 40}, 0, 3)}, along(1));
  s.Add("ties in columns", {Integers({40, 6}, 0, 3)}, along(0));
  s.Add("bool", {Booleans({3, 9})}, along(1));
  s.Add("NaN and infinities",
        {Values({1, INFINITY, NAN, 5, NAN, 2, -INFINITY, INFINITY, INFINITY, 1, -INFINITY, 0},
                {2, 6})},
        along(1));
  s.Add("NaN in columns", {Values({1, NAN, 3, NAN, NAN, 2, 5, 0, INFINITY}, {3, 3})}, along(0));
  s.Add("a scalar", {Normal({})}, along(-1));
  s.Add("long rows", {Distinct({2, 9000}, 0.25)}, along(1));
  s.Add("very long", {Distinct({140000}, 1)}, ArgReduceAttrs{});
  s.Add("wide columns", {Distinct({3, 300}, 0.25)}, along(0));
  s.Add("no lines", {Normal({0, 3})}, along(1));
  s.AddLarge("rows of 1000", {Normal({4096, 1000})}, along(1), 4.1e6, 16.4e6);
  s.AddError("dim", {Normal({3, 5})}, along(2), "dim 2 is outside [3, 5]");
  s.AddError("nothing", {Normal({3, 0})}, along(1), "x [3, 0] has no elements to take an index of");
}

FIRN_REGISTER_SAMPLES(argmax) {
  s.Function([](In in, const ArgReduceAttrs& a) {
    return a.flatten ? Argmax(in[0]) : Argmax(in[0], a.dim, a.keepdim);
  });
  AddPositions<true>(s);
}

FIRN_REGISTER_SAMPLES(argmin) {
  s.Function([](In in, const ArgReduceAttrs& a) {
    return a.flatten ? Argmin(in[0]) : Argmin(in[0], a.dim, a.keepdim);
  });
  AddPositions<false>(s);
}

using Along = Tensor (*)(const Tensor&, Integer, Flag);

Tensor GoldenPosition(GoldenArgs& args, const OpDef& op, Along along) {
  const bool keepdim = args.Flag("keepdim", false);
  if (args.Has("dim")) return along(args["x"], args.Int("dim", 0), keepdim);
  // The functions over all elements keep no dimensions.
  return Apply1(op, {args["x"]}, ArgReduceAttrs{.keepdim = keepdim});
}

FIRN_REGISTER_GOLDEN(argmax) { return GoldenPosition(args, TheOp<"argmax">(), Argmax); }
FIRN_REGISTER_GOLDEN(argmin) { return GoldenPosition(args, TheOp<"argmin">(), Argmin); }

}  // namespace
}  // namespace firn::testing
