// Bilinear: parameters of firn::Bilinear, started as PyTorch does: uniform within 1 / sqrt(in1).

#include "firn/nn/bilinear.h"

#include "firn/nn/sizes.h"
#include "firn/tensor/ops/linear/tensordot.h"

namespace firn::nn {

Bilinear::Bilinear(const Options& options)
    : LayerWithOptions(options),
      weight_(AddPendingParameter("weight", {options.out, options.in1, options.in2})),
      bias_(options.bias ? AddPendingParameter("bias", {options.out}) : AddParameter("bias", {})) {
  CheckSizes("nn::Bilinear",
             {{"in1", options.in1, true}, {"in2", options.in2, true}, {"out", options.out}});
  if (options.in1 != kDeferred && options.in2 != kDeferred) Build(options.in1, options.in2);
}

void Bilinear::Build(int64_t in1, int64_t in2) {
  InitPending(weight_, {options().out, in1, in2}, Or(options().weight_init, FanInUniform(in1)));
  InitPending(bias_, {options().out}, Or(options().bias_init, FanInUniform(in1)));
}

Tensor Bilinear::Forward(const Tensor& x1, const Tensor& x2) {
  if (IsPending(weight_) || IsPending(bias_)) [[unlikely]] {
    const auto size = [](int64_t given, const Tensor& x) {
      return given == kDeferred ? SizeOfInput("nn::Bilinear", x, -1) : given;
    };
    Build(size(options().in1, x1), size(options().in2, x2));
  }
  return firn::Bilinear(x1, x2, weight_, bias_);
}

void Bilinear::AddKnown(Options& options) const {
  if (!inner::HasShape(weight_)) return;
  options.in1 = weight_.size(1);
  options.in2 = weight_.size(2);
}

}  // namespace firn::nn
