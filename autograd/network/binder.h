#ifndef FIRN_AUTOGRAD_NETWORK_BINDER_H_
#define FIRN_AUTOGRAD_NETWORK_BINDER_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "firn/autograd/network/definition.h"
#include "firn/autograd/network/node_call.h"
#include "firn/autograd/network/program.h"
#include "firn/tensor/tensor.h"

namespace firn::autograd {

// Makes a Program: goes through nodes in order, and through bodies of nodes with a stack of its
// own, however deep they are in each other.
class Binder {
 public:
  // `may_look`: whether lowerings may look at values that the network's inputs determine.
  Binder(std::shared_ptr<const NetworkDefinition> definition, Device device, bool may_look);

  Program Bind(absl::Span<const Tensor> inputs, absl::Span<const Tensor> parameters);

  const BoundValue& Get(int value) const { return values_[static_cast<size_t>(value)]; }
  void Set(int value, BoundValue to) { values_[static_cast<size_t>(value)] = std::move(to); }
  bool may_look() const { return may_look_; }
  // Notes that the program is valid only for inputs whose elements give this value. Throws if it
  // must not depend on them.
  void LookAt(const BoundValue& value, std::string_view what);
  std::vector<BoundValue> Run(const NetworkNode& node, const Step& step,
                              absl::Span<const BoundValue> in);

 private:
  struct Frame {  // a body that is gone through
    const NetworkBody* body;
    std::unique_ptr<NodeCall> call;  // of the node that it belongs to; null: the network's own
    size_t next = 0;
  };

  void Count();
  // Runs the node up to its first body, which it puts on the stack.
  void Start(const NetworkNode& node);
  // The next body of the node whose last one was gone through.
  void GoOn(std::unique_ptr<NodeCall> call);
  void FindLastUses();
  // The value's slot in the program's memory; a known value becomes a constant.
  int SlotOf(const BoundValue& value);
  // Drops calls whose results nobody needs, and says where tensors are given up.
  void Trim();

  const std::shared_ptr<const NetworkDefinition> definition_;
  const Device device_;
  const bool may_look_;
  std::vector<bool> looked_at_;  // by the network's input
  std::vector<BoundValue> values_;
  std::vector<std::vector<int>> last_uses_;  // of each node of the network's own body
  std::vector<Frame> stack_;
  Program program_;
  absl::flat_hash_map<const void*, std::pair<Tensor, int>> constants_;  // by the tensor; a slot
  int64_t nodes_ = 0;
};

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_NETWORK_BINDER_H_
