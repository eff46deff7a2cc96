#ifndef FIRN_TENSOR_INTERNAL_DLPACK_ABI_H_
#define FIRN_TENSOR_INTERNAL_DLPACK_ABI_H_

// The structures of DLPack 0.8 (https://dmlc.github.io/dlpack), the convention by which array
// libraries hand tensors to one another in memory. Names and layout are the standard's, so that a
// pointer to them means the same in every library; only the members' spelling is Firn's.

#include <cstdint>

namespace firn::dlpack {

enum DeviceCode : int32_t { kDlCpu = 1, kDlCuda = 2 };
enum TypeCode : uint8_t { kDlInt = 0, kDlUint = 1, kDlFloat = 2, kDlBfloat = 4, kDlBool = 6 };

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);  // may be null
};

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64, "the standard's layout");

}  // namespace firn::dlpack

#endif  // FIRN_TENSOR_INTERNAL_DLPACK_ABI_H_
