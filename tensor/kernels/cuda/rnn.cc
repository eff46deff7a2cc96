// A layer's descriptors, weights copied to where cuDNN wants them, and its calls.
//
// Sequences are packed, without padding and sorted by length, as in recurrent_layer; equally long
// ones are packed by nature. The lengths are in a descriptor, so a call that may be made later, or
// again, needs one that lasts. Those of equally long sequences do; other lengths change from batch
// to batch, and their descriptors live as long as their call.

#include "firn/tensor/kernels/cuda/rnn.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/library_api.h"
#include "firn/tensor/kernels/cuda/per_device.h"
#include "firn/tensor/kernels/cuda/rnn_api.h"

namespace firn::cuda {

struct RnnPlan {
  const RnnApi* api = nullptr;
  RnnShape shape;
  RnnMemory memory;
  cudnnRNNDescriptor_t rnn = nullptr;
  cudnnRNNDataDescriptor_t x = nullptr, y = nullptr;
  cudnnTensorDescriptor_t h = nullptr, c = nullptr;
  cudnnTensorDescriptor_t matrix = nullptr, bias = nullptr;  // cuDNN's description of a weight

  RnnPlan() = default;
  RnnPlan(const RnnPlan&) = delete;
  RnnPlan& operator=(const RnnPlan&) = delete;
  ~RnnPlan() {
    for (cudnnTensorDescriptor_t d : {h, c, matrix, bias}) {
      if (d != nullptr) api->destroy_tensor(d);
    }
    for (cudnnRNNDataDescriptor_t d : {x, y}) {
      if (d != nullptr) api->destroy_data(d);
    }
    if (rnn != nullptr) api->destroy_rnn(rnn);
  }

  int gates() const { return static_cast<int>(GatesOf(shape.cell)); }
  int projection() const {
    return shape.state == shape.hidden ? -1 : 2 * gates();  // its number among the weights
  }
};

namespace {

absl::Status RnnStatus(cudnnStatus_t code, const char* call) {
  if (code == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  if (code / 1000 == CUDNN_STATUS_NOT_SUPPORTED / 1000) {
    return Unimplemented(call, ": cudnnStatus_t ", static_cast<int>(code));
  }
  return Internal(call, ": cudnnStatus_t ", static_cast<int>(code));
}
absl::Status CudaStatus(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return absl::OkStatus();
  return Internal(call, ": ", cudaGetErrorString(code));
}

// Each call sets the handle's stream, so that threads share it under one lock.
struct Context {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  std::map<RnnShape, std::shared_ptr<const RnnPlan>> plans;  // of equally long sequences, for good
};

absl::StatusOr<Context*> ContextOf(const RnnApi& api, Device device) {
  static auto* const contexts = new PerDevice<Context>;  // never destroyed, as the contexts
  return contexts->Get(
      device, [&](Context& c) { return RnnStatus(api.create(&c.handle), "cudnnCreate"); },
      api.set_device);
}

cudnnDataType_t TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return CUDNN_DATA_DOUBLE;
    case DType::kF16:
      return CUDNN_DATA_HALF;
    case DType::kBF16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

cudnnRNNMode_t ModeOf(RecurrentCell cell) {
  switch (cell) {
    case RecurrentCell::kRnnTanh:
      return CUDNN_RNN_TANH;
    case RecurrentCell::kRnnRelu:
      return CUDNN_RNN_RELU;
    case RecurrentCell::kGru:
      return CUDNN_GRU;
    case RecurrentCell::kLstm:
      break;
  }
  return CUDNN_LSTM;
}

// Half types go to tensor cores, and f32 where it may be rounded.
cudnnMathType_t MathOf(const RnnShape& s) {
  if (SizeOf(s.dtype) == 2) return CUDNN_TENSOR_OP_MATH;
  return s.dtype == DType::kF32 && !s.tf32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

// --- Descriptors ---------------------------------------------------------------------------------

absl::Status SetLayer(const RnnShape& s, RnnPlan* p) {
  FIRN_RETURN_IF_ERROR(RnnStatus(p->api->create_rnn(&p->rnn), "cudnnCreateRNNDescriptor"));
  const cudnnDataType_t type = TypeOf(s.dtype);
  return RnnStatus(
      p->api->set_rnn(p->rnn, CUDNN_RNN_ALGO_STANDARD, ModeOf(s.cell),
                      s.biased ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS, CUDNN_UNIDIRECTIONAL,
                      CUDNN_LINEAR_INPUT, type,
                      s.dtype == DType::kF64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, MathOf(s),
                      static_cast<int32_t>(s.in), static_cast<int32_t>(s.hidden),
                      static_cast<int32_t>(s.state), 1, nullptr, CUDNN_RNN_PADDED_IO_DISABLED),
      "cudnnSetRNNDescriptor_v8");
}

absl::Status SetSequences(const RnnPlan& p, const std::vector<int>& lengths, int64_t width,
                          cudnnRNNDataDescriptor_t* d) {
  FIRN_RETURN_IF_ERROR(RnnStatus(p.api->create_data(d), "cudnnCreateRNNDataDescriptor"));
  return RnnStatus(
      p.api->set_data(*d, TypeOf(p.shape.dtype), CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
                      static_cast<int>(p.shape.steps), static_cast<int>(p.shape.batch),
                      static_cast<int>(width), lengths.data(), nullptr),
      "cudnnSetRNNDataDescriptor");
}

absl::Status SetState(const RnnPlan& p, int64_t width, cudnnTensorDescriptor_t* d) {
  FIRN_RETURN_IF_ERROR(RnnStatus(p.api->create_tensor(d), "cudnnCreateTensorDescriptor"));
  const int batch = static_cast<int>(p.shape.batch), size = static_cast<int>(width);
  const int sizes[] = {1, batch, size}, strides[] = {batch * size, size, 1};
  return RnnStatus(p.api->set_tensor(*d, TypeOf(p.shape.dtype), 3, sizes, strides),
                   "cudnnSetTensorNdDescriptor");
}

std::vector<int> LengthsOf(const RnnShape& s, absl::Span<const int64_t> batch_sizes) {
  if (batch_sizes.empty()) {
    return std::vector<int>(static_cast<size_t>(s.batch), static_cast<int>(s.steps));
  }
  std::vector<int> lengths(static_cast<size_t>(s.batch));
  for (const int64_t size : batch_sizes) {
    for (int64_t b = 0; b < size; ++b) ++lengths[static_cast<size_t>(b)];
  }
  return lengths;
}

// Requires: the context's lock.
absl::StatusOr<std::shared_ptr<const RnnPlan>> MakePlan(const RnnApi& api, const Context& context,
                                                        const RnnShape& s,
                                                        absl::Span<const int64_t> batch_sizes) {
  auto p = std::make_shared<RnnPlan>();
  p->api = &api;
  p->shape = s;
  FIRN_RETURN_IF_ERROR(SetLayer(s, p.get()));
  const std::vector<int> lengths = LengthsOf(s, batch_sizes);
  FIRN_RETURN_IF_ERROR(SetSequences(*p, lengths, s.in, &p->x));
  FIRN_RETURN_IF_ERROR(SetSequences(*p, lengths, s.state, &p->y));
  FIRN_RETURN_IF_ERROR(SetState(*p, s.state, &p->h));
  FIRN_RETURN_IF_ERROR(SetState(*p, s.hidden, &p->c));
  for (cudnnTensorDescriptor_t* d : {&p->matrix, &p->bias}) {
    FIRN_RETURN_IF_ERROR(RnnStatus(api.create_tensor(d), "cudnnCreateTensorDescriptor"));
  }
  RnnMemory& m = p->memory;
  FIRN_RETURN_IF_ERROR(
      RnnStatus(api.weight_size(context.handle, p->rnn, &m.weights), "cudnnGetRNNWeightSpaceSize"));
  size_t none = 0;
  FIRN_RETURN_IF_ERROR(RnnStatus(
      api.temp_sizes(context.handle, p->rnn, CUDNN_FWD_MODE_INFERENCE, p->x, &m.forward, &none),
      "cudnnGetRNNTempSpaceSizes"));
  FIRN_RETURN_IF_ERROR(RnnStatus(api.temp_sizes(context.handle, p->rnn, CUDNN_FWD_MODE_TRAINING,
                                                p->x, &m.backward, &m.reserve),
                                 "cudnnGetRNNTempSpaceSizes"));
  return p;
}

// --- Weights -------------------------------------------------------------------------------------

// Calls f(weight, offset, place, bytes) for every part of a parameter: `offset` is in bytes from
// the parameter's beginning, `place` is in the weight space. Adjacent parts are joined.
template <class F>
absl::Status ForEachPart(const RnnPlan& p, cudnnHandle_t handle, void* space, const F& f) {
  struct Part {
    int weight = -1;
    size_t offset = 0, bytes = 0;
    char* place = nullptr;
  };
  Part parts[RnnWeight::kCount];
  const RnnShape& s = p.shape;
  const auto size = static_cast<size_t>(SizeOf(s.dtype));
  const auto flush = [&](Part& part) {
    return part.bytes == 0 ? absl::OkStatus() : f(part.weight, part.offset, part.place, part.bytes);
  };
  const auto add = [&](int weight, void* place, int64_t elements) -> absl::Status {
    FIRN_RETURN_IF(place == nullptr, Internal("cudnnGetRNNWeightParams: a weight has no place"));
    Part& part = parts[weight];
    part.weight = weight;
    const size_t bytes = static_cast<size_t>(elements) * size;
    if (part.bytes != 0 && part.place + part.bytes != place) {
      FIRN_RETURN_IF_ERROR(flush(part));
      part.offset += part.bytes;
      part.bytes = 0;
    }
    if (part.bytes == 0) part.place = static_cast<char*>(place);
    part.bytes += bytes;
    return absl::OkStatus();
  };
  const int gates = p.gates(), count = 2 * gates + (p.projection() < 0 ? 0 : 1);
  for (int id = 0; id < count; ++id) {
    void *matrix = nullptr, *bias = nullptr;
    FIRN_RETURN_IF_ERROR(RnnStatus(p.api->weight_places(handle, p.rnn, 0, p.memory.weights, space,
                                                        id, p.matrix, &matrix, p.bias, &bias),
                                   "cudnnGetRNNWeightParams"));
    if (id == p.projection()) {
      FIRN_RETURN_IF_ERROR(add(RnnWeight::kHr, matrix, s.state * s.hidden));
      continue;
    }
    const bool of_x = id < gates;
    FIRN_RETURN_IF_ERROR(
        add(of_x ? RnnWeight::kIh : RnnWeight::kHh, matrix, s.hidden * (of_x ? s.in : s.state)));
    if (!s.biased) continue;
    FIRN_RETURN_IF_ERROR(add(of_x ? RnnWeight::kBih : RnnWeight::kBhh, bias, s.hidden));
  }
  for (Part& part : parts) FIRN_RETURN_IF_ERROR(flush(part));
  return absl::OkStatus();
}

absl::Status CopyWeights(const RnnPlan& p, cudnnHandle_t handle,
                         const void* const (&weights)[RnnWeight::kCount], void* space,
                         cudaStream_t stream) {
  const bool lacks_one = p.shape.biased && (weights[RnnWeight::kBih] == nullptr ||
                                            weights[RnnWeight::kBhh] == nullptr);
  if (lacks_one) {
    FIRN_RETURN_IF_ERROR(
        CudaStatus(p.api->fill(space, 0, p.memory.weights, stream), "cudaMemsetAsync"));
  }
  return ForEachPart(
      p, handle, space, [&](int weight, size_t offset, char* place, size_t bytes) -> absl::Status {
        if (weights[weight] == nullptr) return absl::OkStatus();
        const char* const from = static_cast<const char*>(weights[weight]) + offset;
        return CudaStatus(p.api->copy(place, from, bytes, cudaMemcpyDeviceToDevice, stream),
                          "cudaMemcpyAsync");
      });
}

// --- Calls ---------------------------------------------------------------------------------------

struct Forward {
  Device device;
  const RnnPlan* plan;
  RnnTensors tensors;
  RnnScratch scratch;
};

struct Backward {
  Forward again;
  RnnGradients gradients;
};

// Requires: the context's lock, and its handle on the stream.
absl::Status RunForward(const Context& context, const Forward& f, bool training,
                        cudaStream_t stream) {
  const RnnPlan& p = *f.plan;
  const RnnTensors& t = f.tensors;
  FIRN_RETURN_IF_ERROR(CopyWeights(p, context.handle, t.weights, f.scratch.weights, stream));
  return RnnStatus(
      p.api->forward(context.handle, p.rnn,
                     training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE,
                     nullptr /* lengths are the descriptors' */, p.x, t.x, p.y, t.y, p.h, t.h0,
                     t.h_n, p.c, t.c0, t.c_n, p.memory.weights, f.scratch.weights,
                     training ? p.memory.backward : p.memory.forward, f.scratch.work,
                     training ? p.memory.reserve : 0, training ? f.scratch.reserve : nullptr),
      "cudnnRNNForward");
}

absl::Status RunBackward(const Context& context, const Backward& b, cudaStream_t stream) {
  const RnnPlan& p = *b.again.plan;
  const RnnTensors& t = b.again.tensors;
  const RnnScratch& s = b.again.scratch;
  const RnnGradients& g = b.gradients;
  FIRN_RETURN_IF_ERROR(RunForward(context, b.again, true, stream));
  if (g.zeros != nullptr) {
    FIRN_RETURN_IF_ERROR(
        CudaStatus(p.api->fill(g.zeros, 0, g.zero_bytes, stream), "cudaMemsetAsync"));
  }
  FIRN_RETURN_IF_ERROR(RnnStatus(
      p.api->backward_data(context.handle, p.rnn, nullptr, p.y, t.y,
                           g.zeros != nullptr ? g.zeros : g.dy, p.x, g.dx, p.h, t.h0, g.dh_n, g.dh0,
                           p.c, t.c0, g.dc_n, g.dc0, p.memory.weights, s.weights, p.memory.backward,
                           s.work, p.memory.reserve, s.reserve),
      "cudnnRNNBackwardData_v8"));
  // Adding is cuDNN's only mode here.
  FIRN_RETURN_IF_ERROR(
      CudaStatus(p.api->fill(g.scratch, 0, p.memory.weights, stream), "cudaMemsetAsync"));
  FIRN_RETURN_IF_ERROR(
      RnnStatus(p.api->backward_weights(context.handle, p.rnn, CUDNN_WGRAD_MODE_ADD, nullptr, p.x,
                                        t.x, p.h, t.h0, p.y, t.y, p.memory.weights, g.scratch,
                                        p.memory.backward, s.work, p.memory.reserve, s.reserve),
                "cudnnRNNBackwardWeights_v8"));
  return ForEachPart(p, context.handle, g.scratch,
                     [&](int weight, size_t offset, char* place, size_t bytes) -> absl::Status {
                       if (g.weights[weight] == nullptr) return absl::OkStatus();
                       char* const to = static_cast<char*>(g.weights[weight]) + offset;
                       return CudaStatus(
                           p.api->copy(to, place, bytes, cudaMemcpyDeviceToDevice, stream),
                           "cudaMemcpyAsync");
                     });
}

// Calls run(context, stream) with the handle on the stream.
template <class F>
absl::Status OnStream(Device device, const RnnPlan& plan, void* stream, const F& run) {
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(*plan.api, device));
  const auto on = static_cast<cudaStream_t>(stream);
  const std::lock_guard lock(context->mutex);
  FIRN_RETURN_IF_ERROR(RnnStatus(plan.api->set_stream(context->handle, on), "cudnnSetStream"));
  return run(*context, on);
}

absl::Status CallForward(const Forward& f, void* stream) {
  return OnStream(f.device, *f.plan, stream, [&](const Context& context, cudaStream_t on) {
    return RunForward(context, f, false, on);
  });
}
absl::Status CallBackward(const Backward& b, void* stream) {
  return OnStream(
      b.again.device, *b.again.plan, stream,
      [&](const Context& context, cudaStream_t on) { return RunBackward(context, b, on); });
}

// Calls that may be made later and again, and those that are made now.
template <auto kCall, class Argument>
absl::Status Make(const Queue& queue, const RnnCall& call, const char* name,
                  const Argument& argument) {
  if (call.lasting) return Call<kCall>(queue, name, argument);
  FIRN_ASSIGN_OR_RETURN(void* const stream, StreamHandle(queue));
  return kCall(argument, stream);
}

}  // namespace

absl::StatusOr<RnnCall> FindRnn(Device device, const RnnShape& shape,
                                absl::Span<const int64_t> batch_sizes) {
  const RnnApi* const api = LibraryApi<RnnApi>::Of(device);
  FIRN_RETURN_IF(api == nullptr, Unavailable("there is no cuDNN here"));
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  FIRN_RETURN_IF(std::max({shape.steps, shape.batch, shape.in, shape.hidden}) > kMost ||
                     shape.batch > kMost / shape.hidden,
                 Unimplemented("takes sizes below 2^31"));
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(*api, device));
  const std::lock_guard lock(context->mutex);
  if (!batch_sizes.empty()) {
    FIRN_ASSIGN_OR_RETURN(auto plan, MakePlan(*api, *context, shape, batch_sizes));
    const RnnMemory memory = plan->memory;
    return RnnCall{std::move(plan), memory, false};
  }
  std::shared_ptr<const RnnPlan>& plan = context->plans[shape];
  if (plan == nullptr) {
    FIRN_ASSIGN_OR_RETURN(plan, MakePlan(*api, *context, shape, batch_sizes));
  }
  return RnnCall{plan, plan->memory, true};
}

absl::Status RnnForward(const Queue& queue, const RnnCall& call, const RnnTensors& tensors,
                        const RnnScratch& scratch) {
  return Make<CallForward>(queue, call, "cudnnRNNForward",
                           Forward{queue.device, call.plan.get(), tensors, scratch});
}

absl::Status RnnBackward(const Queue& queue, const RnnCall& call, const RnnTensors& tensors,
                         const RnnScratch& scratch, const RnnGradients& gradients) {
  return Make<CallBackward>(queue, call, "cudnnRNNBackwardData_v8",
                            Backward{{queue.device, call.plan.get(), tensors, scratch}, gradients});
}

}  // namespace firn::cuda
