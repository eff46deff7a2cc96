#ifndef FIRN_IO_NNABLA_MODEL_NNABLA_EXPAND_H_
#define FIRN_IO_NNABLA_MODEL_NNABLA_EXPAND_H_

#include <cstdint>

#include "firn/io/nnabla_model/nnabla_model.h"

namespace firn::io::nnabla {

inline constexpr int64_t kOpenBatch = -1;  // a batch_size: -1 in shapes stays

struct ExpandOptions {
  int64_t batch_size = 0;  // the size in place of -1 in shapes; 0: the network's own; kOpenBatch
  int64_t max_times = 10'000;      // of one loop
  int64_t max_depth = 8;           // loops in each other
  int64_t max_copies = 1'000'000;  // of variables and functions together
  int64_t max_bytes = 256 << 20;   // of their names, shapes and arguments
};

// The network without loops and with a size in place of every -1 in front, unless that is to stay
// open. Each variable and function of a loop occurs once for each step, under the name that
// NNabla's loader gives it ("x_loop[2]"; "w[2]" of a parameter "w{loop}"), RepeatStart, RepeatEnd
// and Delay are Identity, RecurrentInput is Split, RecurrentOutput is Stack. Functions are in an
// order in which they can run, as near to the file's as possible. A -1 in front of the argument
// `shape` is the batch, too; a -1 elsewhere in Reshape's is left to Reshape.
//
// Throws firn::Error, naming network and function or variable: InvalidArgument for loops that are
// not described, variables that are not there or come from two functions, functions that wait for
// each other, and where there is a batch and no size; ResourceExhausted beyond the limits, before
// anything is made.
Network Expand(const Network& network, const ExpandOptions& options = {});

}  // namespace firn::io::nnabla

#endif  // FIRN_IO_NNABLA_MODEL_NNABLA_EXPAND_H_
