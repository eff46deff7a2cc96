#ifndef FIRN_IO_DATA_LOADER_H_
#define FIRN_IO_DATA_LOADER_H_

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>

#include "device/device.h"
#include "io/dataset.h"
#include "tensor/rng.h"
#include "tensor/state_dict.h"

namespace firn::io {

struct DataLoaderOptions {
  int64_t batch = 1;
  bool shuffle = false;    // a new order each epoch
  uint64_t seed = 0;       // of the orders and of the generators below
  bool drop_last = false;  // leave out a last batch that is not full
  // Worker threads, which make batches ahead; 0 makes each when it is asked for (see `device`).
  // Data in memory (Mnist, Digits) is gathered in microseconds and gains nothing from threads;
  // decoding and augmenting do.
  int prefetch = 0;
  int64_t ahead = 4;  // most batches that wait, made and not yet asked for
  // Applied to each sample, on the thread that makes its batch: an io::Transform (io/transforms),
  // or the program's own. The generator is the sample's own: what it draws depends on seed, epoch
  // and the sample's index in the dataset, not on threads, batches, or where a run was resumed. A
  // firn::Error gets the sample's name (Dataset::NameOf) in front. Samples are then taken one by
  // one (Dataset::Get).
  std::function<Sample(Sample sample, RandomGenerator& random)> transform = {};
  // Applied to each batch, on the thread that makes it. The generator is the batch's own: what it
  // draws depends on seed, epoch and the batch's number, not on threads.
  std::function<Sample(Sample batch, RandomGenerator& random)> map = {};
  // Where batches arrive. For a CUDA device each is made, and its copy queued on a stream of its
  // own, when the loop gets the one before: it travels while that is computed with, and neither
  // waits on the host. Up to three batches lie on the device beside those that the program keeps.
  Device device = Device::Cpu();
};

// Goes through a dataset in batches, once per loop:
//
//   io::DataLoader train(io::Mnist(directory), {.batch = 64, .shuffle = true});
//   for (int epoch = 0; epoch < 5; ++epoch) {
//     for (auto [images, labels] : train) ...
//   }
//
// Each loop is one epoch: every sample occurs in it once (but for drop_last), in an order that
// depends on the seed and the number of the epoch only. A loop may end early, loops may be nested.
// What the dataset, transform or map throws ahead of the loop is thrown by the loop at that batch.
// A loader that was moved from has no batches; to loop through it is an error. Thread-compatible.
class DataLoader {
 public:
  class Iterator;
  // The batch that a run goes on with: number `batch` of epoch `epoch`, both counted from 0.
  struct Position {
    int64_t epoch = 0;
    int64_t batch = 0;
    friend bool operator==(const Position&, const Position&) = default;
  };

  // Throws when the dataset is null, an option makes no sense, or the device is not there.
  explicit DataLoader(DatasetPtr dataset, DataLoaderOptions options = {});

  // Batches per epoch.
  int64_t size() const { return dataset_ == nullptr ? 0 : batches_; }
  // Throws when the loader was moved from.
  const Dataset& dataset() const;
  const DataLoaderOptions& options() const { return options_; }
  // The epoch that the next loop goes through, counted from 0. Setting it resumes a training run.
  int64_t epoch() const { return next_.epoch; }
  void SetEpoch(int64_t epoch) { SetPosition({.epoch = epoch}); }

  // What comes after the batches that were given out, of which the present one of a loop is one.
  // While several loops run, the one counts that began last; a loop that was left is over.
  Position position() const;
  // The next loop goes through the rest of that epoch, in the order that the whole has; the loops
  // after it are whole. Throws unless there is such a batch, or it is the first one.
  void SetPosition(const Position& position);

  // "epoch" and "batch" of position(), and what the order follows from: "batch_size", "seed",
  // "shuffle", "drop_last", "samples"; all i64, 0-d. In a loop, the run that loads this goes on
  // with the batch after the present one, and sees what this one would see.
  StateDict state_dict() const;
  // Throws, and changes nothing, unless exactly these are there and make sense; in the middle of an
  // epoch also when options or the dataset's size differ, so that the rest would be another one.
  void LoadStateDict(const StateDict& state);

  // Makes the first batch. Throws, and the epoch is still to come, where that cannot be made.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

 private:
  DatasetPtr dataset_;
  DataLoaderOptions options_;
  int64_t batches_ = 0;
  Position next_;  // where the next loop begins
  // Of the loop that began last: how many batches of its epoch were given out; `batches_` once it
  // is over. Null before the first loop.
  std::shared_ptr<int64_t> given_;
};

// One pass; moves but does not copy, and one that was moved from is at the end. Outlives neither a
// change of the loader nor needs the loader.
class DataLoader::Iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = Sample;

  ~Iterator();
  Iterator(Iterator&&) noexcept;
  Iterator& operator=(Iterator&&) noexcept;

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

}  // namespace firn::io

#endif  // FIRN_IO_DATA_LOADER_H_
