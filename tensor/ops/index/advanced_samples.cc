#include <algorithm>

#include "absl/status/statusor.h"
#include "firn/tensor/ops/index/advanced.h"
#include "firn/tensor/ops/index/index_arrays.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// The index that a broadcast index tensor holds for a position.
int64_t At(const RefTensor& t, absl::Span<const int64_t> position) {
  std::vector<int64_t> own;
  for (int d = 0; d < t.shape.rank(); ++d) {
    const size_t from = position.size() - static_cast<size_t>(t.shape.rank() - d);
    own.push_back(t.shape[d] == 1 ? 0 : position[from]);
  }
  return static_cast<int64_t>(t.at(own));
}

// The index tensors of `dims`, by default the first ones, as a subscript: undefined between them.
std::vector<Tensor> Subscript(const DimList& dims, std::vector<Tensor> arrays, int64_t rank) {
  if (dims.empty()) return arrays;
  std::vector<Tensor> subscript;
  size_t k = 0;
  for (int64_t d : dims) {
    subscript.resize(static_cast<size_t>(d < 0 ? d + rank : d));
    subscript.push_back(std::move(arrays[k++]));
  }
  return subscript;
}

FIRN_REGISTER_SAMPLES(index) {
  s.Function([](In in, const IndexAttrs& a) {
    return Index(in[0], Subscript(a.dims, in.From(1), in[0].rank()));
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const RefTensor& x = in[0];
    DimList dims = attrs.get<IndexAttrs>().dims;
    for (int64_t& d : dims) d = d < 0 ? d + x.shape.rank() : d;
    Shape positions = in[1].shape;
    for (size_t k = 2; k < in.size(); ++k) positions = *BroadcastShapes(positions, in[k].shape);
    const bool together = dims[dims.rank - 1] - dims[0] + 1 == static_cast<int64_t>(dims.size());
    const size_t lead = together ? static_cast<size_t>(dims[0]) : 0;
    std::vector<int64_t> rest;  // dimensions of x that stay
    for (int64_t d = 0; d < x.shape.rank(); ++d) {
      if (std::find(dims.begin(), dims.end(), d) == dims.end()) rest.push_back(d);
    }
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < lead; ++i) sizes.push_back(x.shape[static_cast<int>(rest[i])]);
    sizes.insert(sizes.end(), positions.begin(), positions.end());
    for (size_t i = lead; i < rest.size(); ++i) {
      sizes.push_back(x.shape[static_cast<int>(rest[i])]);
    }
    RefTensor out{Shape(sizes)};
    const size_t count = static_cast<size_t>(positions.rank());
    ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(static_cast<size_t>(x.shape.rank()));
      for (size_t i = 0; i < rest.size(); ++i) {
        from[static_cast<size_t>(rest[i])] = at[i < lead ? i : i + count];
      }
      for (size_t k = 0; k < dims.size(); ++k) {
        const int64_t i = At(in[k + 1], at.subspan(lead, count));
        from[static_cast<size_t>(dims[k])] = i < 0 ? i + x.shape[static_cast<int>(dims[k])] : i;
      }
      out.at(at) = x.at(from);
    });
    return std::vector<RefTensor>{out};
  });
  s.Add("points", {Normal({3, 4}), Indices({0, 2, 2}), Indices({1, 3, -1})}, IndexAttrs{{0, 1}});
  s.Add("a grid", {Normal({3, 4}), Indices({0, 2}, {2, 1}), Indices({1, 3, 0})},
        IndexAttrs{{0, 1}});
  s.Add("neighbours", {Normal({2, 3, 4, 2}), Indices({0, 2, 1}), Indices({3, 3, 0})},
        IndexAttrs{{1, 2}});
  s.Add("apart", {Normal({2, 3, 4}), Indices({1, 0, 1}), Indices({3, 0, 2})}, IndexAttrs{{0, 2}});
  s.Add("apart, more between", {Normal({2, 3, 2, 3, 2}), Indices({2, 0}), Indices({1, 1})},
        IndexAttrs{{1, -2}});
  s.Add("one tensor", {Normal({2, 8, 3}), Integers({2, 2}, 0, 8)}, IndexAttrs{{1}});
  s.Add("a number and a list", {Normal({3, 4}), Indices({2}, {}), Indices({1, 3})},
        IndexAttrs{{0, 1}});
  s.Add("three", {Normal({2, 3, 4}), Integers({5}, 0, 2), Integers({5}, 0, 3), Integers({5}, 0, 4)},
        IndexAttrs{{0, 1, 2}});
  s.Add("no positions", {Normal({3, 4}), Indices({}), Indices({})}, IndexAttrs{{0, 1}});
  s.Add("from nothing", {Normal({3, 0, 2}), Indices({1}), Indices({}, {0})}, IndexAttrs{{0, 1}});
  s.Add("integers", {Integers({3, 4}, -9, 9), Indices({0, 2}), Indices({1, 3})},
        IndexAttrs{{0, 1}});
  s.Add("bool", {Booleans({3, 4}), Indices({0, 2}), Indices({1, 3})}, IndexAttrs{{0, 1}});
  s.AddLarge("1M points",
             {Normal({1024, 1024}), Integers({1 << 20}, 0, 1024), Integers({1 << 20}, 0, 1024, 2)},
             IndexAttrs{{0, 1}}, 0, 25e6);
  s.AddError("index", {Normal({3, 4}), Indices({0}), Indices({4})}, IndexAttrs{{0, 1}},
             "indices 4 at index 0 is outside [-4, 4)");
  s.AddError("broadcast", {Normal({3, 4}), Indices({0, 1}), Indices({1, 2, 3})}, IndexAttrs{{0, 1}},
             "[2] and [3] do not broadcast");
  s.AddError("dims", {Normal({3, 4}), Indices({0}), Indices({0})}, IndexAttrs{{1, 0}},
             "dims do not ascend");
  s.AddError("count", {Normal({3, 4}), Indices({0}), Indices({0})}, IndexAttrs{{1}},
             "1 dims for 2 index tensors");
}

FIRN_REGISTER_SAMPLES(index_put) {
  s.Function([](In in, const IndexPutAttrs& a) {
    return IndexPut(in[0], Subscript(a.dims, in.From(2), in[0].rank()), in[1], a.accumulate);
  });
  // The results of index on the numbers 0, 1, 2, ... in place of x are the places of the values.
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

FIRN_REGISTER_SAMPLES(index_write) {
  s.Function([](In in, const IndexAttrs& a) {
    IndexWrite(in[0], IndexArrays{a.dims, in.From(2)}, in[1]);
  });
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

}  // namespace
}  // namespace firn::testing
