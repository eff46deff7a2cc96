// A thread makes whole files: it reads their rows, stacks them and writes the result, so that there
// are never more rows in memory than threads times rows_per_file. The index is written last: a
// folder without one is no cache.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/ordered_prefetch.h"
#include "firn/io/data/permutation.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/nnabla/internal/nnabla_cache_index.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/npy/npy_status.h"
#include "firn/io/random_access.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using inner::internal::AtomicFile;
using inner::internal::CsvField;

class Writer {
 public:
  Writer(const std::string& folder, const DatasetPtr& rows, const WriteNnablaCacheOptions& options)
      : folder_(folder),
        rows_(rows),
        variables_(rows->variables()),
        options_(options),
        order_(options.shuffle ? Permutation(rows->size(), options.seed, 0)
                               : InOrder(rows->size())) {}

  absl::Status CheckOptions() const {
    FIRN_RETURN_IF(options_.rows_per_file < 1,
                   InvalidArgument("rows_per_file is ", options_.rows_per_file, " (want >= 1)"));
    FIRN_RETURN_IF(options_.threads < 1,
                   InvalidArgument("threads is ", options_.threads, " (want >= 1)"));
    const bool hdf5 = options_.format == NnablaCacheFormat::kHdf5;
    FIRN_RETURN_IF(hdf5 && size() == 0,
                   InvalidArgument("no rows: files of .h5 tell what the variables are"));
    for (const std::string& name : variables_) {
      FIRN_RETURN_IF(name.empty() || !inner::internal::IsOneLine(name),
                     InvalidArgument("the name of a variable is empty, has lines or is no UTF-8"));
      // Such names would become groups, but NNabla looks for datasets.
      FIRN_RETURN_IF(hdf5 && name.find_first_of("./%") != std::string::npos,
                     InvalidArgument("variable ", name,
                                     ": expected a name without . / and % for .h5; .npy takes it"));
    }
    return absl::OkStatus();
  }

  absl::Status Write() {
    FIRN_RETURN_IF_ERROR(MakeRoom());
    WriteFiles();
    FIRN_RETURN_IF_ERROR(WriteOrder());
    if (!options_.original.empty()) FIRN_RETURN_IF_ERROR(CopyOriginal());
    if (options_.format == NnablaCacheFormat::kNpy) {
      std::string info;
      for (const std::string& name : variables_) absl::StrAppend(&info, CsvField(name), "\n");
      FIRN_RETURN_IF_ERROR(inner::internal::ReplaceFile(Path(internal::kCacheInfo), info));
    }
    std::string index;
    for (int64_t f = 0; f < files(); ++f)
      absl::StrAppend(&index, Name(f), ",", End(f) - Begin(f), "\n");
    return inner::internal::ReplaceFile(Path(internal::kCacheIndex), index);
  }

 private:
  int64_t size() const { return static_cast<int64_t>(order_.size()); }
  int64_t files() const {
    return size() / options_.rows_per_file + (size() % options_.rows_per_file != 0 ? 1 : 0);
  }
  int64_t Begin(int64_t file) const { return file * options_.rows_per_file; }
  int64_t End(int64_t file) const {
    return std::min(size() - Begin(file), options_.rows_per_file) + Begin(file);
  }
  std::string Path(std::string_view name) const {
    return absl::StrCat(folder_, "/", std::string(name));
  }
  std::string Name(int64_t file) const {
    return absl::StrFormat("cache_%08d_%08d%s", Begin(file), End(file) - 1,
                           options_.format == NnablaCacheFormat::kNpy ? ".npy" : ".h5");
  }

  // Removes the cache that is to be replaced, its index first, or the remains of a writing that
  // ended early. In a folder that has neither, order.csv and the like belong to the user and stay.
  absl::Status MakeRoom() const {
    std::error_code error;
    fs::create_directories(folder_, error);
    FIRN_RETURN_IF_ERROR(absl::ErrnoToStatus(error.value(), folder_));
    FIRN_RETURN_IF(!options_.replace && internal::IsNnablaCache(folder_),
                   FailedPrecondition(folder_,
                                      ": expected no cache, got one (`replace` writes "
                                      "another in its place)"));
    std::vector<fs::path> old = {Path(internal::kCacheIndex), Path(internal::kCacheInfo),
                                 Path("order.csv"), Path("original.csv")};
    const size_t named = old.size();
    for (fs::directory_iterator it(folder_, error); it != fs::directory_iterator();
         it.increment(error)) {
      if (IsCacheFile(it->path().filename().string())) old.push_back(it->path());
    }
    FIRN_RETURN_IF_ERROR(absl::ErrnoToStatus(error.value(), folder_));
    const bool ours = old.size() > named || internal::IsNnablaCache(folder_);
    for (const fs::path& path : old) {
      FIRN_RETURN_IF(!options_.original.empty() && fs::equivalent(path, options_.original, error),
                     InvalidArgument(options_.original, " would be replaced by the cache of it"));
      FIRN_RETURN_IF(!ours && fs::exists(path, error),
                     FailedPrecondition(path.string(),
                                        ": is no part of a cache, and would be "
                                        "replaced by one (move it, or name "
                                        "another folder)"));
    }
    for (const fs::path& path : old) {
      fs::remove(path, error);
      FIRN_RETURN_IF_ERROR(absl::ErrnoToStatus(error.value(), path.string()));
    }
    return absl::OkStatus();
  }

  // cache_<digits>_<digits>.npy or .h5
  static bool IsCacheFile(std::string_view name) {
    const bool npy = name.ends_with(".npy");
    if (!name.starts_with("cache_") || (!npy && !name.ends_with(".h5"))) return false;
    name.remove_prefix(6);
    name.remove_suffix(npy ? 4 : 3);
    return std::count(name.begin(), name.end(), '_') == 1 &&
           std::all_of(name.begin(), name.end(), [](char c) {
             return c == '_' || absl::ascii_isdigit(static_cast<unsigned char>(c));
           });
  }

  // Throws what the rows throw.
  void WriteFiles() const {
    if (size() == 0) return;
    internal::OrderedPrefetch made(0, files(), options_.threads, options_.threads,
                                   [this](int64_t file) {
                                     RaiseIfError(WriteFile(file), "write_nnabla_cache");
                                     return Sample();
                                   });
    for (int64_t file = 0; file < files(); ++file) {
      made.Next();
      if (options_.progress) options_.progress(End(file));
    }
  }

  absl::Status WriteFile(int64_t file) const {
    std::vector<std::vector<Sample>> columns(variables_.size());
    for (int64_t i = Begin(file); i < End(file); ++i) {
      const int64_t row_number = order_[static_cast<size_t>(i)];
      const Sample row = rows_->Get(row_number);
      FIRN_RETURN_IF(row.size() != std::ssize(variables_),
                     InvalidArgument("row ", row_number, ": expected ", variables_.size(),
                                     " tensors, got ", row.size()));
      FIRN_RETURN_IF(row.names != nullptr && *row.names != variables_,
                     InvalidArgument("row ", row_number, ": expected the tensors ",
                                     absl::StrJoin(variables_, ", "), ", got ",
                                     absl::StrJoin(*row.names, ", ")));
      for (size_t v = 0; v < variables_.size(); ++v) {
        const Tensor& t = row[v];
        const Tensor& first = columns[v].empty() ? t : columns[v][0].input;
        FIRN_RETURN_IF(!t.defined(),
                       InvalidArgument("row ", row_number, ": ", variables_[v], " is undefined"));
        FIRN_RETURN_IF(t.shape() != first.shape() || t.dtype() != first.dtype(),
                       InvalidArgument("row ", row_number, ": expected ", variables_[v], " to be ",
                                       first.spec().ToString(), " as in row ",
                                       order_[static_cast<size_t>(Begin(file))], ", got ",
                                       t.spec().ToString()));
        columns[v].push_back({t, {}});
      }
    }
    StateDict arrays;
    for (size_t v = 0; v < variables_.size(); ++v) {
      arrays.Insert(variables_[v], Stack(columns[v]).input);
      columns[v].clear();
    }
    return options_.format == NnablaCacheFormat::kNpy ? WriteNpyFile(Path(Name(file)), arrays)
                                                      : TrySaveHdf5(Path(Name(file)), arrays);
  }

  static absl::Status WriteNpyFile(const std::string& path, const StateDict& arrays) {
    FIRN_ASSIGN_OR_RETURN(AtomicFile out, AtomicFile::Create(path));
    for (const auto& [name, array] : arrays) {
      FIRN_ASSIGN_OR_RETURN(const std::string bytes, TryFormatNpy(array));
      FIRN_RETURN_IF_ERROR(out.Write(bytes.data(), bytes.size()));
    }
    return out.Commit();
  }

  // The system's copy is not used, since it leaves half a file on a full disk.
  absl::Status CopyOriginal() const {
    FIRN_ASSIGN_OR_RETURN(const auto original, RandomAccess::Open(options_.original));
    FIRN_ASSIGN_OR_RETURN(AtomicFile copy, AtomicFile::Create(Path("original.csv")));
    std::vector<char> piece(1 << 20);
    for (int64_t at = 0; at < original->size(); at += std::ssize(piece)) {
      const int64_t n = std::min(original->size() - at, std::ssize(piece));
      FIRN_RETURN_IF_ERROR(original->ReadAt(at, piece.data(), n, "lines"));
      FIRN_RETURN_IF_ERROR(copy.Write(piece.data(), static_cast<size_t>(n)));
    }
    return copy.Commit();
  }

  absl::Status WriteOrder() const {
    constexpr size_t kPiece = 1 << 20;
    FIRN_ASSIGN_OR_RETURN(AtomicFile out, AtomicFile::Create(Path("order.csv")));
    std::string lines;
    for (size_t i = 0; i < order_.size(); ++i) {
      absl::StrAppend(&lines, i, ",", order_[i], "\n");
      if (lines.size() < kPiece && i + 1 < order_.size()) continue;
      FIRN_RETURN_IF_ERROR(out.Write(lines.data(), lines.size()));
      lines.clear();
    }
    return out.Commit();
  }

  const std::string folder_;
  const DatasetPtr rows_;
  const std::vector<std::string> variables_;
  const WriteNnablaCacheOptions options_;
  const std::vector<int64_t> order_;  // the rows in the order of the cache
};

}  // namespace

void WriteNnablaCache(const std::string& folder, const DatasetPtr& rows,
                      const WriteNnablaCacheOptions& options) {
  if (rows == nullptr) RaiseStatus(InvalidArgument("the rows are null"), "write_nnabla_cache");
  Writer writer(folder, rows, options);
  RaiseIfError(writer.CheckOptions(), "write_nnabla_cache");
  RaiseIfError(writer.Write(), "write_nnabla_cache");
}

}  // namespace firn::io
