// fft, ifft: along one dimension; lines side by side are transformed together, a cache line's worth
// of them, unless one alone is as fast or they are long (fft_lines_body.h). The plan of a length is
// made when a kernel is prepared, and kept for the next call.
//
// A transform is a symmetric matrix of roots of 1, so that its gradient is the transform in the
// other direction with the same factor: that of the other norm.

#include "firn/tensor/ops/signal/fft.h"

#include "firn/tensor/op.h"
#include "firn/tensor/ops/signal/fft_lines_body.h"
#include "firn/tensor/ops/signal/fft_rules.h"

namespace firn {
namespace {

using namespace fft;  // NOLINT: what both pages of transforms share
using cpu::ForEachGroup;
using cpu::PreparedFft;
using cpu::PrepareFor;
using cpu::WithState;

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

template <bool kInverse, int kLanes, class T>
void RunFftLines(const PreparedFft<T, cpu::FftPlan<T>>& p, T factor, const T* x, T* y,
                 void* workspace) {
  const int64_t n = p.plan->size();
  ForEachGroup<kLanes, T>(
      p.work, p.lines, p.plan->buffer(), workspace,
      [&](int64_t line, int count, cpu::SplitComplex<T> a, cpu::SplitComplex<T> b) {
        const cpu::LanePlaces<kLanes> lanes(p.lines, line, count, n, 2);
        if constexpr (kLanes == 1) {
          if (p.alone()) {
            return p.plan->RunAlone(cpu::FromPairs<T, kInverse>{x + lanes.first[0]}, a, b,
                                    cpu::ToPairs<T, kInverse>{y + lanes.first[0], factor});
          }
        }
        cpu::ReadPairs(x, lanes, n, 1, a);
        const cpu::SplitComplex<T> z =
            kInverse ? p.plan->template Run<kLanes>(a.exchanged(), b.exchanged()).exchanged()
                     : p.plan->template Run<kLanes>(a, b);
        cpu::WritePairs(y, lanes, n, 1, factor, z);
      });
}

template <bool kInverse>
absl::Status RunFft(KernelContext& k) {
  return WithState<cpu::FftPlan>(k, [&]<class T>(TypeTag<T>, const auto& p, auto lanes) {
    const double factor = FactorOf(p.plan->size(), k.attrs<FftAttrs>().norm, kInverse);
    RunFftLines<kInverse, lanes()>(p, static_cast<T>(factor), k.in<T>(0), k.out<T>(),
                                   k.workspace());
  });
}

template <bool kInverse>
void GradFft(GradContext& g) {
  const FftAttrs& at = g.attrs<FftAttrs>();
  const FftNorm norm = Opposite(at.norm);
  g.set_grad_input(
      0, kInverse ? Fft(g.grad_output(), at.dim, norm) : Ifft(g.grad_output(), at.dim, norm));
}

template <bool kInverse>
OpDef FftOp(std::string_view doc) {
  OpDef op = TransformOp(doc, "x", 2);
  op.infer = InferFft;
  op.grad = GradFft<kInverse>;
  op.kernels = {{.name = "loop", .run = RunFft<kInverse>, .prepare = PrepareFft}};
  return op;
}

FIRN_REGISTER_OP(fft) { return FftOp<false>("Fourier transforms of complex numbers."); }
FIRN_REGISTER_OP(ifft) { return FftOp<true>("Inverse Fourier transforms of complex numbers."); }

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

}  // namespace firn
