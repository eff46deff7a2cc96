#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_PACKED_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_PACKED_H_

// Convolutions whose weight has the layout that its kernel wants, so that no run converts it.

#include <cstdint>
#include <memory>
#include <vector>

#include "firn/tensor/kernels/conv_pass.h"
#include "firn/tensor/kernels/cpu/conv_onednn.h"
#include "firn/tensor/kernels/cpu/winograd.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/packed_conv_problem.h"

namespace firn::cpu {

// The layout that a kernel of ConvKernels wants for the weight of a call: the one of the two
// members that is set. If neither is, it takes the weight as it is.
struct WeightPacking {
  std::shared_ptr<const OneDnnConv> onednn;
  std::shared_ptr<const WinogradShape> winograd;
  bool in_f32 = false;  // packed from f32, whatever the weight's type
  size_t bytes = 0;

  int64_t threads() const { return onednn == nullptr ? 0 : OneDnnConvThreads(*onednn); }
  // Winograd's gradients of images have no such filters.
  ConvPass pass() const { return onednn == nullptr ? ConvPass::kForward : OneDnnConvPass(*onednn); }
};

// Requires: `kernel` takes the call, which is no gradient of a weight.
absl::StatusOr<WeightPacking> WeightPackingOf(const KernelQuery& call, const Kernel& kernel);
// From `weight`, row-major, to packing.bytes bytes, aligned to 64. Requires: packing.bytes > 0.
absl::Status PackWeight(const WeightPacking& packing, const void* weight, void* packed);

// The kernels for PackedConvAttrs: those of ConvKernels whose second operand is packed, for which
// they give the same bits.
std::vector<Kernel> PackedConvKernels(ConvPass pass);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_PACKED_H_
