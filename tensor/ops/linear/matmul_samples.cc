#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// An operand as a stack of matrices, indexed by hand.
struct Stack {
  const RefTensor& x;
  bool transposed;
  bool vector_is_row;

  int64_t rows() const { return size(true); }
  int64_t cols() const { return size(false); }
  int64_t size(bool first) const {
    if (x.shape.rank() == 1) return first == vector_is_row ? 1 : x.shape[0];
    return x.shape.dim(first != transposed ? -2 : -1);
  }
  int batch_rank() const { return x.shape.rank() < 2 ? 0 : x.shape.rank() - 2; }
  // Element (i, j) of the matrix at `batch`, whose last dimensions are this stack's.
  double at(absl::Span<const int64_t> batch, int64_t i, int64_t j) const {
    if (x.shape.rank() == 1) return x[vector_is_row ? j : i];
    int64_t flat = 0;
    for (int d = 0; d < batch_rank(); ++d) {
      const size_t from = batch.size() - static_cast<size_t>(batch_rank() - d);
      flat = flat * x.shape[d] + (x.shape[d] == 1 ? 0 : batch[from]);
    }
    if (transposed) std::swap(i, j);
    return x[(flat * x.shape.dim(-2) + i) * x.shape.dim(-1) + j];
  }
};

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const MatmulAttrs& at = attrs.get<MatmulAttrs>();
  const Stack a{in[0], at.transpose_a, true}, b{in[1], at.transpose_b, false};
  Dims batch(std::max(a.batch_rank(), b.batch_rank()), 1);
  for (const Stack* s : {&a, &b}) {
    for (int d = 0; d < s->batch_rank(); ++d) {
      int64_t& size = batch[batch.rank - s->batch_rank() + d];
      if (s->x.shape[d] != 1) size = s->x.shape[d];
    }
  }
  Dims out = batch;
  if (in[0].shape.rank() > 1) out.push_back(a.rows());
  if (in[1].shape.rank() > 1) out.push_back(b.cols());
  RefTensor c(Shape(out.span()));
  int64_t at_c = 0;
  ForEachIndex(Shape(batch.span()), [&](absl::Span<const int64_t> index) {
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t j = 0; j < b.cols(); ++j, ++at_c) {
        for (int64_t p = 0; p < a.cols(); ++p) c[at_c] += a.at(index, i, p) * b.at(index, p, j);
      }
    }
  });
  return {c};
}

FIRN_REGISTER_SAMPLES(matmul) {
  s.Function([](In in, const MatmulAttrs& a) {
    return Matmul(in[0], in[1], a.transpose_a, a.transpose_b);
  });
  s.Reference(Reference);
  const MatmulAttrs nn{}, tn{true, false}, nt{false, true}, tt{true, true};
  s.Add("dot product", {Normal({7}), Normal({7}, 2)}, nn);
  s.Add("matrix and vector", {Normal({3, 5}), Normal({5}, 2)}, nn);
  s.Add("vector and matrix", {Normal({5}), Normal({5, 4}, 2)}, nn);
  s.Add("matrices", {Normal({5, 3}), Normal({3, 4}, 2)}, nn);
  s.Add("first transposed", {Normal({3, 5}), Normal({3, 4}, 2)}, tn);
  s.Add("second transposed", {Normal({5, 3}), Normal({4, 3}, 2)}, nt);
  s.Add("both transposed", {Normal({3, 5}), Normal({4, 3}, 2)}, tt);
  s.Add("one row, one column", {Normal({1, 6}), Normal({6, 1}, 2)}, nn);
  s.Add("outer product", {Normal({4, 1}), Normal({1, 3}, 2)}, nn);
  s.Add("stacks", {Normal({2, 3, 2}), Normal({2, 2, 4}, 2)}, nn);
  s.Add("broadcast stacks", {Normal({2, 1, 3, 2}), Normal({3, 2, 2}, 2)}, nn);
  s.Add("stack and matrix", {Normal({2, 3, 2}), Normal({2, 4}, 2)}, nn);
  s.Add("stack and matrix, transposed", {Normal({2, 2, 3}), Normal({4, 2}, 2)}, tt);
  s.Add("stack of rows and matrix", {Normal({2, 3, 1, 2}), Normal({2, 3}, 2)}, nn);
  s.Add("matrix and stack", {Normal({3, 2}), Normal({2, 2, 4}, 2)}, nn);
  s.Add("stack and vector", {Normal({2, 3, 4}), Normal({4}, 2)}, nn);
  s.Add("vector and stack", {Normal({3}), Normal({2, 3, 4}, 2)}, nn);
  s.Add("vector and transposed stack", {Normal({3}), Normal({2, 4, 3}, 2)}, nt);
  s.Add("no inner elements", {Normal({3, 0}), Normal({0, 4}, 2)}, nn);
  s.Add("no rows", {Normal({2, 0, 3}), Normal({3, 4}, 2)}, nn);
  s.Add("integers", {Integers({3, 5}, 0, 5), Integers({5, 4}, 0, 5, 2)}, nn);
  s.Add("negative integers", {Integers({3, 5}, -5, 5), Integers({5, 4}, -5, 5, 2)}, nn);
  // Positive: nothing cancels, so that errors stay relative to the results.
  s.Add("larger than a tile", {Uniform({33, 150}, 0.1, 1), Uniform({150, 140}, 0.1, 1, 2)}, nn)
      .check_gradient = false;
  s.Add("many small ones", {Normal({40, 4, 3}), Normal({40, 3, 5}, 2)}, nn).check_gradient = false;
  const double flops = 2.0 * 64 * 1024 * 8192;
  s.AddLarge("64x8192x1024", {Normal({64, 8192}), Normal({8192, 1024}, 2)}, nn, flops, 0);
  s.AddLarge("64x8192x1024 nt", {Normal({64, 8192}), Normal({1024, 8192}, 2)}, nt, flops, 0);
  s.AddLarge("64x8192x1024 tn", {Normal({8192, 64}), Normal({8192, 1024}, 2)}, tn, flops, 0);
  s.AddLarge("96 x 64x128x64", {Normal({96, 64, 128}), Normal({96, 128, 64}, 2)}, nn,
             96 * 2.0 * 64 * 64 * 128, 0);
  s.AddError("scalar", {Normal({}), Normal({3, 4}, 2)}, nn, "a must have 1 to 8 dimensions");
  s.AddError("inner sizes", {Normal({3, 4}), Normal({5, 6}, 2)}, nn,
             "the inner sizes 4 and 5 of a [3, 4] and b [5, 6] differ");
  s.AddError("batches", {Normal({2, 3, 4}), Normal({3, 4, 5}, 2)}, nn,
             "the batches of a [2, 3, 4] and b [3, 4, 5] do not broadcast");
  s.AddError("transposed vector", {Normal({3}), Normal({3, 4}, 2)}, tn,
             "a vector has no transpose");
  s.AddError("bool", {Booleans({3, 4}), Booleans({4, 3}, 2)}, nn, "a must be");
  s.AddError("dtypes", {Normal({3, 4}), Integers({4, 3}, 0, 5)}, nn, "a is f64 but b is i64");
}

}  // namespace
}  // namespace firn::testing
