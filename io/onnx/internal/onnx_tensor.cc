// Elements are put where they stay, as they lie in memory, and converted there.
#include "firn/io/onnx/internal/onnx_tensor.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/io/onnx/internal/onnx_numbers.h"
#include "firn/io/safetensors/internal/safetensors_elements.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

constexpr int kUint4 = 21, kInt4 = 22;

// The stored form and dtype for elements of a type. UnpackOnnx4 unpacks 4 bits.
std::optional<StoredType> TargetOf(const OnnxElement& element, bool widen) {
  if (element.id == kInt4 && widen) return StoredType{DType::kI8, 1};
  if (element.id == kUint4 && widen) return StoredType{DType::kU8, 1, false, false};
  return element.stored == nullptr ? std::nullopt : StoredTypeOf(element.stored, widen);
}

absl::Status Convert(const OnnxElement& element, const StoredType& type, int64_t n, char* data) {
  if (element.bits == 4) return UnpackOnnx4(n, element.id == kInt4, data);
  if (IsFloat8(element.stored)) {
    WidenFloat8(element.stored, n, data);
    return absl::OkStatus();
  }
  absl::Status status = ConvertStored(type, n, data);
  FIRN_RETURN_IF(absl::IsInvalidArgument(status), DataLoss(status.message()));
  return status;
}

struct Known {
  const OnnxElement* element;
  int64_t n;
};

// A reader has checked this, but a program may have made the model.
absl::StatusOr<Known> Check(const OnnxTensor& tensor) {
  const OnnxElement* element = FindOnnxElement(tensor.type);
  FIRN_RETURN_IF(element == nullptr,
                 InvalidArgument("expected a type of the format, got ", tensor.type));
  const std::optional<int64_t> n = OnnxCount(*element, tensor.dims);
  FIRN_RETURN_IF(!n.has_value(), InvalidArgument("expected sizes of at most 2^60 bits"));
  FIRN_RETURN_IF(
      tensor.place == OnnxTensor::Place::kRaw &&
          static_cast<int64_t>(tensor.bytes.size()) != OnnxBytes(*element, *n),
      InvalidArgument("expected ", OnnxBytes(*element, *n), " bytes, got ", tensor.bytes.size()));
  return Known{element, *n};
}

}  // namespace

absl::Status OnnxElements::In(const OnnxTensor& tensor, const absl::Status& status) const {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(file_, ": tensor ", JsonString(tensor.name), ": ",
                                                  status.message()));
}

absl::Status OnnxElements::Take(const OnnxTensor& tensor, int64_t stored, int64_t bytes) {
  FIRN_RETURN_IF(bytes > left_,
                 ResourceExhausted("more than the ", limits_.max_total_bytes,
                                   " bytes of elements allowed (limits.max_total_bytes)"));
  left_ -= bytes;
  return tensor.place == OnnxTensor::Place::kExternal ? OpenOutside(tensor, stored)
                                                      : absl::OkStatus();
}

// Before memory is taken for them.
absl::Status OnnxElements::OpenOutside(const OnnxTensor& tensor, int64_t bytes) {
  const OnnxExternal& external = *tensor.external;
  FIRN_RETURN_IF(!folder_.has_value(),
                 FailedPrecondition("its elements are in ", JsonString(external.location),
                                    ", beside a file, and the model came from memory"));
  if (outside_ == nullptr || opened_ != external.location) {
    FIRN_ASSIGN_OR_RETURN(outside_, RandomAccess::OpenBelow(*folder_, external.location));
    opened_ = external.location;
  }
  const int64_t offset = external.offset.value_or(0);
  FIRN_RETURN_IF(offset > outside_->size() || bytes > outside_->size() - offset,
                 DataLoss("expected ", bytes, " bytes from ", offset, " on in ",
                          JsonString(external.location), ", got a file of ", outside_->size()));
  return absl::OkStatus();
}

absl::Status OnnxElements::Copy(const OnnxTensor& tensor, const OnnxElement& element, int64_t n,
                                char* out) {
  switch (tensor.place) {
    case OnnxTensor::Place::kRaw:
      if (!tensor.bytes.empty()) std::memcpy(out, tensor.bytes.data(), tensor.bytes.size());
      return absl::OkStatus();
    case OnnxTensor::Place::kTyped:
      return CopyOnnxNumbers(tensor, element, out);
    case OnnxTensor::Place::kExternal:
      return outside_->ReadAt(tensor.external->offset.value_or(0), out, OnnxBytes(element, n),
                              "elements");
    default:
      return absl::OkStatus();
  }
}

absl::StatusOr<Tensor> OnnxElements::Read(const OnnxTensor& tensor, bool widen) {
  const absl::StatusOr<Known> known = Check(tensor);
  if (!known.ok()) return In(tensor, known.status());
  const OnnxElement& element = *known->element;
  const std::optional<StoredType> type = TargetOf(element, widen);
  FIRN_RETURN_IF(
      !type.has_value(),
      In(tensor, Unimplemented("type ", element.word, " is not read",
                               TargetOf(element, true) ? " unless widened (widen)" : "")));
  FIRN_RETURN_IF(tensor.dims.size() > static_cast<size_t>(kMaxRank),
                 In(tensor, Unimplemented("expected at most ", kMaxRank, " dimensions, got ",
                                          tensor.dims.size())));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(tensor.dims));
  FIRN_RETURN_IF_ERROR(
      In(tensor, Take(tensor, OnnxBytes(element, known->n), known->n * SizeOf(type->dtype))));
  FIRN_ASSIGN_OR_RETURN(
      Tensor read,
      AllocateTensor(TensorSpec::Contiguous(type->dtype, shape, Device::Cpu()), AllocTag::kOther));
  char* data = read.impl()->data;
  FIRN_RETURN_IF_ERROR(In(tensor, Copy(tensor, element, known->n, data)));
  FIRN_RETURN_IF_ERROR(In(tensor, Convert(element, *type, known->n, data)));
  return read;
}

absl::StatusOr<std::string> OnnxElements::Bytes(const OnnxTensor& tensor) {
  const absl::StatusOr<Known> known = Check(tensor);
  if (!known.ok()) return In(tensor, known.status());
  const int64_t bytes = OnnxBytes(*known->element, known->n);
  FIRN_RETURN_IF(tensor.place == OnnxTensor::Place::kWords,
                 In(tensor, Unimplemented("type STRING has no elements as they lie in memory")));
  FIRN_RETURN_IF_ERROR(In(tensor, Take(tensor, bytes, bytes)));
  std::string out(static_cast<size_t>(bytes), '\0');
  FIRN_RETURN_IF_ERROR(In(tensor, Copy(tensor, *known->element, known->n, out.data())));
  return out;
}

OnnxTensor OnnxTensorOf(std::string name, const firn::Tensor& tensor) {
  OnnxTensor out;
  const auto host =
      std::make_shared<const firn::Tensor>(tensor.Detach().To(Device::Cpu()).Contiguous());
  out.name = std::move(name);
  for (const int64_t size : host->shape()) out.dims.push_back(size);
  out.type = OnnxElementOf(host->dtype());
  const auto bytes = static_cast<size_t>(host->num_elements() * SizeOf(host->dtype()));
  if (bytes == 0) return out;
  out.place = OnnxTensor::Place::kRaw;
  out.bytes = {host->impl()->data, bytes};
  out.owner = host;
  return out;
}

}  // namespace firn::io::internal
