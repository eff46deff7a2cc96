// arange: evenly spaced numbers. Element i is start + i * step, computed in double or int64, so
// that errors do not add up along the way.

#include "tensor/ops/arange.h"

#include <algorithm>
#include <cmath>

#include "device/parallel.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/convert.h"
#include "tensor/op.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const ArangeAttrs& a = c.attrs<ArangeAttrs>();
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({&a.size, 1}));
  c.device = Device{a.device_type, a.device_index};
  c.set_out(0, a.dtype, shape);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const ArangeAttrs& a = k.attrs<ArangeAttrs>();
  VisitDType(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    T* out = k.out<T>();
    ParallelFor(a.size, 1 << 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_integral_v<T>) {
          // Unsigned: wraps where the declared size makes it.
          const uint64_t v = static_cast<uint64_t>(a.first) +
                             static_cast<uint64_t>(i) * static_cast<uint64_t>(a.stride);
          out[i] = static_cast<T>(v);
        } else {
          out[i] = cpu::ConvertTo<T>(a.start + static_cast<double>(i) * a.step);
        }
      }
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(arange) {
  return {
      .name = "arange",
      .doc = "Evenly spaced numbers. Not differentiable: it has no inputs.",
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ArangeAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

template <class T>
void CheckStep(T start, T end, T step) {
  if (step == T{0} || (step > T{0} ? end < start : end > start)) {
    RaiseStatus(InvalidArgument("step ", step, " does not lead from ", start, " to ", end),
                "arange");
  }
}

}  // namespace

namespace inner::internal {

Tensor ArangeNumbers(double start, double end, double step, const ArangeOptions& options) {
  static const OpDef& op = Op("arange");
  CheckStep(start, end, step);
  const double size = std::ceil((end - start) / step);
  if (!(size < 0x1p62)) {
    RaiseStatus(InvalidArgument("from ", start, " to ", end, " by ", step, " is no finite range"),
                op.name);
  }
  const ArangeAttrs attrs{.size = static_cast<int64_t>(size),
                          .start = start,
                          .step = step,
                          .first = cpu::ConvertTo<int64_t>(start),
                          .stride = cpu::ConvertTo<int64_t>(step),
                          .dtype = options.dtype.value_or(kDefaultFloat),
                          .device_type = options.device.type,
                          .device_index = options.device.index};
  return Apply1(op, {}, attrs);
}

Tensor ArangeIntegers(int64_t start, int64_t end, int64_t step, const ArangeOptions& options) {
  static const OpDef& op = Op("arange");
  CheckStep(start, end, step);
  // Unsigned: the distance may not fit in an int64.
  const uint64_t distance = step > 0 ? static_cast<uint64_t>(end) - static_cast<uint64_t>(start)
                                     : static_cast<uint64_t>(start) - static_cast<uint64_t>(end);
  const uint64_t by =
      step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  const uint64_t size = distance == 0 ? 0 : (distance - 1) / by + 1;
  const ArangeAttrs attrs{.size = static_cast<int64_t>(std::min<uint64_t>(size, INT64_MAX)),
                          .start = static_cast<double>(start),
                          .step = static_cast<double>(step),
                          .first = start,
                          .stride = step,
                          .dtype = options.dtype.value_or(DType::kI64),
                          .device_type = options.device.type,
                          .device_index = options.device.index};
  return Apply1(op, {}, attrs);
}

}  // namespace inner::internal
}  // namespace firn
