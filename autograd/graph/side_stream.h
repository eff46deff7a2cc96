#ifndef FIRN_AUTOGRAD_GRAPH_SIDE_STREAM_H_
#define FIRN_AUTOGRAD_GRAPH_SIDE_STREAM_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "firn/autograd/graph/streams.h"
#include "firn/device/context.h"
#include "firn/device/device.h"

namespace firn {

// A stream beside a device's own, and the events by which the two wait for each other as a plan
// says. Works while the device's stream is recorded too: the side stream is recorded with it from
// its first wait on. Operations must be queued in the plan's order.
class SideStream {
 public:
  // Null where the device gives no further stream, or the plan needs none.
  static std::unique_ptr<SideStream> Make(Device device, StreamPlan plan);

  const StreamPlan& plan() const { return plan_; }

  // The stream on which operation `at` is queued; null: the device's own stream.
  Stream* StreamFor(size_t at) const { return plan_.aside[at] ? stream_.get() : nullptr; }
  // To be called before and after it is queued.
  absl::Status Before(size_t at);
  absl::Status After(size_t at);
  // Ends a run: what the device's stream does from now on waits for all that was queued here.
  absl::Status Join();
  // The same after an error, wherever the run stopped.
  absl::Status JoinNow();

 private:
  SideStream(DeviceContext& context, std::unique_ptr<Stream> stream, StreamPlan plan)
      : context_(context), stream_(std::move(stream)), plan_(std::move(plan)) {}
  Stream& Queue(size_t at) { return plan_.aside[at] ? *stream_ : context_.stream(); }

  DeviceContext& context_;
  const std::unique_ptr<Stream> stream_;
  const StreamPlan plan_;
  std::vector<std::unique_ptr<Event>> done_;  // by operation; null: nobody waits for it
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_SIDE_STREAM_H_
