// fft, ifft, rfft, irfft: along one dimension; lines side by side are transformed together, a
// register's worth of them, unless they are long or few (fft_body.h). What a length needs is made
// when a kernel is prepared, and kept for the next call.
//
// A transform is a symmetric matrix of roots of 1, so that its gradient is the transform in the
// other direction with the same factor: that of the other norm. Of rfft's coefficients those that
// stand for two count twice in irfft, and so half in rfft's gradient and twice in irfft's.

#include "firn/tensor/ops/signal/fft.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/signal/fft_lines_body.h"

namespace firn {
namespace {

using cpu::ForEachGroup;
using cpu::PreparedFft;
using cpu::PrepareFor;
using cpu::WithState;

constexpr DTypeSet kTransformed = SetOf(DType::kF32) | SetOf(DType::kF64);

double FactorOf(int64_t n, FftNorm norm, bool inverse) {
  if (norm == FftNorm::kOrtho) return 1 / std::sqrt(static_cast<double>(n));
  return inverse == (norm == FftNorm::kBackward) ? 1 / static_cast<double>(n) : 1;
}

absl::Status CheckNorm(FftNorm norm) {
  FIRN_RETURN_IF(norm > FftNorm::kForward,
                 InvalidArgument("no norm of number ", static_cast<int>(norm)));
  return absl::OkStatus();
}

// The dimension that `dim` names in x, where `rank` dimensions count.
absl::StatusOr<int> TransformedDim(const Shape& x, int rank, int64_t dim) {
  FIRN_RETURN_IF(dim < -rank || dim >= rank,
                 OutOfRange("dim ", dim, " is outside the ", rank, " dimensions of x ",
                            x.ToString(), " that are transformed"));
  return static_cast<int>(dim < 0 ? dim + rank : dim);
}

absl::Status CheckComplex(const Shape& x) {
  FIRN_RETURN_IF(x.dim(-1) != 2,
                 InvalidArgument("the last dimension of x must be real and imaginary part, got ",
                                 x.ToString()));
  return absl::OkStatus();
}

// Longer lines would need gigabytes for their roots of 1.
constexpr int64_t kMostNumbers = int64_t{1} << 27;

absl::Status CheckLength(const Shape& x, int dim) {
  FIRN_RETURN_IF(x[dim] > kMostNumbers,
                 InvalidArgument("dimension ", dim, " of x ", x.ToString(), " has more than ",
                                 kMostNumbers, " numbers"));
  FIRN_RETURN_IF(x[dim] < 1, InvalidArgument("dimension ", dim, " of x ", x.ToString(),
                                             " has no numbers to transform"));
  return absl::OkStatus();
}

// --- fft, ifft -----------------------------------------------------------------------------------

absl::Status InferFft(InferContext& c) {
  const FftAttrs& at = c.attrs<FftAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF_ERROR(CheckNorm(at.norm));
  FIRN_RETURN_IF_ERROR(CheckComplex(x));
  FIRN_ASSIGN_OR_RETURN(const int dim, TransformedDim(x, x.rank() - 1, at.dim));
  FIRN_RETURN_IF_ERROR(CheckLength(x, dim));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status PrepareFft(const KernelQuery& q, Prepared& answer) {
  const Shape& x = q.in(0).shape;
  const int64_t dim = q.attrs<FftAttrs>().dim;
  const int rank = x.rank() - 1;
  return PrepareFor<cpu::FftPlan>(q.in(0).dtype, x, rank, dim, x[dim < 0 ? dim + rank : dim],
                                  answer);
}

template <int kLanes, class T>
void RunFftLines(const PreparedFft<T, cpu::FftPlan<T>>& p, bool inverse, T factor, const T* x, T* y,
                 void* workspace) {
  const int64_t n = p.plan->size(), step = 2 * p.lines.inner;
  ForEachGroup<kLanes, T>(
      p.work, p.lines, p.plan->buffer(), workspace,
      [&](int64_t line, int count, cpu::SplitComplex<T> a, cpu::SplitComplex<T> b) {
        int64_t first[kLanes];
        for (int l = 0; l < kLanes; ++l) {  // lanes beyond the last line repeat it
          first[l] = 2 * p.lines.First(line + std::min(l, count - 1), n);
        }
        for (int64_t t = 0; t < n; ++t) {
          for (int l = 0; l < kLanes; ++l) {
            a.re[t * kLanes + l] = x[first[l] + t * step];
            a.im[t * kLanes + l] = x[first[l] + t * step + 1];
          }
        }
        const cpu::SplitComplex<T> z =
            inverse ? p.plan->template Run<kLanes>(a.exchanged(), b.exchanged()).exchanged()
                    : p.plan->template Run<kLanes>(a, b);
        for (int64_t t = 0; t < n; ++t) {
          for (int l = 0; l < count; ++l) {
            y[first[l] + t * step] = factor * z.re[t * kLanes + l];
            y[first[l] + t * step + 1] = factor * z.im[t * kLanes + l];
          }
        }
      });
}

template <bool kInverse>
absl::Status RunFft(KernelContext& k) {
  return WithState<cpu::FftPlan>(k, [&]<class T>(TypeTag<T>, const auto& p, auto lanes) {
    const double factor = FactorOf(p.plan->size(), k.attrs<FftAttrs>().norm, kInverse);
    RunFftLines<lanes()>(p, kInverse, static_cast<T>(factor), k.in<T>(0), k.out<T>(),
                         k.workspace());
  });
}

// The norm with which the other direction has this direction's factor.
FftNorm Opposite(FftNorm norm) {
  if (norm == FftNorm::kOrtho) return norm;
  return norm == FftNorm::kBackward ? FftNorm::kForward : FftNorm::kBackward;
}

template <bool kInverse>
void GradFft(GradContext& g) {
  const FftAttrs& at = g.attrs<FftAttrs>();
  const FftNorm norm = Opposite(at.norm);
  g.set_grad_input(
      0, kInverse ? Fft(g.grad_output(), at.dim, norm) : Ifft(g.grad_output(), at.dim, norm));
}

OpDef TransformOp(std::string_view doc, std::string_view x, int min_rank) {
  return {.doc = doc,
          .autocast = Autocast::kFull,
          .inputs = {{.name = x, .dtypes = kTransformed, .min_rank = min_rank}},
          .outputs = {{.name = x == "x" ? "y" : "x"}},
          .attrs = AttrsOf<FftAttrs>()};
}

template <bool kInverse>
OpDef FftOp(std::string_view doc) {
  OpDef op = TransformOp(doc, "x", 2);
  op.infer = InferFft;
  op.grad = GradFft<kInverse>;
  op.kernels = {{.name = "loop", .run = RunFft<kInverse>, .prepare = PrepareFft}};
  return op;
}

FIRN_REGISTER_OP(fft) { return FftOp<false>("Fourier transforms of complex numbers. CPU only."); }
FIRN_REGISTER_OP(ifft) {
  return FftOp<true>("Inverse Fourier transforms of complex numbers. CPU only.");
}

// --- rfft ----------------------------------------------------------------------------------------

absl::Status InferRfft(InferContext& c) {
  const FftAttrs& at = c.attrs<FftAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF_ERROR(CheckNorm(at.norm));
  FIRN_ASSIGN_OR_RETURN(const int dim, TransformedDim(x, x.rank(), at.dim));
  FIRN_RETURN_IF_ERROR(CheckLength(x, dim));
  FIRN_RETURN_IF(x.rank() == kMaxRank,
                 InvalidArgument("x ", x.ToString(), " has no room for real and imaginary parts"));
  Dims y = x.dims();
  y[dim] = x[dim] / 2 + 1;
  y.push_back(2);
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(y.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status PrepareRfft(const KernelQuery& q, Prepared& answer) {
  const Shape& x = q.in(0).shape;
  const int64_t dim = q.attrs<FftAttrs>().dim;
  return PrepareFor<cpu::RealFftPlan>(q.in(0).dtype, x, x.rank(), dim, x.dim(dim), answer);
}

template <int kLanes, class T>
void RunRfftLines(const PreparedFft<T, cpu::RealFftPlan<T>>& p, T factor, const T* x, T* y,
                  void* workspace) {
  const int64_t n = p.plan->size(), m = p.plan->coefficients(), inner = p.lines.inner;
  ForEachGroup<kLanes, T>(
      p.work, p.lines, p.plan->buffer(), workspace,
      [&](int64_t line, int count, cpu::SplitComplex<T> a, cpu::SplitComplex<T> b) {
        int64_t from[kLanes], to[kLanes];
        for (int l = 0; l < kLanes; ++l) {  // lanes beyond the last line repeat it
          const int64_t own = line + std::min(l, count - 1);
          from[l] = p.lines.First(own, n);
          to[l] = 2 * p.lines.First(own, m);
        }
        if (!p.plan->halved()) std::fill_n(a.im, n * kLanes, T(0));
        for (int64_t t = 0; t < n; ++t) {
          T* const place = p.plan->Place(a, t, kLanes);
          for (int l = 0; l < kLanes; ++l) place[l] = x[from[l] + t * inner];
        }
        const cpu::SplitComplex<T> z = p.plan->template Forward<kLanes>(a, b);
        for (int64_t t = 0; t < m; ++t) {
          for (int l = 0; l < count; ++l) {
            y[to[l] + 2 * t * inner] = factor * z.re[t * kLanes + l];
            y[to[l] + 2 * t * inner + 1] = factor * z.im[t * kLanes + l];
          }
        }
      });
}

absl::Status RunRfft(KernelContext& k) {
  return WithState<cpu::RealFftPlan>(k, [&]<class T>(TypeTag<T>, const auto& p, auto lanes) {
    const double factor = FactorOf(p.plan->size(), k.attrs<FftAttrs>().norm, false);
    RunRfftLines<lanes()>(p, static_cast<T>(factor), k.in<T>(0), k.out<T>(), k.workspace());
  });
}

// y, whose dimension `dim` is coefficients of n real numbers, with `factor` times those that stand
// for two.
Tensor ScaleDoubled(const Tensor& y, int dim, int64_t n, double factor) {
  const Tensor k = Arange(int64_t{0}, y.size(dim), 1, {.device = y.device()});
  Dims sizes(y.rank(), 1);
  sizes[dim] = y.size(dim);
  // 0 and n / 2 are the only ones that are their own mirror image.
  const Tensor own = Eq(Mul(k, 2), static_cast<double>(n)), first = Eq(k, 0);
  const Tensor factors = Where(first, 1.0, Where(own, 1.0, factor));
  return Mul(y, Reshape(factors, sizes.span()).To(y.dtype()));
}

void GradRfft(GradContext& g) {
  const FftAttrs& at = g.attrs<FftAttrs>();
  const Shape& x = g.input_shape(0);
  const int dim = static_cast<int>(at.dim < 0 ? at.dim + x.rank() : at.dim);
  g.set_grad_input(
      0, Irfft(ScaleDoubled(g.grad_output(), dim, x[dim], 0.5), x[dim], dim, Opposite(at.norm)));
}

FIRN_REGISTER_OP(rfft) {
  OpDef op = TransformOp("Fourier transforms of real numbers. CPU only.", "x", 1);
  op.infer = InferRfft;
  op.grad = GradRfft;
  op.kernels = {{.name = "loop", .run = RunRfft, .prepare = PrepareRfft}};
  return op;
}

// --- irfft ---------------------------------------------------------------------------------------

absl::Status InferIrfft(InferContext& c) {
  const IrfftAttrs& at = c.attrs<IrfftAttrs>();
  const Shape& y = c.shape(0);
  FIRN_RETURN_IF_ERROR(CheckNorm(at.norm));
  FIRN_RETURN_IF_ERROR(CheckComplex(y));
  FIRN_ASSIGN_OR_RETURN(const int dim, TransformedDim(y, y.rank() - 1, at.dim));
  FIRN_RETURN_IF_ERROR(CheckLength(y, dim));
  FIRN_RETURN_IF(at.size < 1 || at.size > kMostNumbers,
                 InvalidArgument("size is ", at.size, " (want 1 to ", kMostNumbers, ")"));
  Dims x = y.dims();
  --x.rank;
  x[dim] = at.size;
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(x.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status PrepareIrfft(const KernelQuery& q, Prepared& answer) {
  const IrfftAttrs& at = q.attrs<IrfftAttrs>();
  return PrepareFor<cpu::RealFftPlan>(q.in(0).dtype, q.out().shape, q.out().shape.rank(), at.dim,
                                      at.size, answer);
}

template <int kLanes, class T>
void RunIrfftLines(const PreparedFft<T, cpu::RealFftPlan<T>>& p, int64_t given, T factor,
                   const T* y, T* x, void* workspace) {
  const int64_t n = p.plan->size(), m = p.plan->coefficients(), inner = p.lines.inner;
  const int64_t read = std::min(given, m);
  ForEachGroup<kLanes, T>(
      p.work, p.lines, p.plan->buffer(), workspace,
      [&](int64_t line, int count, cpu::SplitComplex<T> a, cpu::SplitComplex<T> b) {
        int64_t from[kLanes], to[kLanes];
        for (int l = 0; l < kLanes; ++l) {  // lanes beyond the last line repeat it
          const int64_t own = line + std::min(l, count - 1);
          from[l] = 2 * p.lines.First(own, given);
          to[l] = p.lines.First(own, n);
        }
        for (int64_t t = 0; t < read; ++t) {
          for (int l = 0; l < kLanes; ++l) {
            a.re[t * kLanes + l] = y[from[l] + 2 * t * inner];
            a.im[t * kLanes + l] = y[from[l] + 2 * t * inner + 1];
          }
        }
        std::fill(a.re + read * kLanes, a.re + m * kLanes, T(0));
        std::fill(a.im + read * kLanes, a.im + m * kLanes, T(0));
        const cpu::SplitComplex<T> z = p.plan->template Inverse<kLanes>(a, b);
        for (int64_t t = 0; t < n; ++t) {
          const T* const place = p.plan->Place(z, t, kLanes);
          for (int l = 0; l < count; ++l) x[to[l] + t * inner] = factor * place[l];
        }
      });
}

absl::Status RunIrfft(KernelContext& k) {
  const IrfftAttrs& at = k.attrs<IrfftAttrs>();
  const Shape& y = k.in_spec(0).shape;
  const int64_t given = y[at.dim < 0 ? at.dim + y.rank() - 1 : at.dim];
  return WithState<cpu::RealFftPlan>(k, [&]<class T>(TypeTag<T>, const auto& p, auto lanes) {
    const double factor = FactorOf(p.plan->size(), at.norm, true);
    RunIrfftLines<lanes()>(p, given, static_cast<T>(factor), k.in<T>(0), k.out<T>(), k.workspace());
  });
}

void GradIrfft(GradContext& g) {
  const IrfftAttrs& at = g.attrs<IrfftAttrs>();
  const Shape& y = g.input_shape(0);
  const int dim = static_cast<int>(at.dim < 0 ? at.dim + y.rank() - 1 : at.dim);
  Tensor dy = ScaleDoubled(Rfft(g.grad_output(), dim, Opposite(at.norm)), dim, at.size, 2);
  const int64_t more = y[dim] - dy.size(dim);
  if (more < 0) dy = Slice(dy, dim, 0, y[dim]);
  if (more > 0) {
    std::vector<int64_t> pad(static_cast<size_t>(2 * (y.rank() - dim)), 0);  // last dim first
    pad.back() = more;
    dy = Pad(dy, pad);
  }
  g.set_grad_input(0, dy);
}

FIRN_REGISTER_OP(irfft) {
  OpDef op = TransformOp("Real numbers from their Fourier coefficients. CPU only.", "y", 2);
  op.attrs = AttrsOf<IrfftAttrs>();
  op.infer = InferIrfft;
  op.grad = GradIrfft;
  op.kernels = {{.name = "loop", .run = RunIrfft, .prepare = PrepareIrfft}};
  return op;
}

// --- Several dimensions --------------------------------------------------------------------------

// `dims` from the start, in order; all of the `rank` that count where there is none.
Dims Resolved(const Tensor& x, int rank, const DimList& dims, std::string_view op) {
  Dims all;
  for (int d = 0; dims.empty() && d < rank; ++d) all.push_back(d);
  for (const int64_t d : dims) {
    const absl::StatusOr<int> dim = TransformedDim(x.shape(), rank, d);
    if (!dim.ok()) RaiseStatus(dim.status(), op);
    for (int i = 0; i < all.rank; ++i) {
      if (all[i] == *dim) RaiseStatus(InvalidArgument("dim ", d, " is named twice"), op);
    }
    all.push_back(*dim);
  }
  if (all.rank == 0) RaiseStatus(InvalidArgument("x has no dimension to transform"), op);
  return all;
}

Dims ResolvedOfComplex(const Tensor& x, const DimList& dims, std::string_view op) {
  CheckDefined(x, op);
  if (x.rank() < 2) {
    RaiseStatus(InvalidArgument("x must have 2 to 8 dimensions, the last of them real and "
                                "imaginary part, got ",
                                x.shape().ToString()),
                op);
  }
  return Resolved(x, x.rank() - 1, dims, op);
}

// All of `dims` but the last, by `op`.
Tensor TransformOthers(const OpDef& op, Tensor x, const Dims& dims, int count, FftNorm norm) {
  for (int i = 0; i < count; ++i) x = Apply1(op, {x}, FftAttrs{dims[i], norm});
  return x;
}

}  // namespace

Tensor Fft(const Tensor& x, const DimList& dims, FftNorm norm) {
  if (dims.size() == 1) return Apply1(TheOp<"fft">(), {x}, FftAttrs{dims[0], norm});
  const Dims all = ResolvedOfComplex(x, dims, "fft");
  return TransformOthers(TheOp<"fft">(), x, all, all.rank, norm);
}

Tensor Ifft(const Tensor& y, const DimList& dims, FftNorm norm) {
  if (dims.size() == 1) return Apply1(TheOp<"ifft">(), {y}, FftAttrs{dims[0], norm});
  const Dims all = ResolvedOfComplex(y, dims, "ifft");
  return TransformOthers(TheOp<"ifft">(), y, all, all.rank, norm);
}

Tensor Rfft(const Tensor& x, const DimList& dims, FftNorm norm) {
  const OpDef& op = TheOp<"rfft">();
  if (dims.size() == 1) return Apply1(op, {x}, FftAttrs{dims[0], norm});
  CheckDefined(x, op.name);
  const Dims all = Resolved(x, x.rank(), dims, op.name);
  const Tensor last = Apply1(op, {x}, FftAttrs{all[all.rank - 1], norm});
  return TransformOthers(TheOp<"fft">(), last, all, all.rank - 1, norm);
}

Tensor Irfft(const Tensor& y, std::optional<int64_t> size, const DimList& dims, FftNorm norm) {
  const OpDef& op = TheOp<"irfft">();
  const Dims all = ResolvedOfComplex(y, dims, op.name);
  const int64_t last = all[all.rank - 1];
  const int64_t n = size.has_value() ? *size : 2 * (y.size(last) - 1);
  return Apply1(op, {TransformOthers(TheOp<"ifft">(), y, all, all.rank - 1, norm)},
                IrfftAttrs{n, last, norm});
}

}  // namespace firn
