// From a kernel's context to the device's queue.
#include "firn/tensor/kernels/cuda/launch.h"

#include "firn/device/internal/cuda_context.h"
#include "firn/device/status_macros.h"

namespace firn::cuda {
namespace {

using firn::inner::internal::CudaDeviceContext;
using firn::inner::internal::CudaDeviceOf;

// The device of a call's first operand.
Device DeviceOf(const KernelContext& k) {
  if (k.num_outputs() != 0) return k.out_spec(0).device;
  int i = 0;
  while (!k.has(i)) ++i;
  return k.in_spec(i).device;
}

}  // namespace

Queue::Queue(const KernelContext& k) : device(DeviceOf(k)), stream(k.stream()) {}

absl::Status Launch(const Queue& queue, const firn::inner::internal::CudaLaunch& launch) {
  FIRN_ASSIGN_OR_RETURN(CudaDeviceContext* const device, CudaDeviceOf(queue.device));
  return device->Launch(launch, queue.stream != nullptr ? *queue.stream : device->stream());
}

absl::StatusOr<void*> StreamHandle(const Queue& queue) {
  if (queue.stream != nullptr) return queue.stream->handle();
  FIRN_ASSIGN_OR_RETURN(CudaDeviceContext* const device, CudaDeviceOf(queue.device));
  return device->Handle();
}

firn::inner::internal::CudaIndexFault* IndexFaultOf(const Queue& queue) {
  const auto context = CudaDeviceOf(queue.device);
  return context.ok() ? (*context)->index_fault() : nullptr;
}

bool HasLibraries(Device device) {
  const auto context = CudaDeviceOf(device);
  return context.ok() && (*context)->api().has_libraries();
}

}  // namespace firn::cuda
