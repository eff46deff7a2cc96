// Leaves of one dtype lie one behind the other in a bucket; those of several dtypes fill several
// buckets at a time. Each has its view into the bucket for good: a pass allocates nothing. A leaf
// that fills a bucket alone, as large ones do, is reduced where its gradient is, without a copy.

#include "firn/nn/parallel/internal/gradient_buckets.h"

#include <algorithm>
#include <map>
#include <utility>

#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/slices.h"

namespace firn::nn::parallel::internal {

struct GradientBuckets::Plan {
  std::vector<size_t> leaves;
  DType dtype = kDefaultFloat;
  int64_t elements = 0;
  size_t last = 0;  // where in the order its last leaf stands
};

std::vector<GradientBuckets::Plan> GradientBuckets::PlanOf(const std::vector<Tensor>& leaves,
                                                           const std::vector<int64_t>& order,
                                                           const BucketOptions& options) {
  std::vector<Plan> plans;
  std::map<DType, Plan> open;
  const auto close = [&](Plan& plan) {
    if (!plan.leaves.empty()) plans.push_back(std::exchange(plan, {}));
  };
  for (size_t at = 0; at < order.size(); ++at) {
    const auto leaf = static_cast<size_t>(order[at]);
    DType dtype = leaves[leaf].dtype();
    if (options.compression && SizeOf(dtype) > SizeOf(*options.compression)) {
      dtype = *options.compression;
    }
    const int64_t elements = leaves[leaf].num_elements();
    Plan& plan = open[dtype];
    const int64_t most = plans.empty() ? options.first_bytes : options.bytes;
    if ((plan.elements + elements) * SizeOf(dtype) > most) close(plan);
    plan.leaves.push_back(leaf);
    plan.dtype = dtype;
    plan.elements += elements;
    plan.last = at;
  }
  for (auto& [dtype, plan] : open) close(plan);
  std::sort(plans.begin(), plans.end(),
            [](const Plan& a, const Plan& b) { return a.last < b.last; });
  return plans;
}

GradientBuckets::GradientBuckets(const std::vector<Tensor>& leaves,
                                 const std::vector<int64_t>& order, const BucketOptions& options,
                                 int64_t group)
    : leaves_(leaves), places_(leaves.size()) {
  const NoGradScope no_grad;
  for (const Plan& plan : PlanOf(leaves, order, options)) {
    const bool alone = plan.leaves.size() == 1 && leaves[plan.leaves[0]].dtype() == plan.dtype;
    const Tensor flat = alone ? Tensor() : Zeros({plan.elements}, plan.dtype, leaves[0].device());
    int64_t begin = 0;
    for (const size_t leaf : plan.leaves) {
      const int64_t elements = leaves[leaf].num_elements();
      places_[leaf].bucket = buckets_.size();
      places_[leaf].alone = alone;
      if (alone) break;
      places_[leaf].view = Narrow(flat, 0, begin, elements).View(leaves[leaf].shape());
      begin += elements;
    }
    buckets_.push_back({.leaves = plan.leaves,
                        .missing = plan.leaves.size(),
                        .elements = flat,
                        .mean = Reduction(comm::Reduction::kMean, group)});
  }
}

void GradientBuckets::Put(size_t leaf, const Tensor& value) {
  Place& place = places_[leaf];
  if (place.alone) {
    place.view = value.defined() ? value : ZerosLike(leaves_[leaf].Detach());
  } else {
    inner::Assign(place.view, value.defined() ? value : Tensor(0));
  }
  place.put = true;
  --buckets_[place.bucket].missing;
  for (; started_ < buckets_.size() && buckets_[started_].missing == 0; ++started_) {
    Bucket& bucket = buckets_[started_];
    bucket.mean.Start(bucket.elements.defined() ? bucket.elements : Mean(bucket.leaves[0]));
  }
}

void GradientBuckets::PutRest() {
  for (size_t leaf = 0; leaf < places_.size(); ++leaf) {
    if (!places_[leaf].put) Put(leaf, Tensor());
  }
}

void GradientBuckets::Wait() {
  for (Bucket& bucket : buckets_) bucket.mean.Wait();
}

void GradientBuckets::Reset() noexcept {
  for (Bucket& bucket : buckets_) {
    bucket.mean.Drop();
    bucket.missing = bucket.leaves.size();
  }
  for (Place& place : places_) {
    place.put = false;
    if (place.alone) place.view = Tensor();
  }
  started_ = 0;
}

}  // namespace firn::nn::parallel::internal
