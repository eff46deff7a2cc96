#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> ReferenceIndexSelect(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const IndexSelectAttrs& a = attrs.get<IndexSelectAttrs>();
  const RefTensor &x = in[0], &indices = in[1];
  const int64_t dim = a.dim < 0 ? a.dim + x.shape.rank() : a.dim;
  std::vector<int64_t> sizes;
  for (int d = 0; d < dim; ++d) sizes.push_back(x.shape[d]);
  const int64_t own = indices.shape.rank() - a.batch_dims;  // dimensions that replace dim
  for (int64_t d = a.batch_dims; d < indices.shape.rank(); ++d) {
    sizes.push_back(indices.shape[static_cast<int>(d)]);
  }
  for (int d = static_cast<int>(dim) + 1; d < x.shape.rank(); ++d) sizes.push_back(x.shape[d]);
  RefTensor out{Shape(sizes)};
  ForEachIndex(out.shape, [&](absl::Span<const int64_t> at) {
    std::vector<int64_t> which(at.begin(), at.begin() + a.batch_dims);
    which.insert(which.end(), at.begin() + dim, at.begin() + dim + own);
    const int64_t i = static_cast<int64_t>(indices.at(which));
    if (i == a.ignored) return;
    std::vector<int64_t> from(at.begin(), at.begin() + dim);
    from.push_back(i < 0 ? i + x.shape[static_cast<int>(dim)] : i);
    from.insert(from.end(), at.begin() + dim + own, at.end());
    out.at(at) = x.at(from);
  });
  return {out};
}

FIRN_REGISTER_SAMPLES(index_select) {
  s.Function([](In in, const IndexSelectAttrs& a) {
    return IndexSelect(in[0], a.dim, in[1], a.batch_dims);
  });
  s.Reference(ReferenceIndexSelect);
  s.Add("vector", {Normal({5}), Indices({4, 0, 0, 2})}, IndexSelectAttrs{});
  s.Add("rows", {Normal({5, 3}), Indices({1, -1})}, IndexSelectAttrs{});
  s.Add("columns", {Normal({2, 5, 3}), Indices({3, 3, 0})}, IndexSelectAttrs{-2});
  s.Add("last dim", {Normal({2, 8, 4}), Indices({1, 0, 3})}, IndexSelectAttrs{2});
  s.Add("matrix of indices", {Normal({5, 3}), Integers({2, 4}, 0, 5)}, IndexSelectAttrs{});
  s.Add("one index", {Normal({2, 3}), Indices({2}, {})}, IndexSelectAttrs{1});
  s.Add("batches", {Normal({2, 3, 5, 2}), Integers({2, 4}, 0, 5)}, IndexSelectAttrs{2, 1});
  s.Add("two batch dims", {Normal({2, 3, 5}), Integers({2, 3, 2}, -5, 5)}, IndexSelectAttrs{2, 2});
  s.Add("ignored", {Normal({3, 2}), Indices({0, 7, 2, 7})}, IndexSelectAttrs{0, 0, 7})
      .check_function = false;
  s.Add("no indices", {Normal({3, 2}), Indices({})}, IndexSelectAttrs{});
  s.Add("from nothing", {Normal({0, 2}), Indices({})}, IndexSelectAttrs{});
  s.Add("integers", {Integers({5}, -9, 9), Indices({4, 1})}, IndexSelectAttrs{});
  s.Add("bool", {Booleans({5}), Indices({4, 1})}, IndexSelectAttrs{});
  s.AddLarge("64K rows of 64", {Normal({65536, 64}), Integers({65536}, 0, 65536)},
             IndexSelectAttrs{}, 0, 34e6);
  s.AddError("index", {Normal({2, 3}), Indices({0, 3})}, IndexSelectAttrs{1},
             "indices 3 at index 1 is outside [-3, 3)");
  s.AddError("floats", {Normal({3}), Normal({2})}, IndexSelectAttrs{},
             "indices must be i32 or i64");
  s.AddError("dim", {Normal({3}), Indices({0})}, IndexSelectAttrs{1}, "dim 1 is outside");
  s.AddError("batch dims", {Normal({2, 3}), Indices({0})}, IndexSelectAttrs{0, 1}, "batch_dims 1");
  s.AddError("batch sizes", {Normal({2, 3}), Indices({0, 0, 0})}, IndexSelectAttrs{1, 1},
             "differ in batch dim 0");
}

std::vector<RefTensor> ReferenceIndexAdd(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const IndexAddAttrs& a = attrs.get<IndexAddAttrs>();
  const int64_t dim = a.where.dim < 0 ? a.where.dim + in[0].shape.rank() : a.where.dim;
  const int64_t batch = a.where.batch_dims, own = in[1].shape.rank() - batch;
  RefTensor out = in[0];
  ForEachIndex(in[2].shape, [&](absl::Span<const int64_t> at) {
    std::vector<int64_t> which(at.begin(), at.begin() + batch);
    which.insert(which.end(), at.begin() + dim, at.begin() + dim + own);
    const int64_t i = static_cast<int64_t>(in[1].at(which));
    if (i == a.where.ignored) return;
    std::vector<int64_t> to(at.begin(), at.begin() + dim);
    to.push_back(i < 0 ? i + out.shape[static_cast<int>(dim)] : i);
    to.insert(to.end(), at.begin() + dim + own, at.end());
    out.at(to) += a.alpha * in[2].at(at);
  });
  return {out};
}

FIRN_REGISTER_SAMPLES(index_add) {
  s.Function([](In in, const IndexAddAttrs& a) {
    return IndexAdd(in[0], a.where.dim, in[1], in[2], a.alpha, a.where.batch_dims);
  });
  s.Reference(ReferenceIndexAdd);
  s.Add("vector", {Normal({5}), Indices({4, 0, 0, 2}), Normal({4}, 2)}, IndexAddAttrs{});
  s.Add("rows", {Normal({5, 3}), Indices({1, -1, 1}), Normal({3, 3}, 2)}, IndexAddAttrs{{}, -0.5});
  s.Add("columns", {Normal({2, 5, 3}), Indices({3, 3, 0}), Normal({2, 3, 3}, 2)},
        IndexAddAttrs{{-2}});
  s.Add("matrix of indices", {Normal({5, 3}), Integers({2, 4}, 0, 5), Normal({2, 4, 3}, 2)},
        IndexAddAttrs{});
  s.Add("one index", {Normal({2, 3}), Indices({2}, {}), Normal({2}, 2)}, IndexAddAttrs{{1}});
  s.Add("batches", {Normal({2, 3, 5, 2}), Integers({2, 4}, 0, 5), Normal({2, 3, 4, 2}, 2)},
        IndexAddAttrs{{2, 1}});
  s.Add("ignored", {Normal({3, 2}), Indices({0, 7, 2, 7}), Normal({4, 2}, 2)},
        IndexAddAttrs{{0, 0, 7}})
      .check_function = false;
  s.Add("no indices", {Normal({3, 2}), Indices({}), Normal({0, 2})}, IndexAddAttrs{});
  s.Add("to nothing", {Normal({0, 2}), Indices({}), Normal({0, 2})}, IndexAddAttrs{});
  s.Add("integers", {Integers({3}, -9, 9), Indices({2, 2}), Integers({2}, -9, 9)},
        IndexAddAttrs{{}, 2});
  s.AddLarge("64K rows of 64",
             {Normal({65536, 64}), Integers({65536}, 0, 65536), Normal({65536, 64}, 2)},
             IndexAddAttrs{}, 4.2e6, 67e6);
  s.AddError("index", {Normal({2, 3}), Indices({3}), Normal({2, 1})}, IndexAddAttrs{{1}},
             "indices 3 at index 0 is outside [-3, 3)");
  s.AddError("source", {Normal({2, 3}), Indices({2}), Normal({2, 2})}, IndexAddAttrs{{1}},
             "source [2, 2] must have the shape [2, 1]");
  s.AddError("dtypes", {Normal({3}), Indices({2}), Integers({1}, 0, 2)}, IndexAddAttrs{},
             "x is f64 but source is i64");
}

}  // namespace
}  // namespace firn::testing
