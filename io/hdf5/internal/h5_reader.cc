// Entries are sorted by their `index` attributes (those of their groups first, where groups have
// one, as in NNabla's solver states), then by name; without index they come last, as files of
// NNabla's C++ side want it. Names of one dataset are entries with one tensor.
//
// A checksum covers the name that a dataset was written by. Another program may have given the
// dataset more names, which may come first; so a checksum is wrong only if it fits no name of its
// dataset.
#include "firn/io/hdf5/internal/h5_reader.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_checksum.h"
#include "firn/io/hdf5/internal/h5_dataset.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_message.h"
#include "firn/io/hdf5/internal/h5_plan.h"
#include "firn/io/hdf5/internal/h5_walk.h"
#include "firn/io/internal/crc32.h"

namespace firn::io::internal {
namespace {

struct Entry {
  std::string name;
  std::vector<int64_t> order;
  uint32_t checksum = 0;
  Tensor tensor;
  bool is_other_name = false;  // of a dataset whose checksum another entry has
};

// A dataset whose checksum does not fit the name of its entry.
struct Doubt {
  size_t entry = 0;
  int64_t index = 0, checksum = 0;  // as stored
  bool need_grad = false;
  uint32_t elements = 0;  // their CRC-32
  std::string path;
};

class Entries {
 public:
  explicit Entries(H5File& file) : file_(file), budget_(file) {}

  absl::Status Add(const H5Found& found) {
    Entry entry;
    entry.name = found.name;
    entry.order = found.order;
    entry.order.push_back(found.index.value_or(std::numeric_limits<int64_t>::max()));
    if (found.object == nullptr) {
      entry.is_other_name = true;
      entry.tensor = entries_[found.first].tensor;
      if (Settles(found)) {
        entry.is_other_name = false;
        entry.checksum = std::exchange(entries_[found.first].checksum, 0);
        entries_[found.first].is_other_name = true;
      }
      entries_.push_back(std::move(entry));
      return absl::OkStatus();
    }
    FIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> need_grad,
                          FindH5Attribute(file_, *found.object, "need_grad"));
    FIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> checksum,
                          FindH5Attribute(file_, *found.object, kChecksumAttribute));
    FIRN_ASSIGN_OR_RETURN(entry.tensor, ReadH5Dataset(file_, *found.object, &budget_));
    const bool wants_gradient = need_grad.value_or(0) != 0;
    entry.checksum =
        EntryChecksum(entry.name, found.index.value_or(-1), wants_gradient, entry.tensor);
    if (checksum.has_value() && *checksum != int64_t{entry.checksum}) {
      const Tensor& t = entry.tensor;
      const uint32_t elements =
          t.num_elements() == 0 ? 0 : Crc32(0, t.impl()->data, t.spec().bytes());
      doubts_[found.address] = {entries_.size(), found.index.value_or(-1),
                                *checksum,       wants_gradient,
                                elements,        std::string(found.path)};
    }
    if (wants_gradient && IsFloating(entry.tensor.dtype())) entry.tensor.SetRequiresGrad();
    entries_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  absl::StatusOr<StateDict> Finish(const H5Walked& walked) {
    FIRN_RETURN_IF_ERROR(SettleDoubts(walked));
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.order, a.name) < std::tie(b.order, b.name);
    });
    std::vector<uint32_t> checksums;
    for (const Entry& e : entries_) {
      if (!e.is_other_name) checksums.push_back(e.checksum);
    }
    if (!walked.partial && walked.file_checksum.has_value() &&
        *walked.file_checksum != int64_t{FileChecksum(checksums)}) {
      return DataLoss(file_.file().name(),
                      ": the file does not hold the tensors that were written to it");
    }
    StateDict state;
    for (Entry& e : entries_) {
      FIRN_RETURN_IF(state.Contains(e.name),
                     DataLoss(file_.file().name(), ": two datasets are named ", e.name));
      state.Insert(std::move(e.name), std::move(e.tensor));
    }
    return state;
  }

 private:
  // Whether the dataset was in doubt and this is the name that it was written by.
  bool Settles(const H5Found& found) {
    const auto it = doubts_.find(found.address);
    if (it == doubts_.end()) return false;
    const Doubt& d = it->second;
    Entry& entry = entries_[d.entry];
    const uint32_t checksum =
        EntryChecksum(found.name, d.index, d.need_grad, entry.tensor.spec(), d.elements);
    if (d.checksum != int64_t{checksum}) return false;
    entry.checksum = checksum;
    doubts_.erase(it);
    return true;
  }

  absl::Status SettleDoubts(const H5Walked& walked) {
    if (!doubts_.empty() && walked.partial) {
      // The dataset may have been written by a name that is not wanted; another walk over all names
      // finds it. Errors of that walk concern unwanted names only.
      FIRN_ASSIGN_OR_RETURN(H5File again, H5File::Open(file_.file(), file_.limits()));
      WalkH5(again, {}, [&](const H5Found& found) {
        Settles(found);
        return absl::OkStatus();
      }).IgnoreError();
    }
    if (doubts_.empty()) return absl::OkStatus();
    return DataLoss(file_.file().name(),
                    ": the dataset does not have the checksum it was written with (at ",
                    H5Place(doubts_.begin()->second.path), ")");
  }

  H5File& file_;
  H5Budget budget_;
  std::vector<Entry> entries_;        // one for each call
  std::map<uint64_t, Doubt> doubts_;  // by the addresses of the datasets
};

}  // namespace

absl::StatusOr<StateDict> ReadH5(const RandomAccess& file, const LoadOptions& options) {
  FIRN_ASSIGN_OR_RETURN(H5File opened, H5File::Open(file, options.limits));
  Entries entries(opened);
  FIRN_ASSIGN_OR_RETURN(
      const H5Walked walked,
      WalkH5(opened, options.want, [&](const H5Found& found) { return entries.Add(found); }));
  return entries.Finish(walked);
}

}  // namespace firn::io::internal
