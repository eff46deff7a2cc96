#include "firn/nn/parallel/internal/reduction.h"

#include <utility>

#include "firn/device/comm/started.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/collective/started.h"

namespace firn::nn::parallel::internal {

void* HostData(Tensor& t) {
  return inner::VisitDType(t.dtype(), [&](auto tag) -> void* {
    return t.mutable_host_view<typename decltype(tag)::type>().data();
  });
}

void Reduction::Start(const Tensor& tensor) {
  inner::InNameOf("data_parallel", [&] { inner::StartAllReduce(tensor, how_, group_); });
  tensor_ = tensor;
}

void Reduction::Wait() {
  const Tensor tensor = std::exchange(tensor_, Tensor());
  inner::InNameOf("data_parallel", [&] { inner::WaitCollective(tensor, group_); });
}

void Reduction::Drop() noexcept {
  if (!tensor_.defined()) return;
  comm::WaitInto(tensor_.impl()->data).IgnoreError();
  tensor_ = Tensor();
}

}  // namespace firn::nn::parallel::internal
