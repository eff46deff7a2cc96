// qr by cuSOLVER: reflectors of column-major copies. R is copied before Q overwrites it.

#include <algorithm>
#include <memory>

#include "firn/tensor/kernels/cuda/matrices.h"
#include "firn/tensor/kernels/cuda/solver.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"
#include "firn/tensor/ops/linalg/qr.h"

namespace firn {
namespace {

using cuda::QrBatch;
using cuda::SolverScratch;

QrBatch BatchOf(const TensorSpec& a, QrMode mode) {
  const Matrices m(a.shape);
  const int64_t k = std::min(m.rows, m.columns);
  const int64_t q = mode == QrMode::kR ? 0 : mode == QrMode::kComplete ? m.rows : k;
  return {a.dtype, m.rows, m.columns, q, m.count};
}

struct QrPieces {
  QrPieces(const QrBatch& b, const SolverScratch& s, cuda::WorkspacePieces w)
      : solver(w.TakeBytes(s.bytes)),
        info(w.Take<int32_t>(1)),
        places(w.TakeBytes(static_cast<size_t>(b.count * b.place() * SizeOf(b.dtype)))),
        taus(w.TakeBytes(static_cast<size_t>(b.count * b.reflectors() * SizeOf(b.dtype)))),
        bytes(w.bytes()) {}
  void* solver;
  int32_t* info;
  void *places, *taus;
  size_t bytes;
};

absl::Status Prepare(const KernelQuery& q, Prepared& answer) {
  FIRN_RETURN_IF_ERROR(cuda::SolverIsThere(q.out().device));
  const QrBatch b = BatchOf(q.in(0), q.attrs<QrAttrs>().mode);
  if (b.count * b.reflectors() == 0) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(SolverScratch scratch, cuda::QrScratch(q.out().device, b));
  answer.workspace = QrPieces(b, scratch, {}).bytes;
  answer.state = std::make_shared<const SolverScratch>(std::move(scratch));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const QrBatch b = BatchOf(k.in_spec(0), k.attrs<QrAttrs>().mode);
  if (b.count * b.reflectors() == 0) {  // the complete Q of a matrix without columns is arbitrary
    return cuda::SetToUnit(k, b.dtype, b.count, b.m, b.q, k.out<void>(0));
  }
  const SolverScratch& scratch = k.state<SolverScratch>();
  const QrPieces w(b, scratch, cuda::WorkspacePieces(k));
  const cuda::MatrixSteps place = {b.place(), 1, b.m};
  FIRN_RETURN_IF_ERROR(cuda::CopyPart(k, {b.dtype, b.count, b.m, b.n, {b.m * b.n, b.n, 1}, place},
                                      k.in<void>(0), w.places));
  FIRN_RETURN_IF_ERROR(cuda::FactorQr(k, b, scratch, w.solver, w.places, w.taus, w.info));
  const int64_t rows = k.out_spec(1).shape.dim(-2);
  FIRN_RETURN_IF_ERROR(cuda::CopyPart(
      k, {b.dtype, b.count, rows, b.n, place, {rows * b.n, b.n, 1}, cuda::Part::kUpper}, w.places,
      k.out<void>(1)));
  if (b.q == 0) return absl::OkStatus();
  FIRN_RETURN_IF_ERROR(cuda::FormQ(k, b, scratch, w.solver, w.places, w.taus, w.info));
  return cuda::CopyPart(k, {b.dtype, b.count, b.m, b.q, place, {b.m * b.q, b.q, 1}}, w.places,
                        k.out<void>(0));
}

FIRN_REGISTER_KERNELS(qr) {
  return {{.name = "cusolver",
           .device = DeviceType::kCuda,
           .run = Run,
           .prepare = Prepare,
           .graph_capturable = false}};
}

}  // namespace
}  // namespace firn
