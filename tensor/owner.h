#ifndef FIRN_TENSOR_OWNER_H_
#define FIRN_TENSOR_OWNER_H_

// Tensors that an owner keeps for life under a name, like a module's parameters and buffers. The
// keeper's own handle cannot be made to name another tensor (Tensor::operator= throws), and `op=`
// through any handle writes the elements.

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
  // The known part of a pending tensor's shape, "[4, ?]"; empty when nothing is known.
  virtual std::string KnownShape() const { return ""; }
  // The handle that names the tensor for life.
  virtual const Tensor* handle() const = 0;
  // Whether a pending tensor stands in for one that is computed by each call of the module.
  virtual bool IsComputed() const { return false; }

 protected:
  ~TensorOwner() = default;
};

// Record, and delete the record, that `owner` keeps `t`. Several owners may keep one tensor.
// Requires: t.defined().
void Own(const Tensor& t, const TensorOwner* owner);
void Disown(const Tensor& t, const TensorOwner* owner);

// "parameter net.fc.weight", "buffer net.bn.running_mean", or "a leaf f32 [3]" of no owner.
// Requires: t.defined().
std::string NameOfKept(const Tensor& t);

// Another holder of a tensor, such as a frozen graph, would go on with it when the owner replaces
// it, or computes with it in another way. So the holder asks for a flag, which becomes true when
// that happens; later holders get another flag. Other threads may read it. Requires: t.defined().
std::shared_ptr<const bool> ReplacedFlag(const Tensor& t);
void NoteReplaced(const Tensor& t);
// How many flags have become true in this process: while it stays, none has.
uint64_t Replacements() noexcept;
inline bool IsSet(const std::shared_ptr<const bool>& flag) {
  return __atomic_load_n(flag.get(), __ATOMIC_RELAXED);
}

// A module that was not made by Add is silently not trained. A sign of it is a parameter that gets
// gradients while no optimizer has it. The sweep notes each such parameter once; the next step of
// an optimizer on this thread reports it on stderr, unless an optimizer has it by then.
void NoteGradientOfOwned(const Tensor& leaf);
void ReportLeftOut();

// Two optimizers with the same parameter would silently both move it. So an optimizer registers its
// parameters under its own name, and unregisters those that it drops. Returns the name of another
// optimizer that has the parameter, if there is one.
using OptimizerName = std::shared_ptr<const std::string>;
OptimizerName NoteOptimized(const Tensor& parameter, const OptimizerName& optimizer);
OptimizerName OtherOptimizer(const Tensor& parameter, const OptimizerName& optimizer);
void ForgetOptimized(const Tensor& parameter, const OptimizerName& optimizer);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OWNER_H_
