// kron_matrices: a row of y at a time, in its compute type, times a row of x. cross_vectors: some
// vectors at a time, whose first, second and third elements are each gathered side by side.
// Products are rounded before they are subtracted, so that the product of a vector with itself is
// 0.
//
// kron and cross of integers and of more dimensions are made of operations: a product of x
// [a, 1, b, 1] and y [1, c, 1, d], seen as [a c, b d]; for cross, the next elements of x times the
// previous ones of y, less the reverse.

#include "firn/tensor/ops/linear/products.h"

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/products_body.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/rearrange.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

// x with `rank` dimensions, and a 1 behind or before each of them.
Tensor WithOnes(const Tensor& x, int rank, bool behind) {
  Dims d;
  for (int i = 0; i < rank; ++i) {
    const int from = i - (rank - x.rank());
    if (!behind) d.push_back(1);
    d.push_back(from < 0 ? 1 : x.size(from));
    if (behind) d.push_back(1);
  }
  return Reshape(x, d.span());
}

absl::Status InferKron(InferContext& c) {
  const Shape &x = c.shape(0), &y = c.shape(1);
  int64_t rows = 0, columns = 0;
  FIRN_RETURN_IF(
      __builtin_mul_overflow(x[0], y[0], &rows) || __builtin_mul_overflow(x[1], y[1], &columns),
      InvalidArgument("x ", x.ToString(), " and y ", y.ToString(), " are too large"));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({rows, columns}));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

// Row `row` of the product.
template <class T>
void KronRow(const KronBody<T>& k, int64_t row) {
  using Acc = typename KronBody<T>::Acc;
  constexpr int64_t kStrip = 512;
  const int64_t n = k.columns_of_x, d = k.columns_of_y;
  const T* const x = k.x + row / k.rows_of_y * n;
  T* const out = k.out + row * n * d;
  alignas(64) Acc factors[kStrip], of_y[kStrip];
  cpu::Piece<T, kStrip> products;
  for (int64_t first = 0; first < d; first += kStrip) {
    const int64_t width = std::min(kStrip, d - first);
    const Acc* const y = cpu::ViewAs(k.y + row % k.rows_of_y * d + first, width, of_y);
    const int64_t at_once = width == d ? kStrip / d : 1;  // products that lie side by side
    for (int64_t j = 0; j < n; j += at_once) {
      const int64_t count = std::min(at_once, n - j);
      const Acc* const a = cpu::ViewAs(x + j, count, factors);
      T* const to = out + j * d + first;
      Acc* const room = products.Room(to);
      for (int64_t i = 0; i < count; ++i) {
        FIRN_INDEPENDENT_STEPS
        for (int64_t e = 0; e < width; ++e) room[i * width + e] = a[i] * y[e];
      }
      products.Write(to, count * width);
    }
  }
}

absl::Status RunKron(KernelContext& k) {
  const Shape& out = k.out_spec().shape;
  if (out.num_elements() == 0) return absl::OkStatus();
  return VisitKron(k, [&](const auto& body) {
    ParallelFor(out[0], std::max<int64_t>(1, cpu::kBodyGrain / out[1]),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) KronRow(body, row);
                });
    return absl::OkStatus();
  });
}

void GradKron(GradContext& g) {
  const Tensor &x = g.input(0), &y = g.input(1), &dy = g.grad_output();
  const Tensor flow = Reshape(dy, {x.size(0), y.size(0), x.size(1), y.size(1)});
  if (g.needs(0)) g.set_grad_input(0, Sum(Mul(flow, WithOnes(y, 2, false)), {1, 3}));
  if (g.needs(1)) g.set_grad_input(1, Sum(Mul(flow, WithOnes(x, 2, true)), {0, 2}));
}

FIRN_REGISTER_OP(kron_matrices) {
  return {
      .doc = "The Kronecker product of matrices.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
                 {.name = "y", .same_dtype_as = "x", .min_rank = 2, .max_rank = 2}},
      .outputs = {{.name = "z"}},
      .infer = InferKron,
      .grad = GradKron,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = {{.name = "rows", .run = RunKron}},
  };
}

absl::Status InferCross(InferContext& c) {
  const Shape &x = c.shape(0), &y = c.shape(1);
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(c.attrs<DimAttrs>().dim, x));
  FIRN_RETURN_IF(x != y || x[dim] != 3,
                 InvalidArgument("x ", x.ToString(), " and y ", y.ToString(),
                                 " must be alike, and of size 3 in dim ", dim));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

// A function of its own, because otherwise products and differences would be contracted to one
// instruction.
template <class Acc>
FIRN_NOINLINE void Products(const Acc* a, const Acc* b, int64_t n, Acc* to) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) to[i] = a[i] * b[i];
}

// Some vectors of cross_vectors. Not thread-safe.
template <class T>
class CrossStrip {
 public:
  using Acc = typename CrossBody<T>::Acc;
  static constexpr int64_t kStrip = 128;

  explicit CrossStrip(const CrossBody<T>& body) : body_(body) {}

  // n vectors, the first elements of which lie from `first` on.
  void Run(int64_t first, int64_t n) {
    Load(body_.x + first, n, a_);
    Load(body_.y + first, n, b_);
    for (int k = 0; k < 3; ++k) {
      const int next = (k + 1) % 3, last = (k + 2) % 3;
      Products(a_[next], b_[last], n, ahead_);
      Products(a_[last], b_[next], n, z_[k]);
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = 0; i < n; ++i) z_[k][i] = ahead_[i] - z_[k][i];
    }
    T* const out = body_.out + first;
    if (body_.inner > 1) {
      for (int k = 0; k < 3; ++k) cpu::StoreFrom(z_[k], n, out + k * body_.inner);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) all_[3 * i + k] = z_[k][i];
    }
    cpu::StoreFrom(all_, 3 * n, out);
  }

 private:
  void Load(const T* from, int64_t n, Acc (*to)[kStrip]) {
    if (body_.inner > 1) {
      for (int k = 0; k < 3; ++k) cpu::LoadAs(from + k * body_.inner, n, to[k]);
      return;
    }
    const Acc* const v = cpu::ViewAs(from, 3 * n, all_);
    for (int64_t i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) to[k][i] = v[3 * i + k];
    }
  }

  const CrossBody<T> body_;
  alignas(64) Acc a_[3][kStrip], b_[3][kStrip], z_[3][kStrip], ahead_[kStrip], all_[3 * kStrip];
};

absl::Status RunCross(KernelContext& k) {
  return VisitCross(k, [&]<class T>(const CrossBody<T>& body) {
    // Whether vectors that lie one behind the other can be taken like those of one plane.
    const int64_t line =
        body.inner > 1 ? body.inner : std::max<int64_t>(1, k.out_spec().num_elements() / 3);
    const int64_t step = body.inner > 1 ? 1 : 3, lines = body.inner > 1 ? 3 * line : 0;
    ParallelFor(
        k.out_spec().num_elements() / 3, cpu::kBodyGrain / 4, [&](int64_t begin, int64_t end) {
          CrossStrip<T> strip(body);
          ForEachRowOf(begin, end, line, [&](int64_t outer, int64_t first, int64_t last) {
            for (int64_t i = first; i < last; i += CrossStrip<T>::kStrip) {
              strip.Run(outer * lines + i * step, std::min(CrossStrip<T>::kStrip, last - i));
            }
          });
        });
    return absl::OkStatus();
  });
}

void GradCross(GradContext& g) {
  const Tensor &x = g.input(0), &y = g.input(1), &dy = g.grad_output();
  const int64_t dim = g.attrs<DimAttrs>().dim;
  if (g.needs(0)) g.set_grad_input(0, Cross(y, dy, dim));
  if (g.needs(1)) g.set_grad_input(1, Cross(dy, x, dim));
}

FIRN_REGISTER_OP(cross_vectors) {
  return {
      .doc = "The cross product along a dimension of three elements.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 1},
                 {.name = "y", .same_dtype_as = "x", .min_rank = 1}},
      .outputs = {{.name = "z"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferCross,
      .grad = GradCross,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = {{.name = "strips", .run = RunCross}},
  };
}

}  // namespace

Tensor Kron(const Tensor& x, const Tensor& y) {
  constexpr const char* kName = "kron";
  CheckDefined(x, kName);
  CheckDefined(y, kName, "y");
  const int rank = std::max(x.rank(), y.rank());
  if (2 * rank > kMaxRank) {
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " and y ", y.shape().ToString(),
                                " may have at most ", kMaxRank / 2, " dimensions"),
                kName);
  }
  const Promoted both = PromoteOperands(x, y, kName);
  if (x.rank() == 2 && y.rank() == 2 && IsFloating(both.x().dtype())) {
    return Apply1(TheOp<"kron_matrices">(), {both.x(), both.y()});
  }
  const Tensor product = Mul(WithOnes(x, rank, true), WithOnes(y, rank, false));
  Dims d;
  for (int i = 0; i < rank; ++i) d.push_back(product.size(2 * i) * product.size(2 * i + 1));
  return Reshape(product, d.span());
}

Tensor Cross(const Tensor& x, const Tensor& y, Integer dim) {
  constexpr const char* kName = "cross";
  CheckDefined(x, kName);
  CheckDefined(y, kName, "y");
  for (const Tensor& t : {x, y}) {
    const absl::StatusOr<int> at = NormalizeDim(dim, t.shape());
    if (x.rank() == y.rank() && x.rank() > 0 && at.ok() && t.size(*at) == 3) continue;
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " and y ", y.shape().ToString(),
                                " must have as many dimensions, and size 3 in dim ", int64_t{dim}),
                kName);
  }
  const Promoted both = PromoteOperands(x, y, kName);
  if (IsFloating(both.x().dtype())) {
    const absl::StatusOr<Shape> shape = BroadcastShapes(x.shape(), y.shape());
    RaiseIfError(shape.status(), kName);
    return Apply1(TheOp<"cross_vectors">(), {Expand(both.x(), *shape), Expand(both.y(), *shape)},
                  DimAttrs{int64_t{dim}});
  }
  const auto next = [&](const Tensor& t) { return Roll(t, -1, int64_t{dim}); };
  const auto last = [&](const Tensor& t) { return Roll(t, 1, int64_t{dim}); };
  return Sub(Mul(next(x), last(y)), Mul(last(x), next(y)));
}

}  // namespace firn
