// rnn_tanh_layer and rnn_relu_layer: one layer in one direction (kernels/cpu/rnn_kernels.cc), and
// their gradients, each all at once. Recorded gradients and other devices are handled like
// lstm_layer's (lstm.cc).

#include "firn/tensor/ops/recurrent/rnn.h"

#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/kernels/cpu/rnn_kernels.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/recurrent/layer_rules.h"
#include "firn/tensor/ops/recurrent/recurrent_layer.h"
#include "firn/tensor/ops/recurrent/stack.h"

namespace firn {
namespace {

using In = RecurrentIn;
using Out = RecurrentOut;
using Nonlinearity = RnnNonlinearity;

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s, SizesOfLayer(c, 1));
  c.set_out(Out::kY, c.dtype(In::kX), SequenceShape(c.shape(In::kX), s.hidden));
  c.set_out_like(Out::kHn, In::kH0);
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) { return InferLayerGrad(c, 1).status(); }

class RnnStep final : public StepByOperations {
 public:
  explicit RnnStep(Nonlinearity nonlinearity) : relu_(nonlinearity == Nonlinearity::kRelu) {}

  std::vector<Tensor> Forward(const Tensor& gx, const Tensor& gh, Kept* kept) const override {
    const Tensor sum = Add(gx, gh), h = relu_ ? Relu(sum) : Tanh(sum);
    kept->values = {h};
    return {h};
  }

  Gradients Backward(const Kept& kept, const std::vector<Tensor>& after) const override {
    const Tensor& h = kept.values[0];
    Gradients d;
    d.gx = d.gh = relu_ ? Where(Gt(h, 0), after[0], 0) : Mul(after[0], Sub(1, Mul(h, h)));
    d.before = {Tensor()};
    return d;
  }

 private:
  const bool relu_;
};

template <Nonlinearity kNonlinearity>
const OpDef& GradOp() {
  return kNonlinearity == Nonlinearity::kRelu ? TheOp<"rnn_relu_layer_grad">()
                                              : TheOp<"rnn_tanh_layer_grad">();
}

template <Nonlinearity kNonlinearity>
void Grad(GradContext& g) {
  if (GradEnabled()) {
    return RecordedLayerGrad(g, g.attrs<RecurrentLayerAttrs>(), RnnStep(kNonlinearity));
  }
  FusedLayerGrad(g, GradOp<kNonlinearity>(), TensorsOf(g), {});
}

template <Nonlinearity kNonlinearity>
OpDef LayerOp(std::string_view doc) {
  return {
      .doc = doc,
      .autocast = Autocast::kLow,
      .inputs = RecurrentInputs(),
      .outputs = {{.name = "y"}, {.name = "h_n"}},
      .attrs = AttrsOf<RecurrentLayerAttrs>(),
      .infer = Infer,
      .grad = Grad<kNonlinearity>,
      .saves = {Saved::Input(In::kX), Saved::Input(In::kH0), Saved::Input(In::kWih),
                Saved::Input(In::kWhh), Saved::Input(In::kBih), Saved::Input(In::kBhh),
                Saved::Output(Out::kY)},
      .kernels = cpu::RnnKernels(kNonlinearity),
  };
}

OpDef LayerGradOp(std::string_view doc, Nonlinearity nonlinearity) {
  return {
      .doc = doc,
      .inputs = RecurrentGradInputs(),
      .outputs = RecurrentGradOutputs(),
      .attrs = AttrsOf<RecurrentGradAttrs>(),
      .infer = InferGrad,
      .kernels = cpu::RnnGradKernels(nonlinearity),
  };
}

FIRN_REGISTER_OP(rnn_tanh_layer) {
  return LayerOp<Nonlinearity::kTanh>("One recurrent layer with tanh, in one direction.");
}
FIRN_REGISTER_OP(rnn_relu_layer) {
  return LayerOp<Nonlinearity::kRelu>("One recurrent layer with relu, in one direction.");
}
FIRN_REGISTER_OP(rnn_tanh_layer_grad) {
  return LayerGradOp(
      "All gradients of rnn_tanh_layer. Not differentiable: recorded gradients are written out "
      "with "
      "other operations.",
      Nonlinearity::kTanh);
}
FIRN_REGISTER_OP(rnn_relu_layer_grad) {
  return LayerGradOp(
      "All gradients of rnn_relu_layer. Not differentiable: recorded gradients are written out "
      "with "
      "other operations.",
      Nonlinearity::kRelu);
}

template <Nonlinearity kNonlinearity>
LayerResults Layer(const LayerTensors& t, const RecurrentLayerAttrs& attrs) {
  if (t.x.device().type != DeviceType::kCpu) {
    constexpr bool kRelu = kNonlinearity == Nonlinearity::kRelu;
    return LayerOfDevice(kRelu ? RecurrentCell::kRnnRelu : RecurrentCell::kRnnTanh, t, attrs,
                         [](const LayerTensors& all, const RecurrentLayerAttrs& a) {
                           return RnnByOperations(all, a, kRelu);
                         });
  }
  const OpDef& op =
      kNonlinearity == Nonlinearity::kRelu ? TheOp<"rnn_relu_layer">() : TheOp<"rnn_tanh_layer">();
  TensorList out = Apply(op, {t.x, t.h0, t.w_ih, t.w_hh, t.b_ih, t.b_hh}, attrs);
  return {std::move(out[Out::kY]), {std::move(out[Out::kHn])}};
}

RecurrentKind KindOf(Nonlinearity nonlinearity) {
  return {.op = "rnn",
          .gates = 1,
          .states = 1,
          .layer = nonlinearity == Nonlinearity::kRelu ? Layer<Nonlinearity::kRelu>
                                                       : Layer<Nonlinearity::kTanh>};
}

}  // namespace

void RecordedRnnGrad(GradContext& g, const RecurrentLayerAttrs& attrs, bool relu) {
  RecordedLayerGrad(g, attrs, RnnStep(relu ? Nonlinearity::kRelu : Nonlinearity::kTanh));
}

LayerResults RnnByOperations(const LayerTensors& t, const RecurrentLayerAttrs& attrs, bool relu) {
  return RunByOperations(t, attrs, RnnStep(relu ? Nonlinearity::kRelu : Nonlinearity::kTanh));
}

RecurrentResult Rnn(const Tensor& x, const Tensor& h0, const std::vector<RecurrentWeights>& weights,
                    const RecurrentOptions& options, RnnNonlinearity nonlinearity) {
  LayerResults r = RunStack(KindOf(nonlinearity), x, {h0}, weights, options);
  return {std::move(r.y), std::move(r.states[0])};
}

PackedRecurrentResult Rnn(const PackedSequence& x, const Tensor& h0,
                          const std::vector<RecurrentWeights>& weights,
                          const RecurrentOptions& options, RnnNonlinearity nonlinearity) {
  LayerResults r = RunPackedStack(KindOf(nonlinearity), x, {h0}, weights, options);
  PackedSequence y = x;
  y.data = std::move(r.y);
  return {std::move(y), std::move(r.states[0])};
}

Tensor RnnCell(const Tensor& x, const Tensor& h, const Tensor& w_ih, const Tensor& w_hh,
               const Tensor& b_ih, const Tensor& b_hh, const RnnCellOptions& options) {
  return RunCell(KindOf(options.nonlinearity), x, {h}, {w_ih, w_hh, b_ih, b_hh})[0];
}

}  // namespace firn
