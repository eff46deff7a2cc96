#ifndef FIRN_NN_QUANTIZED_QAT_H_
#define FIRN_NN_QUANTIZED_QAT_H_

// Layers that are trained for quantization: in floating point, but with inputs and weights rounded
// as in the quantized layers that take over their numbers. Graphs that Quantize
// (autograd/graph/quantize.h) converts use the scales of training too.

#include "firn/nn/conv_base.h"
#include "firn/nn/layer.h"
#include "firn/nn/quantized/conv.h"
#include "firn/nn/quantized/fake_quantize.h"
#include "firn/nn/quantized/linear.h"

namespace firn::nn::quantized {

// Like nn::Linear, whose parameters it has. `in` may be kDeferred.
// Child: input (FakeQuantize).
class QatLinear final : public LayerWithOptions<LinearOptions> {
 public:
  // Throws when a size is negative or out is not positive.
  explicit QatLinear(const Options& options);

  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }  // undefined without
  const FakeQuantize& input() const { return input_; }

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override;

 private:
  void Build(int64_t in);

  Tensor &weight_, &bias_;
  FakeQuantize& input_;
};

// Like nn::Conv2d, padded by zeros. `in` may be kDeferred.
// Child: input (FakeQuantize).
class QatConv2d final : public LayerWithOptions<Conv2dOptions, ConvBase> {
 public:
  using Options = Conv2dOptions;
  // Throws as nn::Conv2d does.
  explicit QatConv2d(const Options& options);

  const FakeQuantize& input() const { return input_; }

 protected:
  Tensor Forward(const Tensor& x) override;
  void AddKnown(Options& options) const override { options.in = in(); }

 private:
  FakeQuantize& input_;
};

}  // namespace firn::nn::quantized

#endif  // FIRN_NN_QUANTIZED_QAT_H_
