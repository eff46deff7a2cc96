#include "firn/tensor/ops/linear/tensordot.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct TensordotAttrs {
  std::vector<int64_t> dims_a, dims_b;
  template <class V>
  void Visit(V& v) {
    v.Field("dims_a", dims_a);
    v.Field("dims_b", dims_b);
  }
};

// The sum over every index of a and b in which the named dimensions agree.
std::vector<RefTensor> ReferenceTensordot(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const TensordotAttrs& at = attrs.get<TensordotAttrs>();
  const RefTensor &a = in[0], &b = in[1];
  const auto named = [](const Shape& s, const std::vector<int64_t>& dims) {
    std::vector<int> place(static_cast<size_t>(s.rank()), -1);
    for (size_t i = 0; i < dims.size(); ++i) {
      place[static_cast<size_t>(dims[i] < 0 ? dims[i] + s.rank() : dims[i])] = static_cast<int>(i);
    }
    return place;
  };
  const std::vector<int> of_a = named(a.shape, at.dims_a), of_b = named(b.shape, at.dims_b);
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < of_a.size(); ++d) {
    if (of_a[d] < 0) sizes.push_back(a.shape[static_cast<int>(d)]);
  }
  for (size_t d = 0; d < of_b.size(); ++d) {
    if (of_b[d] < 0) sizes.push_back(b.shape[static_cast<int>(d)]);
  }
  RefTensor y{Shape(sizes)};
  ForEachIndex(a.shape, [&](absl::Span<const int64_t> i) {
    ForEachIndex(b.shape, [&](absl::Span<const int64_t> j) {
      std::vector<int64_t> common(at.dims_a.size()), to;
      for (size_t d = 0; d < i.size(); ++d) {
        of_a[d] < 0 ? to.push_back(i[d]) : void(common[static_cast<size_t>(of_a[d])] = i[d]);
      }
      for (size_t d = 0; d < j.size(); ++d) {
        if (of_b[d] < 0) {
          to.push_back(j[d]);
        } else if (common[static_cast<size_t>(of_b[d])] != j[d]) {
          return;
        }
      }
      y.at(to) += a.at(i) * b.at(j);
    });
  });
  return {y};
}

FIRN_REGISTER_COMPOSITE(tensordot) {
  s.Declare({{.name = "a", .dtypes = kNumeric}, {.name = "b", .same_dtype_as = "a"}},
            {{.name = "y", .same_dtype_as = "a"}});
  s.Function([](In in, const TensordotAttrs& a) {
    return Tensordot(in[0], in[1], DimList(a.dims_a), DimList(a.dims_b));
  });
  s.Reference(ReferenceTensordot);
  s.atol_f32 = 1e-5;  // sums of products that cancel
  s.Add("one dimension", {Normal({2, 3}), Normal({3, 4}, 2)}, TensordotAttrs{{1}, {0}});
  s.Add("two in another order", {Normal({2, 3, 4}), Normal({4, 5, 3}, 2)},
        TensordotAttrs{{1, 2}, {2, 0}});
  s.Add("from the end", {Normal({2, 3, 4}), Normal({2, 4}, 2)}, TensordotAttrs{{-1}, {-1}});
  s.Add("all", {Normal({2, 3}), Normal({2, 3}, 2)}, TensordotAttrs{{0, 1}, {0, 1}});
  s.Add("none", {Normal({2}), Normal({3}, 2)}, TensordotAttrs{});
  s.Add("integers", {Integers({2, 3}, -3, 4), Integers({3, 2}, -3, 4, 2)},
        TensordotAttrs{{1}, {0}});
  s.Add("no elements", {Normal({2, 0}), Normal({0, 3}, 2)}, TensordotAttrs{{1}, {0}});
  s.AddLarge("256x16x32 by 32x256x16", {Normal({256, 16, 32}), Normal({32, 256, 16}, 2)},
             TensordotAttrs{{1, 2}, {2, 0}}, 2.0 * 256 * 256 * 512, 0);
  s.AddError("sizes", {Normal({2, 3}), Normal({2, 3}, 2)}, TensordotAttrs{{1}, {0}},
             "differ in number or size");
  s.AddError("number", {Normal({2, 3}), Normal({3, 3}, 2)}, TensordotAttrs{{1}, {}},
             "differ in number or size");
  s.AddError("dim", {Normal({2, 3}), Normal({3, 3}, 2)}, TensordotAttrs{{2}, {0}},
             "dim 2 is outside a [2, 3]");
  s.AddError("twice", {Normal({3, 3}), Normal({3, 3}, 2)}, TensordotAttrs{{1, -1}, {0, 1}},
             "dim -1 of a is named twice");
}

FIRN_REGISTER_COMPOSITE(bilinear) {
  s.Declare({{.name = "x1", .dtypes = kFloating},
             {.name = "x2", .same_dtype_as = "x1"},
             {.name = "weight", .same_dtype_as = "x1"},
             {.name = "bias", .same_dtype_as = "x1", .optional = true}},
            {{.name = "y", .same_dtype_as = "x1"}});
  s.Function([](In in) { return Bilinear(in[0], in[1], in[2], in[3]); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    const RefTensor &x1 = in[0], &x2 = in[1], &w = in[2];
    const int64_t out = w.shape[0], in1 = w.shape[1], in2 = w.shape[2];
    std::vector<int64_t> sizes(x1.shape.begin(), x1.shape.end());
    sizes.back() = out;
    RefTensor y{Shape(sizes)};
    for (int64_t at = 0; at < y.size(); ++at) {
      const int64_t row = at / out, o = at % out;
      if (in.size() > 3 && in[3].defined()) y[at] = in[3][o];
      for (int64_t i = 0; i < in1; ++i) {
        for (int64_t j = 0; j < in2; ++j) {
          y[at] += x1[row * in1 + i] * w[(o * in1 + i) * in2 + j] * x2[row * in2 + j];
        }
      }
    }
    return std::vector<RefTensor>{y};
  });
  s.atol_f32 = 1e-5;  // sums of products that cancel
  s.Add("with bias", {Normal({3, 4}), Normal({3, 2}, 2), Normal({5, 4, 2}, 3), Normal({5}, 4)});
  s.Add("without", {Normal({3, 2}), Normal({3, 4}, 2), Normal({2, 2, 4}, 3), Tensor()});
  s.Add("vectors", {Normal({2}), Normal({3}, 2), Normal({2, 2, 3}, 3), Normal({2}, 4)});
  s.Add("more dimensions",
        {Normal({2, 2, 2}), Normal({2, 2, 3}, 2), Normal({2, 2, 3}, 3), Normal({2}, 4)});
  s.AddLarge("64 rows, 128x128 to 64",
             {Normal({64, 128}), Normal({64, 128}, 2), Normal({64, 128, 128}, 3), Normal({64}, 4)},
             {}, 2.0 * 64 * 64 * 128 * 129, 0);
  s.AddError("rows", {Normal({3, 4}), Normal({2, 2}, 2), Normal({5, 4, 2}, 3), Tensor()}, {},
             "x1 [..., in1], x2 [..., in2] and weight [out, in1, in2]");
  s.AddError("bias", {Normal({3, 4}), Normal({3, 2}, 2), Normal({5, 4, 2}, 3), Normal({4}, 4)}, {},
             "bias must be [5], got [4]");
}

}  // namespace
}  // namespace firn::testing
