// DLPack. Exported: the structure, its shape and strides, and a handle of the tensor live in one
// block that the deleter deletes. Imported: borrowed memory whose release function is the deleter.

#include "firn/tensor/dlpack.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/internal/dlpack_abi.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLTensor;

dlpack::DLDataType TypeOf(DType d) {
  const auto bits = static_cast<uint8_t>(8 * SizeOf(d));
  const uint8_t code = d == DType::kBool   ? dlpack::kDlBool
                       : d == DType::kBF16 ? dlpack::kDlBfloat
                       : IsFloating(d)     ? dlpack::kDlFloat
                       : d == DType::kU8   ? dlpack::kDlUint
                                           : dlpack::kDlInt;
  return {code, bits, 1};
}

absl::StatusOr<DType> DTypeFrom(const dlpack::DLDataType& t) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto d = static_cast<DType>(i);
    const dlpack::DLDataType own = TypeOf(d);
    if (own.code == t.code && own.bits == t.bits && t.lanes == 1) return d;
  }
  return Unimplemented("no dtype has type code ", static_cast<int>(t.code), ", ",
                       static_cast<int>(t.bits), " bits and ", static_cast<int>(t.lanes), " lanes");
}

struct Exported {
  DLManagedTensor managed;
  Tensor tensor;
  int64_t shape[kMaxRank], strides[kMaxRank];
};

// The checked contents of a DLTensor.
struct Imported {
  TensorSpec spec;
  char* data = nullptr;
  size_t bytes = 0;  // from data to the end of the last element
};

absl::StatusOr<Imported> Read(const DLTensor& t) {
  FIRN_RETURN_IF(t.device.device_type != dlpack::kDlCpu,
                 Unavailable("the elements lie on a device of type ", t.device.device_type,
                             ", which this build does not have"));
  FIRN_ASSIGN_OR_RETURN(const DType dtype, DTypeFrom(t.dtype));
  FIRN_RETURN_IF(t.ndim < 0 || t.ndim > kMaxRank,
                 InvalidArgument(t.ndim, " dimensions; at most ", kMaxRank, " are possible"));
  FIRN_RETURN_IF(t.ndim > 0 && t.shape == nullptr, InvalidArgument("the shape is a null pointer"));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({t.shape, static_cast<size_t>(t.ndim)}));
  Imported r;
  Dims strides = ContiguousStrides(shape);
  int64_t last = 0;  // offset of the last element
  for (int i = 0; i < shape.rank(); ++i) {
    if (t.strides != nullptr) strides[i] = t.strides[i];
    int64_t reach = 0;
    FIRN_RETURN_IF(
        strides[i] < 0 ||
            __builtin_mul_overflow(strides[i], std::max<int64_t>(shape[i] - 1, 0), &reach) ||
            __builtin_add_overflow(last, reach, &last) || last > (int64_t{1} << 59),
        InvalidArgument("stride ", strides[i], " of dim ", i, " is negative or overflows"));
  }
  r.spec = TensorSpec::Strided(dtype, shape, Device::Cpu(), strides);
  if (shape.num_elements() == 0) return r;
  FIRN_RETURN_IF(t.data == nullptr, InvalidArgument("null data for shape ", shape.ToString()));
  r.data = static_cast<char*>(t.data) + t.byte_offset;
  FIRN_RETURN_IF(reinterpret_cast<uintptr_t>(r.data) % static_cast<uintptr_t>(SizeOf(dtype)) != 0,
                 InvalidArgument("the data is not aligned to ", SizeOf(dtype), " bytes"));
  r.bytes = static_cast<size_t>((last + 1) * SizeOf(dtype));
  return r;
}

}  // namespace

void* ToDlpack(const Tensor& x) {
  constexpr char kOp[] = "to_dlpack";
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), kOp);
  if (x.requires_grad()) {
    RaiseStatus(FailedPrecondition("x requires a gradient, which other libraries know nothing of; "
                                   "use Detach()"),
                kOp);
  }
  RaiseIfError(CheckHostRead(x), kOp);
  const absl::StatusOr<Tensor> plain =
      x.spec().layout.blocked() ? Reordered(x, 0) : absl::StatusOr<Tensor>(x);
  RaiseIfError(plain.status(), kOp);
  const TensorSpec& spec = plain->spec();
  auto* e = new Exported{{}, *plain, {}, {}};
  std::copy(spec.shape.begin(), spec.shape.end(), e->shape);
  std::copy_n(spec.layout.strides.d, spec.shape.rank(), e->strides);
  e->managed.dl_tensor = {.data = plain->impl()->data,
                          .device = {dlpack::kDlCpu, 0},
                          .ndim = spec.shape.rank(),
                          .dtype = TypeOf(spec.dtype),
                          .shape = e->shape,
                          .strides = e->strides,
                          .byte_offset = 0};
  e->managed.manager_ctx = e;
  e->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return &e->managed;
}

Tensor FromDlpack(void* managed) {
  constexpr char kOp[] = "from_dlpack";
  if (managed == nullptr) RaiseStatus(InvalidArgument("the pointer is null"), kOp);
  auto* m = static_cast<DLManagedTensor*>(managed);
  const absl::StatusOr<Imported> r = Read(m->dl_tensor);
  RaiseIfError(r.status(), kOp);
  auto storage = Storage::Borrow(r->data, r->bytes, Device::Cpu(), [m](void*) {
    if (m->deleter != nullptr) m->deleter(m);
  });
  return WrapStorage(std::move(storage), r->data, r->spec);
}

}  // namespace firn
