#ifndef FIRN_IO_INTERNAL_LAST_USED_H_
#define FIRN_IO_INTERNAL_LAST_USED_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

// Keeps the last used of a file's costly pieces in memory. A shuffled order goes from piece to
// piece, but several threads are in different pieces at once. Thread-safe.
template <class Piece>
class LastUsed {
 public:
  // Keeps `most` >= 1 pieces, in addition to those that callers still hold.
  explicit LastUsed(size_t most) : most_(most) {}

  // Piece `number`, as read() -> StatusOr<Piece> gives it. Threads that want one piece wait for the
  // first of them, which reads it; an error is not kept.
  template <class Read>
  absl::StatusOr<std::shared_ptr<const Piece>> Get(int64_t number, Read read) {
    const std::shared_ptr<Kept> kept = Entry(number);
    const std::lock_guard<std::mutex> lock(kept->reading);
    if (kept->piece == nullptr) {
      FIRN_ASSIGN_OR_RETURN(Piece piece, read());
      kept->piece = std::make_shared<const Piece>(std::move(piece));
    }
    return kept->piece;
  }

 private:
  struct Kept {
    explicit Kept(int64_t n) : number(n) {}
    const int64_t number;
    std::mutex reading;
    std::shared_ptr<const Piece> piece;  // guarded by `reading`; null: not read yet
  };

  std::shared_ptr<Kept> Entry(int64_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [number](const auto& k) { return k->number == number; });
    if (found != kept_.end()) {
      std::rotate(kept_.begin(), found, found + 1);
    } else {
      kept_.push_front(std::make_shared<Kept>(number));
      if (kept_.size() > most_) kept_.pop_back();
    }
    return kept_.front();
  }

  const size_t most_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Kept>> kept_;  // guarded by mutex_; the last used first
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_LAST_USED_H_
