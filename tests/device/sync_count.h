#ifndef FIRN_TESTS_DEVICE_SYNC_COUNT_H_
#define FIRN_TESTS_DEVICE_SYNC_COUNT_H_

// How often this program waits for a disk: a test that has this library has an fsync that counts.

namespace firn::testing {

// Counts from its construction on, calls of any thread.
class SyncCount {
 public:
  SyncCount() { Take(); }
  // Calls of fsync and fdatasync since the last time.
  int Take();
};

}  // namespace firn::testing

#endif  // FIRN_TESTS_DEVICE_SYNC_COUNT_H_
