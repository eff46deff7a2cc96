#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(concat) {
  s.Function([](In in, const ConcatAttrs& a) { return Concat(in.all(), a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t given = attrs.get<ConcatAttrs>().dim;
    const size_t dim = static_cast<size_t>(given < 0 ? given + in[0].shape.rank() : given);
    std::vector<int64_t> sizes(in[0].shape.begin(), in[0].shape.end());
    sizes[dim] = 0;
    for (const RefTensor& x : in) sizes[dim] += x.shape[static_cast<int>(dim)];
    RefTensor out{Shape(sizes)};
    int64_t start = 0;
    for (const RefTensor& x : in) {
      ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
        std::vector<int64_t> to(at.begin(), at.end());
        to[dim] += start;
        out.at(to) = x.at(at);
      });
      start += x.shape[static_cast<int>(dim)];
    }
    return std::vector<RefTensor>{out};
  });
  s.Add("vectors", {Normal({3}), Normal({4}, 2)}, ConcatAttrs{0, {3, 4}});
  s.Add("rows", {Normal({2, 3}), Normal({1, 3}, 2)}, ConcatAttrs{0, {2, 1}});
  s.Add("columns", {Normal({2, 3}), Normal({2, 1}, 2), Normal({2, 2}, 3)},
        ConcatAttrs{-1, {3, 1, 2}});
  s.Add("channels", {Normal({2, 8, 3, 2}), Normal({2, 8, 3, 2}, 2)}, ConcatAttrs{1, {8, 8}});
  s.Add("one", {Normal({2, 3})}, ConcatAttrs{1, {3}});
  s.Add("with nothing", {Normal({2, 0}), Normal({2, 3})}, ConcatAttrs{1, {0, 3}});
  s.Add("only nothing", {Normal({0}), Normal({0})}, ConcatAttrs{0, {0, 0}});
  s.Add("integers", {Integers({2}, -9, 9), Integers({3}, -9, 9, 2)}, ConcatAttrs{0, {2, 3}});
  s.Add("bool", {Booleans({2}), Booleans({3})}, ConcatAttrs{0, {2, 3}});
  s.AddLarge("channels",
             {Normal({32, 64, 32, 32}), Normal({32, 64, 32, 32}, 2), Normal({32, 64, 32, 32}, 3)},
             ConcatAttrs{1, {64, 64, 64}}, 0, 50.3e6);
  s.AddError("sizes", {Normal({2, 3}), Normal({2, 4})}, ConcatAttrs{0, {2, 2}},
             "tensor 1 [2, 4] and tensor 0 [2, 3] differ outside dim 0");
  s.AddError("ranks", {Normal({2, 3}), Normal({2})}, ConcatAttrs{0, {2, 2}}, "tensor 1 [2]");
  s.AddError("dim", {Normal({2})}, ConcatAttrs{1, {2}}, "dim 1 is outside");
  s.AddError("no tensors", {}, ConcatAttrs{}, "takes at least 1 tensor, got 0");
  s.AddError("undefined", {Normal({2, 3}), Tensor()}, ConcatAttrs{0, {2, 2}},
             "tensors[1] is an undefined tensor");
}

FIRN_REGISTER_COMPOSITE(stack) {
  s.Declare({{.name = "tensors", .variadic = true}}, {{.name = "y", .same_dtype_as = "tensors"}});
  s.Function([](In in, const DimAttrs& a) { return Stack(in.all(), a.dim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    std::vector<int64_t> sizes(in[0].shape.begin(), in[0].shape.end());
    const int64_t given = attrs.get<DimAttrs>().dim;
    const int64_t dim = given < 0 ? given + in[0].shape.rank() + 1 : given;
    sizes.insert(sizes.begin() + dim, static_cast<int64_t>(in.size()));
    RefTensor y{Shape(sizes)};
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      from.erase(from.begin() + dim);
      y.at(at) = in[static_cast<size_t>(at[static_cast<size_t>(dim)])].at(from);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("rows", {Normal({3}), Normal({3}, 2)}, DimAttrs{0});
  s.Add("the last dimension", {Normal({2, 3}), Normal({2, 3}, 2), Normal({2, 3}, 3)}, DimAttrs{-1});
  s.Add("between", {Normal({2, 8, 3}), Normal({2, 8, 3}, 2)}, DimAttrs{1});
  s.Add("scalars", {Normal({}), Normal({}, 2)}, DimAttrs{0});
  s.Add("one", {Normal({2, 3})}, DimAttrs{1});
  s.Add("integers", {Integers({3}, -9, 9), Integers({3}, -9, 9, 2)}, DimAttrs{0});
  s.Add("bool", {Booleans({3}), Booleans({3}, 2)}, DimAttrs{0});
  s.AddError("shapes", {Normal({2}), Normal({3})}, DimAttrs{},
             "tensor 1 [3] and tensor 0 [2] differ");
  s.AddError("none", {}, DimAttrs{}, "takes at least 1 tensor, got 0");
}

}  // namespace
}  // namespace firn::testing
