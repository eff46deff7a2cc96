#include "firn/nn/parallel/internal/rank_mean.h"

#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::nn::parallel::internal {

comm::Element ElementOf(DType dtype) {
  static_assert(inner::HasWordsForAll<comm::Element>());
  const inner::EnumWord* const word =
      inner::WordList(inner::kWordsOf<comm::Element>).Find(DTypeName(dtype));
  return word == nullptr ? comm::Element::kU8 : static_cast<comm::Element>(word->value);
}

void* HostData(Tensor& t) {
  return inner::VisitDType(t.dtype(), [&](auto tag) -> void* {
    return t.mutable_host_view<typename decltype(tag)::type>().data();
  });
}

void RankMean::Start() {
  void* const data = HostData(tensor_);
  auto started = comm_->Start({.kind = comm::CollectiveKind::kAllReduce,
                               .element = ElementOf(tensor_.dtype()),
                               .reduction = comm::Reduction::kMean,
                               .count = tensor_.num_elements(),
                               .in = data,
                               .out = data});
  RaiseIfError(started.status(), "data_parallel");
  pending_ = *std::move(started);
}

void RankMean::Wait() {
  const absl::Status status = pending_->Wait();
  pending_.reset();
  RaiseIfError(status, "data_parallel");
}

}  // namespace firn::nn::parallel::internal
