#ifndef FIRN_AUTOGRAD_GRAPH_RECORDER_H_
#define FIRN_AUTOGRAD_GRAPH_RECORDER_H_

// Builds a Graph from the operations that Apply reports.

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "autograd/graph/graph.h"
#include "autograd/tape/sweep.h"
#include "tensor/dispatch.h"

namespace firn {

// Values are known by where they lie: storage, position and spec. So a handle made outside Apply (a
// detached copy, a saved result) is the same value as the tensor it came from.
class GraphRecorder final : public CaptureRecorder, public autograd::StorageHolder {
 public:
  explicit GraphRecorder(absl::Span<const Tensor> inputs);
  ~GraphRecorder() override;

  absl::Status BeforeWrite(const Tensor& t) override;
  void Record(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
              absl::Span<const Tensor> out) override;
  absl::Status OnHostRead(const Tensor& t) override;
  absl::Status OnHostData(const TensorSpec& spec) override;

  bool Holds(const Storage& storage) const override { return seen_.contains(&storage); }

  // The graph with these results. Requires: the run is over, and the caller holds no other handles
  // on the results.
  Captured Finish(TensorList results);
  // Gives what was changed in place its elements back, and leaves their gradients.
  void Undo();

 private:
  // A storage that the run has seen. Held, so that its address stays its own; given up when nobody
  // else holds it.
  struct Seen {
    IntrusivePtr<Storage> storage;
    BufferId buffer;
    bool made_here;  // by an operation of this run
    std::vector<ValueId> values;
  };
  Seen& SeenStorage(const Tensor& t, Buffer::Kind kind, bool made_here);
  // The value that `t` is, made if there is none in its buffer yet.
  ValueId ValueIn(Seen& seen, const Tensor& t);
  ValueId InputValue(const Tensor& t);
  void Sweep();
  void NoteLeaf(const Tensor& t);
  void FindGradients();
  void BindWhatStays();
  const IntrusivePtr<Storage>& StorageOf(BufferId buffer) const;

  Graph graph_;
  absl::flat_hash_map<const Storage*, Seen> seen_;
  std::vector<std::pair<Tensor, Tensor>> changed_;  // written states and copies from before
  std::vector<Tensor> leaves_;                      // states that want a gradient
  std::vector<Tensor> grads_before_;                // of leaves_
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_RECORDER_H_
