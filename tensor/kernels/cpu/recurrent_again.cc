// recurrent_layer and its gradient by the kernels of lstm_layer, gru_layer and rnn_layer: the
// results that those keep for the gradient are in the workspace here, and the gradient computes
// them again.

#include "firn/tensor/kernels/cpu/recurrent_again.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/kernels/cpu/gru_kernels.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/in_f32.h"
#include "firn/tensor/kernels/cpu/lstm_kernels.h"
#include "firn/tensor/kernels/cpu/rnn_kernels.h"
#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/problems/recurrent_problem.h"

namespace firn::cpu {
namespace {

using In = RecurrentIn;
using Specs = absl::InlinedVector<const TensorSpec*, 12>;

const Kernel& LayerKernel(RecurrentCell cell) {
  static const auto* const kernels = new std::vector<std::vector<Kernel>>{
      RnnKernels(RnnNonlinearity::kTanh), RnnKernels(RnnNonlinearity::kRelu), LstmKernels(),
      GruKernels()};
  return (*kernels)[static_cast<size_t>(cell)].front();
}
const Kernel& GradKernel(RecurrentCell cell) {
  static const auto* const kernels = new std::vector<std::vector<Kernel>>{
      RnnGradKernels(RnnNonlinearity::kTanh), RnnGradKernels(RnnNonlinearity::kRelu),
      LstmGradKernels(), GruGradKernels()};
  return (*kernels)[static_cast<size_t>(cell)].front();
}

// Hands out pieces of memory in a row, aligned to cache lines; with a null base it only counts
// bytes.
class Room {
 public:
  explicit Room(void* base = nullptr) : base_(static_cast<char*>(base)) {}
  void* Take(size_t bytes) {
    char* const piece = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (bytes + 63) & ~size_t{63};
    return piece;
  }
  size_t used() const { return used_; }

 private:
  char* base_;
  size_t used_ = 0;
};

// The layer's own operation: the specs of its results, and its kernel's answer.
struct LayerCall {
  RecurrentLayerAttrs attrs;
  std::vector<TensorSpec> out;  // y, the states, and what is kept
  size_t states = 1;
  Prepared answer;

  size_t num_inputs() const { return states == 2 ? In::kWhr + 1 : In::kBhh + 1; }
  size_t first_kept() const { return 1 + states; }
};

TensorSpec SpecOf(const TensorSpec& like, DType dtype, const Shape& shape) {
  return TensorSpec::Contiguous(dtype, shape, like.device);
}

// `x`: its rows are those of the layer.
absl::Status PrepareLayer(const KernelQuery& q, const CellLayerAttrs& attrs, LayerCall* call) {
  const TensorSpec &x = q.in(In::kX), &h0 = q.in(In::kH0);
  const int64_t hidden = q.in(In::kWhh).shape[0] / GatesOf(attrs.cell);
  int64_t rows = 1;
  for (int i = 0; i + 1 < x.shape.rank(); ++i) rows *= x.shape[i];
  Dims dims = x.shape.dims();
  dims[dims.rank - 1] = h0.shape[1];
  const DType kept = StatisticsType(x.dtype);
  call->attrs.batch_sizes = attrs.batch_sizes;
  call->out = {SpecOf(x, x.dtype, Shape(dims.span())), SpecOf(x, x.dtype, h0.shape)};
  const bool lstm = attrs.cell == RecurrentCell::kLstm;
  if (lstm) call->out.push_back(SpecOf(x, x.dtype, q.in(In::kC0).shape));
  if (lstm || attrs.cell == RecurrentCell::kGru) {
    call->out.push_back(SpecOf(x, kept, Shape({rows, 4 * hidden})));
  }
  if (lstm) call->out.push_back(SpecOf(x, kept, Shape({rows, hidden})));
  call->states = lstm ? 2 : 1;
  Specs in;
  for (size_t i = 0; i < call->num_inputs(); ++i) {
    in.push_back(q.has(static_cast<int>(i)) ? &q.in(static_cast<int>(i)) : nullptr);
  }
  return inner::internal::Ask(LayerKernel(attrs.cell), KernelQuery(in, call->out, call->attrs),
                              &call->answer);
}

absl::Status RunPrepared(const Prepared& answer, absl::Span<const Operand> in,
                         absl::Span<const Operand> out, AttrsRef attrs, void* workspace,
                         Stream* stream) {
  KernelContext inner(in, out, attrs, workspace);
  inner.set_state(answer.state.get());
  inner.set_stream(stream);
  return answer.run(inner);
}

// --- The layer -----------------------------------------------------------------------------------

absl::Status Prepare(const KernelQuery& q, Prepared& answer) {
  auto call = std::make_shared<LayerCall>();
  FIRN_RETURN_IF_ERROR(PrepareLayer(q, q.attrs<CellLayerAttrs>(), call.get()));
  Room room;
  room.Take(call->answer.workspace);
  for (size_t i = call->first_kept(); i < call->out.size(); ++i) room.Take(call->out[i].bytes());
  answer.workspace = room.used();
  answer.state = std::move(call);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const auto& call = k.state<LayerCall>();
  Room room(k.workspace());
  void* const workspace = room.Take(call.answer.workspace);
  absl::InlinedVector<Operand, 5> out;
  for (size_t i = 0; i < call.out.size(); ++i) {
    const bool kept = i >= call.first_kept();
    out.push_back(
        {kept ? room.Take(call.out[i].bytes()) : k.out<void>(static_cast<int>(i)), &call.out[i]});
  }
  return RunPrepared(call.answer, k.operands_in().first(call.num_inputs()), out, call.attrs,
                     workspace, k.stream());
}

// --- The gradient --------------------------------------------------------------------------------

struct GradCall {
  LayerCall layer;
  RecurrentGradAttrs attrs;
  TensorSpec bias;
  std::vector<TensorSpec> out;
  Prepared answer;

  size_t workspace() const { return std::max(layer.answer.workspace, answer.workspace); }
};

// The inputs of the layer's gradient: `of`(i) from this operation's inputs, `made`(i) from the
// layer's results.
template <class Vector, class Of, class Made>
Vector GradInputs(RecurrentCell cell, const Of& of, const Made& made) {
  Vector in = {of(In::kX), of(In::kH0),         of(In::kWih),        of(In::kWhh),
               made(0),    of(CellGradIn::kDy), of(CellGradIn::kDhn)};
  if (cell == RecurrentCell::kLstm) {
    for (const auto& more : {of(CellGradIn::kDcn), of(In::kC0), made(LstmOut::kGates),
                             made(LstmOut::kCells), of(In::kWhr)}) {
      in.push_back(more);
    }
  }
  if (cell == RecurrentCell::kGru) in.push_back(made(GruOut::kGates));
  return in;
}

absl::Status PrepareGrad(const KernelQuery& q, Prepared& answer) {
  const CellGradAttrs& attrs = q.attrs<CellGradAttrs>();
  const RecurrentCell cell = attrs.layer.cell;
  auto call = std::make_shared<GradCall>();
  FIRN_RETURN_IF_ERROR(PrepareLayer(q, attrs.layer, &call->layer));
  call->attrs = {call->layer.attrs, attrs.wants_dx};
  const TensorSpec& w = q.in(In::kWhh);
  call->bias = SpecOf(w, w.dtype, Shape({w.shape[0]}));
  call->out = {q.out(CellGradOut::kDx), q.out(CellGradOut::kDh0), q.out(CellGradOut::kDwih),
               q.out(CellGradOut::kDwhh), call->bias};
  if (cell == RecurrentCell::kLstm) {
    call->out.push_back(q.out(CellGradOut::kDc0));
    call->out.push_back(q.out(CellGradOut::kDwhr));
  }
  if (cell == RecurrentCell::kGru) call->out.push_back(call->bias);
  const Specs in = GradInputs<Specs>(
      cell, [&](int i) { return q.has(i) ? &q.in(i) : nullptr; },
      [&](int i) -> const TensorSpec* { return &call->layer.out[static_cast<size_t>(i)]; });
  FIRN_RETURN_IF_ERROR(inner::internal::Ask(
      GradKernel(cell), KernelQuery(in, call->out, call->attrs), &call->answer));
  Room room;
  room.Take(call->workspace());
  for (const TensorSpec& spec : call->layer.out) room.Take(spec.bytes());
  for (int i = 0; i < 2; ++i) room.Take(call->bias.bytes());
  answer.workspace = room.used();
  answer.state = std::move(call);
  return absl::OkStatus();
}

absl::Status RunGrad(KernelContext& k) {
  using Operands = absl::InlinedVector<Operand, 12>;
  const auto& call = k.state<GradCall>();
  const RecurrentCell cell = k.attrs<CellGradAttrs>().layer.cell;
  Room room(k.workspace());
  void* const workspace = room.Take(call.workspace());
  Operands made;
  for (const TensorSpec& spec : call.layer.out) made.push_back({room.Take(spec.bytes()), &spec});
  FIRN_RETURN_IF_ERROR(RunPrepared(call.layer.answer,
                                   k.operands_in().first(call.layer.num_inputs()), made,
                                   call.layer.attrs, workspace, k.stream()));
  const Operands in = GradInputs<Operands>(
      cell,
      [&](int i) {
        const auto at = static_cast<size_t>(i);
        return at < k.operands_in().size() ? k.operands_in()[at] : Operand{};
      },
      [&](int i) { return made[static_cast<size_t>(i)]; });
  void* const bias = room.Take(call.bias.bytes());
  const bool gru = cell == RecurrentCell::kGru;
  void* const recurrent_bias = gru ? room.Take(call.bias.bytes()) : bias;
  const auto to = [&](int i, size_t spec) { return Operand{k.out<void>(i), &call.out[spec]}; };
  Operands out = {to(CellGradOut::kDx, 0), to(CellGradOut::kDh0, 1), to(CellGradOut::kDwih, 2),
                  to(CellGradOut::kDwhh, 3), Operand{bias, &call.bias}};
  if (cell == RecurrentCell::kLstm) {
    out.push_back(to(CellGradOut::kDc0, 5));
    out.push_back(to(CellGradOut::kDwhr, 6));
  }
  if (gru) out.push_back({recurrent_bias, &call.bias});
  FIRN_RETURN_IF_ERROR(RunPrepared(call.answer, in, out, call.attrs, workspace, k.stream()));
  for (const auto& [i, from] : {std::pair(int{CellGradOut::kDbih}, bias),
                                std::pair(int{CellGradOut::kDbhh}, recurrent_bias)}) {
    if (k.out_spec(i).bytes() != 0) std::memcpy(k.out<void>(i), from, call.bias.bytes());
  }
  return absl::OkStatus();
}

// For f32 and f64.
template <bool kGrad>
const std::vector<Kernel>& FullKernels() {
  static const auto* const kernels = new std::vector<Kernel>{
      {.name = "again", .run = kGrad ? RunGrad : Run, .prepare = kGrad ? PrepareGrad : Prepare}};
  return *kernels;
}

// For every dtype.
template <bool kGrad>
absl::Status PrepareAny(const KernelQuery& q, Prepared& answer) {
  const Kernel kernel =
      IsHalf(q.in(In::kX).dtype) ? InF32<FullKernels<kGrad>>() : FullKernels<kGrad>().front();
  answer.run = kernel.run;
  return kernel.prepare(q, answer);
}

}  // namespace

std::vector<Kernel> RecurrentAgainKernels() {
  return {{.name = "again", .run = Run, .prepare = PrepareAny<false>}};
}
std::vector<Kernel> RecurrentAgainGradKernels() {
  return {{.name = "again", .run = RunGrad, .prepare = PrepareAny<true>}};
}

}  // namespace firn::cpu
