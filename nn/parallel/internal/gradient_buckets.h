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
  int64_t bytes = 0;                      // most of a bucket, but for a leaf that is larger
  int64_t first_bytes = 0;                // of the first one
  std::optional<DType> compression = {};  // of wider elements; empty: as they are
};

// Gradients of many leaves as few tensors, which are reduced one after the other as soon as all of
// theirs are there. Made once, for every pass anew. Thread-compatible.
class GradientBuckets {
 public:
  // Buckets are filled in the order `order`, which has each leaf's number once, and started in that
  // of their last leaves, on all ranks alike.
  GradientBuckets(const std::vector<Tensor>& leaves, const std::vector<int64_t>& order,
                  const BucketOptions& options, int64_t group);

  // A leaf's part of this pass, whose elements may change from here on; undefined: zeros. Starts
  // the buckets whose turn it is, among the ranks of the group. Once a leaf.
  void Put(size_t leaf, const Tensor& value);
  // Zeros for the leaves that are missing, and starts all buckets.
  void PutRest();
  // Waits for all, in their order. Then Mean gives a leaf's, of its shape and the bucket's dtype,
  // until Reset. It is the same tensor from Put on.
  void Wait();
  const Tensor& Mean(size_t leaf) const { return places_[leaf].view; }
  // Nothing was put, for the next pass. Waits for what is on its way.
  void Reset() noexcept;

  size_t size() const { return buckets_.size(); }

 private:
  struct Place {
    size_t bucket = 0;
    Tensor view;  // into the bucket; of a leaf that is alone in one, what was put
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
