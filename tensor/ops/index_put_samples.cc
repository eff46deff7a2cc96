#include "tensor/ops/index.h"
#include "tensor/ops/index_put.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(index_put) {
  // What index reads from the numbers 0, 1, 2, ... in place of x is where each value goes.
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const IndexPutAttrs& a = attrs.get<IndexPutAttrs>();
    std::vector<RefTensor> read = {RefTensor(in[0].shape)};
    for (int64_t i = 0; i < read[0].size(); ++i) read[0][i] = static_cast<double>(i);
    read.insert(read.end(), in.begin() + 2, in.end());
    const IndexAttrs where{a.dims};
    const RefTensor places = SamplesOf("index")->reference(read, where)[0];
    RefTensor out = in[0];
    for (int64_t i = 0; i < places.size(); ++i) {
      double& to = out[static_cast<int64_t>(places[i])];
      to = a.accumulate ? to + in[1][i] : in[1][i];
      if (in[0].dtype == DType::kBool) to = to != 0;
    }
    return std::vector<RefTensor>{out};
  });
  for (bool accumulate : {false, true}) {
    const std::string m = accumulate ? "add " : "put ";
    s.Add(m + "points", {Normal({3, 4}), Normal({3}, 2), Indices({0, 2, 1}), Indices({1, 3, -1})},
          IndexPutAttrs{{0, 1}, accumulate});
    s.Add(m + "a grid",
          {Normal({3, 4}), Normal({2, 3}, 2), Indices({0, 2}, {2, 1}), Indices({1, 3, 0})},
          IndexPutAttrs{{0, 1}, accumulate});
    s.Add(m + "neighbours",
          {Normal({2, 3, 4, 2}), Normal({2, 3, 2}, 2), Indices({0, 2, 1}), Indices({3, 3, 0})},
          IndexPutAttrs{{1, 2}, accumulate});
    s.Add(m + "apart",
          {Normal({2, 3, 4}), Normal({3, 3}, 2), Indices({1, 0, 1}), Indices({3, 0, 2})},
          IndexPutAttrs{{0, 2}, accumulate});
    s.Add(m + "one tensor", {Normal({2, 8, 3}), Normal({2, 2, 3}, 2), Indices({7, -2})},
          IndexPutAttrs{{1}, accumulate});
    s.Add(m + "no positions", {Normal({3, 4}), Normal({0}), Indices({}), Indices({})},
          IndexPutAttrs{{0, 1}, accumulate});
    s.Add(m + "integers",
          {Integers({3, 4}, -9, 9), Integers({2}, -9, 9), Indices({0, 2}), Indices({1, 3})},
          IndexPutAttrs{{0, 1}, accumulate});
    s.Add(m + "bool", {Booleans({3, 4}), Booleans({2}), Indices({0, 2}), Indices({1, 3})},
          IndexPutAttrs{{0, 1}, accumulate});
    s.Add(m + "the same place", {Normal({3}), Normal({4}, 2), Indices({1, 1, 1, 0})},
          IndexPutAttrs{{0}, accumulate})
        .check_gradient = accumulate;  // all of them get the gradient, only the last one counts
  }
  s.AddLarge("1M points",
             {Normal({1024, 1024}), Normal({1 << 20}, 2), Integers({1 << 20}, 0, 1024),
              Integers({1 << 20}, 0, 1024, 2)},
             IndexPutAttrs{{0, 1}, true}, 1e6, 33e6);
  s.AddError("index", {Normal({3, 4}), Normal({1}), Indices({0}), Indices({4})},
             IndexPutAttrs{{0, 1}}, "indices 4 at index 0 is outside [-4, 4)");
  s.AddError("values", {Normal({3, 4}), Normal({2}), Indices({0}), Indices({1})},
             IndexPutAttrs{{0, 1}}, "values [2] must have the shape [1]");
}

}  // namespace firn::testing
