// lstm_layer: one layer in one direction, whose gates and cells are kept for its gradient
// (kernels/cpu/lstm_kernels.cc). lstm_layer_grad gives the gradients of the gates before their
// sigmoids, of the states at the beginning and of the recurrent weights; those of x, w_ih and the
// biases are products and sums over all steps, made with other operations. When the gradient is
// itself recorded all of it is written out with operations instead, and so is the layer on devices
// that have no kernel of it.

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
#include "firn/tensor/ops/norm/norm_options.h"
#include "firn/tensor/ops/recurrent/layer_rules.h"
#include "firn/tensor/ops/recurrent/stack.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/split.h"

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
  const Shape cell({s.batch, s.hidden}), weight({s.state, s.hidden});
  FIRN_RETURN_IF(c.shape(In::kC0) != cell, InvalidArgument("c0 must be ", cell.ToString(), ", got ",
                                                           c.shape(In::kC0).ToString()));
  FIRN_RETURN_IF(projected && c.shape(In::kWhr) != weight,
                 InvalidArgument("w_hr must be ", weight.ToString(), ", got ",
                                 c.shape(In::kWhr).ToString()));
  const DType dtype = c.dtype(In::kX), kept = StatisticsType(dtype);
  c.set_out(Out::kY, dtype, SequenceShape(c.shape(In::kX), s.state));
  c.set_out(Out::kHn, dtype, c.shape(In::kH0));
  c.set_out(Out::kCn, dtype, cell);
  c.set_out(Out::kGates, kept, Shape({s.rows, kGates * s.hidden}));
  c.set_out(Out::kCells, kept, Shape({s.rows, s.hidden}));
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  const Shape &y = c.shape(GradIn::kY), &h0 = c.shape(GradIn::kH0), &c0 = c.shape(GradIn::kC0);
  const Shape &gates = c.shape(GradIn::kGates), &w_hh = c.shape(GradIn::kWhh);
  const DType kept = StatisticsType(c.dtype(GradIn::kY));
  const int64_t rows = gates[0], hidden = c0[1], state = h0[1];
  const bool projected = c.has(GradIn::kWhr);
  const auto like = [&](int i, const Shape& want) { return !c.has(i) || c.shape(i) == want; };
  const bool fits =
      y.dim(-1) == state && state > 0 && hidden > 0 && y.num_elements() / state == rows &&
      like(GradIn::kDy, y) && like(GradIn::kDhn, h0) && like(GradIn::kDcn, c0) &&
      h0[0] == c0[0] && (projected || state == hidden) &&
      gates == Shape({rows, kGates * hidden}) && w_hh == Shape({kGates * hidden, state}) &&
      like(GradIn::kCells, Shape({rows, hidden})) && like(GradIn::kWhr, Shape({state, hidden})) &&
      c.dtype(GradIn::kGates) == kept && c.dtype(GradIn::kCells) == kept;
  FIRN_RETURN_IF(!fits, InvalidArgument("the gradients, states, gates and weights do not fit y ",
                                        c.in(GradIn::kY).ToString()));
  FIRN_RETURN_IF_ERROR(CheckSequences(y, h0[0], c.attrs<RecurrentLayerAttrs>()));
  const DType dtype = c.dtype(GradIn::kY);
  c.set_out(GradOut::kDgates, dtype, gates);
  c.set_out(GradOut::kDh0, dtype, h0);
  c.set_out(GradOut::kDc0, dtype, c0);
  c.set_out(GradOut::kDwhh, dtype, w_hh);
  c.set_out(GradOut::kDwhr, dtype, projected ? c.shape(GradIn::kWhr) : Shape({0, hidden}));
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
  const auto& attrs = g.attrs<RecurrentLayerAttrs>();
  const LayerTensors t = TensorsOf(g);
  const Tensor &y = g.output(Out::kY), &gates = g.output(Out::kGates);
  const Tensor& cells = g.output(Out::kCells);
  if (GradEnabled()) return RecordedLayerGrad(g, attrs, LstmStep(t.w_hr));
  const auto flowed = [&](int i) { return g.has_grad_output(i) ? g.grad_output(i) : Tensor(); };
  const TensorList d = Apply(TheOp<"lstm_layer_grad">(),
                             {y, flowed(Out::kY), flowed(Out::kHn), flowed(Out::kCn), t.h0, t.c0,
                              gates, cells, t.w_hh, t.w_hr},
                             attrs);
  SetInputGrads(g, t, d[GradOut::kDgates], d[GradOut::kDgates]);
  if (g.needs(In::kH0)) g.set_grad_input(In::kH0, d[GradOut::kDh0]);
  if (g.needs(In::kC0)) g.set_grad_input(In::kC0, d[GradOut::kDc0]);
  if (g.needs(In::kWhh)) g.set_grad_input(In::kWhh, d[GradOut::kDwhh]);
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
  def.inputs.push_back({.name = "c0", .same_dtype_as = "x", .min_rank = 2, .max_rank = 2});
  def.inputs.push_back(
      {.name = "w_hr", .same_dtype_as = "x", .min_rank = 2, .max_rank = 2, .optional = true});
  return def;
}

FIRN_REGISTER_OP(lstm_layer_grad) {
  const auto input = [](std::string_view name, int rank, bool optional = false) {
    return ArgDecl{.name = name,
                   .same_dtype_as = "y",
                   .min_rank = rank == 0 ? 2 : rank,
                   .max_rank = rank == 0 ? 3 : rank,
                   .optional = optional};
  };
  const auto kept = [](std::string_view name) {
    return ArgDecl{.name = name, .dtypes = kStatistics, .min_rank = 2, .max_rank = 2};
  };
  return {
      .doc =
          "Gradients of lstm_layer by its gates, states and recurrent weights. Not "
          "differentiable: recorded gradients are written out with other operations.",
      .inputs = {{.name = "y", .dtypes = kFloating, .min_rank = 2, .max_rank = 3},
                 input("dy", 0, true), input("dh_n", 2, true), input("dc_n", 2, true),
                 input("h0", 2), input("c0", 2), kept("gates"), kept("cells"), input("w_hh", 2),
                 input("w_hr", 2, true)},
      .outputs = {{.name = "dgates"},
                  {.name = "dh0"},
                  {.name = "dc0"},
                  {.name = "dw_hh"},
                  {.name = "dw_hr"}},
      .attrs = AttrsOf<RecurrentLayerAttrs>(),
      .infer = InferGrad,
      .kernels = cpu::LstmGradKernels(),
  };
}

// --- Functions -----------------------------------------------------------------------------------

LayerResults Layer(const LayerTensors& t, const RecurrentLayerAttrs& attrs, const void*) {
  if (t.x.device().type != DeviceType::kCpu) return RunByOperations(t, attrs, LstmStep(t.w_hr));
  TensorList out = Apply(TheOp<"lstm_layer">(),
                         {t.x, t.h0, t.w_ih, t.w_hh, t.b_ih, t.b_hh, t.c0, t.w_hr}, attrs);
  return {std::move(out[Out::kY]), {std::move(out[Out::kHn]), std::move(out[Out::kCn])}};
}

constexpr RecurrentKind kKind = {.op = "lstm", .gates = kGates, .states = 2, .layer = Layer};

}  // namespace

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
