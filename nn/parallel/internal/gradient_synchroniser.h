#ifndef FIRN_NN_PARALLEL_INTERNAL_GRADIENT_SYNCHRONISER_H_
#define FIRN_NN_PARALLEL_INTERNAL_GRADIENT_SYNCHRONISER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "firn/autograd/gradient_listener.h"
#include "firn/device/comm/communicator.h"
#include "firn/nn/parallel/internal/gradient_buckets.h"
#include "firn/nn/parallel/internal/rank_weights.h"
#include "firn/nn/parallel/internal/reduction.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::parallel::internal {

// What a DataParallel does in backward passes; that class says what holds. Thread-compatible.
class GradientSynchroniser : public GradientListener {
 public:
  // `trained` is listened to, `frozen` are the network's other parameters. `group` is the number of
  // `comm` (device/comm/groups.h).
  GradientSynchroniser(std::vector<NamedTensor> trained, std::vector<NamedTensor> frozen,
                       std::shared_ptr<comm::Communicator> comm, int64_t group,
                       const BucketOptions& options);

  std::optional<double> Weight() override;
  void Ready(const Tensor& leaf, Tensor& grad) override;
  void Finish() override;
  void Cancel() noexcept override;

  void EnterNoSync() { ++no_sync_; }
  void LeaveNoSync() { --no_sync_; }
  void DropLocal();
  void SetWeight(double samples);

 private:
  struct Found {
    size_t leaf;
    Tensor grad;
  };

  bool alone() const { return comm_->size() == 1; }
  // The first call of a pass.
  void Begin();
  void BeginCaptured();
  void CheckFrozen() const;
  // What this rank adds of a leaf: the pass's gradient, and what earlier passes have left.
  Tensor Part(const Found& found) const;
  void KeepLocal();
  void Reduce();
  void MakeBuckets();
  std::vector<int64_t> OrderOfFirstRank() const;
  // Before the reduction of flags_, and after.
  void SetFlags();
  void ReadFlags();
  // The gradients of leaves that this pass did not reach, which nobody adds for the listener.
  std::vector<Found> Late() const;
  void Reset() noexcept;

  const std::vector<NamedTensor> trained_, frozen_;
  const std::shared_ptr<comm::Communicator> comm_;
  const int64_t group_;
  const BucketOptions options_;
  std::vector<Tensor> leaves_;  // those of trained_
  absl::flat_hash_map<const inner::TensorImpl*, size_t> number_of_;
  std::optional<GradientBuckets> buckets_;  // none before the first reduction
  std::vector<Tensor> local_;               // by leaf, of passes without synchronisation
  int no_sync_ = 0;                         // scopes

  // Facts of the pass that runs.
  bool asked_ = false;  // for its weight, and it has not begun
  bool in_pass_ = false, synchronised_ = false, captured_ = false;
  std::vector<Found> found_;   // of its own, or to be written at the end
  std::vector<uint8_t> here_;  // by leaf: whether the pass has found a gradient
  std::vector<uint8_t> used_;  // by leaf: whether this rank, then any, has something to add
  // u8, twice by leaf: used_, and whether a captured pass does not reach the leaf.
  Tensor flags_;
  Reduction flags_reduction_;
  bool any_captured_ = false;  // passes before, too
  RankWeights weights_;
};

}  // namespace firn::nn::parallel::internal

#endif  // FIRN_NN_PARALLEL_INTERNAL_GRADIENT_SYNCHRONISER_H_
