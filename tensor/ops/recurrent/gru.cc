// gru_layer: one layer in one direction, whose gates are kept for its gradient
// (kernels/cpu/gru_kernels.cc). gru_layer_grad gives all gradients at once. Recorded gradients and
// other devices are handled like lstm_layer's (lstm.cc).

#include "firn/tensor/ops/recurrent/gru.h"

#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/kernels/cpu/gru_kernels.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/recurrent/layer_rules.h"
#include "firn/tensor/ops/recurrent/recurrent_layer.h"
#include "firn/tensor/ops/recurrent/stack.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

using In = RecurrentIn;
using Out = GruOut;
using GradIn = GruGradIn;
using GradOut = GruGradOut;

constexpr int64_t kGates = 3;

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s, SizesOfLayer(c, kGates));
  const DType dtype = c.dtype(In::kX);
  c.set_out(Out::kY, dtype, SequenceShape(c.shape(In::kX), s.hidden));
  c.set_out_like(Out::kHn, In::kH0);
  c.set_out(Out::kGates, StatisticsType(dtype), Shape({s.rows, (kGates + 1) * s.hidden}));
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s, InferLayerGrad(c, kGates));
  FIRN_RETURN_IF_ERROR(
      CheckShape(c, GradIn::kGates, "gates", Shape({s.rows, (kGates + 1) * s.hidden})));
  c.set_out(GradOut::kDbhh, c.dtype(GradIn::kX), Shape({kGates * s.hidden}));
  return absl::OkStatus();
}

class GruStep final : public StepByOperations {
 public:
  std::vector<Tensor> Forward(const Tensor& gx, const Tensor& gh, Kept* kept) const override {
    const int64_t hidden = gx.size(1) / kGates;
    const std::vector<Tensor> of_x = Split(gx, hidden, 1), of_h = Split(gh, hidden, 1);
    const Tensor r = Sigmoid(Add(of_x[0], of_h[0])), z = Sigmoid(Add(of_x[1], of_h[1]));
    const Tensor n = Tanh(Add(of_x[2], Mul(r, of_h[2])));
    kept->values = {r, z, n, of_h[2]};
    return {Add(Mul(Sub(1, z), n), Mul(z, kept->before[0]))};
  }

  Gradients Backward(const Kept& kept, const std::vector<Tensor>& after) const override {
    const Tensor &r = kept.values[0], &z = kept.values[1], &n = kept.values[2];
    const Tensor& dh = after[0];
    const Tensor dn = Mul(Mul(dh, Sub(1, z)), Sub(1, Mul(n, n)));
    const Tensor dr = Mul(Mul(dn, kept.values[3]), Mul(r, Sub(1, r)));
    const Tensor dz = Mul(Mul(dh, Sub(kept.before[0], n)), Mul(z, Sub(1, z)));
    Gradients d;
    d.gx = Concat({dr, dz, dn}, 1);
    d.gh = Concat({dr, dz, Mul(dn, r)}, 1);
    d.before = {Mul(dh, z)};
    return d;
  }
};

void Grad(GradContext& g) {
  const LayerTensors t = TensorsOf(g);
  const Tensor& gates = g.output(Out::kGates);
  if (GradEnabled()) return RecordedLayerGrad(g, g.attrs<RecurrentLayerAttrs>(), GruStep());
  const TensorList d = FusedLayerGrad(g, TheOp<"gru_layer_grad">(), t, {gates});
  if (g.needs(In::kBhh)) g.set_grad_input(In::kBhh, d[GradOut::kDbhh]);
}

FIRN_REGISTER_OP(gru_layer) {
  return {
      .doc = "One layer of gated recurrent units, in one direction.",
      .autocast = Autocast::kLow,
      .inputs = RecurrentInputs(),
      .outputs = {{.name = "y"}, {.name = "h_n"}, {.name = "gates", .constant = true}},
      .attrs = AttrsOf<RecurrentLayerAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(In::kX), Saved::Input(In::kH0), Saved::Input(In::kWih),
                Saved::Input(In::kWhh), Saved::Input(In::kBih), Saved::Input(In::kBhh),
                Saved::Output(Out::kY), Saved::Output(Out::kGates)},
      .kernels = cpu::GruKernels(),
  };
}

FIRN_REGISTER_OP(gru_layer_grad) {
  OpDef def = {
      .doc =
          "All gradients of gru_layer. Not differentiable: recorded gradients are written out with "
          "other operations.",
      .inputs = RecurrentGradInputs(),
      .outputs = RecurrentGradOutputs(),
      .attrs = AttrsOf<RecurrentGradAttrs>(),
      .infer = InferGrad,
      .kernels = cpu::GruGradKernels(),
  };
  def.inputs.push_back(KeptRows("gates"));
  def.outputs.push_back({.name = "db_hh"});
  return def;
}

LayerResults Layer(const LayerTensors& t, const RecurrentLayerAttrs& attrs) {
  if (t.x.device().type != DeviceType::kCpu) {
    return LayerOfDevice(RecurrentCell::kGru, t, attrs, GruByOperations);
  }
  TensorList out = Apply(TheOp<"gru_layer">(), {t.x, t.h0, t.w_ih, t.w_hh, t.b_ih, t.b_hh}, attrs);
  return {std::move(out[Out::kY]), {std::move(out[Out::kHn])}};
}

constexpr RecurrentKind kKind = {.op = "gru", .gates = kGates, .states = 1, .layer = Layer};

}  // namespace

void RecordedGruGrad(GradContext& g, const RecurrentLayerAttrs& attrs) {
  RecordedLayerGrad(g, attrs, GruStep());
}

LayerResults GruByOperations(const LayerTensors& t, const RecurrentLayerAttrs& attrs) {
  return RunByOperations(t, attrs, GruStep());
}

RecurrentResult Gru(const Tensor& x, const Tensor& h0, const std::vector<RecurrentWeights>& weights,
                    const RecurrentOptions& options) {
  LayerResults r = RunStack(kKind, x, {h0}, weights, options);
  return {std::move(r.y), std::move(r.states[0])};
}

PackedRecurrentResult Gru(const PackedSequence& x, const Tensor& h0,
                          const std::vector<RecurrentWeights>& weights,
                          const RecurrentOptions& options) {
  LayerResults r = RunPackedStack(kKind, x, {h0}, weights, options);
  PackedSequence y = x;
  y.data = std::move(r.y);
  return {std::move(y), std::move(r.states[0])};
}

Tensor GruCell(const Tensor& x, const Tensor& h, const Tensor& w_ih, const Tensor& w_hh,
               const Tensor& b_ih, const Tensor& b_hh) {
  return RunCell(kKind, x, {h}, {w_ih, w_hh, b_ih, b_hh})[0];
}

}  // namespace firn
