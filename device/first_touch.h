#ifndef FIRN_DEVICE_FIRST_TOUCH_H_
#define FIRN_DEVICE_FIRST_TOUCH_H_

#include <cstddef>
#include <cstdint>

namespace firn::inner::internal {

// Touches host memory that is about to be filled from its front, a huge page at a time, and gives
// huge pages up for a while where one costs more than the small pages in its place would. Its
// destructor asks for huge pages for this memory again, which the system may make from small ones
// later. Thread-compatible; several may work on parts of the same memory at once.
class FirstTouch {
 public:
  // Requires: all of the memory is written after it was reached and before it is read. `most_ns`:
  // the thread's time above which a huge page counts as slow.
  FirstTouch(char* begin, size_t bytes, int64_t most_ns = 2'000'000);
  ~FirstTouch();
  FirstTouch(const FirstTouch&) = delete;
  FirstTouch& operator=(const FirstTouch&) = delete;

  // To be called before anything in front of `end` is written.
  void Reach(const char* end);

 private:
  char* const first_;  // of the huge pages that lie inside
  char* const last_;
  char* next_;
  const int64_t most_ns_;
  bool gave_up_ = false;
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_FIRST_TOUCH_H_
