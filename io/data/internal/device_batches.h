#ifndef FIRN_IO_DATA_INTERNAL_DEVICE_BATCHES_H_
#define FIRN_IO_DATA_INTERNAL_DEVICE_BATCHES_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/context.h"
#include "firn/io/data/dataset.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Copies batches to a CUDA device on a stream of its own, beside the computation on the device's
// stream. Neither side waits on the host; events order the two on the device.
//
// The memory of freed batches is used for later ones, up to three pieces of a size in turn, once
// the work that was queued by the next copy is done. One thread calls, never while it captures the
// device's stream; tensors may be freed on any thread.
class DeviceBatches : public std::enable_shared_from_this<DeviceBatches> {
 public:
  // Errors: Unavailable when the device is not there.
  static absl::StatusOr<std::shared_ptr<DeviceBatches>> Make(Device device);
  ~DeviceBatches();
  DeviceBatches(const DeviceBatches&) = delete;
  DeviceBatches& operator=(const DeviceBatches&) = delete;

  // Queues the copies of tensors on the CPU; others are moved by Tensor::To. Work may use the
  // results after HandOut. Throws firn::Error.
  Sample Upload(const Sample& batch);

  // Makes the device's stream wait for the copies queued so far. Throws firn::Error.
  void HandOut();

  // Where copies are queued.
  Stream& stream() { return *stream_; }

 private:
  struct Piece {
    Block block;
    size_t bytes;                 // asked for
    std::unique_ptr<Event> used;  // recorded behind all work that uses the piece
    bool free = false;
    bool followed = false;
  };
  static constexpr int kAlike = 3;        // pieces of one size before one is waited for
  static constexpr size_t kMostFree = 8;  // where sizes change all the time

  DeviceBatches(DeviceContext& context, std::unique_ptr<Stream> stream,
                std::unique_ptr<Event> copied)
      : context_(context), stream_(std::move(stream)), copied_(std::move(copied)) {}

  absl::StatusOr<Tensor> Copy(const Tensor& t);
  // Records events behind the uses of freed pieces, and gives back those beyond kMostFree.
  absl::Status FollowFreed();
  // A piece of this size that the copy stream may write.
  absl::StatusOr<Piece*> Take(size_t bytes);
  absl::StatusOr<Piece*> TakeFree(size_t bytes);
  absl::StatusOr<Piece*> Add(size_t bytes);
  void GiveBack(Piece& piece) noexcept;
  void Drop(std::list<Piece>::iterator piece) noexcept;

  DeviceContext& context_;
  const std::unique_ptr<Stream> stream_;
  const std::unique_ptr<Event> copied_;  // behind the copies queued so far
  std::mutex mutex_;
  std::list<Piece> pieces_;  // guarded by mutex_; those that were given back last are at the end
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_DEVICE_BATCHES_H_
