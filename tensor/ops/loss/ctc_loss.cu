// ctc_loss and ctc_loss_grad: a team of threads for each sample. Lengths and labels outside their
// ranges are noted, and the loss of such a sample is NaN, as where the blank is a label.

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/ops/loss/ctc_loss_body.h"

namespace firn::ctc_loss_cuda {
namespace {

constexpr cuda::IndexSite kSteps = {"ctc_loss", "input_lengths"};
constexpr cuda::IndexSite kLengths = {"ctc_loss", "target_lengths"};
constexpr cuda::IndexSite kClasses = {"ctc_loss", "targets"};

ctc::Ranges<cuda::IndexRange> RangesOf(const KernelContext& k, const ctc::Inputs& in) {
  return {{cuda::IndexFaults(k, kSteps), 0, in.steps + 1},
          {cuda::IndexFaults(k, kLengths), 0, in.longest() + 1},
          {cuda::IndexFaults(k, kClasses), 0, in.classes, in.blank}};
}

size_t Workspace(const KernelQuery& q) {
  return ctc::RowBytes(q.in(1), q.in(0).shape[1], ctc::LossBody<float, cuda::IndexRange>::kRows);
}

absl::Status Run(KernelContext& k) {
  const ctc::Inputs in(k, 0);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::ForEachLine(k, in.samples, 2 * in.longest() + 1,
                             ctc::LossBody<T, cuda::IndexRange>{
                                 in, RangesOf(k, in), k.in<T>(0), k.out<T>(), k.workspace<double>(),
                                 k.attrs<CtcLossAttrs>().zero_infinity});
  });
}

FIRN_REGISTER_KERNELS(ctc_loss) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run}};
}

size_t WorkspaceGrad(const KernelQuery& q) {
  const Shape& x = q.in(1).shape;
  return ctc::RowBytes(q.in(2), x[1], ctc::GradBody<float, cuda::IndexRange>::Rows(x[0]));
}

absl::Status RunGrad(KernelContext& k) {
  const ctc::Inputs in(k, 1);
  return VisitFloat(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::ForEachLine(k, in.samples, 2 * in.longest() + 1,
                             ctc::GradBody<T, cuda::IndexRange>{
                                 in, RangesOf(k, in), k.in<T>(0), k.in<T>(1), k.out<T>(),
                                 k.workspace<double>(), k.attrs<CtcLossAttrs>().zero_infinity});
  });
}

FIRN_REGISTER_KERNELS(ctc_loss_grad) {
  return {
      {.name = "loop", .device = DeviceType::kCuda, .workspace = WorkspaceGrad, .run = RunGrad}};
}

}  // namespace
}  // namespace firn::ctc_loss_cuda
