// For .npy files all headers are read when the cache is opened: where each array begins, and of
// what it consists, stays in memory (some 100 bytes an array), so that a row is one read of its
// bytes. HDF5 files are read whole, by Firn's only HDF5 reader, and the last ones are kept.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/data/internal/variables.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/internal/last_used.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/io/nnabla/internal/nnabla_cache_index.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/npy/internal/npy_array.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

using internal::NnablaCacheIndex;

// A file from some offset on: the arrays of a .npy file that holds several.
class Rest final : public RandomAccess {
 public:
  Rest(const RandomAccess& file, int64_t from, const std::string& variable)
      : RandomAccess(absl::StrCat(file.name(), " (variable ", internal::Shown(variable),
                                  " from byte ", from, " on)"),
                     file.size() - from),
        file_(file),
        from_(from) {}

 protected:
  absl::StatusOr<int64_t> Read(int64_t offset, void* out, int64_t n) const override {
    FIRN_RETURN_IF_ERROR(file_.ReadAt(from_ + offset, out, n, "array"));
    return n;
  }

 private:
  const RandomAccess& file_;
  const int64_t from_;
};

Shape WithoutFirst(const Shape& shape) { return Shape(shape.span().subspan(1)); }

// The base of the readers of both formats.
class CacheBase : public NnablaCache {
 public:
  int64_t size() const override { return index_.size(); }
  std::vector<std::string> variables() const override { return variables_; }
  const std::vector<int64_t>& file_rows() const override { return index_.rows; }
  Sample Get(int64_t i) const override {
    internal::CheckIndex(i, size(), "row", "nnabla_cache");
    const auto file = static_cast<size_t>(
        std::upper_bound(index_.ends.begin(), index_.ends.end(), i) - index_.ends.begin());
    absl::StatusOr<std::vector<Tensor>> row = Read(file, i - index_.ends[file] + index_.rows[file]);
    RaiseIfError(row.status(), "nnabla_cache");
    for (Tensor& t : *row) {
      if (!options_.normalize) break;
      if (t.dtype() == DType::kU8) t = t.To(DType::kF32) / 255;
      if (t.dtype() == DType::kF64) t = t.To(DType::kF32);
    }
    return Sample::Named(names_, *std::move(row));
  }

 protected:
  CacheBase(NnablaCacheIndex index, const OpenNnablaCacheOptions& options)
      : index_(std::move(index)), options_(options) {}

  // Row `row` of a file.
  virtual absl::StatusOr<std::vector<Tensor>> Read(size_t file, int64_t row) const = 0;

  // Chooses the variables that are asked for.
  absl::Status Choose(const std::string& where, const std::vector<std::string>& all) {
    variables_ = options_.variables.empty() ? all : options_.variables;
    FIRN_ASSIGN_OR_RETURN(
        places_, internal::PlacesOf(variables_, all, where, "OpenNnablaCacheOptions::variables"));
    FIRN_RETURN_IF(variables_.empty(), DataLoss(where, ": expected variables, got none"));
    names_ = std::make_shared<const std::vector<std::string>>(variables_);
    return absl::OkStatus();
  }

  const NnablaCacheIndex index_;
  const OpenNnablaCacheOptions options_;
  std::vector<std::string> variables_;
  SampleNames names_;              // the same
  internal::PlacesByName places_;  // in `variables_`
};

absl::Status CheckRows(const std::string& where, const Shape& shape, int64_t rows) {
  if (shape.rank() > 0 && shape[0] == rows) return absl::OkStatus();
  return DataLoss(where, ": expected an array of ", rows, " rows, as ", internal::kCacheIndex,
                  " says, got shape ", shape.ToString());
}

class NpyCache final : public CacheBase {
 public:
  static absl::StatusOr<std::shared_ptr<const NnablaCache>> Open(
      const std::string& folder, NnablaCacheIndex index, const OpenNnablaCacheOptions& options) {
    auto cache = std::shared_ptr<NpyCache>(new NpyCache(std::move(index), options));
    FIRN_RETURN_IF_ERROR(
        cache->Choose(absl::StrCat(folder, "/", internal::kCacheInfo), cache->index_.variables));
    for (size_t file = 0; file < cache->index_.files.size(); ++file) {
      FIRN_RETURN_IF_ERROR(cache->AddFile(cache->index_.files[file], cache->index_.rows[file]));
    }
    return cache;
  }

 protected:
  absl::StatusOr<std::vector<Tensor>> Read(size_t file, int64_t row) const override {
    FIRN_ASSIGN_OR_RETURN(const auto source, RandomAccess::Open(index_.files[file]));
    std::vector<Tensor> tensors;
    for (size_t v = 0; v < variables_.size(); ++v) {
      const Array& array = arrays_[file * variables_.size() + v];
      const int64_t elements = array.row.num_elements();
      FIRN_ASSIGN_OR_RETURN(Tensor t, internal::NewArray(array.type.dtype, array.row));
      FIRN_RETURN_IF_ERROR(
          internal::ReadElements(*source, array.begin + row * elements * array.type.bytes,
                                 array.type, elements, variables_[v], t.impl()->data));
      tensors.push_back(std::move(t));
    }
    return tensors;
  }

 private:
  struct Array {
    int64_t begin = 0;  // of its elements in the file
    internal::StoredType type;
    Shape row;
  };

  NpyCache(NnablaCacheIndex index, const OpenNnablaCacheOptions& options)
      : CacheBase(std::move(index), options) {}

  absl::Status AddFile(const std::string& path, int64_t rows) {
    FIRN_ASSIGN_OR_RETURN(const auto file, RandomAccess::Open(path));
    // Rows without elements take no bytes, so a file could claim any number of them.
    FIRN_RETURN_IF(rows > file->size(), DataLoss(path, ": expected ", rows, " rows, got a file of ",
                                                 file->size(), " bytes"));
    const size_t first = arrays_.size();
    arrays_.resize(first + variables_.size());
    int64_t at = 0;
    for (const std::string& name : index_.variables) {
      const Rest rest(*file, at, name);
      FIRN_ASSIGN_OR_RETURN(const internal::NpyHeader header,
                            internal::ReadNpyHeader(rest, {.limits = options_.limits}));
      FIRN_RETURN_IF_ERROR(CheckRows(rest.name(), header.shape, rows));
      FIRN_RETURN_IF(header.fortran_order && header.shape.rank() > 1,
                     Unimplemented(rest.name(),
                                   ": expected rows one behind the other, got "
                                   "fortran_order"));
      FIRN_RETURN_IF(
          header.data_bytes() > rest.size() - header.data_at,
          Damaged(rest.name(), header.data_at, "elements",
                  absl::StrCat("expected ", header.data_bytes(), " bytes for shape ",
                               header.shape.ToString(), ", got ", rest.size() - header.data_at)));
      const auto wanted = places_.find(name);
      if (wanted != places_.end()) {
        arrays_[first + wanted->second] = {at + header.data_at, header.type,
                                           WithoutFirst(header.shape)};
      }
      at += header.data_at + header.data_bytes();
    }
    FIRN_RETURN_IF(at != file->size(),
                   Damaged(path, at, "end", "expected no bytes after the arrays"));
    return absl::OkStatus();
  }

  std::vector<Array> arrays_;  // of each file, for each of `variables_`
};

class Hdf5Cache final : public CacheBase {
 public:
  static absl::StatusOr<std::shared_ptr<const NnablaCache>> Open(
      const std::string& folder, NnablaCacheIndex index, const OpenNnablaCacheOptions& options) {
    auto cache = std::shared_ptr<Hdf5Cache>(new Hdf5Cache(std::move(index), options));
    FIRN_RETURN_IF(cache->index_.files.empty(),
                   DataLoss(folder, "/", internal::kCacheIndex, ": expected files, got none"));
    for (size_t file = 0; file < cache->index_.files.size(); ++file) {
      FIRN_RETURN_IF_ERROR(cache->CheckSize(file));
    }
    FIRN_ASSIGN_OR_RETURN(const StateDict first,
                          TryLoadHdf5(cache->index_.files[0], {.limits = options.limits}));
    std::vector<std::string> all;
    for (const auto& [name, tensor] : first) all.push_back(name);
    FIRN_RETURN_IF_ERROR(cache->Choose(cache->index_.files[0], all));
    return cache;
  }

 protected:
  absl::StatusOr<std::vector<Tensor>> Read(size_t file, int64_t row) const override {
    FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const StateDict> arrays,
                          files_.Get(static_cast<int64_t>(file), [&] { return ReadFile(file); }));
    std::vector<Tensor> tensors;
    for (const std::string& name : variables_) {
      tensors.push_back((*arrays)[name].Select(0, row).Clone());
    }
    return tensors;
  }

 private:
  static constexpr size_t kKept = 4;  // files

  Hdf5Cache(NnablaCacheIndex index, const OpenNnablaCacheOptions& options)
      : CacheBase(std::move(index), options) {}

  // Each row has at least one element, so the file's bytes bound their number.
  absl::Status CheckSize(size_t file) const {
    FIRN_ASSIGN_OR_RETURN(const auto source, RandomAccess::Open(index_.files[file]));
    const int64_t rows = index_.rows[file];
    FIRN_RETURN_IF(rows / std::max<int64_t>(options_.limits.max_expansion, 1) > source->size(),
                   DataLoss(index_.files[file], ": expected ", rows, " rows, got a file of ",
                            source->size(), " bytes"));
    return absl::OkStatus();
  }

  absl::StatusOr<StateDict> ReadFile(size_t file) const {
    const auto want = [this](std::string_view name) { return places_.contains(std::string(name)); };
    FIRN_ASSIGN_OR_RETURN(
        StateDict read, TryLoadHdf5(index_.files[file], {.limits = options_.limits, .want = want}));
    for (const std::string& name : variables_) {
      const Tensor* const array = read.Find(name);
      FIRN_RETURN_IF(array == nullptr, DataLoss(index_.files[file], ": expected a dataset called ",
                                                name, ", got none"));
      FIRN_RETURN_IF_ERROR(CheckRows(absl::StrCat(index_.files[file], ", ", name), array->shape(),
                                     index_.rows[file]));
    }
    return read;
  }

  mutable internal::LastUsed<StateDict> files_{kKept};
};

absl::StatusOr<std::shared_ptr<const NnablaCache>> Open(const std::string& folder,
                                                        const OpenNnablaCacheOptions& options) {
  FIRN_ASSIGN_OR_RETURN(NnablaCacheIndex index,
                        internal::ReadNnablaCacheIndex(folder, options.limits));
  return index.has_info ? NpyCache::Open(folder, std::move(index), options)
                        : Hdf5Cache::Open(folder, std::move(index), options);
}

}  // namespace

std::shared_ptr<const NnablaCache> OpenNnablaCache(const std::string& folder,
                                                   const OpenNnablaCacheOptions& options) {
  auto cache = Open(folder, options);
  RaiseIfError(cache.status(), "nnabla_cache");
  return *std::move(cache);
}

}  // namespace firn::io
