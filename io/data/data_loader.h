#ifndef FIRN_IO_DATA_DATA_LOADER_H_
#define FIRN_IO_DATA_DATA_LOADER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "firn/device/device.h"
#include "firn/io/data/collate.h"
#include "firn/io/data/dataset.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// How the samples at the end of an epoch that do not fill a batch are treated.
enum class LastBatch {
  kKeep,  // they make a smaller one
  kDrop,  // they are left out
  // The first samples of the next epoch fill it up, and that epoch begins after them: all batches
  // are full, and no sample is left out. An epoch's batches are those whose first sample is of it.
  kWrap,
};

// The samples that an epoch goes through, in this order: as many indices as the dataset has
// samples. Only the epoch's number may decide them. An index may be repeated.
using EpochOrder = std::function<std::vector<int64_t>(int64_t epoch)>;

// An order for samples that lie in blocks of these sizes, such as the files of a cache: each epoch
// has the blocks in a new order, and the samples within each block. So a reader that keeps the
// present block reads each block once an epoch. Throws where a size is negative.
EpochOrder ShuffleBlocks(std::vector<int64_t> sizes, inner::Integer seed = 0);

// The place of this process among several that go through one dataset together, as the ranks of a
// communicator: {.rank = comm.rank(), .count = comm.size()}.
struct Shard {
  int64_t rank = 0;
  int64_t count = 1;
};

namespace internal {
class EpochCut;
}

struct DataLoaderOptions {
  int64_t batch = 1;      // samples in a batch, of each rank where there are several
  bool shuffle = false;   // a new order each epoch
  uint64_t seed = 0;      // for the orders and the generators below
  EpochOrder order = {};  // in place of `shuffle`
  LastBatch last = LastBatch::kKeep;
  // The ranks' parts joined in the ranks' order are the batches that one rank with `count` times
  // the batch size would make. So all ranks make equally many batches, and every sample occurs
  // once, whatever the number of ranks. A smaller last batch is cut as evenly as can be, the first
  // ranks' parts being larger by one; where it has fewer samples than there are ranks, the last
  // ranks' batches have no rows (shapes and dtypes are those of the others). For a network that
  // cannot take this, kDrop and kWrap avoid it, except in the first batch of a run that goes on
  // inside of a batch (Position::begin). All ranks have the same options but for the rank.
  Shard shard = {};
  // Worker threads, which make batches ahead; 0 makes each when it is asked for (see `device`).
  // Data in memory (Mnist, Digits) is gathered in microseconds and gains nothing from threads;
  // decoding and augmenting do.
  int prefetch = 0;
  int64_t ahead = 4;  // the most batches that are made before the loop asks for them
  // Applied to each sample, on the thread that makes its batch: an io::Transform
  // (io/data/transforms), or the program's own. Each sample has its own generator: its numbers
  // depend on seed, epoch and the sample's index in the dataset, not on threads, batches, or where
  // a run was resumed. A firn::Error gets the sample's name (Dataset::NameOf) in front. Samples are
  // then taken one by one (Dataset::Get).
  std::function<Sample(Sample sample, RandomGenerator& random)> transform = {};
  // Makes a batch of samples that were transformed: an io::PadTo (io/data/collate.h), or the
  // program's own; empty: Stack. It runs on the thread that makes the batch. Samples are then taken
  // one by one.
  Collate collate = {};
  // Applied to each batch, on the thread that makes it. Each batch has its own generator: its
  // numbers depend on seed, epoch, the batch's number and the rank, not on threads. A batch without
  // rows (`shard`) is made of one sample, whose row is cut off afterwards.
  std::function<Sample(Sample batch, RandomGenerator& random)> map = {};
  // Where batches arrive. For a CUDA device a batch is made, and its copy queued on a stream of its
  // own, when the loop gets the batch before. So the copy runs beside the computation on that
  // batch, and the host waits for neither. Up to three batches lie on the device beside those that
  // the program keeps.
  Device device = Device::Cpu();
  // Called with the epoch's number by the thread that loops: before its first batch is made, and
  // after the last one was used. If a loop is left early there is no second call.
  std::function<void(int64_t epoch)> on_epoch_begin = {}, on_epoch_end = {};
};

// Gives the samples of a dataset in batches, all of them once per loop:
//
//   io::DataLoader train(io::Mnist(directory), {.batch = 64, .shuffle = true});
//   for (int epoch = 0; epoch < 5; ++epoch) {
//     for (auto [images, labels] : train) ...
//   }
//
// Each loop is one epoch: every sample occurs in it once (but see `last`), in an order that
// depends on the seed and the number of the epoch only. A loop may end early, loops may be nested.
// An exception of the dataset, transform or map that comes ahead of the loop is thrown by the loop
// at that batch. A loader that was moved from has no batches; looping over it is an error.
// Thread-compatible.
class DataLoader {
 public:
  class Iterator;
  // The batch that a run goes on with: number `batch` of epoch `epoch`, both counted from 0, and
  // all ranks'. If a run with another batch size stopped inside of this batch, only its samples
  // from `begin` on follow: this batch is smaller, and later ones are whole.
  struct Position {
    int64_t epoch = 0;
    int64_t batch = 0;
    int64_t begin = 0;
    friend bool operator==(const Position&, const Position&) = default;
  };

  // Throws when the dataset is null, an option makes no sense, or the device is not there.
  explicit DataLoader(DatasetPtr dataset, DataLoaderOptions options = {});

  // The number of batches in the next loop's epoch; epochs differ in it only with kWrap.
  int64_t size() const { return BatchesOf(next_.epoch); }
  // Throws when the loader was moved from.
  const Dataset& dataset() const;
  const DataLoaderOptions& options() const { return options_; }
  // The epoch that the next loop goes through, counted from 0. Setting it resumes a training run.
  int64_t epoch() const { return next_.epoch; }
  void SetEpoch(inner::Integer epoch) { SetPosition({.epoch = epoch}); }

  // The position behind the batches that were given out, the present batch of a loop among them.
  // While several loops run, the one that began last counts; a loop that was left early is over.
  Position position() const;
  // The next loop goes through the rest of that epoch, in the order of the whole epoch; later loops
  // are whole. A loop that is running is not changed, and its batches no longer count for
  // position(), unless the new position equals its own, as when a failed LoadCheckpoint puts the
  // loader back. Throws unless the epoch has this batch (the first one always exists) and the batch
  // has this sample, and for epochs beyond 2^62.
  void SetPosition(const Position& position);

  // "epoch" and "batch" of position(), and the options that decide the order: "batch_size" (of all
  // ranks together; 1 in the middle of a batch, see Position), "seed", "shuffle" (2: `order`),
  // "drop_last" (2: kWrap), "samples"; all i64, 0-d, and the same on all ranks. A run that loads a
  // state saved in a loop goes on with the batch after the present one, and gets the same batches
  // as this run.
  StateDict state_dict() const;
  // The batch size and the number of ranks may differ from the saved ones: the run goes on with the
  // sample that was next. Throws, and changes nothing, unless the state has exactly these entries
  // with values that make sense. In the middle of an epoch it also throws if other options or the
  // dataset's size differ, since the rest of the epoch would be different.
  void LoadStateDict(const StateDict& state);

  // Begins a loop and makes its first batch. If that fails it throws, and the epoch has not begun.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  // The same loops with batches taken apart into N tensors (Sample::As): `for (auto [image, boxes,
  // labels] : train.As<3>())`. A batch with another number of tensors throws when the loop asks for
  // it. A view, which the loader outlives.
  template <size_t N>
  class Tensors;
  template <size_t N>
  Tensors<N> As() & {
    return Tensors<N>(*this);
  }

 private:
  // What a loop tells its loader; a shared object, since the loader may be destroyed before the
  // loop.
  struct Progress {
    Position next;      // after the batches that were given out; the number of batches at the end
    bool over = false;  // the loop was left, or is at its end
    bool held = false;  // SetPosition gave this position, and no batch has come since
  };

  // Samples in a batch of all ranks.
  int64_t WholeBatch() const { return options_.batch * options_.shard.count; }
  internal::EpochCut Cut() const;
  int64_t BatchesOf(int64_t epoch) const;
  // OrderOf: all samples of an epoch in their order. SamplesOf: the samples of its batches.
  std::vector<int64_t> OrderOf(int64_t epoch) const;
  std::vector<int64_t> SamplesOf(int64_t epoch) const;

  DatasetPtr dataset_;
  DataLoaderOptions options_;
  int64_t samples_ = 0;
  Position next_;                   // where the next loop begins, unless last_ is held
  std::shared_ptr<Progress> last_;  // of the loop that began last; null before the first
  bool counts_ = false;             // whether the position is that of last_, while it runs
};

// One pass over an epoch; move-only, and at the end once it was moved from. It may outlive the
// loader, and later changes of the loader do not affect it.
class DataLoader::Iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = Sample;

  ~Iterator();
  Iterator(Iterator&&) noexcept;
  Iterator& operator=(Iterator&&) noexcept;

  // The number of the present batch in its epoch, which is not 0 at the beginning of a loop that
  // goes on with the rest of one; DataLoader::size() at the end, 0 once it was moved from.
  int64_t batch() const;
  // The batch; it may be moved from. Throws at the end, and for a batch that could not be made.
  Sample& operator*() const;
  Sample* operator->() const { return &**this; }
  // Throws at the end, and what making the next batch throws; another ++ goes on after that one.
  Iterator& operator++();
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& i, std::default_sentinel_t) { return i.AtEnd(); }

 private:
  friend class DataLoader;
  class Pass;
  explicit Iterator(std::unique_ptr<Pass> pass);
  bool AtEnd() const;
  void RefuseEnd() const;
  std::unique_ptr<Pass> pass_;
};

template <size_t N>
class DataLoader::Tensors {
 public:
  explicit Tensors(DataLoader& loader) : loader_(&loader) {}
  class Iterator : public DataLoader::Iterator {
   public:
    explicit Iterator(DataLoader::Iterator i) : DataLoader::Iterator(std::move(i)) {}
    std::array<Tensor, N> operator*() const {
      return DataLoader::Iterator::operator*().template As<N>();
    }
  };
  Iterator begin() { return Iterator(loader_->begin()); }
  std::default_sentinel_t end() const { return {}; }
  int64_t size() const { return loader_->size(); }

 private:
  DataLoader* loader_;
};

}  // namespace firn::io

#endif  // FIRN_IO_DATA_DATA_LOADER_H_
