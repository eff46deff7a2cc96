// The number of a batch alone decides its samples and their random numbers.
#include "firn/io/data/internal/loader_epoch.h"

#include <utility>
#include <vector>

#include "firn/io/data/internal/name_errors.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/rng.h"

namespace firn::io::internal {
namespace {

// These keep numbers apart from other streams of the same seed.
constexpr uint64_t kMapKey = 0x6d61702067656e31;     // "map gen1"
constexpr uint64_t kSampleKey = 0x73616d706c652031;  // "sample 1"

// The same tensors without rows.
Sample WithoutRows(const Sample& batch) {
  return batch.EachBy([](const Tensor& t) {
    return t.defined() && t.rank() > 0 ? Narrow(t.Detach(), 0, 0, 0) : t;
  });
}

}  // namespace

uint64_t LoaderEpoch::KeyOf(uint64_t stream) const {
  const auto number = static_cast<uint64_t>(first.epoch);
  return options.seed ^ stream ^ (number << 32 | number >> 32);
}

Sample LoaderEpoch::Gather(absl::Span<const int64_t> indices) const {
  if (!options.transform && !options.collate) return dataset->GetBatch(indices);
  RandomGenerator random;
  std::vector<Sample> samples;
  samples.reserve(indices.size());
  for (const int64_t i : indices) {
    // 2^28 counters for each of 2^36 samples.
    random.SetPosition({KeyOf(kSampleKey), static_cast<uint64_t>(i) << 28});
    Sample sample = dataset->Get(i);
    if (!options.transform) {
      samples.push_back(std::move(sample));
      continue;
    }
    samples.push_back(WithNameOf(*dataset, i, "transform",
                                 [&] { return options.transform(std::move(sample), random); }));
  }
  if (options.collate) return options.collate(samples);
  return StackOf(*dataset, indices, samples);
}

Sample LoaderEpoch::MakeOf(const Range& samples, int64_t batch) const {
  Sample made = Gather(absl::MakeConstSpan(order).subspan(static_cast<size_t>(samples.begin),
                                                          static_cast<size_t>(samples.size)));
  if (!options.map) return made;
  const int64_t part = batch * options.shard.count + options.shard.rank;
  RandomGenerator random;
  random.SetPosition({KeyOf(kMapKey), static_cast<uint64_t>(part) << 40});
  return options.map(std::move(made), random);
}

Sample LoaderEpoch::Make(int64_t batch) const {
  Range whole = cut.Batch(batch);
  if (batch == first.batch) {
    whole.begin += first.begin;
    whole.size -= first.begin;
  }
  const Range part = PartOf(whole, options.shard);
  const bool none = part.size == 0;
  // A sample of another rank shows the shapes, which only functions of the dataset and the options
  // know.
  Sample made = MakeOf(none ? Range{.begin = whole.begin, .size = 1} : part, batch);
  if (none) [[unlikely]]
    made = WithoutRows(made);
  return made;
}

}  // namespace firn::io::internal
