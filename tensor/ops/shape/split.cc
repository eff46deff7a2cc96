// split and chunk: composed of slices.
//
// unbind: composed of selects.

#include "firn/tensor/ops/shape/split.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/slices.h"

namespace firn {
namespace {

// The size of x's dimension `dim`, or throws in the name of `op`.
int64_t SizeAlong(const Tensor& x, int64_t dim, const char* op) {
  CheckDefined(x, op);
  RaiseIfError(NormalizeDim(dim, x.shape()).status(), op);
  if (x.rank() == 0) RaiseStatus(InvalidArgument("x is 0-d: it has no dimension to cut"), op);
  return x.shape().dim(dim);
}

std::vector<Tensor> Pieces(const Tensor& x, int64_t n, int64_t size, int64_t dim) {
  std::vector<Tensor> pieces;
  int64_t at = 0;
  do {  // an empty dimension gives one empty piece
    pieces.push_back(Slice(x, dim, at, std::min(n, at + size)));
    at += size;
  } while (at < n);
  return pieces;
}

}  // namespace

std::vector<Tensor> Split(const Tensor& x, Integer size, Integer dim) {
  const int64_t n = SizeAlong(x, dim, "split");
  if (size < 0 || (size == 0 && n != 0)) {
    RaiseStatus(
        InvalidArgument("size ", size, " does not split dim ", dim, " of x ", x.shape().ToString()),
        "split");
  }
  return Pieces(x, n, std::min<int64_t>(size, n), dim);
}

std::vector<Tensor> Split(const Tensor& x, const std::vector<int64_t>& sizes, Integer dim) {
  const int64_t n = SizeAlong(x, dim, "split");
  int64_t sum = 0;
  for (int64_t s : sizes) {
    if (s < 0 || s > n - sum) {
      sum = -1;
      break;
    }
    sum += s;
  }
  if (sum != n) {
    RaiseStatus(
        InvalidArgument("the sizes {", absl::StrJoin(sizes, ", "), "} do not add up to the ", n,
                        " of dim ", dim, " of x ", x.shape().ToString()),
        "split");
  }
  std::vector<Tensor> pieces;
  int64_t at = 0;
  for (int64_t s : sizes) {
    pieces.push_back(Slice(x, dim, at, at + s));
    at += s;
  }
  return pieces;
}

std::vector<Tensor> Chunk(const Tensor& x, Integer n, Integer dim) {
  const int64_t size = SizeAlong(x, dim, "chunk");
  if (n <= 0) RaiseStatus(InvalidArgument("wants at least one piece, got n = ", n), "chunk");
  return Pieces(x, size, size == 0 ? 0 : (size - 1) / n + 1, dim);
}

std::vector<Tensor> Unbind(const Tensor& x, Integer dim) {
  CheckDefined(x, "unbind");
  RaiseIfError(NormalizeDim(dim, x.shape()).status(), "unbind");
  if (x.rank() == 0)
    RaiseStatus(InvalidArgument("x is 0-d: it has no dimension to drop"), "unbind");
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < x.shape().dim(dim); ++i) parts.push_back(Select(x, dim, i));
  return parts;
}

}  // namespace firn
