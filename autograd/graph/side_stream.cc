// An event for each operation that something waits for, made once and recorded anew in each run.
#include "firn/autograd/graph/side_stream.h"

#include <utility>

#include "firn/device/status_macros.h"

namespace firn {

std::unique_ptr<SideStream> SideStream::Make(Device device, StreamPlan plan) {
  if (plan.aside.empty()) return nullptr;
  absl::StatusOr<DeviceContext*> context = GetDeviceContext(device);
  if (!context.ok()) return nullptr;
  absl::StatusOr<std::unique_ptr<Stream>> stream = (*context)->NewStream();
  if (!stream.ok()) return nullptr;
  auto side =
      std::unique_ptr<SideStream>(new SideStream(**context, *std::move(stream), std::move(plan)));
  std::vector<size_t> awaited = side->plan_.wait_for;
  awaited.push_back(side->plan_.join);
  side->done_.resize(side->plan_.aside.size());
  for (size_t at : awaited) {
    if (at == StreamPlan::kNone || side->done_[at] != nullptr) continue;
    absl::StatusOr<std::unique_ptr<Event>> event = (*context)->NewEvent();
    if (!event.ok()) return nullptr;
    side->done_[at] = *std::move(event);
  }
  return side;
}

absl::Status SideStream::Before(size_t at) {
  const size_t other = plan_.wait_for[at];
  return other == StreamPlan::kNone ? absl::OkStatus() : Queue(at).Wait(*done_[other]);
}

absl::Status SideStream::After(size_t at) {
  return done_[at] == nullptr ? absl::OkStatus() : done_[at]->Record(Queue(at));
}

absl::Status SideStream::Join() {
  return plan_.join == StreamPlan::kNone ? absl::OkStatus()
                                         : context_.stream().Wait(*done_[plan_.join]);
}

absl::Status SideStream::JoinNow() {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Event> end, context_.NewEvent());
  FIRN_RETURN_IF_ERROR(end->Record(*stream_));
  return context_.stream().Wait(*end);
}

}  // namespace firn
