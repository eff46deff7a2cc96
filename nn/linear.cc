// Linear: parameters of firn::Linear, started as PyTorch does (Kaiming uniform with a = sqrt(5),
// which is uniform within 1 / sqrt(fan_in)).

#include "firn/nn/linear.h"

#include "firn/nn/sizes.h"
#include "firn/tensor/ops/linear/linear.h"

namespace firn::nn {

Linear::Linear(const Options& options)
    : LayerWithOptions(options),
      weight_(AddPendingParameter("weight", {options.out, options.in})),
      bias_(options.bias ? AddPendingParameter("bias", {options.out}) : AddParameter("bias", {})) {
  CheckSizes("nn::Linear", {{"in", options.in, true}, {"out", options.out}});
  if (options.in != kDeferred) Build(options.in);
}

void Linear::Build(int64_t in) {
  InitPending(weight_, {options().out, in}, Or(options().weight_init, FanInUniform(in)));
  InitPending(bias_, {options().out}, Or(options().bias_init, FanInUniform(in)));
}

Tensor Linear::Forward(const Tensor& x) {
  if (Pends(weight_, bias_)) [[unlikely]]
    Build(SizeOfInput("nn::Linear", x, -1));
  return firn::Linear(x, weight_, bias_);
}

void Linear::AddKnown(Options& options) const { options.in = KnownSize(weight_, 1, options.in); }

}  // namespace firn::nn
