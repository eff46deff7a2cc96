#ifndef FIRN_TOOLS_FIRN_NNP_FEEDER_H_
#define FIRN_TOOLS_FIRN_NNP_FEEDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firn/io/data/data_loader.h"
#include "firn/io/nnabla_model/nnabla_model.h"
#include "firn/io/nnabla_training/nnabla_training.h"
#include "firn/tensor/tensor.h"

namespace firn::cli {

// Places of data sets other than those in the file.
struct DataPlaces {
  std::map<std::string, std::string> by_name;  // a CSV file or a cache in place of the file's
  // The file may name data sets outside of the present folder, and cells of tables files outside of
  // the table's.
  bool allow_outside = false;
};

// One data set, batch after batch without an end: like NNabla's iterators, a batch goes on with the
// first rows if the last ones do not fill it.
class Batches {
 public:
  // Rows have those of the `wanted` variables that exist. `seed` decides the orders. If there are
  // several processes, each has batches of its own, as large as the data set's. Throws firn::Error
  // naming the data set: InvalidArgument for a batch_size below 1 or above 2^24, no rows, and
  // for an absolute path or one with ".." that the file names (see DataPlaces); Unimplemented for
  // places of the web; what opening throws.
  Batches(const io::nnabla::Dataset& dataset, const std::string& source, const DataPlaces& places,
          const std::vector<std::string>& wanted, uint64_t seed, const io::Shard& shard = {});

  // All variables of the data set.
  const std::vector<std::string>& variables() const { return variables_; }
  int64_t size() const { return loader_->dataset().size(); }  // rows
  int64_t batch_size() const { return loader_->options().batch; }
  // Passes on exceptions of reading a row.
  const io::Sample& Next();
  const io::Sample& now() const { return **iterator_; }

 private:
  std::vector<std::string> variables_;
  std::unique_ptr<io::DataLoader> loader_;
  std::unique_ptr<io::DataLoader::Iterator> iterator_;
};

// Fills inputs of networks. Those of one round have the same batch of a data set.
class Feeder {
 public:
  // The data sets of a file that `parts` take from. Throws as Batches does; InvalidArgument for
  // data that none of a part's data sets has, and for a batch_size that is not that of the inputs.
  Feeder(const std::vector<io::nnabla::Dataset>& datasets, const std::string& source,
         const DataPlaces& places, const std::vector<const io::NnablaFed*>& parts,
         const io::Shard& shard = {});

  void NextRound();
  // The inputs of one of `parts`; `numbers` are those of the loop, with names that begin with %.
  // Throws InvalidArgument where data has another shape than the input, naming both.
  TensorList Inputs(const io::NnablaFed& part, const std::map<std::string, double>& numbers);
  // The largest of a part's data sets divided by the largest batch (of all processes together):
  // NNabla evaluates this often. At least once where the data set fills a batch of one process.
  int64_t Rounds(const io::NnablaFed& part) const;
  // A line for each data set that is open.
  std::vector<std::string> Describe() const;

 private:
  struct Opened {
    Batches batches;
    int64_t round = -1;  // of the present batch
  };

  void CheckBatch(const io::NnablaFed& part, size_t input) const;

  std::string source_;
  io::Shard shard_;
  std::map<std::string, Opened> opened_;
  int64_t round_ = 0;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_FEEDER_H_
