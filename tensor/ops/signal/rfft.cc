// rfft, irfft: as fft (fft.cc), of real lines (fft_real_body.h). For rfft's coefficients those that
// stand for two count twice in irfft, and so half in rfft's gradient and twice in irfft's.

#include <algorithm>
#include <cmath>
#include <vector>

#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/signal/fft.h"
#include "firn/tensor/ops/signal/fft_lines_body.h"
#include "firn/tensor/ops/signal/fft_real_body.h"
#include "firn/tensor/ops/signal/fft_rules.h"

namespace firn {
namespace {

using namespace fft;  // NOLINT: what both pages of transforms share
using cpu::ForEachGroup;
using cpu::PreparedFft;
using cpu::PrepareFor;
using cpu::WithState;

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
        const cpu::LanePlaces<kLanes> from(p.lines, line, count, n, 1),
            to(p.lines, line, count, m, 2);
        if (kLanes == 1 && p.alone() && p.plan->halved()) {
          return p.plan->ForwardAlone(x + from.first[0], a, b, factor, y + to.first[0]);
        }
        if (p.plan->halved()) {
          cpu::ReadPairs(x, from, n / 2, inner, a);
        } else {
          std::fill_n(a.im, n * kLanes, T(0));
          cpu::ReadLines(x, from, n, a.re);
        }
        cpu::WritePairs(y, to, m, 1, factor, p.plan->template Forward<kLanes>(a, b));
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
  const Tensor all = Full({}, factor, y.dtype(), y.device());
  Tensor factors = Where(first, 1.0, Where(own, 1.0, all));
  if (dim + 2 == y.rank()) {  // a number for each part, so that rows of y are multiplied with rows
    factors = Stack({factors, factors}, -1);
    sizes[dim + 1] = 2;
  }
  return Mul(y, Reshape(factors, sizes.span()));
}

void GradRfft(GradContext& g) {
  const FftAttrs& at = g.attrs<FftAttrs>();
  const Shape& x = g.input_shape(0);
  const int dim = static_cast<int>(at.dim < 0 ? at.dim + x.rank() : at.dim);
  g.set_grad_input(
      0, Irfft(ScaleDoubled(g.grad_output(), dim, x[dim], 0.5), x[dim], dim, Opposite(at.norm)));
}

FIRN_REGISTER_OP(rfft) {
  OpDef op = TransformOp("Fourier transforms of real numbers.", "x", 1);
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
        const cpu::LanePlaces<kLanes> from(p.lines, line, count, given, 2),
            to(p.lines, line, count, n, 1);
        if (kLanes == 1 && p.alone() && p.plan->halved() && read == m) {
          return p.plan->InverseAlone(y + from.first[0], a, b, factor, x + to.first[0]);
        }
        cpu::ReadPairs(y, from, read, 1, a);
        std::fill(a.re + read * kLanes, a.re + m * kLanes, T(0));
        std::fill(a.im + read * kLanes, a.im + m * kLanes, T(0));
        const cpu::SplitComplex<T> z = p.plan->template Inverse<kLanes>(a, b);
        if (p.plan->halved()) {
          cpu::WritePairs(x, to, n / 2, inner, factor, z);
        } else {
          cpu::WriteLines(x, to, n, factor, z.re);
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
  OpDef op = TransformOp("Real numbers from their Fourier coefficients.", "y", 2);
  op.attrs = AttrsOf<IrfftAttrs>();
  op.infer = InferIrfft;
  op.grad = GradIrfft;
  op.kernels = {{.name = "loop", .run = RunIrfft, .prepare = PrepareIrfft}};
  return op;
}

}  // namespace

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
