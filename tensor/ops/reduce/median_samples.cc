#include <algorithm>
#include <cmath>
#include <numeric>

#include "firn/tensor/ops/reduce/median.h"
#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct KthAttrs {
  int64_t k = 1, dim = -1;
  bool keepdim = false;
  template <class V>
  void Visit(V& v) {
    v.Field("k", k);
    v.Field("dim", dim);
    v.Field("keepdim", keepdim);
  }
};
struct MedianAttrs {
  int64_t dim = -1;
  bool keepdim = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("keepdim", keepdim);
  }
};

// kth(line) is the place of the wanted element in the sorted line.
template <class F>
std::vector<RefTensor> InOrder(const RefTensor& x, int64_t dim, bool keepdim, F kth) {
  const int rank = x.shape.rank();
  const int at = static_cast<int>(dim < 0 ? dim + rank : dim);
  Dims shape;
  for (int d = 0; d < rank; ++d) {
    if (d != at) shape.push_back(x.shape[d]);
    if (d == at && keepdim) shape.push_back(1);
  }
  RefTensor values(Shape::Trusted(shape)), indices(values.shape);
  int64_t i = 0;
  ForEachLine(x.shape, dim, [&](int64_t length, int64_t first, int64_t step) {
    std::vector<int64_t> order(static_cast<size_t>(length));
    std::iota(order.begin(), order.end(), 0);
    const auto element = [&](int64_t j) { return x[first + j * step]; };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return element(a) < element(b) || (std::isnan(element(b)) && !std::isnan(element(a)));
    });
    const int64_t nans = std::count_if(order.begin(), order.end(),
                                       [&](int64_t j) { return std::isnan(element(j)); });
    indices[i] = static_cast<double>(order[static_cast<size_t>(kth(length, nans))]);
    values[i] = element(static_cast<int64_t>(indices[i]));
    ++i;
  });
  return {values, indices};
}

std::vector<ArgDecl> Results() {
  return {{.name = "values", .same_dtype_as = "x"},
          {.name = "indices", .dtypes = SetOf(DType::kI64), .constant = true}};
}

FIRN_REGISTER_COMPOSITE(median) {
  s.Declare({{.name = "x", .dtypes = kNumeric}}, Results());
  s.Function([](In in, const MedianAttrs& a) { return Median(in[0], a.dim, a.keepdim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const MedianAttrs& a = attrs.get<MedianAttrs>();
    return InOrder(in[0], a.dim, a.keepdim,
                   [](int64_t n, int64_t nans) { return nans > 0 ? n - nans : (n - 1) / 2; });
  });
  s.Add("odd", {Distinct({3, 5}, 0.1)}, MedianAttrs{});
  s.Add("even", {Distinct({4, 6}, 0.1)}, MedianAttrs{});
  s.Add("columns, kept", {Distinct({4, 3}, 0.1)}, MedianAttrs{0, true});
  s.Add("channels", {Distinct({2, 8, 3}, 0.1)}, MedianAttrs{1});
  s.Add("one", {Distinct({3, 1}, 0.1)}, MedianAttrs{});
  s.Add("a scalar", {Normal({})}, MedianAttrs{});
  s.Add("NaN", {Values({1, NAN, 0, NAN, 5, 2, 3, 4}, {2, 4})}, MedianAttrs{}).check_gradient =
      false;
  s.Add("integers", {Indices({5, 1, 3, 2, 8, 4}, {2, 3})}, MedianAttrs{});
  s.Add("no rows", {Normal({0, 3})}, MedianAttrs{});
  s.AddLarge("1024x4096", {Normal({1024, 4096})}, MedianAttrs{}, 20e6, 16.8e6);
  s.AddError("nothing", {Normal({3, 0})}, MedianAttrs{}, "x [3, 0] has no elements in dim 1");
  s.AddError("bool", {Booleans({3})}, MedianAttrs{}, "x must be of numbers");
}

FIRN_REGISTER_COMPOSITE(kthvalue) {
  s.Declare({{.name = "x", .dtypes = kNumeric}}, Results());
  s.Function([](In in, const KthAttrs& a) { return Kthvalue(in[0], a.k, a.dim, a.keepdim); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const KthAttrs& a = attrs.get<KthAttrs>();
    return InOrder(in[0], a.dim, a.keepdim, [&](int64_t, int64_t) { return a.k - 1; });
  });
  s.Add("first", {Distinct({3, 5}, 0.1)}, KthAttrs{});
  s.Add("last", {Distinct({3, 5}, 0.1)}, KthAttrs{5});
  s.Add("columns, kept", {Distinct({4, 3}, 0.1)}, KthAttrs{2, 0, true});
  s.Add("channels", {Distinct({2, 8, 3}, 0.1)}, KthAttrs{3, 1});
  s.Add("a scalar", {Normal({})}, KthAttrs{});
  s.Add("NaN", {Values({1, NAN, 0, 7})}, KthAttrs{4}).check_gradient = false;
  s.Add("integers", {Indices({5, 1, 3, 2, 8, 4}, {2, 3})}, KthAttrs{2});
  s.AddLarge("1024x4096", {Normal({1024, 4096})}, KthAttrs{100}, 20e6, 16.8e6);
  s.AddError("k", {Normal({3})}, KthAttrs{4}, "k must be from 1 to 3, the size of dim 0, got 4");
}

}  // namespace
}  // namespace firn::testing
