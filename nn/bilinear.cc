// Bilinear: parameters of firn::Bilinear, started as PyTorch does: uniform within 1 / sqrt(in1).

#include "firn/nn/bilinear.h"

#include "firn/nn/describe.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/linear/tensordot.h"

namespace firn::nn {

Bilinear::Bilinear(const Options& options)
    : options_(options),
      weight_(AddPendingParameter("weight", {options.out, options.in1, options.in2})),
      bias_(options.bias ? AddPendingParameter("bias", {options.out}) : AddParameter("bias", {})) {
  CheckSizes("nn::Bilinear",
             {{"in1", options.in1, true}, {"in2", options.in2, true}, {"out", options.out}});
  if (options.in1 != kDeferred && options.in2 != kDeferred) Build(options.in1, options.in2);
}

void Bilinear::Build(int64_t in1, int64_t in2) {
  InitPending(weight_, {options_.out, in1, in2}, Or(options_.weight_init, FanInUniform(in1)));
  InitPending(bias_, {options_.out}, Or(options_.bias_init, FanInUniform(in1)));
}

Tensor Bilinear::Forward(const Tensor& x1, const Tensor& x2) {
  if (IsPending(weight_) || IsPending(bias_)) [[unlikely]] {
    const auto size = [](int64_t given, const Tensor& x) {
      return given == kDeferred ? SizeOfInput("nn::Bilinear", x, -1) : given;
    };
    Build(size(options_.in1, x1), size(options_.in2, x2));
  }
  return firn::Bilinear(x1, x2, weight_, bias_);
}

std::string Bilinear::Describe() const {
  Describer d;
  d.Field("in1", IsPending(weight_) ? options_.in1 : weight_.size(1));
  d.Field("in2", IsPending(weight_) ? options_.in2 : weight_.size(2));
  d.Field("out", options_.out);
  d.Field("bias", options_.bias, true);
  return d.text();
}

int64_t Bilinear::MultiplyAdds(const Shape&, const Shape& output) const {
  return output.num_elements() * weight_.size(1) * weight_.size(2);
}

}  // namespace firn::nn
