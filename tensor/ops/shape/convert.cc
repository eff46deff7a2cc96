// cast: conversion between element types, total on all values (see kernels/convert.h).
//
// to_device: the same elements in the memory of another device. The copy is queued on the CUDA
// device that takes part in it, so it needs no waiting but where it ends on the host.
//
// reorder: elements keep their values and change their places.

#include "firn/tensor/ops/shape/convert.h"

#include "firn/device/context.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cpu/elementwise.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/op.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

// Between float and a half type, by rows: compilers make no vectors of single conversions.
template <class To, class From>
void RoundRow(const void*, void* to, const void* const* from, unsigned, int64_t n) {
  if constexpr (cpu::kIsHalf<From>) {
    cpu::ToFloats(static_cast<const From*>(*from), n, static_cast<float*>(to));
  } else {
    cpu::FromFloats(static_cast<const float*>(*from), n, static_cast<To*>(to));
  }
}
template <class To, class From>
struct RoundLoop {
  static constexpr DType kIn[] = {DTypeOf<From>()};
  static constexpr cpu::RowLoop kLoop = {RoundRow<To, From>, 1, 0b10u, false, DTypeOf<To>(), kIn};
};

template <class To>
struct ConvertFn {
  template <class From>
  auto operator()(From v) const {
    if constexpr (cpu::kIsHalf<To>) {
      return static_cast<float>(v);
    } else {
      return ConvertTo<To>(v);
    }
  }
};

absl::Status InferCast(InferContext& c) {
  c.set_out(0, c.attrs<CastAttrs>().dtype, c.shape(0));
  return absl::OkStatus();
}

absl::Status RunCast(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype, [&]<class From>(TypeTag<From>) {
    VisitDType(k.out_spec().dtype, [&]<class To>(TypeTag<To>) {
      constexpr bool kRounds = (cpu::kIsHalf<From> && std::is_same_v<To, float>) ||
                               (std::is_same_v<From, float> && cpu::kIsHalf<To>);
      if constexpr (kRounds) {
        cpu::RunRows(k, RoundLoop<To, From>::kLoop, nullptr);
      } else {
        // Bools are read as the bytes that they are: g++ 12 makes no vectors of bools that become
        // numbers of 64 bits.
        constexpr bool kBytes = std::is_same_v<From, bool> && !std::is_same_v<To, bool>;
        cpu::ElementwiseLoop<To, std::conditional_t<kBytes, uint8_t, From>>(k, ConvertFn<To>());
      }
    });
  });
  return absl::OkStatus();
}

void GradCast(GradContext& g) { g.set_grad_input(0, Cast(g.grad_output(), g.input_spec(0).dtype)); }

FIRN_REGISTER_OP(cast) {
  return {
      .doc = "Converts the elements to another dtype.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<CastAttrs>(),
      .infer = InferCast,
      .grad = GradCast,
      .kernels = {cpu::ElementwiseKernel(RunCast)},
      .elementwise = {.kind = Elementwise::Kind::kConverted},
  };
}

absl::Status InferToDevice(InferContext& c) {
  const ToDeviceAttrs& a = c.attrs<ToDeviceAttrs>();
  FIRN_RETURN_IF(a.device_type != DeviceType::kCpu && a.device_type != DeviceType::kCuda,
                 InvalidArgument("no device has type ", static_cast<int>(a.device_type)));
  c.device = Device{a.device_type, a.device_index};
  FIRN_RETURN_IF_ERROR(GetDeviceContext(c.device).status());
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status RunToDevice(KernelContext& k) {
  const Device from = k.in_spec(0).device, to = k.out_spec().device;
  const size_t bytes = static_cast<size_t>(k.out_spec().bytes());
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const source, GetDeviceContext(from));
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const target, GetDeviceContext(to));
  if (from.type == to.type) {
    return target->CopyFromDevice(k.out<void>(), *source, k.in<void>(0), bytes);
  }
  if (to.is_cuda()) return target->CopyFromHost(k.out<void>(), k.in<void>(0), bytes);
  return source->CopyToHost(k.out<void>(), k.in<void>(0), bytes);
}

void GradToDevice(GradContext& g) {
  g.set_grad_input(0, ToDevice(g.grad_output(), g.input_spec(0).device));
}

FIRN_REGISTER_OP(to_device) {
  return {
      .doc = "The same elements on another device.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ToDeviceAttrs>(),
      .infer = InferToDevice,
      .grad = GradToDevice,
      .kernels = OnEveryDevice({.name = "copy", .run = RunToDevice, .graph_capturable = false}),
  };
}

absl::Status InferReorder(InferContext& c) {
  const int64_t block = c.attrs<ReorderAttrs>().channel_block;
  const Shape& shape = c.shape(0);
  FIRN_RETURN_IF(block < 0 || block > INT32_MAX,
                 InvalidArgument("channel_block ", block, " (want 0 to ", INT32_MAX, ")"));
  FIRN_RETURN_IF(block != 0 && (shape.rank() < 3 || shape[1] % block != 0),
                 InvalidArgument("x ", shape.ToString(), " has no channels in blocks of ", block));
  c.set_out_blocked(0, c.dtype(0), shape, static_cast<int>(block));
  return absl::OkStatus();
}

absl::Status RunReorder(KernelContext& k) {
  return CopyElements(k.in_spec(0), k.in<char>(0), k.out_spec(), k.out<char>(), k.stream());
}

void GradReorder(GradContext& g) { g.set_grad_input(0, g.grad_output()); }

constexpr GraphTraits kReorderTraits = {.reorders = true};

FIRN_REGISTER_OP(reorder) {
  return {
      .doc = "A copy of x in another layout.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ReorderAttrs>(),
      .infer = InferReorder,
      .grad = GradReorder,
      .kernels = OnEveryDevice({.name = "copy", .run = RunReorder, .takes = Takes::kAny}),
      .graph = &kReorderTraits,
  };
}

}  // namespace

Tensor Cast(const Tensor& x, DType dtype) {
  const OpDef& op = TheOp<"cast">();
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), op.name);
  if (x.dtype() == dtype) return x;
  return Apply1(op, {x}, CastAttrs{dtype});
}

Tensor ToDevice(const Tensor& x, Device device) {
  const OpDef& op = TheOp<"to_device">();
  CheckDefined(x, op.name);
  if (x.device() == device) return x;
  return Apply1(op, {x}, ToDeviceAttrs{device.type, device.index});
}

}  // namespace firn
