#ifndef FIRN_TENSOR_OWNER_H_
#define FIRN_TENSOR_OWNER_H_

// Tensors that somebody keeps for life under a name, as a module keeps its parameters and buffers.
// The keeper's own handle cannot be made to name another tensor (Tensor::operator= throws), and
// `op=` through any handle writes the elements.

#include <cstdint>
#include <memory>
#include <string>

#include "firn/tensor/tensor.h"

namespace firn::inner {

// Thread-compatible; owning and disowning change the tensor. Calls Disown before it dies.
class TensorOwner {
 public:
  // The name by which users know the tensor: "parameter net.fc.weight".
  virtual std::string OwnedName() const = 0;
  // What is known of a pending tensor's shape, "[4, ?]"; empty when nothing is.
  virtual std::string KnownShape() const { return ""; }
  // The handle that names the tensor for life.
  virtual const Tensor* handle() const = 0;
  // Whether a pending tensor stands in for one that is computed by each call of the module.
  virtual bool IsComputed() const { return false; }

 protected:
  ~TensorOwner() = default;
};

// Takes down, and strikes out, that `owner` keeps `t`. Several may keep one tensor.
// Requires: t.defined().
void Own(const Tensor& t, const TensorOwner* owner);
void Disown(const Tensor& t, const TensorOwner* owner);

// "parameter net.fc.weight", "buffer net.bn.running_mean", or "a leaf f32 [3]" of no owner.
// Requires: t.defined().
std::string NameOfKept(const Tensor& t);

// What holds a tensor beside its owner, such as a frozen graph, goes on with it when the owner has
// another one in its place, or computes with it in another way. So it asks for a flag, which
// becomes true when that happens; who asks later gets another flag. Other threads may read it.
// Requires: t.defined().
std::shared_ptr<const bool> ReplacedFlag(const Tensor& t);
void NoteReplaced(const Tensor& t);
// How many flags have become true in this process: while it stays, none has.
uint64_t Replacements() noexcept;
inline bool IsSet(const std::shared_ptr<const bool>& flag) {
  return __atomic_load_n(flag.get(), __ATOMIC_RELAXED);
}

// A module that was not made by Add trains nothing, and says nothing. What gives it away is a
// parameter that gets gradients while no optimizer has it. The sweep notes each such parameter
// once; the next step of an optimizer on this thread says so on stderr, unless one has it by then.
void NoteGradientOfOwned(const Tensor& leaf);
void ReportLeftOut();

// Two optimizers that have one parameter both move it, and neither says so. An optimizer notes what
// it takes, under a name of its own, and forgets what it lets go; the name of another one that has
// the parameter, if there is one, is returned.
using OptimizerName = std::shared_ptr<const std::string>;
OptimizerName NoteOptimized(const Tensor& parameter, const OptimizerName& optimizer);
OptimizerName OtherOptimizer(const Tensor& parameter, const OptimizerName& optimizer);
void ForgetOptimized(const Tensor& parameter, const OptimizerName& optimizer);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OWNER_H_
