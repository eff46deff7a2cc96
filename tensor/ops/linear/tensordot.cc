// tensordot: one product of matrices, with the contracted dimensions of each operand as one.
//
// bilinear: a product of x1 with the weight as a matrix [in1, out in2] gives a vector of in2
// elements for each row and output, whose dot product with x2 is y; or the same with x1 and x2
// exchanged, where that makes fewer of them.

#include "firn/tensor/ops/linear/tensordot.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr const char* kTensordot = "tensordot";

// The dimensions of x that are named, from the start; and the others, in order.
struct Sides {
  std::vector<int64_t> named, others;
};
Sides SidesOf(const Tensor& x, const DimList& dims, const char* name) {
  Sides s;
  std::vector<bool> taken(static_cast<size_t>(x.rank()), false);
  for (const int64_t d : dims.span()) {
    if (!x.shape().has_dim(d)) {
      RaiseStatus(InvalidArgument("dim ", d, " is outside ", name, " ", x.shape().ToString()),
                  kTensordot);
    }
    const int64_t from_start = d < 0 ? d + x.rank() : d;
    if (taken[static_cast<size_t>(from_start)]) {
      RaiseStatus(InvalidArgument("dim ", d, " of ", name, " is named twice"), kTensordot);
    }
    taken[static_cast<size_t>(from_start)] = true;
    s.named.push_back(from_start);
  }
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (!taken[static_cast<size_t>(d)]) s.others.push_back(d);
  }
  return s;
}

std::string Listed(const DimList& dims) {
  return absl::StrCat("[", absl::StrJoin(dims.span(), ", "), "]");
}

int64_t SizeOfAll(const Shape& s, const std::vector<int64_t>& dims) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= s[d];
  return size;
}

Tensor Ordered(const Tensor& x, const std::vector<int64_t>& first,
               const std::vector<int64_t>& second) {
  DimList order;
  for (const auto* list : {&first, &second}) {
    for (const int64_t d : *list) order.push_back(d);
  }
  const Tensor moved = x.rank() == 0 ? x : Permute(x, order);
  return Reshape(moved, {SizeOfAll(x.shape(), first), SizeOfAll(x.shape(), second)});
}

}  // namespace

Tensor Tensordot(const Tensor& a, const Tensor& b, const DimList& dims_a, const DimList& dims_b) {
  CheckDefined(a, kTensordot, "a");
  CheckDefined(b, kTensordot, "b");
  const Sides of_a = SidesOf(a, dims_a, "a"), of_b = SidesOf(b, dims_b, "b");
  bool fits = of_a.named.size() == of_b.named.size();
  for (size_t i = 0; fits && i < of_a.named.size(); ++i) {
    fits = a.shape()[of_a.named[i]] == b.shape()[of_b.named[i]];
  }
  if (!fits) {
    RaiseStatus(InvalidArgument("dims ", Listed(dims_a), " of a ", a.shape().ToString(),
                                " and dims ", Listed(dims_b), " of b ", b.shape().ToString(),
                                " differ in number or size"),
                kTensordot);
  }
  if (of_a.others.size() + of_b.others.size() > static_cast<size_t>(kMaxRank)) {
    RaiseStatus(InvalidArgument("the result would have ", of_a.others.size() + of_b.others.size(),
                                " dimensions (at most ", kMaxRank, ")"),
                kTensordot);
  }
  Dims sizes;
  for (const int64_t d : of_a.others) sizes.push_back(a.shape()[d]);
  for (const int64_t d : of_b.others) sizes.push_back(b.shape()[d]);
  return Reshape(Matmul(Ordered(a, of_a.others, of_a.named), Ordered(b, of_b.named, of_b.others)),
                 sizes.span());
}

Tensor Tensordot(const Tensor& a, const Tensor& b, Integer dims) {
  CheckDefined(a, kTensordot, "a");
  CheckDefined(b, kTensordot, "b");
  const int64_t count = dims;
  if (count < 0 || count > a.rank() || count > b.rank()) {
    RaiseStatus(InvalidArgument("dims is ", count, " (want 0 to the ranks of a ",
                                a.shape().ToString(), " and b ", b.shape().ToString(), ")"),
                kTensordot);
  }
  DimList of_a, of_b;
  for (int64_t d = 0; d < count; ++d) {
    of_a.push_back(a.rank() - count + d);
    of_b.push_back(d);
  }
  return Tensordot(a, b, of_a, of_b);
}

namespace {

void CheckBilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  CheckDefined(x1, "bilinear", "x1");
  CheckDefined(x2, "bilinear", "x2");
  CheckDefined(weight, "bilinear", "weight");
  const DType dtype = x1.dtype();
  const bool dtypes = IsFloating(dtype) && x2.dtype() == dtype && weight.dtype() == dtype &&
                      (!bias.defined() || bias.dtype() == dtype);
  const auto leading = [](const Tensor& x) {
    return x.shape().span().first(static_cast<size_t>(x.rank()) - 1);
  };
  const bool fits = x1.rank() >= 1 && x1.rank() == x2.rank() && leading(x1) == leading(x2) &&
                    weight.rank() == 3 && weight.size(1) == x1.shape().dim(-1) &&
                    weight.size(2) == x2.shape().dim(-1);
  if (!dtypes || !fits) {
    RaiseStatus(InvalidArgument("x1 [..., in1], x2 [..., in2] and weight [out, in1, in2] of one "
                                "floating dtype are needed, got x1 ",
                                x1.spec().ToString(), ", x2 ", x2.spec().ToString(), " and weight ",
                                weight.spec().ToString()),
                "bilinear");
  }
  if (bias.defined() && (bias.rank() != 1 || bias.size(0) != weight.size(0))) {
    RaiseStatus(
        InvalidArgument("bias must be [", weight.size(0), "], got ", bias.shape().ToString()),
        "bilinear");
  }
}

}  // namespace

Tensor Bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  CheckBilinear(x1, x2, weight, bias);
  const int64_t out = weight.size(0), in1 = weight.size(1), in2 = weight.size(2);
  const bool exchanged = in1 < in2;
  const Tensor &first = exchanged ? x2 : x1, &second = exchanged ? x1 : x2;
  const int64_t kept = exchanged ? in1 : in2, summed = exchanged ? in2 : in1;
  int64_t rows = 1;
  for (int d = 0; d + 1 < x1.rank(); ++d) rows *= x1.size(d);
  const Tensor matrix = Reshape(Permute(weight, exchanged ? DimList{2, 0, 1} : DimList{1, 0, 2}),
                                {summed, out * kept});
  const Tensor vectors = Reshape(Matmul(Reshape(first, {rows, summed}), matrix), {rows, out, kept});
  Tensor y = Matmul(vectors, Reshape(second, {rows, kept, 1}));
  Dims sizes = x1.shape().dims();
  sizes[sizes.rank - 1] = out;
  y = Reshape(y, sizes.span());
  return bias.defined() ? Add(y, bias) : y;
}

}  // namespace firn
