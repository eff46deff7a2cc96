#ifndef FIRN_IO_DATA_DATASET_H_
#define FIRN_IO_DATA_DATASET_H_

// Collections of examples and how they are put together:
//
//   io::DatasetPtr part = io::Subset(io::Mnist(dir), 0, 1000);
//   io::DatasetPtr flipped = io::Map(part, [](io::Sample s) { ...; return s; });
//   io::DatasetPtr batches = io::Batch(io::Shuffle(flipped, 1), 64);
//   for (int64_t i = 0; i < batches->size(); ++i) Train(batches->Get(i));
//
// A training loop rather uses io::DataLoader (io/data/data_loader.h), which reshuffles every epoch.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/io/data/sample.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// A numbered collection of samples. Subclasses make them; users combine them by the functions
// below. Thread-safe: DataLoader calls Get and GetBatch from several threads at once, so a subclass
// that keeps state beside its samples locks it.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  // Sample `i`. Throws OutOfRange unless 0 <= i < size(), and what the subclass throws.
  virtual Sample Get(int64_t i) const = 0;
  // The samples of these indices, of which there is one at least, stacked: tensors get a new first
  // dimension. The samples' names, shapes and dtypes must agree. Override it if a batch can be made
  // faster than sample by sample.
  virtual Sample GetBatch(absl::Span<const int64_t> indices) const;
  // What a sample's tensors are called (Sample::variables), in their order: by default those of
  // sample 0, or "input" and "target" if there is no sample. Override it if the names are known.
  virtual std::vector<std::string> variables() const;
  // What errors call sample `i`: its file where it has one, else "sample <i>". Combinations give
  // the name that the dataset below them gives.
  virtual std::string NameOf(int64_t i) const;
};

// Datasets are shared and never change. The functions below throw where one is null.
using DatasetPtr = std::shared_ptr<const Dataset>;

// Sample i is row i of each tensor (of size n in dimension 0); `target` may be undefined. Throws
// when the sizes differ.
DatasetPtr FromTensors(const Tensor& input, const Tensor& target = {});
// The same of any number of tensors, under their names: {{"image", a}, {"boxes", b}}.
DatasetPtr FromTensors(const NamedTensors& tensors);

// Sample i is f(i), computed when it is asked for, on the thread that asks. Throws when `f` is
// empty or size negative.
DatasetPtr FromFunction(int64_t size, std::function<Sample(int64_t i)> f);

// `f` of each sample, computed when it is asked for, on the thread that asks: names and further
// tensors are what it returns. Throws when `f` is empty. A firn::Error of f gets the sample's name
// in front.
DatasetPtr Map(DatasetPtr dataset, std::function<Sample(Sample)> f);

// The samples of these indices, in this order; an index may be repeated. Throws when one is out of
// range.
DatasetPtr Subset(DatasetPtr dataset, std::vector<int64_t> indices);
// Samples begin to end - 1.
DatasetPtr Subset(DatasetPtr dataset, inner::Integer begin, inner::Integer end);

struct SliceOptions {
  int64_t count = 1;  // of slices
  int64_t index = 0;  // of this one, from 0
  // Leaves samples out if the slices do not divide them evenly. Otherwise some samples are in two
  // slices: a slice that would end beyond the last sample begins earlier, and one that would begin
  // beyond it is the first slice again.
  bool drop_last = false;
};

// One of `count` slices of equal size, of consecutive samples, for one of several processes. Throws
// unless 0 <= index < count.
DatasetPtr Slice(DatasetPtr dataset, const SliceOptions& options);

struct SplitOptions {
  // The share of each part, such as {0.8, 0.1, 0.1}: a part has floor(size * fraction) samples, and
  // the samples that are left go to the parts one by one, from the first on.
  std::vector<double> fractions = {};
  std::vector<int64_t> lengths = {};  // in place of `fractions`: samples of each part
  uint64_t seed = 0;                  // of the order
  bool shuffle = true;                // false: parts are of samples that follow each other
};

// The dataset in parts that have no sample in common, and together all of them
// (torch.utils.data.random_split, with other random numbers): pieces, one behind the other, of
// Shuffle(dataset, seed). Which samples a part has depends on the options and the dataset's size
// alone, so another run, machine or number of threads gets the same parts. Throws unless there are
// either fractions or lengths, none is negative, and they add up to 1 (to 1e-9) or to the size.
std::vector<DatasetPtr> Split(DatasetPtr dataset, const SplitOptions& options);

// All samples in an order that depends on `seed` alone.
DatasetPtr Shuffle(DatasetPtr dataset, inner::Integer seed);

// The samples of one dataset after the other.
DatasetPtr Concat(std::vector<DatasetPtr> datasets);

// Samples with the same index put together under names: {{"image", images}, {"boxes", boxes}}. In
// each dataset the samples are one tensor; a sample with more throws. Throws where there is no
// dataset, their sizes differ, or a name is empty or occurs twice.
DatasetPtr Zip(std::vector<std::pair<std::string, DatasetPtr>> datasets);

// Sample i is the batch of samples i * batch to (i + 1) * batch - 1; the last one is shorter or,
// with drop_last, left out if it would be. Throws unless batch >= 1.
DatasetPtr Batch(DatasetPtr dataset, inner::Integer batch, inner::Flag drop_last = false);

struct PrefetchOptions {
  int threads = 1;    // that make samples; 0 makes them on the thread that asks
  int64_t ahead = 4;  // most samples that are made before they are asked for
};

// The same samples, made ahead on other threads as long as they are asked for in order. Throws
// unless threads >= 0 and ahead >= 1. It pays if making a sample (decoding, augmenting) costs more
// than handing it over, some 20 us.
DatasetPtr Prefetch(DatasetPtr dataset, const PrefetchOptions& options = {});

// Samples stacked along a new first dimension, under their names. Throws when there are none, or
// when they differ in names, shape, dtype, or in which tensors are defined.
Sample Stack(absl::Span<const Sample> samples);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_DATASET_H_
