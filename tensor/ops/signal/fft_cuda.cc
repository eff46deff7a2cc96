// fft, ifft, rfft, irfft by cuFFT, which transforms lines that lie one behind the other, where a
// complex number may lie, and gives sums without a divisor. Lines that lie otherwise are read into
// the workspace, as are irfft's, which cuFFT may overwrite and which may be too short or too long;
// the divisor is multiplied by as results are written to where they belong.

#include <memory>

#include "firn/tensor/kernels/cuda/fft.h"
#include "firn/tensor/kernels/cuda/fft_rows.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/ops/signal/fft.h"
#include "firn/tensor/ops/signal/fft_rules.h"

namespace firn {
namespace {

using cuda::FftKind;

// The data that a run keeps from the preparation.
struct Planned {
  cuda::FftLines lines;
  cuda::FftPlaces from, to;
  bool inverse;
  double factor;
  int64_t numbers;  // complex or real ones that cuFFT reads of a line
  size_t from_bytes, to_bytes, fft_bytes;
};

struct Pieces {
  Pieces(const Planned& p, cuda::WorkspacePieces w)
      : from(w.TakeBytes(p.from_bytes)),
        to(w.TakeBytes(p.to_bytes)),
        fft(w.TakeBytes(p.fft_bytes)),
        bytes(w.bytes()) {}
  void *from, *to, *fft;
  size_t bytes;
};

cuda::FftPlaces PlacesOf(const Shape& shape, int64_t parts, int64_t dim) {
  const int rank = shape.rank() - (parts == 2 ? 1 : 0);
  const int64_t at = dim < 0 ? dim + rank : dim;
  cuda::FftPlaces p{1, shape[static_cast<int>(at)], 1, parts};
  for (int d = 0; d < rank; ++d) {
    if (d < at) p.outer *= shape[d];
    if (d > at) p.inner *= shape[d];
  }
  return p;
}

// `n`: of the longer side's numbers; 0: as many as x has.
absl::Status Plan(const KernelQuery& q, FftKind kind, bool inverse, int64_t dim, FftNorm norm,
                  int64_t n, Prepared& answer) {
  const TensorSpec &x = q.in(0), &y = q.out();
  Planned p{};
  p.from = PlacesOf(x.shape, kind == FftKind::kFromReal ? 1 : 2, dim);
  p.to = PlacesOf(y.shape, kind == FftKind::kToReal ? 1 : 2, dim);
  p.lines = {x.dtype, kind, n == 0 ? p.from.length : n, p.from.lines()};
  p.inverse = inverse;
  p.factor = fft::FactorOf(p.lines.n, norm, inverse);
  p.numbers = kind == FftKind::kToReal ? p.lines.n / 2 + 1 : p.lines.n;
  const int64_t size = SizeOf(x.dtype);
  p.from_bytes = static_cast<size_t>(p.from.lines() * p.numbers * p.from.parts * size);
  p.to_bytes = y.bytes();
  if (p.lines.count > 0) {
    FIRN_ASSIGN_OR_RETURN(p.fft_bytes, cuda::FftWorkspace(y.device, p.lines));
    answer.workspace = Pieces(p, {}).bytes;
  }
  answer.state = std::make_shared<const Planned>(p);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const Planned& p = k.state<Planned>();
  if (p.lines.count == 0) return absl::OkStatus();
  const DType dtype = p.lines.dtype;
  const auto lies_well = [&](const void* at) {
    return reinterpret_cast<uintptr_t>(at) % static_cast<size_t>(2 * SizeOf(dtype)) == 0;
  };
  const Pieces w(p, cuda::WorkspacePieces(k));
  const void* from = k.in<void>(0);
  void* const y = k.out<void>();
  if (p.from.inner != 1 || p.lines.kind == FftKind::kToReal || !lies_well(from)) {
    const int64_t real_size = p.lines.kind == FftKind::kToReal ? p.lines.n : 0;
    FIRN_RETURN_IF_ERROR(cuda::ReadFftRows(k, dtype, p.from, from, p.numbers, real_size, w.from));
    from = w.from;
  }
  void* const to = p.to.inner != 1 || !lies_well(y) ? w.to : y;
  FIRN_RETURN_IF_ERROR(cuda::FftTransform(k, p.lines, p.inverse, from, to, w.fft));
  if (to == y && p.factor == 1) return absl::OkStatus();
  return cuda::WriteFftRows(k, dtype, p.to, p.factor, to, y);
}

template <FftKind kKind, bool kInverse>
absl::Status Prepare(const KernelQuery& q, Prepared& answer) {
  const FftAttrs& at = q.attrs<FftAttrs>();
  return Plan(q, kKind, kInverse, at.dim, at.norm, 0, answer);
}

absl::Status PrepareIrfft(const KernelQuery& q, Prepared& answer) {
  const IrfftAttrs& at = q.attrs<IrfftAttrs>();
  return Plan(q, FftKind::kToReal, true, at.dim, at.norm, at.size, answer);
}

std::vector<Kernel> Cufft(absl::Status (*prepare)(const KernelQuery&, Prepared&)) {
  return {{.name = "cufft", .device = DeviceType::kCuda, .run = Run, .prepare = prepare}};
}

}  // namespace

FIRN_REGISTER_KERNELS(fft) { return Cufft(Prepare<FftKind::kComplex, false>); }

FIRN_REGISTER_KERNELS(ifft) { return Cufft(Prepare<FftKind::kComplex, true>); }

FIRN_REGISTER_KERNELS(rfft) { return Cufft(Prepare<FftKind::kFromReal, false>); }

FIRN_REGISTER_KERNELS(irfft) { return Cufft(PrepareIrfft); }

}  // namespace firn
