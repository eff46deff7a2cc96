#include <utility>

#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(permute) {
  s.Function([](In in, const PermuteAttrs& a) { return Permute(in[0], a.dims); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    DimList dims = attrs.get<PermuteAttrs>().dims;
    const RefTensor& x = in[0];
    std::vector<int64_t> sizes;
    for (int64_t& d : dims) {
      if (d < 0) d += x.shape.rank();
      sizes.push_back(x.shape[static_cast<int>(d)]);
    }
    RefTensor out{Shape(sizes)};
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(dims.size());
      for (size_t i = 0; i < dims.size(); ++i) from[static_cast<size_t>(dims.data()[i])] = at[i];
      out.at(at) = x.at(from);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("matrix", {Normal({3, 5})}, PermuteAttrs{{1, 0}});
  s.Add("channels last", {Normal({2, 8, 3, 4})}, PermuteAttrs{{0, 2, 3, 1}});
  s.Add("from the end", {Normal({2, 3, 4})}, PermuteAttrs{{-1, -3, -2}});
  s.Add("as it is", {Normal({2, 3})}, PermuteAttrs{{0, 1}});
  s.Add("a scalar", {Normal({})}, PermuteAttrs{});
  s.Add("nothing", {Normal({0, 3})}, PermuteAttrs{{1, 0}});
  s.Add("integers", {Integers({2, 3, 4}, -9, 9)}, PermuteAttrs{{2, 0, 1}});
  s.AddError("too few", {Normal({2, 3})}, PermuteAttrs{{0}}, "do not name every dimension");
  s.AddError("twice", {Normal({2, 3})}, PermuteAttrs{{0, -2}}, "dim");
}

FIRN_REGISTER_SAMPLES(transpose) {
  s.Function([](In in, const TransposeAttrs& a) { return Transpose(in[0], a.dim0, a.dim1); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const TransposeAttrs& a = attrs.get<TransposeAttrs>();
    const RefTensor& x = in[0];
    std::vector<int64_t> sizes(x.shape.begin(), x.shape.end());
    const auto swapped = [&](std::vector<int64_t> v) {
      const auto at = [&](int64_t d) -> int64_t& {
        return v[static_cast<size_t>(d < 0 ? d + x.shape.rank() : d)];
      };
      if (!v.empty()) std::swap(at(a.dim0), at(a.dim1));
      return v;
    };
    RefTensor out{Shape(swapped(sizes))};
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      out.at(at) = x.at(swapped(std::vector<int64_t>(at.begin(), at.end())));
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("matrix", {Normal({3, 5})}, TransposeAttrs{});
  s.Add("outer", {Normal({2, 8, 4})}, TransposeAttrs{0, 2});
  s.Add("neighbours", {Normal({2, 8, 3, 4})}, TransposeAttrs{-3, 2});
  s.Add("with itself", {Normal({2, 3})}, TransposeAttrs{1, 1});
  s.Add("a scalar", {Normal({})}, TransposeAttrs{0, -1});
  s.Add("nothing", {Normal({0, 3})}, TransposeAttrs{});
  s.Add("integers", {Integers({2, 3, 4}, -9, 9)}, TransposeAttrs{});
  s.AddError("dim", {Normal({3})}, TransposeAttrs{}, "dim -2 is outside");
}

FIRN_REGISTER_SAMPLES(flip) {
  s.Function([](In in, const FlipAttrs& a) { return Flip(in[0], a.dims); });
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

struct MovedimAttrs {
  DimList source, destination;
  template <class V>
  void Visit(V& v) {
    v.Field("source", source);
    v.Field("destination", destination);
  }
};

FIRN_REGISTER_COMPOSITE(movedim) {
  s.Declare({{.name = "x"}});
  s.declaration.is_view = true;
  s.Function([](In in, const MovedimAttrs& a) { return Movedim(in[0], a.source, a.destination); });
  // The dimensions that stay keep their order.
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const MovedimAttrs& a = attrs.get<MovedimAttrs>();
    const int rank = in[0].shape.rank();
    const auto index = [rank](int64_t d) { return static_cast<size_t>(d < 0 ? d + rank : d); };
    std::vector<int64_t> order(static_cast<size_t>(rank), -1), rest;
    for (int64_t d = 0; d < rank; ++d) rest.push_back(d);
    for (size_t i = 0; i < a.source.size(); ++i) {
      order[index(a.destination.data()[i])] = static_cast<int64_t>(index(a.source.data()[i]));
      std::erase(rest, static_cast<int64_t>(index(a.source.data()[i])));
    }
    size_t next = 0;
    for (int64_t& d : order) {
      if (d < 0) d = rest[next++];
    }
    const PermuteAttrs permuted{DimList(absl::MakeConstSpan(order))};
    return SamplesOf("permute")->reference(in, permuted);
  });
  s.Add("one", {Normal({2, 3, 4})}, MovedimAttrs{{0}, {-1}});
  s.Add("two", {Normal({2, 8, 4, 3})}, MovedimAttrs{{0, 3}, {2, 1}});
  s.Add("nowhere", {Normal({2, 3})}, MovedimAttrs{{1}, {1}});
  s.Add("no dims", {Normal({2, 3})}, MovedimAttrs{});
  s.Add("nothing", {Normal({0, 3})}, MovedimAttrs{{0}, {1}});
  s.Add("integers", {Integers({2, 3}, -9, 9)}, MovedimAttrs{{0}, {1}});
  s.Add("bool", {Booleans({2, 3})}, MovedimAttrs{{0}, {1}});
  s.AddError("dim", {Normal({2, 3})}, MovedimAttrs{{2}, {0}}, "dim 2 is outside");
  s.AddError("twice", {Normal({2, 3})}, MovedimAttrs{{0, 0}, {0, 1}}, "dim");
}

}  // namespace
}  // namespace firn::testing
