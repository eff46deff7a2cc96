// recurrent_layer and its gradient by cuDNN. Sequences of one length and packed ones are kernels of
// their own, because a frozen graph records calls of the former alone (kernels/cuda/rnn.cc).

#include <algorithm>
#include <memory>

#include "firn/tensor/kernels/cuda/rnn.h"
#include "firn/tensor/kernels/cuda/workspace.h"
#include "firn/tensor/ops/recurrent/recurrent_layer.h"
#include "firn/tensor/precision.h"

namespace firn {
namespace {

using In = RecurrentIn;
using Out = CellLayerOut;
using GradIn = CellGradIn;
using GradOut = CellGradOut;
using cuda::RnnCall;

enum class Lengths { kOne, kMany };

// The calls that kernel `kF32`, `kLengths` takes.
template <F32Math kF32, Lengths kLengths>
absl::StatusOr<RnnCall> Find(const KernelQuery& q, const CellLayerAttrs& attrs) {
  const TensorSpec &x = q.in(In::kX), &h0 = q.in(In::kH0);
  const Shape& w = q.in(In::kWhh).shape;
  FIRN_RETURN_IF((kLengths == Lengths::kMany) == attrs.batch_sizes.empty(),
                 Unimplemented("takes sequences of ",
                               kLengths == Lengths::kMany ? "several lengths" : "one length"));
  if constexpr (kF32 == F32Math::kTf32) {
    FIRN_RETURN_IF(MatmulMath() != F32Math::kTf32, Unimplemented("is switched off"));
    FIRN_RETURN_IF(x.dtype != DType::kF32, Unimplemented("takes f32 only"));
  }
  FIRN_RETURN_IF(x.num_elements() == 0 || h0.num_elements() == 0,
                 Unimplemented("takes no empty tensors"));
  FIRN_RETURN_IF(q.has(In::kWhr) && w[1] >= w[0] / GatesOf(attrs.cell),
                 Unimplemented("takes projections to fewer units"));
  const bool packed = kLengths == Lengths::kMany;
  const auto steps = packed ? static_cast<int64_t>(attrs.batch_sizes.size()) : x.shape[0];
  const int64_t batch = packed ? attrs.batch_sizes[0] : x.shape[1];
  return cuda::FindRnn(h0.device,
                       {.dtype = x.dtype,
                        .cell = attrs.cell,
                        .biased = q.has(In::kBih) || q.has(In::kBhh),
                        .tf32 = kF32 == F32Math::kTf32,
                        .steps = steps,
                        .batch = batch,
                        .in = x.shape.dim(-1),
                        .hidden = w[0] / GatesOf(attrs.cell),
                        .state = w[1]},
                       attrs.batch_sizes);
}

cuda::RnnTensors TensorsOf(const KernelContext& k, void* y, void* h_n, void* c_n) {
  return {k.in<void>(In::kX),
          k.in<void>(In::kH0),
          k.in<void>(In::kC0),
          {k.in<void>(In::kWih), k.in<void>(In::kWhh), k.in<void>(In::kBih), k.in<void>(In::kBhh),
           k.in<void>(In::kWhr)},
          y,
          h_n,
          c_n};
}

// Returns null for a result without elements.
void* Wanted(const KernelContext& k, int i) {
  return k.out_spec(i).num_elements() == 0 ? nullptr : k.out<void>(i);
}

// --- The layer -----------------------------------------------------------------------------------

struct ForwardPieces {
  ForwardPieces(const cuda::RnnMemory& m, cuda::WorkspacePieces w)
      : scratch{w.TakeBytes(m.weights), w.TakeBytes(m.forward), nullptr}, bytes(w.bytes()) {}
  cuda::RnnScratch scratch;
  size_t bytes;
};

template <F32Math kF32, Lengths kLengths>
absl::Status Prepare(const KernelQuery& q, Prepared& answer) {
  FIRN_ASSIGN_OR_RETURN(RnnCall call, (Find<kF32, kLengths>(q, q.attrs<CellLayerAttrs>())));
  answer.workspace = ForwardPieces(call.memory, {}).bytes;
  answer.state = std::make_shared<const RnnCall>(std::move(call));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const RnnCall& call = k.state<RnnCall>();
  const ForwardPieces w(call.memory, cuda::WorkspacePieces(k));
  return cuda::RnnForward(
      k, call, TensorsOf(k, k.out<void>(Out::kY), k.out<void>(Out::kHn), Wanted(k, Out::kCn)),
      w.scratch);
}

// --- The gradient --------------------------------------------------------------------------------

struct GradCall {
  RnnCall call;
  size_t y_bytes, dx_bytes;  // dx_bytes: of one that nobody wants
  bool flowed;               // there is a dy
};

struct GradPieces {
  GradPieces(const GradCall& c, cuda::WorkspacePieces w)
      : scratch{w.TakeBytes(c.call.memory.weights), w.TakeBytes(c.call.memory.backward),
                w.TakeBytes(c.call.memory.reserve)},
        dweights(w.TakeBytes(c.call.memory.weights)),
        y(w.TakeBytes(c.y_bytes)),
        zeros(c.flowed ? nullptr : w.TakeBytes(c.y_bytes)),
        dx(w.TakeBytes(c.dx_bytes)),
        bytes(w.bytes()) {}
  cuda::RnnScratch scratch;
  void *dweights, *y, *zeros, *dx;
  size_t bytes;
};

template <F32Math kF32, Lengths kLengths>
absl::Status PrepareGrad(const KernelQuery& q, Prepared& answer) {
  const CellGradAttrs& attrs = q.attrs<CellGradAttrs>();
  GradCall c;
  FIRN_ASSIGN_OR_RETURN(c.call, (Find<kF32, kLengths>(q, attrs.layer)));
  const TensorSpec& x = q.in(In::kX);
  const int64_t rows = x.num_elements() / x.shape.dim(-1), state = q.in(In::kWhh).shape[1];
  c.y_bytes = static_cast<size_t>(rows * state * SizeOf(x.dtype));
  c.dx_bytes = attrs.wants_dx ? 0 : x.bytes();
  c.flowed = q.has(GradIn::kDy);
  answer.workspace = GradPieces(c, {}).bytes;
  answer.state = std::make_shared<const GradCall>(std::move(c));
  return absl::OkStatus();
}

absl::Status RunGrad(KernelContext& k) {
  const GradCall& c = k.state<GradCall>();
  const GradPieces w(c, cuda::WorkspacePieces(k));
  const cuda::RnnGradients gradients = {
      .dy = k.in<void>(GradIn::kDy),
      .dh_n = k.in<void>(GradIn::kDhn),
      .dc_n = k.in<void>(GradIn::kDcn),
      .zeros = w.zeros,
      .zero_bytes = c.y_bytes,
      .dx = c.dx_bytes == 0 ? k.out<void>(GradOut::kDx) : w.dx,
      .dh0 = k.out<void>(GradOut::kDh0),
      .dc0 = Wanted(k, GradOut::kDc0),
      .weights = {k.out<void>(GradOut::kDwih), k.out<void>(GradOut::kDwhh),
                  Wanted(k, GradOut::kDbih), Wanted(k, GradOut::kDbhh), Wanted(k, GradOut::kDwhr)},
      .scratch = w.dweights};
  return cuda::RnnBackward(k, c.call, TensorsOf(k, w.y, nullptr, nullptr), w.scratch, gradients);
}

template <F32Math kF32, Lengths kLengths>
Kernel Cudnn(std::string_view name, bool grad) {
  return {.name = name,
          .device = DeviceType::kCuda,
          .run = grad ? RunGrad : Run,
          .prepare = grad ? PrepareGrad<kF32, kLengths> : Prepare<kF32, kLengths>,
          .graph_capturable = kLengths == Lengths::kOne};
}

std::vector<Kernel> Kernels(bool grad) {
  return {Cudnn<F32Math::kTf32, Lengths::kOne>("rnn_cudnn_tf32", grad),
          Cudnn<F32Math::kTf32, Lengths::kMany>("rnn_cudnn_tf32_packed", grad),
          Cudnn<F32Math::kStrict, Lengths::kOne>("rnn_cudnn", grad),
          Cudnn<F32Math::kStrict, Lengths::kMany>("rnn_cudnn_packed", grad)};
}

}  // namespace

FIRN_REGISTER_KERNELS(recurrent_layer) { return Kernels(false); }

FIRN_REGISTER_KERNELS(recurrent_layer_grad) { return Kernels(true); }

}  // namespace firn
