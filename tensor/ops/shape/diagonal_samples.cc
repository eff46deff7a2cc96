#include <algorithm>
#include <cmath>
#include <string>

#include "firn/tensor/ops/shape/diagonal.h"
#include "firn/tensor/ops/shape/moved_samples.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> DiagonalReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const DiagonalAttrs& a = attrs.get<DiagonalAttrs>();
  const Shape& x = in[0].shape;
  const int rank = x.rank();
  const auto at = [&](int64_t dim) { return static_cast<int>(dim < 0 ? dim + rank : dim); };
  const int rows = at(a.dim1), columns = at(a.dim2);
  int64_t length = 0;
  for (int64_t r = 0; r < x[rows]; ++r) length += r + a.offset >= 0 && r + a.offset < x[columns];
  Dims shape;
  for (int d = 0; d < rank; ++d) {
    if (d != rows && d != columns) shape.push_back(x[d]);
  }
  shape.push_back(length);
  return {Moved(in[0], Shape::Trusted(shape), [&](const Index& y) {
    Index from;
    size_t next = 0;
    for (int d = 0; d < rank; ++d) {
      if (d == rows) {
        from.push_back(y.back() + std::max<int64_t>(-a.offset, 0));
      } else if (d == columns) {
        from.push_back(y.back() + std::max<int64_t>(a.offset, 0));
      } else {
        from.push_back(y[next++]);
      }
    }
    return from;
  })};
}

FIRN_REGISTER_SAMPLES(diagonal) {
  s.Function(
      [](In in, const DiagonalAttrs& a) { return Diagonal(in[0], a.offset, a.dim1, a.dim2); });
  s.Reference(DiagonalReference);
  s.Add("square", {Normal({3, 3})}, DiagonalAttrs{});
  s.Add("wide, above", {Normal({3, 5})}, DiagonalAttrs{2});
  s.Add("high, below", {Normal({5, 3})}, DiagonalAttrs{-1});
  s.Add("no such diagonal", {Normal({2, 3})}, DiagonalAttrs{3});
  s.Add("batches", {Normal({2, 3, 4})}, DiagonalAttrs{1, -2, -1});
  s.Add("other dimensions", {Normal({3, 8, 4, 2})}, DiagonalAttrs{0, 2, 0});
  s.Add("nothing", {Normal({0, 3})}, DiagonalAttrs{});
  s.Add("integers", {Integers({3, 3}, 0, 9)}, DiagonalAttrs{});
  s.AddLarge("64x128x128", {Normal({64, 128, 128})}, DiagonalAttrs{0, 1, 2}, 0, 0);
  s.AddError("dims", {Normal({3, 3})}, DiagonalAttrs{0, 1, -1}, "are the same dimension");
  s.AddError("rank", {Normal({3})}, DiagonalAttrs{}, "x [3] must have two dimensions or more");
}

std::vector<RefTensor> EmbedReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const DiagEmbedAttrs& a = attrs.get<DiagEmbedAttrs>();
  Dims shape = in[0].shape.dims();
  shape[shape.rank - 1] = a.rows;
  shape.push_back(a.columns);
  return {Moved(in[0], Shape::Trusted(shape), [&](Index y) {
    const int64_t column = y.back(), row = y[y.size() - 2];
    if (column - row != a.offset) return Index();
    y.pop_back();
    y.back() = std::min(row, column);
    return y;
  })};
}

FIRN_REGISTER_SAMPLES(diag_embed) {
  s.Function([](In in, const DiagEmbedAttrs& a) {
    return a.rows == a.columns ? DiagEmbed(in[0], a.offset) : OnDiagonal(in[0], a);
  });
  s.Reference(EmbedReference);
  s.Add("a vector", {Normal({3})}, DiagEmbedAttrs{0, 3, 3});
  s.Add("above", {Normal({2, 3})}, DiagEmbedAttrs{2, 5, 5});
  s.Add("below", {Normal({2, 8, 3})}, DiagEmbedAttrs{-1, 4, 4});
  s.Add("wide", {Normal({3})}, DiagEmbedAttrs{1, 3, 5});
  s.Add("high", {Normal({2})}, DiagEmbedAttrs{-1, 4, 2});
  s.Add("nothing", {Normal({2, 0})}, DiagEmbedAttrs{2, 2, 2});
  s.Add("integers", {Integers({3}, 0, 9)}, DiagEmbedAttrs{0, 3, 3});
  s.Add("bool", {Booleans({3})}, DiagEmbedAttrs{0, 3, 3});
  s.AddLarge("4x1024", {Normal({4, 1024})}, DiagEmbedAttrs{0, 1024, 1024}, 0, 16.8e6);
  s.AddError("size", {Normal({3})}, DiagEmbedAttrs{1, 3, 3}, "x [3] must have 2 elements");
}

FIRN_REGISTER_GOLDEN(diag_embed) {
  return DiagEmbed(args["x"], args.Int("offset", 0), args.Int("dim1", -2), args.Int("dim2", -1));
}

void AddTriangles(Samples& s, bool upper) {
  using Kept = bool (*)(int64_t at);
  const Kept kept =
      upper ? Kept([](int64_t at) { return at >= 0; }) : Kept([](int64_t at) { return at <= 0; });
  s.Reference([kept](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const int64_t diagonal = attrs.get<TriangleAttrs>().diagonal;
    return std::vector<RefTensor>{Moved(in[0], in[0].shape, [&](const Index& y) {
      return kept(y.back() - y[y.size() - 2] - diagonal) ? y : Index();
    })};
  });
  for (int64_t diagonal : {0, 1, -2, 9, -9}) {
    s.Add("diagonal " + std::to_string(diagonal), {Normal({3, 4})}, TriangleAttrs{diagonal});
  }
  s.Add("batches", {Normal({2, 8, 5, 3})}, TriangleAttrs{-1});
  s.Add("many rows", {Normal({300, 70})}, TriangleAttrs{3}).check_gradient = false;
  s.Add("nothing", {Normal({0, 3})}, TriangleAttrs{});
  s.Add("integers", {Integers({3, 4}, 0, 9)}, TriangleAttrs{});
  s.Add("bool", {Booleans({3, 4})}, TriangleAttrs{});
  s.Add("not finite", {Values({INFINITY, NAN, NAN, INFINITY}, {2, 2})}, TriangleAttrs{})
      .check_gradient = false;
  s.AddLarge("2048x2048", {Normal({2048, 2048})}, TriangleAttrs{}, 0, 25.2e6);
  s.AddError("rank", {Normal({3})}, TriangleAttrs{}, "x");
}

FIRN_REGISTER_SAMPLES(tril) {
  s.Function([](In in, const TriangleAttrs& a) { return Tril(in[0], a.diagonal); });
  AddTriangles(s, false);
}
FIRN_REGISTER_SAMPLES(triu) {
  s.Function([](In in, const TriangleAttrs& a) { return Triu(in[0], a.diagonal); });
  AddTriangles(s, true);
}

}  // namespace
}  // namespace firn::testing
