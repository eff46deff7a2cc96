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
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::parallel::internal {

// What a DataParallel does in backward passes; that class says what holds. Thread-compatible.
class GradientSynchroniser : public GradientListener {
 public:
  // `trained` is listened to, `frozen` are the network's other parameters.
  GradientSynchroniser(std::vector<NamedTensor> trained, std::vector<NamedTensor> frozen,
                       std::shared_ptr<comm::Communicator> comm, const BucketOptions& options);

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
  void CheckFrozen() const;
  // By what gradients of this pass are multiplied, so that their mean over ranks is weighted.
  double TakeFactor();
  // What this rank adds of a leaf: the pass's gradient, and what earlier passes have left.
  Tensor Part(const Found& found) const;
  void KeepLocal();
  void Reduce();
  void MakeBuckets();
  std::vector<int64_t> OrderOfFirstRank() const;
  // The gradients of leaves that this pass did not reach, which nobody adds for the listener.
  std::vector<Found> Late() const;
  void Reset() noexcept;

  const std::vector<NamedTensor> trained_, frozen_;
  const std::shared_ptr<comm::Communicator> comm_;
  const BucketOptions options_;
  std::vector<Tensor> leaves_;  // those of trained_
  absl::flat_hash_map<const inner::TensorImpl*, size_t> number_of_;
  std::optional<GradientBuckets> buckets_;  // none before the first reduction
  std::vector<Tensor> local_;               // by leaf, of passes without synchronisation
  int no_sync_ = 0;                         // scopes

  // Of the pass that runs.
  bool in_pass_ = false, synchronised_ = false;
  double factor_ = 1;
  std::vector<Found> found_;
  std::vector<uint8_t> here_;  // by leaf: whether it is among them
  std::vector<uint8_t> used_;  // by leaf: whether this rank, then any, has something to add

  // Of SetWeight.
  double samples_ = 1;
  std::vector<double> samples_of_;  // by rank
  std::unique_ptr<comm::Pending> weighing_;
};

}  // namespace firn::nn::parallel::internal

#endif  // FIRN_NN_PARALLEL_INTERNAL_GRADIENT_SYNCHRONISER_H_
