#ifndef FIRN_TESTS_DEVICE_SYNC_COUNT_H_
#define FIRN_TESTS_DEVICE_SYNC_COUNT_H_

// Counts how often this program waits for a disk: in a test with this library, fsync counts its
// calls.

namespace firn::testing {

// Counts calls of any thread from its construction on.
class SyncCount {
 public:
  SyncCount() { Take(); }
  // Calls of fsync and fdatasync since the last call of this function.
  int Take();
};

}  // namespace firn::testing

#endif  // FIRN_TESTS_DEVICE_SYNC_COUNT_H_
