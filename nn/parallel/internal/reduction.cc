#include "firn/nn/parallel/internal/reduction.h"

#include "firn/device/comm/started.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/collective/started.h"

namespace firn::nn::parallel::internal {

void* HostData(Tensor& t) {
  return inner::VisitDType(t.dtype(), [&](auto tag) -> void* {
    return t.mutable_host_view<typename decltype(tag)::type>().data();
  });
}

void Reduction::Start() {
  inner::InNameOf("data_parallel", [&] { inner::StartAllReduce(tensor_, how_, group_); });
  started_ = true;
}

void Reduction::Wait() {
  started_ = false;
  inner::InNameOf("data_parallel", [&] { inner::WaitCollective(tensor_, group_); });
}

void Reduction::Drop() noexcept {
  if (std::exchange(started_, false)) comm::WaitInto(tensor_.impl()->data).IgnoreError();
}

}  // namespace firn::nn::parallel::internal
