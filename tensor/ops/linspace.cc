// linspace: the first half is counted from the start and the second from the end, in double, so
// that both ends are exact.

#include "tensor/ops/linspace.h"

#include "device/parallel.h"
#include "tensor/apply.h"
#include "tensor/kernels/cpu/convert.h"
#include "tensor/op.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const LinspaceAttrs& a = c.attrs<LinspaceAttrs>();
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({&a.steps, 1}));
  c.device = Device{a.device_type, a.device_index};
  c.set_out(0, a.dtype, shape);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const LinspaceAttrs& a = k.attrs<LinspaceAttrs>();
  const int64_t last = a.steps - 1;
  const double step = last > 0 ? (a.end - a.start) / static_cast<double>(last) : 0;
  VisitDType(k.out_spec().dtype, [&]<class T>(TypeTag<T>) {
    T* out = k.out<T>();
    ParallelFor(a.steps, 1 << 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double v = i <= last / 2 ? a.start + static_cast<double>(i) * step
                                       : a.end - static_cast<double>(last - i) * step;
        out[i] = cpu::ConvertTo<T>(v);
      }
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(linspace) {
  return {
      .name = "linspace",
      .doc = "Evenly spaced numbers, both ends included. Not differentiable: it has no inputs.",
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<LinspaceAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Linspace(double start, double end, int64_t steps, DType dtype, Device device) {
  static const OpDef& op = Op("linspace");
  return Apply1(op, {}, LinspaceAttrs{start, end, steps, dtype, device.type, device.index});
}

}  // namespace firn
