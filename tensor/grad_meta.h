#ifndef FIRN_TENSOR_GRAD_META_H_
#define FIRN_TENSOR_GRAD_META_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/object_pool.h"
#include "tensor/intrusive_ptr.h"
#include "tensor/tensor.h"

namespace firn {

// Sees a gradient as it arrives and may return a replacement (an undefined tensor keeps it).
using GradHook = std::function<Tensor(const Tensor&)>;
struct GradHookEntry {
  GradHook fn;
  bool active = true;  // cleared by the handle that removes the hook
};
using GradHooks = std::vector<std::shared_ptr<GradHookEntry>>;

// A recorded operation, as far as tensor/ knows it; autograd/tape has the real thing.
class GradNode : public RefCounted {
 public:
  virtual ~GradNode() = default;
  // Disposes of a node without recursing into the nodes it holds.
  static void Destroy(GradNode* node) noexcept;
  // Shows the gradient of output `slot` to `hook` when backward reaches this node.
  virtual void AddHook(uint32_t slot, std::shared_ptr<GradHookEntry> hook) = 0;
  // Puts the gradient of output `slot` into `cell` as well.
  virtual void Retain(uint32_t slot, std::shared_ptr<Tensor> cell) = 0;
};

class PendingOwner;

// What few tensors need beside TensorImpl::grad_node; absent while nobody needs it.
struct GradMeta : Pooled<GradMeta> {
  Tensor grad;                       // accumulated, for leaves
  GradHooks hooks;                   // of leaves; a computed tensor's hooks live in its node
  std::shared_ptr<Tensor> retained;  // RetainGrad: shared with the node, which fills it
  const PendingOwner* pending_owner = nullptr;  // of a pending tensor, see tensor/pending.h
};

// The metadata of `t`, made on first use. Requires: t.defined().
GradMeta& EnsureGradMeta(const Tensor& t);

}  // namespace firn

#endif  // FIRN_TENSOR_GRAD_META_H_
