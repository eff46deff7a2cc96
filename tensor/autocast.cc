// apply.cc decides what is converted; the scope only gives the dtype and converts.

#include "firn/tensor/autocast.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {

AutocastScope::AutocastScope(DType dtype) : dtype_(dtype), outer_(ThisThread().autocast) {
  if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16) {
    RaiseStatus(
        InvalidArgument("dtype must be f16, bf16 or, to turn it off, f32; got ", DTypeName(dtype)),
        "autocast");
  }
  ThisThread().autocast = dtype == DType::kF32 ? nullptr : this;
}

AutocastScope::~AutocastScope() { ThisThread().autocast = outer_; }

Tensor AutocastScope::Convert(const Tensor& x, DType dtype) { return Cast(x, dtype); }

}  // namespace firn
