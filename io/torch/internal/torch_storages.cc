#include "firn/io/torch/internal/torch_storages.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/io/safetensors/internal/safetensors_elements.h"
#include "firn/tensor/allocate.h"

namespace firn::io::internal {

absl::StatusOr<Tensor> TorchStorages::Get(const std::string& key, const TorchType& type,
                                          int64_t n) {
  const std::string where = absl::StrCat("storage ", key);
  if (const auto found = storages_.find(key); found != storages_.end()) {
    FIRN_RETURN_IF(found->second.type != &type || found->second.elements.num_elements() != n,
                   DataLoss(where, ": expected ", found->second.elements.num_elements(), " ",
                            std::string(found->second.type->dtype), " as before, got ", n, " ",
                            std::string(type.dtype)));
    return found->second.elements;
  }
  std::optional<StoredType> stored = StoredTypeOf(type.word, widen_);
  FIRN_RETURN_IF(!stored.has_value(),
                 Unimplemented("elements of type ", std::string(type.dtype), " are not read",
                               StoredTypeOf(type.word, true) ? " unless widened (widen)" : ""));
  stored->big_endian = file_.big_endian();
  FIRN_ASSIGN_OR_RETURN(const int64_t bytes, file_.BytesOf(key));
  FIRN_RETURN_IF(n < 0 || bytes % type.bytes != 0 || bytes / type.bytes != n,
                 DataLoss(where, ": expected ", n, " elements of ", type.bytes, " bytes, got ",
                          bytes, " bytes"));
  const int64_t wider = SizeOf(stored->dtype) / type.bytes;
  FIRN_RETURN_IF(bytes > left_ / wider,
                 ResourceExhausted("more than the ", limits_.max_total_bytes,
                                   " bytes allowed (limits.max_total_bytes)"));
  left_ -= bytes * wider;
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({&n, 1}));
  FIRN_ASSIGN_OR_RETURN(Tensor elements,
                        AllocateTensor(TensorSpec::Contiguous(stored->dtype, shape, Device::Cpu()),
                                       AllocTag::kOther));
  char* data = elements.impl()->data;
  FIRN_RETURN_IF_ERROR(file_.Read(key, data));
  if (IsFloat8(type.word)) {
    WidenFloat8(type.word, n, data);
  } else if (stored->dtype == DType::kBool) {
    // Bools may be any byte: PyTorch also saves memory that was never written.
    for (int64_t i = 0; i < n; ++i) data[i] = data[i] != 0;
  } else {
    const absl::Status converted = ConvertStored(*stored, n, data);
    FIRN_RETURN_IF(!converted.ok(),
                   absl::Status(converted.code(), absl::StrCat(where, ": ", converted.message())));
  }
  storages_.emplace(key, Storage{&type, elements});
  return elements;
}

}  // namespace firn::io::internal
