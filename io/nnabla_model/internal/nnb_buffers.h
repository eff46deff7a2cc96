#ifndef FIRN_IO_NNABLA_MODEL_INTERNAL_NNB_BUFFERS_H_
#define FIRN_IO_NNABLA_MODEL_INTERNAL_NNB_BUFFERS_H_

#include <cstdint>
#include <vector>

namespace firn::io::internal {

// A variable that needs memory from function `first` to function `last`, both included.
struct NnbLife {
  int64_t size = 0;  // in numbers
  int64_t first = -1, last = -1;
  bool named() const { return first >= 0; }
};

struct NnbBuffers {
  std::vector<int64_t> sizes;   // of buffers
  std::vector<int64_t> buffer;  // by life: which one; -1: nothing names it
};

// Assigns as many buffers as variables live at the same time; lives that overlap share none.
NnbBuffers AssignNnbBuffers(const std::vector<NnbLife>& lives, int64_t functions);

}  // namespace firn::io::internal

#endif  // FIRN_IO_NNABLA_MODEL_INTERNAL_NNB_BUFFERS_H_
