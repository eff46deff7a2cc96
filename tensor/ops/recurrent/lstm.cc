// lstm_layer: one layer in one direction, whose gates and cells are kept for its gradient
// (kernels/cpu/lstm_kernels.cc). lstm_layer_grad gives all gradients at once. When the gradient is
// itself recorded it is written out with other operations instead, step by step, and so is the
// layer on devices that have no kernel of it.

#include "firn/tensor/ops/recurrent/lstm.h"

#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/kernels/cpu/lstm_kernels.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/recurrent/layer_rules.h"
#include "firn/tensor/ops/recurrent/recurrent_layer.h"
#include "firn/tensor/ops/recurrent/stack.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

using In = RecurrentIn;
using Out = LstmOut;
using GradIn = LstmGradIn;
using GradOut = LstmGradOut;

constexpr int64_t kGates = 4;

absl::Status Infer(InferContext& c) {
  const bool projected = c.has(In::kWhr);
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s, SizesOfLayer(c, kGates, projected));
  const Shape cell({s.batch, s.hidden});
  FIRN_RETURN_IF_ERROR(CheckShape(c, In::kC0, "c0", cell));
  FIRN_RETURN_IF_ERROR(CheckShape(c, In::kWhr, "w_hr", Shape({s.state, s.hidden})));
  const DType dtype = c.dtype(In::kX), kept = StatisticsType(dtype);
  c.set_out(Out::kY, dtype, SequenceShape(c.shape(In::kX), s.state));
  c.set_out(Out::kHn, dtype, c.shape(In::kH0));
  c.set_out(Out::kCn, dtype, cell);
  c.set_out(Out::kGates, kept, Shape({s.rows, kGates * s.hidden}));
  c.set_out(Out::kCells, kept, Shape({s.rows, s.hidden}));
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  const bool projected = c.has(GradIn::kWhr);
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s, InferLayerGrad(c, kGates, projected));
  const Shape cell({s.batch, s.hidden}), weight({s.state, s.hidden});
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kC0, "c0", cell));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kDcn, "dc_n", cell));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kGates, "gates", Shape({s.rows, kGates * s.hidden})));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kCells, "cells", Shape({s.rows, s.hidden})));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kWhr, "w_hr", weight));
  c.set_out_like(GradOut::kDc0, GradIn::kC0);
  c.set_out(GradOut::kDwhr, c.dtype(GradIn::kX), projected ? weight : Shape({0, s.hidden}));
  return absl::OkStatus();
}

// --- By operations -------------------------------------------------------------------------------

class LstmStep final : public StepByOperations {
 public:
  explicit LstmStep(const Tensor& w_hr) : w_hr_(w_hr) {}

  std::vector<Tensor> Forward(const Tensor& gx, const Tensor& gh, Kept* kept) const override {
    const std::vector<Tensor> sums = Split(Add(gx, gh), gx.size(1) / kGates, 1);
    const Tensor i = Sigmoid(sums[0]), f = Sigmoid(sums[1]), g = Tanh(sums[2]);
    const Tensor o = Sigmoid(sums[3]), c = Add(Mul(f, kept->before[1]), Mul(i, g));
    const Tensor t = Tanh(c), h = Mul(o, t);
    kept->values = {i, f, g, o, t, h};
    return {w_hr_.defined() ? Linear(h, w_hr_) : h, c};
  }

  Gradients Backward(const Kept& kept, const std::vector<Tensor>& after) const override {
    const Tensor &i = kept.values[0], &f = kept.values[1], &g = kept.values[2];
    const Tensor &o = kept.values[3], &t = kept.values[4], &h = kept.values[5];
    Gradients d;
    const Tensor dh = w_hr_.defined() ? Matmul(after[0], w_hr_) : after[0];
    if (w_hr_.defined()) d.projected = Matmul(after[0], h, true);
    const Tensor dc = Add(after[1], Mul(Mul(dh, o), Slope(t)));
    d.gx = d.gh = Concat({Mul(Mul(dc, g), OfSigmoid(i)), Mul(Mul(dc, kept.before[1]), OfSigmoid(f)),
                          Mul(Mul(dc, i), Slope(g)), Mul(Mul(dh, t), OfSigmoid(o))},
                         1);
    d.before = {Tensor(), Mul(dc, f)};
    return d;
  }

 private:
  static Tensor OfSigmoid(const Tensor& y) { return Mul(y, Sub(1, y)); }
  static Tensor Slope(const Tensor& y) { return Sub(1, Mul(y, y)); }  // of tanh

  const Tensor w_hr_;
};

void Grad(GradContext& g) {
  const LayerTensors t = TensorsOf(g);
  const Tensor &gates = g.output(Out::kGates), &cells = g.output(Out::kCells);
  if (GradEnabled()) {
    return RecordedLayerGrad(g, g.attrs<RecurrentLayerAttrs>(), LstmStep(t.w_hr));
  }
  const TensorList d = FusedLayerGrad(g, TheOp<"lstm_layer_grad">(), t,
                                      {Flowed(g, Out::kCn), t.c0, gates, cells, t.w_hr});
  if (g.needs(In::kC0)) g.set_grad_input(In::kC0, d[GradOut::kDc0]);
  if (t.w_hr.defined() && g.needs(In::kWhr)) g.set_grad_input(In::kWhr, d[GradOut::kDwhr]);
}

FIRN_REGISTER_OP(lstm_layer) {
  OpDef def = {
      .doc = "One layer of long short-term memory, in one direction.",
      .autocast = Autocast::kLow,
      .inputs = RecurrentInputs(),
      .outputs = {{.name = "y"},
                  {.name = "h_n"},
                  {.name = "c_n"},
                  {.name = "gates", .constant = true},
                  {.name = "cells", .constant = true}},
      .attrs = AttrsOf<RecurrentLayerAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(In::kX), Saved::Input(In::kH0), Saved::Input(In::kWih),
                Saved::Input(In::kWhh), Saved::Input(In::kBih), Saved::Input(In::kBhh),
                Saved::Input(In::kC0), Saved::Input(In::kWhr), Saved::Output(Out::kY),
                Saved::Output(Out::kGates), Saved::Output(Out::kCells)},
      .kernels = cpu::LstmKernels(),
  };
  def.inputs.push_back(RecurrentMatrix("c0"));
  def.inputs.push_back(RecurrentMatrix("w_hr", true));
  return def;
}

FIRN_REGISTER_OP(lstm_layer_grad) {
  OpDef def = {
      .doc =
          "All gradients of lstm_layer. Not differentiable: recorded gradients are written out "
          "with "
          "other operations.",
      .inputs = RecurrentGradInputs(),
      .outputs = RecurrentGradOutputs(),
      .attrs = AttrsOf<RecurrentGradAttrs>(),
      .infer = InferGrad,
      .kernels = cpu::LstmGradKernels(),
  };
  for (ArgDecl& more :
       std::vector<ArgDecl>{RecurrentMatrix("dc_n", true), RecurrentMatrix("c0"), KeptRows("gates"),
                            KeptRows("cells"), RecurrentMatrix("w_hr", true)}) {
    def.inputs.push_back(more);
  }
  def.outputs.push_back({.name = "dc0"});
  def.outputs.push_back({.name = "dw_hr"});
  return def;
}

// --- Functions -----------------------------------------------------------------------------------

LayerResults Layer(const LayerTensors& t, const RecurrentLayerAttrs& attrs) {
  if (t.x.device().type != DeviceType::kCpu) {
    return LayerOfDevice(RecurrentCell::kLstm, t, attrs, LstmByOperations);
  }
  TensorList out = Apply(TheOp<"lstm_layer">(),
                         {t.x, t.h0, t.w_ih, t.w_hh, t.b_ih, t.b_hh, t.c0, t.w_hr}, attrs);
  return {std::move(out[Out::kY]), {std::move(out[Out::kHn]), std::move(out[Out::kCn])}};
}

constexpr RecurrentKind kKind = {.op = "lstm", .gates = kGates, .states = 2, .layer = Layer};

}  // namespace

void RecordedLstmGrad(GradContext& g, const RecurrentLayerAttrs& attrs) {
  RecordedLayerGrad(g, attrs, LstmStep(TensorsOf(g).w_hr));
}

LayerResults LstmByOperations(const LayerTensors& t, const RecurrentLayerAttrs& attrs) {
  return RunByOperations(t, attrs, LstmStep(t.w_hr));
}

LstmResult Lstm(const Tensor& x, const LstmState& initial,
                const std::vector<RecurrentWeights>& weights, const RecurrentOptions& options) {
  LayerResults r = RunStack(kKind, x, {initial.h, initial.c}, weights, options);
  return {std::move(r.y), {std::move(r.states[0]), std::move(r.states[1])}};
}

PackedLstmResult Lstm(const PackedSequence& x, const LstmState& initial,
                      const std::vector<RecurrentWeights>& weights,
                      const RecurrentOptions& options) {
  LayerResults r = RunPackedStack(kKind, x, {initial.h, initial.c}, weights, options);
  PackedSequence y = x;
  y.data = std::move(r.y);
  return {std::move(y), {std::move(r.states[0]), std::move(r.states[1])}};
}

LstmState LstmCell(const Tensor& x, const LstmState& state, const Tensor& w_ih, const Tensor& w_hh,
                   const Tensor& b_ih, const Tensor& b_hh) {
  const std::vector<Tensor> states =
      RunCell(kKind, x, {state.h, state.c}, {w_ih, w_hh, b_ih, b_hh});
  return {states[0], states[1]};
}

}  // namespace firn
