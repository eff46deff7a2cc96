#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_DESCRIPTOR_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_DESCRIPTOR_H_

// Descriptors of cuDNN's graph API. Only the .cc files beside this one include it: it needs CUDA.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/dnn_api.h"

namespace firn::cuda {

inline absl::Status DnnStatus(cudnnStatus_t code, const char* call, const DnnApi& api = kOwnDnn) {
  if (code == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  char details[512] = {};
  api.last_error(details, sizeof(details));
  return Internal(call, ": ", api.error_string(code), " (", details, ")");
}

namespace internal {

template <class T>
inline constexpr cudnnBackendAttributeType_t kDnnType = CUDNN_TYPE_INT64;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<double> = CUDNN_TYPE_DOUBLE;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<void*> = CUDNN_TYPE_VOID_PTR;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<cudnnHandle_t> = CUDNN_TYPE_HANDLE;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<cudnnBackendHeurMode_t> =
    CUDNN_TYPE_HEUR_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<cudnnConvolutionMode_t> =
    CUDNN_TYPE_CONVOLUTION_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<cudnnPointwiseMode_t> =
    CUDNN_TYPE_POINTWISE_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<cudnnReduceTensorOp_t> =
    CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<cudnnBackendKnobType_t> =
    CUDNN_TYPE_KNOB_TYPE;
template <>
inline constexpr cudnnBackendAttributeType_t kDnnType<cudnnBackendNumericalNote_t> =
    CUDNN_TYPE_NUMERICAL_NOTE;

}  // namespace internal

// One descriptor. The first error of a chain of calls is kept for Finalize:
//   Descriptor d(CUDNN_BACKEND_..._DESCRIPTOR);
//   FIRN_RETURN_IF_ERROR(d.Set(...).Set(...).Finalize());
// `api` lives as long as the process.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type, const DnnApi& api = kOwnDnn)
      : api_(&api),
        status_(
            DnnStatus(api.create_descriptor(type, &raw_), "cudnnBackendCreateDescriptor", api)) {}
  ~Descriptor() {
    if (raw_ != nullptr) static_cast<void>(api_->destroy_descriptor(raw_));
  }
  Descriptor(Descriptor&& o) noexcept
      : api_(o.api_), raw_(std::exchange(o.raw_, nullptr)), status_(std::move(o.status_)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(api_, o.api_);
    std::swap(raw_, o.raw_);
    std::swap(status_, o.status_);
    return *this;
  }

  template <class T>
  Descriptor& Set(cudnnBackendAttributeName_t name, const T& value) {
    return Set(name, internal::kDnnType<T>, 1, &value);
  }
  template <class T>
  Descriptor& Set(cudnnBackendAttributeName_t name, absl::Span<const T> values) {
    return Set(name, internal::kDnnType<T>, static_cast<int64_t>(values.size()), values.data());
  }
  Descriptor& Set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.raw_);
  }
  Descriptor& Set(cudnnBackendAttributeName_t name, const std::vector<Descriptor>& values) {
    std::vector<cudnnBackendDescriptor_t> raw;
    for (const Descriptor& value : values) raw.push_back(value.raw_);
    return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(raw.size()), raw.data());
  }
  absl::Status Finalize() {
    FIRN_RETURN_IF_ERROR(status_);
    return DnnStatus(api_->finalize(raw_), "cudnnBackendFinalize", *api_);
  }
  const absl::Status& status() const { return status_; }
  const DnnApi& api() const { return *api_; }
  cudnnBackendDescriptor_t get() const { return raw_; }

 private:
  Descriptor& Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                  const void* values) {
    if (status_.ok()) {
      status_ = DnnStatus(api_->set_attribute(raw_, name, type, count, values),
                          "cudnnBackendSetAttribute", *api_);
    }
    return *this;
  }

  const DnnApi* api_;
  cudnnBackendDescriptor_t raw_ = nullptr;
  absl::Status status_;
};

// The first `values.size()` values of an attribute. Returns how many there are among them.
template <class T>
absl::StatusOr<size_t> GetSome(const Descriptor& from, cudnnBackendAttributeName_t name,
                               absl::Span<T> values) {
  int64_t count = 0;
  FIRN_RETURN_IF_ERROR(DnnStatus(
      from.api().get_attribute(from.get(), name, internal::kDnnType<T>,
                               static_cast<int64_t>(values.size()), &count, values.data()),
      "cudnnBackendGetAttribute", from.api()));
  return std::min(static_cast<size_t>(count), values.size());
}
template <class T>
absl::StatusOr<T> GetOne(const Descriptor& from, cudnnBackendAttributeName_t name) {
  T value = {};
  FIRN_ASSIGN_OR_RETURN(const size_t count, GetSome(from, name, absl::MakeSpan(&value, 1)));
  FIRN_RETURN_IF(count != 1, Internal("cudnnBackendGetAttribute: no value"));
  return value;
}
// The first `most` descriptors that an attribute has.
inline absl::StatusOr<std::vector<Descriptor>> GetDescriptors(const Descriptor& from,
                                                              cudnnBackendAttributeName_t name,
                                                              cudnnBackendDescriptorType_t type,
                                                              size_t most) {
  std::vector<Descriptor> all;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (size_t i = 0; i < most; ++i) {
    all.emplace_back(type, from.api());
    FIRN_RETURN_IF_ERROR(all.back().status());
    raw.push_back(all.back().get());
  }
  int64_t count = 0;
  FIRN_RETURN_IF_ERROR(
      DnnStatus(from.api().get_attribute(from.get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                         static_cast<int64_t>(most), &count, raw.data()),
                "cudnnBackendGetAttribute", from.api()));
  while (static_cast<int64_t>(all.size()) > count) all.pop_back();
  return all;
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_DESCRIPTOR_H_
