// In memory, the arrays come from the reader of parameters, which is asked for the wanted entries.
#include "firn/io/data/hdf5_dataset.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/h5_rows.h"
#include "firn/io/data/internal/row_source.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/parameters.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "hdf5_dataset";

// The arrays that are wanted.
std::vector<std::string> Wanted(const Hdf5DatasetOptions& options) {
  if (!options.variables.empty()) return options.variables;
  if (options.target.empty()) return {options.input};
  return {options.input, options.target};
}

// Their names in samples; none for an input and a target.
SampleNames NamesOf(const Hdf5DatasetOptions& options) {
  if (options.variables.empty()) return nullptr;
  NamedTensors names;
  for (const std::string& name : options.variables) names.emplace_back(name, Tensor());
  return Sample::Named(std::move(names)).names;
}

void CheckSameRows(const std::string& path, const std::vector<std::string>& names, size_t at,
                   int64_t rows, int64_t first) {
  if (rows == first) return;
  RaiseStatus(InvalidArgument(path, ": expected as many rows in ", names[at], " as in ", names[0],
                              ", ", first, ", got ", rows),
              kWho);
}

DatasetPtr RowsInFile(const std::string& path, const Hdf5DatasetOptions& options) {
  const std::vector<std::string> names = Wanted(options);
  std::vector<std::unique_ptr<internal::RowSource>> sources;
  for (size_t k = 0; k < names.size(); ++k) {
    sources.push_back(ValueOrRaise(
        internal::OpenH5Rows(path, names[k], options.limits, options.max_row_bytes), kWho));
    CheckSameRows(path, names, k, sources[k]->size(), sources[0]->size());
  }
  return internal::DatasetOfRows(path, NamesOf(options), std::move(sources), kWho);
}

Tensor Rows(const StateDict& arrays, const std::string& path, const std::string& name,
            const std::set<std::string>& names) {
  const Tensor* found = arrays.Find(name);
  if (found == nullptr) {
    RaiseStatus(NotFound(path, ": expected an array called ", name, ", got none",
                         inner::internal::InsteadOf(name, {names.begin(), names.end()})),
                kWho);
  }
  if (found->rank() < 1) {
    RaiseStatus(Unimplemented(path, ", ", name, ": expected an array of rows, got a single number"),
                kWho);
  }
  return *found;
}

}  // namespace

DatasetPtr Hdf5Dataset(const std::string& path, const Hdf5DatasetOptions& options) {
  if (!options.in_memory) return RowsInFile(path, options);
  const std::vector<std::string> wanted = Wanted(options);
  const SampleNames called = NamesOf(options);
  std::set<std::string> names;  // the same array may be wanted twice
  const StateDict arrays =
      Load(path, {.limits = options.limits, .want = [&](std::string_view name) {
                    names.emplace(name);
                    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
                  }});
  NamedTensors rows;
  for (size_t k = 0; k < wanted.size(); ++k) {
    rows.emplace_back(wanted[k], Rows(arrays, path, wanted[k], names));
    CheckSameRows(path, wanted, k, rows[k].second.size(0), rows[0].second.size(0));
  }
  if (called != nullptr) return FromTensors(rows);
  return FromTensors(rows[0].second, rows.size() > 1 ? rows[1].second : Tensor());
}

std::vector<std::string> LoadHdf5Words(const std::string& path, const std::string& name,
                                       const LoadLimits& limits) {
  return ValueOrRaise(TryLoadHdf5Words(path, name, limits), "load_hdf5_words");
}

}  // namespace firn::io
