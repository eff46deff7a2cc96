#ifndef FIRN_AUTOGRAD_GRAPH_RECORDER_H_
#define FIRN_AUTOGRAD_GRAPH_RECORDER_H_

// Builds a Graph from the operations that Apply reports.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/tape/sweep.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/storage.h"

namespace firn {

// Values are known by where they lie: storage, position and spec. So a handle made outside Apply (a
// detached copy, a saved result) is the same value as the tensor it came from.
class GraphRecorder final : public CaptureRecorder, public autograd::SweepCapture {
 public:
  explicit GraphRecorder(absl::Span<const Tensor> inputs);
  ~GraphRecorder() override;

  absl::Status BeforeWrite(const Tensor& t) override;
  bool ShallWait(const OpDef& op, absl::Span<const TensorRef> in) override;
  void PutOff(const OpDef& op, absl::Span<const TensorRef> in,
              std::shared_ptr<internal::WaitingCall> call) override;
  void BeforeCall(const OpDef& op, absl::Span<const TensorRef> in) override;
  void BeforeRead(const Tensor& t) override { BeforeUse(t, false); }
  void Settle() override { RunWaiting(Undoable::kYes); }
  void Record(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
              absl::Span<const Tensor> out) override;
  absl::Status OnHostRead(const Tensor& t) override;
  absl::Status OnHostData(const TensorSpec& spec) override;
  void BeforeGetGrad(const Tensor& t) override;
  void BeforeSetGrad(const Tensor& t) override;
  void BeforeGetSwitch(const SwitchState& state, const std::string& name, bool turns) override;
  void BeforeSetSwitch(const SwitchState& state) override;
  void BeforeDetach(const Tensor& t) override;

  bool Holds(const Storage& storage) const override { return seen_.contains(&storage); }
  Tensor FoundGradient(const Tensor& leaf) override;
  bool IsFound(const Tensor& grad) const override;

  // The graph with these results. Requires: the run is over, and the caller holds no other handles
  // on the results, and one on each input.
  Captured Finish(TensorList results);
  // Gives back: to tensors that the run changed in place their elements, to leaves their gradients.
  void Undo();

 private:
  // A storage that the run has seen. Held, so that its address stays its own; given up when nobody
  // else holds it.
  struct Seen {
    IntrusivePtr<Storage> storage;
    BufferId buffer;
    bool made_here;  // by an operation of this run
    std::vector<ValueId> values;
    // For many values, such as the rows of a table: the first `indexed` by their places.
    absl::flat_hash_map<size_t, absl::InlinedVector<ValueId, 1>> by_place = {};
    size_t indexed = 0;
  };
  Seen& SeenStorage(const Tensor& t, Buffer::Kind kind, bool made_here);
  // The value that `t` is, made if there is none in its buffer yet.
  ValueId ValueIn(Seen& seen, const Tensor& t);
  // The values that lie at about that place. If a value for `t` exists, it is among them.
  absl::Span<const ValueId> Near(Seen& seen, int64_t offset, const TensorSpec& spec) const;
  ValueId InputValue(const Tensor& t);
  // `t` is what the state is outside.
  void Bind(ValueId id, const Tensor& t);
  // Gives up the storages that nobody else holds any more, if there may be enough of them.
  void DropUnheld();
  struct Leaf;
  // Notes the gradient of a leaf before the run can change it.
  Leaf& NoteLeaf(const Tensor& t);
  void FindGradients();
  ValueId GradientValue(const Tensor& grad);
  void BindWhatStays();
  void NoteSwitches();
  void NoteKept();
  // Copies what `t` holds, unless it is known: for Undo.
  void KeepAsItIs(const Tensor& t);
  enum class Undoable : bool { kNo, kYes };
  // Runs the calls that wait if they have to do with `t`.
  void BeforeUse(const Tensor& t, bool writes);
  // Runs the calls that wait. The argument says whether Undo can still be called afterwards, which
  // takes copies.
  void RunWaiting(Undoable undoable);
  void ForgetWaiting();
  // By buffer; null for what is gone.
  std::vector<const Seen*> SeenByBuffer() const;

  Graph graph_;
  absl::flat_hash_map<const Storage*, Seen> seen_;
  std::vector<const Storage*> made_here_;  // of seen_, in the order of their making
  // Leaves from outside and modules' tensors that have the same elements as another, bound tensor;
  // in the order of their first use.
  std::vector<std::pair<ValueId, Tensor>> other_handles_;
  absl::flat_hash_set<const TensorImpl*> known_handles_;
  std::vector<Tensor> detached_;  // modules' tensors that the run may know only by other handles
  absl::flat_hash_set<const TensorImpl*> known_detached_;
  size_t held_bytes_ = 0, new_bytes_ = 0;  // of storages: after the last DropUnheld, made since
  std::vector<std::pair<Tensor, Tensor>> changed_;  // written states and copies from before
  absl::flat_hash_set<const TensorImpl*> known_changed_;
  // See Note [Calls that wait]. In order; no call reads or writes what another one writes.
  struct Waiting {
    std::shared_ptr<internal::WaitingCall> call;
    std::vector<Tensor> written;
  };
  std::vector<Waiting> waiting_;
  struct WaitsOn {
    bool written = false;  // else read
    uint32_t handles = 0;  // of waiting calls
  };
  absl::flat_hash_map<const Storage*, WaitsOn> waits_on_;
  // A tensor whose gradient the run reads, sets, clears or adds to.
  struct Leaf {
    Tensor tensor, grad_before;
    bool withheld_before;
    bool is_input;
    // The leaf is an input, or every run makes it anew: it has no gradient yet.
    bool made_here;
    bool touched = false;  // the run has read, set, cleared or added to its gradient
    GradientEffect::Finds finds = GradientEffect::Finds::kAnything;
    Tensor found;  // stands for the gradient that the run found
  };
  std::vector<Leaf> leaves_;
  absl::flat_hash_map<const TensorImpl*, size_t> leaf_at_;
  // Switches that were asked or set. A run that sets a switch first does not depend on its value
  // before.
  absl::flat_hash_set<SwitchState> switches_;
  absl::flat_hash_set<const TensorImpl*> found_;  // Leaf::found of all
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_RECORDER_H_
