#ifndef FIRN_IO_NNABLA_NNABLA_CACHE_H_
#define FIRN_IO_NNABLA_NNABLA_CACHE_H_

// NNabla's caches: folders in which the rows of a data set lie ready, some hundred in a file.
//
//   io::WriteNnablaCache("cache", io::CsvRows("train.csv"), {.shuffle = true});
//   auto cache = io::OpenNnablaCache("cache");
//   io::DataLoader train(cache, {.batch = 64, .order = io::ShuffleBlocks(cache->file_rows())});

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/io/data/dataset.h"
#include "firn/io/load_limits.h"

namespace firn::io {

enum class NnablaCacheFormat {
  kNpy,   // each row is read by itself
  kHdf5,  // a file is read whole and kept until another is needed
};

struct OpenNnablaCacheOptions {
  std::vector<std::string> variables = {};  // to read, in this order; empty: all
  // u8 becomes f32 from 0 to 1, as by NNabla's option of this name; f64, which NNabla writes for
  // pictures that were normalised before, becomes f32. Otherwise rows have the types of the files.
  bool normalize = true;
  LoadLimits limits = {};
};

// The rows of such a folder, read when they are asked for: samples whose tensors are called as its
// variables. Thread-safe.
class NnablaCache : public Dataset {
 public:
  // How many rows each file has, in the files' order: ShuffleBlocks takes it to shuffle as NNabla
  // shuffles a cache.
  virtual const std::vector<int64_t>& file_rows() const = 0;
};

// Opens a folder with cache_index.csv (lines of a file's name and its number of rows). With
// cache_info.csv (a variable's name a line) the files are .npy: an array of rows for each variable,
// one behind the other; without it .h5: a dataset of rows for each variable.
// The folder may come from anywhere: names of files cannot lead out of it, and numbers of rows are
// checked against the files. Throws firn::Error: NotFound and the like for a path, DataLoss for
// wrong contents of a file, naming it; ResourceExhausted beyond the limits. Reading a row throws
// the same. HDF5 files other than the first are opened only then.
std::shared_ptr<const NnablaCache> OpenNnablaCache(const std::string& folder,
                                                   const OpenNnablaCacheOptions& options = {});

struct WriteNnablaCacheOptions {
  NnablaCacheFormat format = NnablaCacheFormat::kNpy;
  int64_t rows_per_file = 100;
  bool shuffle = false;  // write the rows in an order that `seed` decides
  uint64_t seed = 0;
  int threads = 1;  // that read rows and write files; the result does not depend on it
  // The CSV file that the rows are of; a copy of it becomes original.csv. "": none.
  std::string original = "";
  bool replace = false;  // a cache that is there
  // Called by the thread that called WriteNnablaCache, with how many rows are written.
  std::function<void(int64_t rows)> progress = {};
};

// Writes a folder as NNabla's CreateCache does: cache_<first>_<last>.npy or .h5, cache_index.csv,
// cache_info.csv (.npy only), order.csv (lines of a row's number here and in `rows`) and, if given,
// original.csv. Rows keep their types, but for bf16, which .npy does not have. In one variable all
// rows in a file must have one shape and type.
// The index comes last, so that a folder whose writing ended early is no cache. Remains of such a
// writing are removed first, and so is the cache that is to be replaced, from which `rows` must
// therefore not read. Only files of these names are removed. Throws firn::Error: FailedPrecondition
// where a cache is there and is not to be replaced, or files of these names belong to none;
// InvalidArgument where `original` would be removed or the name of a variable is no line of UTF-8;
// and what the rows throw. A cache that was to be replaced is then lost.
void WriteNnablaCache(const std::string& folder, const DatasetPtr& rows,
                      const WriteNnablaCacheOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_NNABLA_CACHE_H_
