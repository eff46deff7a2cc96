// eigh by cuSOLVER, whose lower triangle is the upper one of a row-major matrix. cuSOLVER gives
// vectors as columns of column-major matrices; their signs are chosen like on the CPU.

#include <memory>

#include "firn/tensor/kernels/cuda/matrices.h"
#include "firn/tensor/kernels/cuda/solver.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/ops/linalg/eigh.h"
#include "firn/tensor/ops/linalg/linalg_rules.h"

namespace firn {
namespace {

using cuda::SolverBatch;
using cuda::SolverScratch;

constexpr cuda::MatrixSite kNotFinite = {"eigh", "a", "has elements that are not finite"};
constexpr cuda::MatrixSite kNotFound = {"eigh", "a", "has eigenvalues that were not found"};

SolverBatch BatchOf(const TensorSpec& a) {
  const Matrices m(a.shape);
  return {a.dtype, m.rows, m.count};
}

struct EighPieces {
  EighPieces(const SolverBatch& b, const SolverScratch& s, cuda::WorkspacePieces w)
      : solver(w.TakeBytes(s.bytes)),
        bad(w.Take<int32_t>(b.count)),
        infos(w.Take<int32_t>(b.count)),
        vectors(w.TakeBytes(static_cast<size_t>(b.count * b.n * b.n * SizeOf(b.dtype)))),
        bytes(w.bytes()) {}
  void* solver;
  int32_t *bad, *infos;
  void* vectors;
  size_t bytes;
};

absl::Status Prepare(const KernelQuery& q, Prepared& answer) {
  FIRN_RETURN_IF_ERROR(cuda::SolverIsThere(q.out().device));
  const SolverBatch b = BatchOf(q.in(0));
  if (b.n == 0 || b.count == 0) return absl::OkStatus();
  FIRN_ASSIGN_OR_RETURN(SolverScratch scratch,
                        cuda::EighScratch(q.out().device, b, !q.attrs<EighAttrs>().upper));
  answer.workspace = EighPieces(b, scratch, {}).bytes;
  answer.state = std::make_shared<const SolverScratch>(std::move(scratch));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const SolverBatch b = BatchOf(k.in_spec(0));
  if (b.n == 0 || b.count == 0) return absl::OkStatus();
  const bool upper = k.attrs<EighAttrs>().upper;
  const SolverScratch& scratch = k.state<SolverScratch>();
  const EighPieces w(b, scratch, cuda::WorkspacePieces(k));
  const cuda::MatrixSteps rows = {b.n * b.n, b.n, 1}, columns = {b.n * b.n, 1, b.n};
  const cuda::Part part = upper ? cuda::Part::kUpper : cuda::Part::kLower;
  FIRN_RETURN_IF_ERROR(cuda::CopyFinite(k, kNotFinite,
                                        {b.dtype, b.count, b.n, b.n, rows, rows, part},
                                        k.in<void>(0), w.vectors, w.bad));
  FIRN_RETURN_IF_ERROR(
      cuda::FactorEigh(k, b, !upper, scratch, w.solver, w.vectors, k.out<void>(0), w.infos));
  return cuda::CopyVectors(k, kNotFound,
                           {b.dtype,
                            b.count,
                            b.n,
                            w.bad,
                            w.infos,
                            k.out<void>(0),
                            {b.n, b.n, rows, columns, w.vectors, k.out<void>(1)}});
}

FIRN_REGISTER_KERNELS(eigh) {
  return {{.name = "cusolver",
           .device = DeviceType::kCuda,
           .run = Run,
           .prepare = Prepare,
           .graph_capturable = false}};
}

}  // namespace
}  // namespace firn
