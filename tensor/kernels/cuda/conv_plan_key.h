#ifndef FIRN_TENSOR_KERNELS_CUDA_CONV_PLAN_KEY_H_
#define FIRN_TENSOR_KERNELS_CUDA_CONV_PLAN_KEY_H_

// The key of a convolution's plan, and the part of a plan that is kept between processes. It needs
// no CUDA, and is tested on every machine.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/conv_pass.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn::cuda {

// What an engine may do to f32 besides rounding sums: products of TF32 numbers; Winograd's and
// Fourier's methods (see tensor/precision.h); nothing.
enum class DnnF32 { kTf32, kTransforms, kExact };

// The parts of a call of cuDNN on which its plan depends.
struct DnnConvCall {
  ConvPass pass = ConvPass::kForward;
  DType dtype = DType::kF32;
  int64_t alignment = 16;    // of the tensors' memory, in bytes
  size_t max_workspace = 0;  // bytes
  DnnF32 f32 = DnnF32::kExact;
  ConvProblem problem;
  bool nhwc = false;  // whether images and weights are NHWC; otherwise they are row-major
  // In the forward pass: y = activation(conv + bias).
  bool bias = false;
  FusedActivation activation = FusedActivation::kNone;

  bool has_epilogue() const { return bias || activation != FusedActivation::kNone; }
  // Firn's kernel would add the bias to a result that is already rounded to a half type.
  bool should_fuse() const { return bias && SizeOf(dtype) == 2; }
  // Whether engines are asked to do the epilogue. cuDNN has engines made for a bias and relu; tanh
  // is done by Firn's kernel that adds a bias, where it costs nothing.
  bool may_fuse() const {
    return has_epilogue() && (activation != FusedActivation::kTanh || should_fuse());
  }
};

using DnnConvKey = std::array<int64_t, 13 + 5 * Sizes::kMost>;
DnnConvKey KeyOf(const DnnConvCall& call);

// The further things on which answers of cuDNN depend.
struct DnnMachine {
  std::string device;  // "NVIDIA H100 80GB HBM3"
  int compute_capability = 0, driver = 0, runtime = 0, cudnn = 0;
};
// The call's name in a PlanCache; one name for the fastest plan of those that were timed, another
// for the first that cuDNN proposes.
std::string PlanCacheKey(const DnnMachine& machine, const DnnConvCall& call, bool timed);

// An engine of cuDNN and the values of its knobs.
struct EngineChoice {
  int64_t engine = 0;                              // its global index
  std::vector<std::pair<int64_t, int64_t>> knobs;  // type and value
  bool fused = false;  // it does the bias and relu too; otherwise Firn's kernel does

  bool operator==(const EngineChoice&) const = default;
};
// "engine 6 fused 3=4 14=2", for a PlanCache.
std::string ToText(const EngineChoice& choice);
// No value for text that ToText does not write.
std::optional<EngineChoice> EngineChoiceFrom(std::string_view text);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_CONV_PLAN_KEY_H_
