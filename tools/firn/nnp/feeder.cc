// A place is a folder with a cache of NNabla's or a CSV file in NNabla's format. NNabla writes
// caches of CSV files beside them; here they are kept in memory, since a file does not say where to
// write.
#include "tools/firn/nnp/feeder.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "firn/autograd/network/definition.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/cache.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"

namespace firn::cli {
namespace {

using inner::internal::JsonString;
using io::nnabla::Dataset;

// A batch is made whole, whatever its use: a file with larger ones is refused.
constexpr int64_t kMaxBatch = int64_t{1} << 24;

struct Place {
  std::string path;
  bool is_cache = false;
};

bool IsCache(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(folder + "/cache_index.csv", error);
}

// A file may come from a stranger: what it names lies below the folder where the command runs,
// unless the caller lets it lie anywhere. `field` has the path.
void CheckBelow(const std::string& path, const std::string& at, const char* field,
                const Dataset& dataset, const DataPlaces& places) {
  const std::filesystem::path as_path(path);
  const bool below = !as_path.is_absolute() && std::ranges::find(as_path, "..") == as_path.end();
  if (below || places.allow_outside) return;
  RaiseStatus(
      InvalidArgument(at, ", ", field, ": expected a path below the present folder (--data ",
                      dataset.name, "=PATH says another, and --allow-outside lets the file ",
                      "name any), got ", JsonString(path)),
      "nnp");
}

Place PlaceOf(const Dataset& dataset, const std::string& at, const DataPlaces& places) {
  const auto given = places.by_name.find(dataset.name);
  if (given != places.by_name.end()) return {given->second, IsCache(given->second)};
  if (!dataset.cache_dir.empty() && !dataset.overwrite_cache && IsCache(dataset.cache_dir)) {
    CheckBelow(dataset.cache_dir, at, "cache_dir", dataset, places);
    return {dataset.cache_dir, true};
  }
  const std::string& uri = dataset.uri;
  for (const char* web : {"http://", "https://", "s3://"}) {
    if (uri.starts_with(web)) {
      RaiseStatus(Unimplemented(at, ", uri: expected a path (--data ", dataset.name,
                                "=PATH says another), got ", JsonString(uri)),
                  "nnp");
    }
  }
  if (uri.find_first_not_of(" \t") == std::string::npos) {
    RaiseStatus(InvalidArgument(at, ", uri: expected a path (--data ", dataset.name,
                                "=PATH says one), got ", JsonString(uri)),
                "nnp");
  }
  CheckBelow(uri, at, "uri", dataset, places);
  return {uri, IsCache(uri)};
}

struct Rows {
  io::DatasetPtr rows;
  std::vector<int64_t> files;  // of a cache: how many rows each has
};

Rows Open(const Place& place, bool normalize, bool allow_outside,
          const std::vector<std::string>& variables) {
  if (place.is_cache) {
    const auto cache =
        io::OpenNnablaCache(place.path, {.variables = variables, .normalize = normalize});
    return {cache, cache->file_rows()};
  }
  io::CsvRowsOptions options;
  options.variables = variables;
  options.normalize = normalize;
  options.allow_outside = allow_outside;
  return {io::CsvRows(place.path, options), {}};
}

}  // namespace

Batches::Batches(const Dataset& dataset, const std::string& source, const DataPlaces& places,
                 const std::vector<std::string>& wanted, uint64_t seed, const io::Shard& shard) {
  const std::string at = absl::StrCat(source, ": dataset ", JsonString(dataset.name));
  if (dataset.batch_size < 1 || dataset.batch_size > kMaxBatch) {
    RaiseStatus(InvalidArgument(at, ", batch_size: expected 1 to ", kMaxBatch, ", got ",
                                dataset.batch_size),
                "nnp");
  }
  const Place place = PlaceOf(dataset, at, places);
  const bool normalize = !dataset.no_image_normalization;
  variables_ = Open(place, normalize, places.allow_outside, {}).rows->variables();
  // Cells of variables that are not wanted may hold anything.
  std::vector<std::string> read;
  for (const std::string& name : variables_) {
    if (std::ranges::find(wanted, name) != wanted.end()) read.push_back(name);
  }
  if (read.empty()) read = variables_;
  const Rows rows = Open(place, normalize, places.allow_outside, read);
  if (rows.rows->size() == 0) {
    RaiseStatus(InvalidArgument(at, ": expected rows in ", place.path, ", got none"), "nnp");
  }
  const bool by_files = dataset.shuffle && !rows.files.empty();
  loader_ = std::make_unique<io::DataLoader>(
      io::MemoryCache(rows.rows),
      io::DataLoaderOptions{.batch = dataset.batch_size,
                            .shuffle = dataset.shuffle && !by_files,
                            .seed = seed,
                            .order = by_files
                                         ? io::ShuffleBlocks(rows.files, static_cast<int64_t>(seed))
                                         : io::EpochOrder(),
                            .last = io::LastBatch::kWrap,
                            .shard = shard});
}

const io::Sample& Batches::Next() {
  if (iterator_ != nullptr) ++*iterator_;
  // An epoch has no batch of its own if the batches before it took all of its rows.
  while (iterator_ == nullptr || *iterator_ == loader_->end()) {
    iterator_ = std::make_unique<io::DataLoader::Iterator>(loader_->begin());
  }
  return now();
}

Feeder::Feeder(const std::vector<Dataset>& datasets, const std::string& source,
               const DataPlaces& places, const std::vector<const io::NnablaFed*>& parts,
               const io::Shard& shard)
    : source_(source), shard_(shard) {
  std::map<std::string, std::set<std::string>> wanted;  // by data set
  for (const io::NnablaFed* const part : parts) {
    for (const std::string& name : part->datasets) {
      for (const std::string& data : part->data) {
        if (data[0] != '%') wanted[name].insert(data);
      }
    }
  }
  for (size_t i = 0; i < datasets.size(); ++i) {
    const auto found = wanted.find(datasets[i].name);
    if (found == wanted.end()) continue;
    const std::vector<std::string> variables(found->second.begin(), found->second.end());
    opened_.emplace(datasets[i].name,
                    Opened{.batches = Batches(datasets[i], source, places, variables, i, shard)});
  }
  for (const io::NnablaFed* const part : parts) {
    for (size_t i = 0; i < part->data.size(); ++i) {
      const std::string& data = part->data[i];
      if (data[0] == '%') continue;
      std::set<std::string> there;
      for (const std::string& name : part->datasets) {
        const auto& variables = opened_.at(name).batches.variables();
        there.insert(variables.begin(), variables.end());
      }
      if (there.contains(data)) {
        CheckBatch(*part, i);
        continue;
      }
      RaiseStatus(InvalidArgument(source_, ": ", JsonString(part->name),
                                  ", data_variable, data_name: expected a variable of its data "
                                  "sets (",
                                  absl::StrJoin(there, ", "), "), got ", JsonString(data)),
                  "nnp");
    }
  }
}

// Before a batch is put together, which takes as much memory as the file says.
void Feeder::CheckBatch(const io::NnablaFed& part, size_t input) const {
  const autograd::NetworkPort& port = part.network.inputs()[input];
  if (port.dims->empty()) return;
  for (size_t d = part.datasets.size(); d-- > 0;) {
    const Batches& batches = opened_.at(part.datasets[d]).batches;
    const auto& variables = batches.variables();
    if (std::ranges::find(variables, part.data[input]) == variables.end()) continue;
    if (batches.batch_size() == *port.dims->front().size) return;
    RaiseStatus(
        InvalidArgument(source_, ": dataset ", JsonString(part.datasets[d]),
                        ", batch_size: expected ", *port.dims->front().size,
                        ", the first size of variable ", JsonString(port.name), " of network ",
                        JsonString(part.network_name), ", got ", batches.batch_size()),
        "nnp");
  }
}

void Feeder::NextRound() { ++round_; }

TensorList Feeder::Inputs(const io::NnablaFed& part, const std::map<std::string, double>& numbers) {
  const NoGradScope no_grad;
  for (const std::string& name : part.datasets) {
    const auto found = opened_.find(name);
    if (found == opened_.end() || found->second.round == round_) continue;
    found->second.batches.Next();
    found->second.round = round_;
  }
  TensorList inputs;
  for (size_t i = 0; i < part.data.size(); ++i) {
    const autograd::NetworkPort& port = part.network.inputs()[i];
    std::vector<int64_t> sizes;
    for (const autograd::NetworkDim& dim : *port.dims) sizes.push_back(*dim.size);
    const Shape shape{absl::Span<const int64_t>(sizes)};
    const std::string& data = part.data[i];
    if (data[0] == '%') {
      inputs.push_back(Full(shape, numbers.at(data)));
      continue;
    }
    for (size_t d = part.datasets.size(); d-- > 0;) {
      const Batches& batches = opened_.at(part.datasets[d]).batches;
      if (!batches.now().Has(data)) continue;
      const Tensor& value = batches.now()[data];
      if (value.shape() != shape) {
        RaiseStatus(
            InvalidArgument(source_, ": ", JsonString(part.name), ": expected batches of ",
                            JsonString(data), " in dataset ", JsonString(part.datasets[d]),
                            " of the shape ", shape.ToString(), ", as variable ",
                            JsonString(port.name), " of network ", JsonString(part.network_name),
                            " is, got ", value.shape().ToString()),
            "nnp");
      }
      inputs.push_back(Cast(value, DType::kF32));
      break;
    }
  }
  return inputs;
}

int64_t Feeder::Rounds(const io::NnablaFed& part) const {
  int64_t rows = 0, batch = 1;
  for (const std::string& name : part.datasets) {
    const auto found = opened_.find(name);
    if (found == opened_.end()) continue;
    rows = std::max(rows, found->second.batches.size());
    batch = std::max(batch, found->second.batches.batch_size());
  }
  // Several processes that have fewer rows than a round of theirs go through some twice.
  return std::max(rows / (batch * shard_.count), int64_t{rows >= batch});
}

std::vector<std::string> Feeder::Describe() const {
  std::vector<std::string> lines;
  for (const auto& [name, opened] : opened_) {
    const Batches& batches = opened.batches;
    lines.push_back(absl::StrCat("dataset ", name, ": ", batches.size(),
                                 " rows, batch_size: ", batches.batch_size()));
  }
  return lines;
}

}  // namespace firn::cli
