// arange: evenly spaced numbers. Element i is start + i * step, computed in double or int64, so
// that errors do not add up along the way.
//
// linspace: the first half is counted from the start and the second from the end, in double, so
// that both ends are exact.

#include "firn/tensor/ops/create/range.h"

#include <algorithm>
#include <cmath>

#include "firn/device/parallel.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/convert_number.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

// Checks that an integer dtype holds the first and the last element; all others lie between them.
absl::Status CheckElements(const ArangeAttrs& a) {
  if (a.size <= 0) return absl::OkStatus();
  const auto last = static_cast<__int128>(a.first) + static_cast<__int128>(a.size - 1) * a.stride;
  const auto near = static_cast<int64_t>(std::clamp<__int128>(last, INT64_MIN, INT64_MAX));
  FIRN_RETURN_IF_ERROR(CheckHolds(a.first, a.dtype, "the first element"));
  if (near == last) return CheckHolds(near, a.dtype, "the last element");
  return CheckHolds(static_cast<double>(last), a.dtype, "the last element");
}

absl::Status InferArange(InferContext& c) {
  const ArangeAttrs& a = c.attrs<ArangeAttrs>();
  FIRN_RETURN_IF_ERROR(CheckElements(a));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({&a.size, 1}));
  c.device = Device{a.device_type, a.device_index};
  c.set_out(0, a.dtype, shape);
  return absl::OkStatus();
}

absl::Status RunArange(KernelContext& k) {
  const ArangeAttrs& a = k.attrs<ArangeAttrs>();
  VisitDType(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    T* out = k.out<T>();
    ParallelFor(a.size, 1 << 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_integral_v<T>) {
          // Unsigned: i * stride alone may be beyond i64.
          const uint64_t v = static_cast<uint64_t>(a.first) +
                             static_cast<uint64_t>(i) * static_cast<uint64_t>(a.stride);
          out[i] = static_cast<T>(v);
        } else {
          out[i] = ConvertTo<T>(a.start + static_cast<double>(i) * a.step);
        }
      }
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(arange) {
  return {
      .doc = "Evenly spaced numbers. Not differentiable: it has no inputs.",
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ArangeAttrs>(),
      .infer = InferArange,
      .kernels = {{.name = "loop", .run = RunArange}},
  };
}

template <class T>
void CheckStep(T start, T end, T step) {
  if (step == T{0} || (step > T{0} ? end < start : end > start)) {
    RaiseStatus(InvalidArgument("step ", step, " does not lead from ", start, " to ", end),
                "arange");
  }
}

// With one element the end is not an element. An end of i64 may have been rounded to 2^63.
absl::Status CheckEnds(const Number& start, const Number& end, int64_t steps, DType dtype) {
  if (steps > 0) FIRN_RETURN_IF_ERROR(CheckHolds(start, dtype, "start"));
  return steps > 1 ? CheckHolds(end, dtype, "end") : absl::OkStatus();
}
Number Unrounded(double v) { return v == 0x1p63 ? Number(INT64_MAX) : Number(v); }

absl::Status InferLinspace(InferContext& c) {
  const LinspaceAttrs& a = c.attrs<LinspaceAttrs>();
  FIRN_RETURN_IF_ERROR(CheckEnds(Unrounded(a.start), Unrounded(a.end), a.steps, a.dtype));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({&a.steps, 1}));
  c.device = Device{a.device_type, a.device_index};
  c.set_out(0, a.dtype, shape);
  return absl::OkStatus();
}

absl::Status RunLinspace(KernelContext& k) {
  const LinspaceAttrs& a = k.attrs<LinspaceAttrs>();
  const int64_t last = a.steps - 1;
  const double step = last > 0 ? (a.end - a.start) / static_cast<double>(last) : 0;
  VisitDType(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    T* out = k.out<T>();
    ParallelFor(a.steps, 1 << 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double v = i <= last / 2 ? a.start + static_cast<double>(i) * step
                                       : a.end - static_cast<double>(last - i) * step;
        out[i] = ConvertTo<T>(v);
      }
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(linspace) {
  return {
      .doc = "Evenly spaced numbers, both ends included. Not differentiable: it has no inputs.",
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<LinspaceAttrs>(),
      .infer = InferLinspace,
      .kernels = {{.name = "loop", .run = RunLinspace}},
  };
}

}  // namespace

namespace inner::internal {

Tensor ArangeNumbers(double start, double end, double step, const ArangeOptions& options) {
  const OpDef& op = TheOp<"arange">();
  CheckStep(start, end, step);
  const double size = std::ceil((end - start) / step);
  if (!(size < 0x1p62)) {
    RaiseStatus(InvalidArgument("from ", start, " to ", end, " by ", step, " is no finite range"),
                op.name);
  }
  const DType dtype = options.dtype.value_or(kDefaultFloat);
  if (size > 0) RaiseIfError(CheckHolds(start, dtype, "start"), op.name);
  const ArangeAttrs attrs{.size = static_cast<int64_t>(size),
                          .start = start,
                          .step = step,
                          .first = ConvertTo<int64_t>(start),
                          .stride = ConvertTo<int64_t>(step),
                          .dtype = dtype,
                          .device_type = options.device.type,
                          .device_index = options.device.index};
  return Apply1(op, {}, attrs);
}

Tensor ArangeIntegers(int64_t start, int64_t end, int64_t step, const ArangeOptions& options) {
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
  return Apply1(TheOp<"arange">(), {}, attrs);
}

}  // namespace inner::internal

Tensor Linspace(Number start, Number end, Integer steps, DType dtype, Device device) {
  RaiseIfError(CheckEnds(start, end, steps, dtype), "linspace");
  if (dtype == DType::kI64 && !(start.is_double() && end.is_double())) {
    // For ends that a double rounds: uses the distance from the first one to the last, which mostly
    // needs fewer digits, rounded so that the sums are towards zero.
    const auto first = ConvertNumber<int64_t>(start), last = ConvertNumber<int64_t>(end);
    int64_t way = 0;
    if ((first < 0) == (last < 0) && !__builtin_sub_overflow(last, first, &way) &&
        Number(way).is_double()) {
      const Tensor ways = Linspace(0, way, steps, DType::kF64, device);
      return Add(Cast(first < 0 ? Ceil(ways) : Floor(ways), dtype), first);
    }
  }
  return Apply1(TheOp<"linspace">(), {},
                LinspaceAttrs{start.value(), end.value(), steps, dtype, device.type, device.index});
}

}  // namespace firn
