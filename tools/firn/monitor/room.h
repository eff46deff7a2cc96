#ifndef FIRN_TOOLS_FIRN_MONITOR_ROOM_H_
#define FIRN_TOOLS_FIRN_MONITOR_ROOM_H_

#include <cstdint>
#include <utility>

namespace firn::cli {

// How many bytes things of one kind may take together. Thread-compatible.
class Room {
 public:
  explicit Room(int64_t bytes) : left_(bytes) {}
  // A part of the room, given back when it is destroyed; empty if there is not enough left.
  class Share {
   public:
    Share() = default;
    ~Share() {
      if (room_ != nullptr) room_->left_ += bytes_;
    }
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept {
      std::swap(room_, other.room_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    explicit operator bool() const { return room_ != nullptr; }

   private:
    friend class Room;
    Room* room_ = nullptr;  // outlives its shares
    int64_t bytes_ = 0;
  };

  // `bytes` >= 0.
  Share Take(int64_t bytes) {
    Share share;
    if (bytes > left_) {
      refused_ = true;
      return share;
    }
    left_ -= bytes;
    share.room_ = this;
    share.bytes_ = bytes;
    return share;
  }
  // Notes a thing that is too large by another measure.
  void Refuse() { refused_ = true; }
  // Whether something did not fit.
  bool refused() const { return refused_; }

 private:
  int64_t left_;
  bool refused_ = false;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_ROOM_H_
