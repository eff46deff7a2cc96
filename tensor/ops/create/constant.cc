// full: constant tensors.
//
// eye: composed of two counters that are compared.

#include "firn/tensor/ops/create/constant.h"

#include <algorithm>
#include <bit>

#include "firn/device/parallel.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/convert_number.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const FullAttrs& a = c.attrs<FullAttrs>();
  FIRN_RETURN_IF_ERROR(CheckHolds(a.value, a.dtype));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(a.shape.span()));
  c.device = Device{a.device_type, a.device_index};
  c.set_out(0, a.dtype, shape);
  return absl::OkStatus();
}

// Written as numbers of the same width, because compilers do not vectorise half types, which are
// structs.
absl::Status Run(KernelContext& k) {
  const Number value = k.attrs<FullAttrs>().value;
  const int64_t n = k.out_spec().num_elements();
  VisitDType(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    VisitWidth(k.out_spec().dtype, [&]<class Bits>(TypeTag<Bits>) {
      if constexpr (sizeof(Bits) == sizeof(T)) {
        const Bits bits = std::bit_cast<Bits>(ConvertNumber<T>(value));
        Bits* const out = k.out<Bits>();
        ParallelFor(n, 1 << 16,
                    [&](int64_t begin, int64_t end) { std::fill(out + begin, out + end, bits); });
      }
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(full) {
  return {
      .doc = "A tensor of one value everywhere. Not differentiable: it has no inputs.",
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<FullAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Full(const Shape& shape, Element value, DType dtype, Device device) {
  return Apply1(TheOp<"full">(), {},
                FullAttrs{shape.dims(), value, dtype, device.type, device.index});
}
Tensor Zeros(const Shape& shape, DType dtype, Device device) {
  return Full(shape, 0, dtype, device);
}
Tensor Ones(const Shape& shape, DType dtype, Device device) {
  return Full(shape, 1, dtype, device);
}

Tensor FullLike(const Tensor& x, Element value) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), "full_like");
  RaiseIfError(CheckHolds(value, x.dtype()), "full_like");
  return Full(x.shape(), value, x.dtype(), x.device());
}
Tensor ZerosLike(const Tensor& x) { return FullLike(x, 0); }
Tensor OnesLike(const Tensor& x) { return FullLike(x, 1); }

Tensor Empty(const Shape& shape, DType dtype, Device device) {
  absl::StatusOr<Tensor> t = AllocateTensor(TensorSpec::Contiguous(dtype, shape, device));
  RaiseIfError(t.status(), "empty");
  return *std::move(t);
}

Tensor Eye(Integer n, Integer m, Integer offset, DType dtype, Device device) {
  const ArangeOptions options{.device = device};
  const Tensor rows = Arange(int64_t{offset}, offset + n, 1, options),
               columns = Arange(0, int64_t{m}, 1, options);
  return Cast(Eq(Unsqueeze(rows, 1), columns), dtype);
}

}  // namespace firn
