#ifndef FIRN_AUTOGRAD_TAPE_LISTENERS_H_
#define FIRN_AUTOGRAD_TAPE_LISTENERS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/gradient_listener.h"
#include "firn/autograd/tape/node.h"

namespace firn::autograd {

// A leaf that is listened to, and the smallest number among the nodes that use it: with that node
// its gradient is final.
struct ListenedLeaf {
  Tensor leaf;
  std::shared_ptr<GradientListener> listener;
  uint64_t last_user = 0;
};
// Those that `roots` were computed from, without recursion; first those that are final first.
std::vector<ListenedLeaf> ListenedLeaves(absl::Span<Node* const> roots);

// Multiplies the seeds of a pass by what its listeners ask for (GradientListener::Weight), who
// listen to `leaves` or to roots that are leaves themselves. Returns whether that is 0: what such a
// pass finds is to be zeros, too, also where it passes an infinity and finds a NaN.
bool WeighSeeds(absl::Span<const ListenedLeaf> leaves, absl::Span<const Tensor> leaf_roots,
                absl::Span<Tensor* const> seeds);

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_TAPE_LISTENERS_H_
