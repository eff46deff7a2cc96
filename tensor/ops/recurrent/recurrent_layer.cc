// recurrent_layer: one layer of any cell, from the first step to the last, by a device's library
// functions for whole layers. Such a library keeps data for its gradient in a form of its own,
// whose size only it knows and which cannot be a result of an operation. So nothing is kept, and
// recurrent_layer_grad runs the layer again. That costs a third of a training step's time and saves
// the memory from the forward to the backward pass.
//
// The other direction is the same operation on reversed sequences. On the CPU, which has operations
// of its own for each cell, it runs where a graph that was made on a device is loaded there
// (kernels/cpu/recurrent_again.cc).

#include "firn/tensor/ops/recurrent/recurrent_layer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/kernels/cpu/recurrent_again.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/shape/permute.h"

namespace firn {
namespace {

using In = RecurrentIn;
using Out = CellLayerOut;
using GradIn = CellGradIn;
using GradOut = CellGradOut;

absl::StatusOr<RecurrentSizes> SizesOf(const InferContext& c, const CellLayerAttrs& attrs) {
  FIRN_RETURN_IF(WordFor(attrs.cell) == nullptr,
                 InvalidArgument("cell ", static_cast<int>(attrs.cell), " is none"));
  const bool lstm = attrs.cell == RecurrentCell::kLstm, projected = c.has(In::kWhr);
  FIRN_RETURN_IF(lstm && !c.has(In::kC0), InvalidArgument("an lstm needs c0"));
  FIRN_RETURN_IF(!lstm && (c.has(In::kC0) || projected),
                 InvalidArgument(c.has(In::kC0) ? "c0" : "w_hr", " is for lstm"));
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s,
                        SizesOfLayer(c, attrs.batch_sizes, GatesOf(attrs.cell), projected));
  FIRN_RETURN_IF_ERROR(CheckShape(c, In::kC0, "c0", Shape({s.batch, s.hidden})));
  FIRN_RETURN_IF_ERROR(CheckShape(c, In::kWhr, "w_hr", Shape({s.state, s.hidden})));
  return s;
}

absl::Status Infer(InferContext& c) {
  const CellLayerAttrs& attrs = c.attrs<CellLayerAttrs>();
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s, SizesOf(c, attrs));
  const DType dtype = c.dtype(In::kX);
  c.set_out(Out::kY, dtype, SequenceShape(c.shape(In::kX), s.state));
  c.set_out_like(Out::kHn, In::kH0);
  c.set_out(Out::kCn, dtype, Shape({c.has(In::kC0) ? s.batch : 0, s.hidden}));
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  const CellGradAttrs& attrs = c.attrs<CellGradAttrs>();
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s, SizesOf(c, attrs.layer));
  const Shape& x = c.shape(In::kX);
  const bool lstm = c.has(In::kC0);
  const Shape cells({lstm ? s.batch : 0, s.hidden});
  FIRN_RETURN_IF(!lstm && c.has(GradIn::kDcn), InvalidArgument("dc_n is for lstm"));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kDy, "dy", SequenceShape(x, s.state)));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kDhn, "dh_n", c.shape(In::kH0)));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kDcn, "dc_n", cells));
  const DType dtype = c.dtype(In::kX);
  c.set_out(GradOut::kDx, dtype, attrs.wants_dx ? x : Shape({0, x.dim(-1)}));
  c.set_out_like(GradOut::kDh0, In::kH0);
  c.set_out_like(GradOut::kDwih, In::kWih);
  c.set_out_like(GradOut::kDwhh, In::kWhh);
  const int64_t rows = GatesOf(attrs.layer.cell) * s.hidden;
  c.set_out(GradOut::kDbih, dtype, Shape({c.has(In::kBih) ? rows : 0}));
  c.set_out(GradOut::kDbhh, dtype, Shape({c.has(In::kBhh) ? rows : 0}));
  c.set_out(GradOut::kDc0, dtype, cells);
  c.set_out(GradOut::kDwhr, dtype, Shape({c.has(In::kWhr) ? s.state : 0, s.hidden}));
  return absl::OkStatus();
}

// Written out with operations, to be differentiated again.
void RecordedGrad(GradContext& g, const CellLayerAttrs& attrs) {
  const RecurrentLayerAttrs layer{false, attrs.batch_sizes};
  switch (attrs.cell) {
    case RecurrentCell::kLstm:
      return RecordedLstmGrad(g, layer);
    case RecurrentCell::kGru:
      return RecordedGruGrad(g, layer);
    case RecurrentCell::kRnnTanh:
    case RecurrentCell::kRnnRelu:
      break;
  }
  RecordedRnnGrad(g, layer, attrs.cell == RecurrentCell::kRnnRelu);
}

void Grad(GradContext& g) {
  const CellLayerAttrs& attrs = g.attrs<CellLayerAttrs>();
  if (GradEnabled()) return RecordedGrad(g, attrs);
  const LayerTensors t = TensorsOf(g);
  const TensorList d =
      Apply(TheOp<"recurrent_layer_grad">(),
            {t.x, t.h0, t.w_ih, t.w_hh, t.b_ih, t.b_hh, t.c0, t.w_hr, Flowed(g, Out::kY),
             Flowed(g, Out::kHn), t.c0.defined() ? Flowed(g, Out::kCn) : Tensor()},
            CellGradAttrs{attrs, g.needs(In::kX)});
  constexpr std::pair<int, int> kGradients[] = {
      {In::kX, GradOut::kDx},     {In::kH0, GradOut::kDh0},   {In::kWih, GradOut::kDwih},
      {In::kWhh, GradOut::kDwhh}, {In::kBih, GradOut::kDbih}, {In::kBhh, GradOut::kDbhh},
      {In::kC0, GradOut::kDc0},   {In::kWhr, GradOut::kDwhr}};
  for (const auto& [input, output] : kGradients) {
    if (g.needs(input)) g.set_grad_input(input, d[static_cast<size_t>(output)]);
  }
}

std::vector<ArgDecl> Inputs() {
  std::vector<ArgDecl> inputs = RecurrentInputs();
  inputs.push_back(RecurrentMatrix("c0", true));
  inputs.push_back(RecurrentMatrix("w_hr", true));
  return inputs;
}

FIRN_REGISTER_OP(recurrent_layer) {
  OpDef def = {
      .doc =
          "One recurrent layer of any cell from the first step on. Its gradient computes it "
          "again: nothing is kept.",
      .autocast = Autocast::kLow,
      .inputs = Inputs(),
      .outputs = {{.name = "y"}, {.name = "h_n"}, {.name = "c_n"}},
      .attrs = AttrsOf<CellLayerAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .kernels = cpu::RecurrentAgainKernels(),
  };
  for (int i = In::kX; i <= In::kWhr; ++i) def.saves.push_back(Saved::Input(i));
  return def;
}

FIRN_REGISTER_OP(recurrent_layer_grad) {
  OpDef def = {
      .doc =
          "All gradients of recurrent_layer. Not differentiable: recorded gradients are written "
          "out with other operations.",
      .inputs = Inputs(),
      .outputs = {{.name = "dx"},
                  {.name = "dh0"},
                  {.name = "dw_ih"},
                  {.name = "dw_hh"},
                  {.name = "db_ih"},
                  {.name = "db_hh"},
                  {.name = "dc0"},
                  {.name = "dw_hr"}},
      .attrs = AttrsOf<CellGradAttrs>(),
      .infer = InferGrad,
      .kernels = cpu::RecurrentAgainGradKernels(),
  };
  def.inputs.push_back(
      {.name = "dy", .same_dtype_as = "x", .min_rank = 2, .max_rank = 3, .optional = true});
  def.inputs.push_back(RecurrentMatrix("dh_n", true));
  def.inputs.push_back(RecurrentMatrix("dc_n", true));
  return def;
}

// --- On devices ----------------------------------------------------------------------------------

// Whether a kernel of the device takes the call, in the dtype that autocast makes of it.
bool IsTaken(const OpDef& op, absl::Span<const TensorRef> in, const CellLayerAttrs& attrs) {
  const Device device = in[In::kX].spec().device;
  std::array<TensorSpec, Out::kCn + 1> out;
  InferContext infer(in, attrs, absl::MakeSpan(out));
  infer.device = device;
  if (!op.infer(infer).ok()) return true;  // the operation says why
  const Autocaster* const autocast = ThisThread().autocast;
  std::array<TensorSpec, In::kWhr + 1> specs;
  std::array<const TensorSpec*, In::kWhr + 1> given{};
  for (size_t i = 0; i < given.size(); ++i) {
    if (!in[i].defined()) continue;
    specs[i] = in[i].spec();
    if (autocast != nullptr && specs[i].dtype == DType::kF32) specs[i].dtype = autocast->dtype();
    given[i] = &specs[i];
  }
  const KernelQuery query(given, out, attrs);
  Prepared answer;
  return std::any_of(op.kernels.begin(), op.kernels.end(), [&](const Kernel& k) {
    return k.device == device.type && inner::internal::Ask(k, query, &answer).ok();
  });
}

// The row of the step of the same sequence that is as far from its end as this row's step is from
// its beginning.
std::vector<int64_t> RowsFromTheEnd(const std::vector<int64_t>& batch_sizes) {
  std::vector<int64_t> begins, lengths(static_cast<size_t>(batch_sizes[0])), rows;
  int64_t at = 0;
  for (const int64_t size : batch_sizes) {
    begins.push_back(at);
    at += size;
    for (int64_t b = 0; b < size; ++b) ++lengths[static_cast<size_t>(b)];
  }
  for (size_t t = 0; t < batch_sizes.size(); ++t) {
    for (int64_t b = 0; b < batch_sizes[t]; ++b) {
      const int64_t from = lengths[static_cast<size_t>(b)] - 1 - static_cast<int64_t>(t);
      rows.push_back(begins[static_cast<size_t>(from)] + b);
    }
  }
  return rows;
}

}  // namespace

LayerResults inner::LayerOfDevice(RecurrentCell cell, const LayerTensors& t,
                                  const RecurrentLayerAttrs& attrs,
                                  LayerResults (*by_operations)(const LayerTensors&,
                                                                const RecurrentLayerAttrs&)) {
  const OpDef& op = TheOp<"recurrent_layer">();
  const CellLayerAttrs own{cell, attrs.batch_sizes};
  std::array<TensorRef, In::kWhr + 1> in = {t.x,    t.h0,   t.w_ih, t.w_hh,
                                            t.b_ih, t.b_hh, t.c0,   t.w_hr};
  // Places of rows are made on the host, which a captured run must not do.
  const bool packed = !attrs.batch_sizes.empty();
  const bool in_capture = attrs.reverse && packed && ThisThread().capture != nullptr;
  if (in_capture || !IsTaken(op, in, own)) return by_operations(t, attrs);
  Tensor rows;
  if (attrs.reverse && packed) {
    rows = FromVector(RowsFromTheEnd(attrs.batch_sizes)).To(t.x.device());
  }
  const auto turned = [&](const Tensor& x) {
    return !attrs.reverse ? x : packed ? IndexSelect(x, 0, rows) : Flip(x, {0});
  };
  const Tensor x = turned(t.x);
  in[In::kX] = x;
  TensorList out = Apply(op, in, own);
  LayerResults r{turned(out[Out::kY]), {std::move(out[Out::kHn])}};
  if (cell == RecurrentCell::kLstm) r.states.push_back(std::move(out[Out::kCn]));
  return r;
}

}  // namespace firn
