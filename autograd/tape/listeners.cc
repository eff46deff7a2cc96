#include "firn/autograd/tape/listeners.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"

namespace firn::autograd {

std::vector<ListenedLeaf> ListenedLeaves(absl::Span<Node* const> roots) {
  absl::flat_hash_map<const TensorImpl*, size_t> at;
  std::vector<ListenedLeaf> leaves;
  absl::flat_hash_set<const Node*> seen(roots.begin(), roots.end());
  std::vector<Node*> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    Node* const node = stack.back();
    stack.pop_back();
    for (const Edge& e : node->edges()) {
      if (e.node) {
        if (seen.insert(e.node.get()).second) stack.push_back(e.node.get());
      } else if (e.leaf.defined()) {
        const auto [it, is_new] = at.try_emplace(e.leaf.impl(), leaves.size());
        if (is_new) leaves.push_back({e.leaf, GradientListenerOf(e.leaf), node->seq()});
        ListenedLeaf& leaf = leaves[it->second];
        leaf.last_user = std::min(leaf.last_user, node->seq());
      }
    }
  }
  std::erase_if(leaves, [](const ListenedLeaf& leaf) { return leaf.listener == nullptr; });
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const auto& a, const auto& b) { return a.last_user > b.last_user; });
  return leaves;
}

bool WeighSeeds(absl::Span<const ListenedLeaf> leaves, absl::Span<const Tensor> leaf_roots,
                absl::Span<Tensor* const> seeds) {
  std::vector<GradientListener*> asked;
  std::optional<double> weight;
  const auto ask = [&](const std::shared_ptr<GradientListener>& listener) {
    if (listener == nullptr || std::ranges::find(asked, listener.get()) != asked.end()) return;
    asked.push_back(listener.get());
    const std::optional<double> own = listener->Weight();
    if (!own) return;
    if (weight && *weight != *own) {
      for (GradientListener* const l : asked) l->Cancel();
      RaiseStatus(InvalidArgument("listeners of one pass weigh it by ", *weight, " and by ", *own),
                  "backward");
    }
    weight = own;
  };
  for (const ListenedLeaf& leaf : leaves) ask(leaf.listener);
  for (const Tensor& leaf : leaf_roots) ask(GradientListenerOf(leaf));
  if (weight.value_or(1) == 1) return false;
  for (Tensor* const seed : seeds) {
    if (!seed->defined()) continue;
    *seed =
        *weight == 0 ? Zeros(seed->shape(), seed->dtype(), seed->device()) : Mul(*seed, *weight);
  }
  return *weight == 0;
}

}  // namespace firn::autograd
