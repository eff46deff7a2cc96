// A stand-in for cuDNN's functions for recurrent layers: one layer in one direction of packed
// sequences. It refuses what cuDNN refuses by its documentation: descriptors that do not fit
// together, sequences that are not sorted, spaces that are too small, a second array of lengths.
#include "tests/device/fake_cudnn_rnn.h"

#include <cstring>
#include <numeric>
#include <vector>

#include "firn/tensor/kernels/cuda/library_api.h"
#include "tests/device/fake_library_work.h"

namespace firn::fake {
namespace {

constexpr int64_t kWorkBytes = 136;  // for each sequence

struct Handle {
  cudaStream_t stream = nullptr;
};
struct Layer {
  RnnLayer layer{};
};
struct Data {
  cudnnDataType_t type;
  int steps, batch, width;
  std::vector<int> lengths;
};
struct States {
  cudnnDataType_t type;
  int sizes[3], strides[3];
};

// These live as long as the process, since queued work reads them.
template <class T, class Handle>
cudnnStatus_t Make(Handle* to) {
  static auto* const all = new std::vector<T*>;
  all->push_back(new T());
  *to = reinterpret_cast<Handle>(all->back());
  return CUDNN_STATUS_SUCCESS;
}
template <class T>
T* Of(const void* handle) {
  return static_cast<T*>(const_cast<void*>(handle));
}

cudnnStatus_t Create(cudnnHandle_t* to) { return Make<Handle>(to); }
cudnnStatus_t SetStream(cudnnHandle_t handle, cudaStream_t stream) {
  Of<Handle>(handle)->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t CreateRnn(cudnnRNNDescriptor_t* to) { return Make<Layer>(to); }
cudnnStatus_t DestroyRnn(cudnnRNNDescriptor_t) { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t CreateData(cudnnRNNDataDescriptor_t* to) { return Make<Data>(to); }
cudnnStatus_t DestroyData(cudnnRNNDataDescriptor_t) { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t CreateTensor(cudnnTensorDescriptor_t* to) { return Make<States>(to); }
cudnnStatus_t DestroyTensor(cudnnTensorDescriptor_t) { return CUDNN_STATUS_SUCCESS; }

struct Bytes {
  void* to;
  const void* from;
  size_t count;
};
void CopyBytes(const Bytes& b) {
  if (b.from == nullptr) std::memset(b.to, 0, b.count);
  if (b.from != nullptr) std::memcpy(b.to, b.from, b.count);
}
cudaError_t Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  if (kind != cudaMemcpyDeviceToDevice || to == nullptr || from == nullptr) {
    return cudaErrorInvalidValue;
  }
  return Queue<CopyBytes>(stream, Bytes{to, from, bytes}) ? cudaSuccess : cudaErrorLaunchFailure;
}
cudaError_t Fill(void* to, int value, size_t bytes, cudaStream_t stream) {
  if (to == nullptr || value != 0) return cudaErrorInvalidValue;
  return Queue<CopyBytes>(stream, Bytes{to, nullptr, bytes}) ? cudaSuccess : cudaErrorLaunchFailure;
}

cudnnStatus_t SetRnn(cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t mode,
                     cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction,
                     cudnnRNNInputMode_t input, cudnnDataType_t type, cudnnDataType_t compute,
                     cudnnMathType_t, int32_t in, int32_t hidden, int32_t state, int32_t layers,
                     cudnnDropoutDescriptor_t dropout, uint32_t flags) {
  const cudnnDataType_t wide = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  if (compute != wide || in < 1 || hidden < 1 || state < 1 || state > hidden || layers != 1) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const bool simple = algorithm == CUDNN_RNN_ALGO_STANDARD && direction == CUDNN_UNIDIRECTIONAL &&
                      input == CUDNN_LINEAR_INPUT && dropout == nullptr && flags == 0 &&
                      (bias == CUDNN_RNN_NO_BIAS || bias == CUDNN_RNN_DOUBLE_BIAS);
  if (!simple || (state != hidden && mode != CUDNN_LSTM)) return CUDNN_STATUS_NOT_SUPPORTED;
  RnnLayer& l = Of<Layer>(rnn)->layer;
  l.mode = mode, l.bias = bias, l.type = type;
  l.in = in, l.hidden = hidden, l.state = state;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t SetData(cudnnRNNDataDescriptor_t data, cudnnDataType_t type,
                      cudnnRNNDataLayout_t layout, int steps, int batch, int width,
                      const int* lengths, void*) {
  if (layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) return CUDNN_STATUS_NOT_SUPPORTED;
  if (steps < 1 || batch < 1 || width < 1) return CUDNN_STATUS_BAD_PARAM;
  for (int b = 0; b < batch; ++b) {
    if (lengths[b] < 1 || lengths[b] > (b == 0 ? steps : lengths[b - 1])) {
      return CUDNN_STATUS_BAD_PARAM;
    }
  }
  *Of<Data>(data) = {type, steps, batch, width, std::vector<int>(lengths, lengths + batch)};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t SetTensor(cudnnTensorDescriptor_t d, cudnnDataType_t type, int rank, const int* sizes,
                        const int* strides) {
  if (rank != 3) return CUDNN_STATUS_BAD_PARAM;
  States& s = *Of<States>(d);
  s.type = type;
  std::memcpy(s.sizes, sizes, sizeof(s.sizes));
  std::memcpy(s.strides, strides, sizeof(s.strides));
  return CUDNN_STATUS_SUCCESS;
}

// --- Sizes and places ----------------------------------------------------------------------------

// The layer with the sequences of x.
RnnLayer LayerOf(cudnnRNNDescriptor_t rnn, cudnnRNNDataDescriptor_t x) {
  RnnLayer l = Of<Layer>(rnn)->layer;
  const Data& d = *Of<Data>(x);
  l.steps = d.steps, l.batch = d.batch, l.lengths = d.lengths.data();
  l.rows = std::accumulate(d.lengths.begin(), d.lengths.end(), int64_t{0});
  return l;
}

size_t BytesOf(const RnnLayer& l, int64_t elements) {
  const int size = l.type == CUDNN_DATA_DOUBLE ? 8 : l.type == CUDNN_DATA_FLOAT ? 4 : 2;
  return static_cast<size_t>(elements * size);
}

size_t WorkBytes(const RnnLayer& l, bool training) {
  return static_cast<size_t>(l.batch * (training ? 2 : 1) * kWorkBytes);
}

cudnnStatus_t TempSizes(cudnnHandle_t, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode,
                        cudnnRNNDataDescriptor_t x, size_t* work, size_t* reserve) {
  const RnnLayer l = LayerOf(rnn, x);
  const bool training = mode == CUDNN_FWD_MODE_TRAINING;
  *work = WorkBytes(l, training);
  *reserve = training ? static_cast<size_t>(l.reserve()) * sizeof(double) : 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t WeightSize(cudnnHandle_t, cudnnRNNDescriptor_t rnn, size_t* bytes) {
  const RnnLayer& l = Of<Layer>(rnn)->layer;
  *bytes = BytesOf(l, l.weights());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t WeightPlaces(cudnnHandle_t, cudnnRNNDescriptor_t rnn, int32_t layer, size_t bytes,
                           const void* space, int32_t id, cudnnTensorDescriptor_t matrix,
                           void** matrix_at, cudnnTensorDescriptor_t bias, void** bias_at) {
  const RnnLayer& l = Of<Layer>(rnn)->layer;
  if (layer != 0 || bytes != BytesOf(l, l.weights()) || space == nullptr || id < 0 ||
      id >= l.count() || matrix == nullptr || bias == nullptr) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  char* const base = static_cast<char*>(const_cast<void*>(space));
  *matrix_at = base + BytesOf(l, l.Place(id));
  const bool has_bias = l.bias != CUDNN_RNN_NO_BIAS && id < 2 * l.gates();
  *bias_at = has_bias ? base + BytesOf(l, l.BiasPlace(id)) : nullptr;
  return CUDNN_STATUS_SUCCESS;
}

// --- Calls ---------------------------------------------------------------------------------------

struct Described {
  cudnnRNNDescriptor_t rnn;
  cudnnRNNDataDescriptor_t x, y;
  cudnnTensorDescriptor_t h, c;
  size_t weights, work, reserve;
};

bool Fits(const RnnLayer& l, cudnnTensorDescriptor_t d, int64_t width) {
  const States& s = *Of<States>(d);
  return s.type == l.type && s.sizes[0] == 1 && s.sizes[1] == l.batch && s.sizes[2] == width &&
         s.strides[2] == 1 && s.strides[1] == width;
}

// Whether the descriptions of a call's operands fit together.
bool IsFine(const Described& d, const RnnWork& w) {
  const RnnLayer& l = w.layer;
  const Data &x = *Of<Data>(d.x), &y = *Of<Data>(d.y);
  const bool described = x.type == l.type && y.type == l.type && x.width == l.in &&
                         y.width == l.state && x.lengths == y.lengths && Fits(l, d.h, l.state) &&
                         (d.c == nullptr || l.mode != CUDNN_LSTM || Fits(l, d.c, l.hidden));
  const bool given = w.x != nullptr && w.y != nullptr && w.work != nullptr &&
                     (!w.training || w.reserve != nullptr);
  return described && given && d.weights == BytesOf(l, l.weights()) &&
         d.work >= WorkBytes(l, w.training) &&
         (!w.training || d.reserve >= static_cast<size_t>(l.reserve()) * sizeof(double));
}

template <auto kRun>
cudnnStatus_t Start(cudnnHandle_t handle, const Described& d, const RnnWork& w) {
  if (!IsFine(d, w)) return CUDNN_STATUS_BAD_PARAM;
  return Queue<kRun>(Of<Handle>(handle)->stream, w) ? CUDNN_STATUS_SUCCESS
                                                    : CUDNN_STATUS_EXECUTION_FAILED;
}

RnnWork WorkOf(const Described& d, bool training, void* work, void* reserve) {
  RnnWork w{};
  w.layer = LayerOf(d.rnn, d.x);
  w.training = training;
  w.work = work, w.reserve = reserve;
  w.work_bytes = static_cast<int64_t>(WorkBytes(w.layer, training));
  return w;
}

cudnnStatus_t RunForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode,
                         const int32_t* lengths, cudnnRNNDataDescriptor_t x_is, const void* x,
                         cudnnRNNDataDescriptor_t y_is, void* y, cudnnTensorDescriptor_t h_is,
                         const void* hx, void* hy, cudnnTensorDescriptor_t c_is, const void* cx,
                         void* cy, size_t weight_bytes, const void* weights, size_t work_bytes,
                         void* work, size_t reserve_bytes, void* reserve) {
  const Described d{rnn, x_is, y_is, h_is, c_is, weight_bytes, work_bytes, reserve_bytes};
  RnnWork w = WorkOf(d, mode == CUDNN_FWD_MODE_TRAINING, work, reserve);
  w.x = x, w.hx = hx, w.cx = cx, w.weights = weights;
  w.y = y, w.hy = hy, w.cy = cy;
  if (lengths != nullptr || weights == nullptr) return CUDNN_STATUS_BAD_PARAM;
  return Start<RunRnnForward>(handle, d, w);
}

cudnnStatus_t BackwardData(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, const int32_t* lengths,
                           cudnnRNNDataDescriptor_t y_is, const void* y, const void* dy,
                           cudnnRNNDataDescriptor_t x_is, void* dx, cudnnTensorDescriptor_t h_is,
                           const void* hx, const void* dhy, void* dhx, cudnnTensorDescriptor_t c_is,
                           const void* cx, const void* dcy, void* dcx, size_t weight_bytes,
                           const void* weights, size_t work_bytes, void* work, size_t reserve_bytes,
                           void* reserve) {
  const Described d{rnn, x_is, y_is, h_is, c_is, weight_bytes, work_bytes, reserve_bytes};
  RnnWork w = WorkOf(d, true, work, reserve);
  w.x = dx;  // whose place is needed
  w.y = const_cast<void*>(y);
  w.hx = hx, w.cx = cx, w.weights = weights;
  w.dy = dy, w.dhy = dhy, w.dcy = dcy;
  w.dx = dx, w.dhx = dhx, w.dcx = dcx;
  if (lengths != nullptr || dy == nullptr || weights == nullptr) return CUDNN_STATUS_BAD_PARAM;
  return Start<RunRnnBackwardData>(handle, d, w);
}

cudnnStatus_t BackwardWeights(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnWgradMode_t mode,
                              const int32_t* lengths, cudnnRNNDataDescriptor_t x_is, const void* x,
                              cudnnTensorDescriptor_t h_is, const void* hx,
                              cudnnRNNDataDescriptor_t y_is, const void* y, size_t weight_bytes,
                              void* dweights, size_t work_bytes, void* work, size_t reserve_bytes,
                              void* reserve) {
  const Described d{rnn, x_is, y_is, h_is, nullptr, weight_bytes, work_bytes, reserve_bytes};
  RnnWork w = WorkOf(d, true, work, reserve);
  w.x = x, w.hx = hx, w.dweights = dweights;
  w.y = const_cast<void*>(y);
  if (mode != CUDNN_WGRAD_MODE_ADD) return CUDNN_STATUS_NOT_SUPPORTED;
  if (lengths != nullptr || dweights == nullptr) return CUDNN_STATUS_BAD_PARAM;
  return Start<RunRnnBackwardWeights>(handle, d, w);
}

constexpr cuda::RnnApi kApi = {
    .set_device = SetDevice,
    .copy = Copy,
    .fill = Fill,
    .create = Create,
    .set_stream = SetStream,
    .create_rnn = CreateRnn,
    .destroy_rnn = DestroyRnn,
    .set_rnn = SetRnn,
    .create_data = CreateData,
    .destroy_data = DestroyData,
    .set_data = SetData,
    .create_tensor = CreateTensor,
    .destroy_tensor = DestroyTensor,
    .set_tensor = SetTensor,
    .temp_sizes = TempSizes,
    .weight_size = WeightSize,
    .weight_places = WeightPlaces,
    .forward = RunForward,
    .backward_data = BackwardData,
    .backward_weights = BackwardWeights,
};

}  // namespace

void UseCudnnRnn(bool use) { cuda::LibraryApi<cuda::RnnApi>::SetStandIn(use ? &kApi : nullptr); }

}  // namespace firn::fake
