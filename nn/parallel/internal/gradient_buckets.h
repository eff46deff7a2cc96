#ifndef FIRN_NN_PARALLEL_INTERNAL_GRADIENT_BUCKETS_H_
#define FIRN_NN_PARALLEL_INTERNAL_GRADIENT_BUCKETS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "firn/nn/parallel/internal/reduction.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::parallel::internal {

struct BucketOptions {
  int64_t bytes = 0;                      // the most bytes in a bucket, unless one leaf is larger
  int64_t first_bytes = 0;                // of the first one
  std::optional<DType> compression = {};  // of wider elements; empty: as they are
};

// Collects gradients of many leaves in a few tensors, each of which is reduced as soon as it is
// complete, one after the other. Made once and used again by every pass. Thread-compatible.
class GradientBuckets {
 public:
  // Buckets are filled in the order `order`, which has each leaf's number once. They are started in
  // the order of their last leaves, the same on all ranks.
  GradientBuckets(const std::vector<Tensor>& leaves, const std::vector<int64_t>& order,
                  const BucketOptions& options, int64_t group);

  // A leaf's part of this pass, whose elements may change from here on; undefined: zeros. Starts
  // the buckets whose turn it is, among the ranks of the group. Once a leaf.
  void Put(size_t leaf, const Tensor& value);
  // Zeros for the leaves that are missing, and starts all buckets.
  void PutRest();
  // Waits for all buckets, in their order. Then, until Reset, Mean gives a leaf's mean gradient, in
  // its shape and the bucket's dtype. It is the same tensor from Put on.
  void Wait();
  const Tensor& Mean(size_t leaf) const { return places_[leaf].view; }
  // Empties the buckets for the next pass. Waits for reductions in progress.
  void Reset() noexcept;

  size_t size() const { return buckets_.size(); }

 private:
  struct Place {
    size_t bucket = 0;
    Tensor view;  // a view into the bucket; for a leaf alone in one, the tensor that was put
    bool alone = false;
    bool put = false;
  };
  struct Bucket {
    std::vector<size_t> leaves;
    size_t missing = 0;  // leaves that this pass has not put yet
    Tensor elements;     // undefined: those of its only leaf
    Reduction mean;
  };
  struct Plan;
  static std::vector<Plan> PlanOf(const std::vector<Tensor>& leaves,
                                  const std::vector<int64_t>& order, const BucketOptions& options);

  const std::vector<Tensor> leaves_;
  std::vector<Place> places_;  // by leaf
  std::vector<Bucket> buckets_;
  size_t started_ = 0;  // buckets of this pass
};

}  // namespace firn::nn::parallel::internal

#endif  // FIRN_NN_PARALLEL_INTERNAL_GRADIENT_BUCKETS_H_
