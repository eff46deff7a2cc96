// The copy stream waits for the event behind the last use of a piece before it writes there; the
// device's stream waits for the copies before anything reads them. New pieces come from the
// device's allocator, whose memory is free for what is queued on the device's stream from now on:
// the copy stream waits for that too, and when a piece goes back to the allocator, the device's
// stream has waited for the copies.
#include "firn/io/data/internal/device_batches.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/storage.h"

namespace firn::io::internal {

absl::StatusOr<std::shared_ptr<DeviceBatches>> DeviceBatches::Make(Device device) {
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device));
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, context->NewStream());
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Event> copied, context->NewEvent());
  return std::shared_ptr<DeviceBatches>(
      new DeviceBatches(*context, std::move(stream), std::move(copied)));
}

DeviceBatches::~DeviceBatches() {
  while (!pieces_.empty()) Drop(pieces_.begin());
}

Sample DeviceBatches::Upload(const Sample& batch) {
  const NoGradScope no_grad;
  return batch.EachBy([&](const Tensor& from) -> Tensor {
    if (!from.defined()) return {};
    if (!from.device().is_cpu()) return from.To(context_.device());
    absl::StatusOr<Tensor> copy = Copy(from.Detach().Contiguous());
    RaiseIfError(copy.status(), "data loader");
    return *std::move(copy);
  });
}

void DeviceBatches::HandOut() { RaiseIfError(context_.stream().Wait(*copied_), "data loader"); }

absl::StatusOr<Tensor> DeviceBatches::Copy(const Tensor& t) {
  TensorSpec spec = t.spec();
  spec.device = context_.device();
  const auto bytes = static_cast<size_t>(spec.bytes());
  FIRN_ASSIGN_OR_RETURN(Piece* const piece, Take(bytes));
  // From here on the piece goes back when the tensor goes.
  const Tensor copy = WrapStorage(
      Storage::Borrow(piece->block.data, bytes, spec.device,
                      [self = shared_from_this(), piece](void*) { self->GiveBack(*piece); }),
      piece->block.data, spec);
  const absl::Status queued =
      context_.CopyFromHost(piece->block.data, t.impl()->data, bytes, *stream_);
  FIRN_RETURN_IF_ERROR(copied_->Record(*stream_));  // also behind a part of it
  FIRN_RETURN_IF_ERROR(queued);
  return copy;
}

absl::StatusOr<DeviceBatches::Piece*> DeviceBatches::Take(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  FIRN_RETURN_IF_ERROR(FollowFreed());
  FIRN_ASSIGN_OR_RETURN(Piece * piece, TakeFree(bytes));
  if (piece == nullptr) {
    FIRN_ASSIGN_OR_RETURN(piece, Add(bytes));
  }
  piece->free = piece->followed = false;
  return piece;
}

// The event is recorded only here: another thread may have freed the piece while the device's
// stream was being captured, and an event would have become a part of the capture. All work that
// was queued when the piece was freed is queued by now.
absl::Status DeviceBatches::FollowFreed() {
  size_t num_free = 0;
  for (Piece& p : pieces_) {
    num_free += p.free ? 1 : 0;
    if (!p.free || p.followed) continue;
    FIRN_RETURN_IF_ERROR(p.used->Record(context_.stream()));
    p.followed = true;
  }
  for (auto p = pieces_.begin(); num_free > kMostFree;) {
    const auto next = std::next(p);
    if (p->free) {
      Drop(p);
      --num_free;
    }
    p = next;
  }
  return absl::OkStatus();
}

// A piece that no work uses any more, else the one that was given back first; null while there are
// few.
absl::StatusOr<DeviceBatches::Piece*> DeviceBatches::TakeFree(size_t bytes) {
  Piece* first = nullptr;
  int alike = 0;
  for (Piece& p : pieces_) {
    if (p.bytes != bytes) continue;
    ++alike;
    if (!p.free) continue;
    FIRN_ASSIGN_OR_RETURN(const bool done, p.used->Done());
    if (done) return &p;
    if (first == nullptr) first = &p;
  }
  if (first == nullptr || alike < kAlike) return nullptr;
  FIRN_RETURN_IF_ERROR(stream_->Wait(*first->used));
  return first;
}

absl::StatusOr<DeviceBatches::Piece*> DeviceBatches::Add(size_t bytes) {
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Event> event, context_.NewEvent());
  FIRN_RETURN_IF_ERROR(event->Record(context_.stream()));
  FIRN_RETURN_IF_ERROR(stream_->Wait(*event));
  FIRN_ASSIGN_OR_RETURN(const Block block, context_.allocator().Allocate(bytes, AllocTag::kOther));
  return &pieces_.emplace_back(Piece{block, bytes, std::move(event)});
}

void DeviceBatches::GiveBack(Piece& piece) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at =
      std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return &p == &piece; });
  piece.free = true;
  pieces_.splice(pieces_.end(), pieces_, at);
}

// A batch may be freed before it was handed out: the device's stream has not waited for its copy
// yet.
void DeviceBatches::Drop(std::list<Piece>::iterator piece) noexcept {
  if (!context_.stream().Wait(*copied_).ok()) static_cast<void>(context_.Synchronize());
  context_.allocator().Free(piece->block);
  pieces_.erase(piece);
}

}  // namespace firn::io::internal
