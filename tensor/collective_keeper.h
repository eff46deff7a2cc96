#ifndef FIRN_TENSOR_COLLECTIVE_KEEPER_H_
#define FIRN_TENSOR_COLLECTIVE_KEEPER_H_

// How a function that is run again (autograd/checkpoint.h) has the results of its collective
// operations without calling the other ranks again, which may be at something else by then.

#include "absl/types/span.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

struct OpDef;

// Asked by Apply before each collective operation of its thread. For one thread.
class CollectiveKeeper {
 public:
  virtual ~CollectiveKeeper() = default;
  // Whether the function is run again: then captures have its operations' results already.
  virtual bool repeating() const = 0;
  // Gives the results that the call had in the first run; false: there was none, it is to be made.
  // Throws when the first run called something else.
  virtual bool Recall(const OpDef& op, absl::Span<Tensor> out) = 0;
  // After a call that was made, whose results have no history yet.
  virtual void Keep(const OpDef& op, absl::Span<const Tensor> out) = 0;
};

// That of this thread, null: none.
CollectiveKeeper*& ThisThreadsKeeper();

}  // namespace firn::inner

#endif  // FIRN_TENSOR_COLLECTIVE_KEEPER_H_
