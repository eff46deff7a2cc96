#ifndef FIRN_TENSOR_GRAD_META_H_
#define FIRN_TENSOR_GRAD_META_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "firn/device/object_pool.h"
#include "firn/tensor/intrusive_ptr.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

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

 private:
  GradNode* next_pending_ = nullptr;  // while it waits for Destroy
};

class TensorOwner;

// Data that few tensors need beside TensorImpl::grad_node; made on first use.
struct GradMeta : Pooled<GradMeta> {
  Tensor grad;             // accumulated, for leaves
  bool withheld = false;   // a frozen graph has computed a gradient and not left it here
  bool optimized = false;  // an optimizer moves this tensor, or has moved it
  // The names of this tensor's owners, which hold the strings; null before the first owner.
  std::shared_ptr<std::vector<std::weak_ptr<const std::string>>> optimizers;
  std::shared_ptr<bool> claimed;     // see NoteGradientOfOwned; becomes true with `optimized`
  GradHooks hooks;                   // of leaves; a computed tensor's hooks live in its node
  std::shared_ptr<Tensor> retained;  // RetainGrad: shared with the node, which fills it
  absl::InlinedVector<const TensorOwner*, 1> owners;  // see tensor/owner.h
  std::shared_ptr<bool> replaced;  // see ReplacedFlag there; null before somebody asks

  ~GradMeta();  // not inline: it runs for every dropped tensor, and few have a GradMeta
};

// The metadata of `t`, made on first use. Requires: t.defined().
GradMeta& EnsureGradMeta(const Tensor& t);

// The gradient that `leaf` holds, without asking whether it may be read. Requires: leaf.defined().
const Tensor& HeldGrad(const Tensor& leaf);
// Sets the gradient of `leaf` to `grad` (of the leaf's spec, or undefined), even during a capture.
void HoldGrad(const Tensor& leaf, Tensor grad);
// Whether a frozen graph has computed a gradient of `leaf` and kept it. Requires: leaf.defined().
inline bool IsWithheld(const Tensor& leaf) {
  const GradMeta* meta = leaf.impl()->grad_meta.get();
  return meta != nullptr && meta->withheld;
}
// The FailedPrecondition that says why `leaf` has no gradient to read.
absl::Status WithheldError(const Tensor& leaf);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_GRAD_META_H_
