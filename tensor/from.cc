// Borrowing host memory: aligned to its elements, which is all that kernels rely on.

#include "firn/tensor/from.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn {
namespace inner::internal {

void CheckVectorShape(size_t size, const Shape& shape) {
  if (static_cast<int64_t>(size) != shape.num_elements()) {
    RaiseStatus(InvalidArgument(size, " values do not fill shape ", shape.ToString(), " (",
                                shape.num_elements(), " elements)"),
                "from_vector");
  }
}

void CheckRowSize(size_t size, size_t first) {
  if (size == first) return;
  RaiseStatus(InvalidArgument("rows of ", first, " values each are expected, one has ", size),
              "from_values");
}

}  // namespace inner::internal

Tensor FromBlob(void* data, const Shape& shape, const std::vector<int64_t>& strides, DType dtype,
                std::function<void(void*)> release) {
  if (data == nullptr && shape.num_elements() != 0) {
    RaiseStatus(InvalidArgument("null pointer for shape ", shape.ToString()), "from_blob");
  }
  if (reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(SizeOf(dtype)) != 0) {
    RaiseStatus(InvalidArgument("data is not aligned to ", SizeOf(dtype), " bytes, the size of ",
                                DTypeName(dtype), "; copy it"),
                "from_blob");
  }
  if (strides.size() != static_cast<size_t>(shape.rank())) {
    RaiseStatus(InvalidArgument(strides.size(), " strides for shape ", shape.ToString(),
                                " (want one for each dimension)"),
                "from_blob");
  }
  Dims steps(shape.rank());
  int64_t last = 0;  // offset of the last element
  for (int i = 0; i < shape.rank(); ++i) {
    steps[i] = strides[static_cast<size_t>(i)];
    int64_t reach = 0;
    if (steps[i] < 0 ||
        __builtin_mul_overflow(steps[i], std::max<int64_t>(shape[i] - 1, 0), &reach) ||
        __builtin_add_overflow(last, reach, &last) || last > (int64_t{1} << 59)) {
      RaiseStatus(InvalidArgument("stride ", steps[i], " is negative or overflows"), "from_blob");
    }
  }
  const TensorSpec spec = TensorSpec::Strided(dtype, shape, Device::Cpu(), steps);
  if (ThisThread().capture != nullptr) {
    RaiseIfError(ThisThread().capture->OnHostData(spec), "from_blob");
  }
  const size_t bytes =
      shape.num_elements() == 0 ? 0 : static_cast<size_t>((last + 1) * SizeOf(dtype));
  return WrapStorage(Storage::Borrow(data, bytes, Device::Cpu(), std::move(release)), data, spec);
}

Tensor FromBlob(void* data, const Shape& shape, DType dtype, std::function<void(void*)> release) {
  const Dims steps = ContiguousStrides(shape);
  return FromBlob(data, shape, std::vector<int64_t>(steps.span().begin(), steps.span().end()),
                  dtype, std::move(release));
}

}  // namespace firn
