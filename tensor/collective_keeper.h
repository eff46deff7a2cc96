#ifndef FIRN_TENSOR_COLLECTIVE_KEEPER_H_
#define FIRN_TENSOR_COLLECTIVE_KEEPER_H_

// Keeps the results of collective operations for a function that is run again
// (autograd/checkpoint.h): it must not call the other ranks again, which may be doing something
// else by then.

#include "absl/types/span.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

struct OpDef;

// Asked by Apply before each collective operation of its thread. Used by one thread.
class CollectiveKeeper {
 public:
  virtual ~CollectiveKeeper() = default;
  // Whether this is not the first run of the function: then captures have its operations' results
  // already.
  virtual bool repeating() const = 0;
  // Gives the results that the call had in the first run. False in the first run: the call is to be
  // made. Throws when the first run called something else.
  virtual bool Recall(const OpDef& op, absl::Span<Tensor> out) = 0;
  // Called after a call was made; its results have no history yet.
  virtual void Keep(const OpDef& op, absl::Span<const Tensor> out) = 0;
};

// This thread's keeper; null where there is none.
CollectiveKeeper*& ThisThreadsKeeper();

}  // namespace firn::inner

#endif  // FIRN_TENSOR_COLLECTIVE_KEEPER_H_
