#ifndef FIRN_TOOLS_FIRN_MONITOR_SAMPLE_H_
#define FIRN_TOOLS_FIRN_MONITOR_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace firn::cli {

// Evenly chosen items of a row of any length, at most 2 * kMost, and the last one.
// Thread-compatible.
template <class T>
class Sample {
 public:
  static constexpr size_t kMost = 8;

  void Add(T item) {
    if (count_++ % stride_ == 0) {
      if (kept_.size() == 2 * kMost) {
        for (size_t i = 0; i < kMost; ++i) kept_[i] = std::move(kept_[2 * i]);
        kept_.resize(kMost);
        stride_ *= 2;
      }
      // At the moment of thinning count_ - 1 is a multiple of the doubled stride as well.
      kept_.push_back(std::move(item));
      last_is_kept_ = true;
    } else {
      last_ = std::move(item);
      last_is_kept_ = false;
    }
  }
  // Removes the items for which `drop` is true.
  template <class F>
  void Remove(F drop) {
    std::vector<T> all = Items();
    *this = Sample();
    for (T& item : all) {
      if (!drop(item)) Add(std::move(item));
    }
  }
  std::vector<T> Items() const {
    std::vector<T> all = kept_;
    if (!last_is_kept_) all.push_back(last_);
    return all;
  }
  int64_t count() const { return count_; }

 private:
  std::vector<T> kept_;
  T last_{};
  bool last_is_kept_ = true;  // or there is none
  int64_t count_ = 0, stride_ = 1;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_SAMPLE_H_
