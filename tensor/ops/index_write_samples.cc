#include "tensor/ops/index_put.h"
#include "tensor/ops/index_write.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(index_write) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const IndexPutAttrs put{attrs.get<IndexAttrs>().dims};
    return SamplesOf("index_put")->reference(in, put);
  });
  s.Add("points", {Normal({3, 4}), Normal({3}, 2), Indices({0, 2, 1}), Indices({1, 3, -1})},
        IndexAttrs{{0, 1}});
  s.Add("neighbours",
        {Normal({2, 3, 4, 2}), Normal({2, 3, 2}, 2), Indices({0, 2, 1}), Indices({3, 3, 0})},
        IndexAttrs{{1, 2}});
  s.Add("apart", {Normal({2, 3, 4}), Normal({3, 3}, 2), Indices({1, 0, 1}), Indices({3, 0, 2})},
        IndexAttrs{{0, 2}});
  s.Add("the last stays", {Normal({3}), Normal({4}, 2), Indices({1, 1, 1, 0})}, IndexAttrs{{0}});
  s.Add("no positions", {Normal({3, 4}), Normal({0}), Indices({}), Indices({})},
        IndexAttrs{{0, 1}});
  s.Add("integers",
        {Integers({3, 4}, -9, 9), Integers({2}, -9, 9), Indices({0, 2}), Indices({1, 3})},
        IndexAttrs{{0, 1}});
  s.Add("bool", {Booleans({3, 4}), Booleans({2}), Indices({0, 2}), Indices({1, 3})},
        IndexAttrs{{0, 1}});
  s.AddLarge("1M points",
             {Normal({1024, 1024}), Normal({1 << 20}, 2), Integers({1 << 20}, 0, 1024),
              Integers({1 << 20}, 0, 1024, 2)},
             IndexAttrs{{0, 1}}, 0, 33e6);
  s.AddError("index", {Normal({3, 4}), Normal({1}), Indices({0}), Indices({4})}, IndexAttrs{{0, 1}},
             "indices 4 at index 0 is outside [-4, 4)");
  s.AddError("values", {Normal({3, 4}), Normal({2}), Indices({0}), Indices({1})},
             IndexAttrs{{0, 1}}, "values [2] must have the shape [1]");
}

}  // namespace firn::testing
