// The walk: a list of objects still to visit, from the root group on. An object that is met twice
// is refused: it would be a cycle, or one dataset read many times over. Entries are sorted by their
// `index` attributes (those of their groups first, where groups have one, as in NNabla's solver
// states), then by name; without index they come last, as files of NNabla's C++ side want it.
#include "io/internal/h5_reader.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "io/internal/h5_checksum.h"
#include "io/internal/h5_dataset.h"
#include "io/internal/h5_file.h"
#include "io/internal/h5_group.h"
#include "io/internal/h5_message.h"
#include "io/internal/h5_names.h"
#include "io/internal/h5_object.h"

namespace firn::io::internal {
namespace {

struct Todo {
  std::string path;  // "conv1/W", no leading slash; "" is the root
  uint64_t address = 0;
  int depth = 0;
  std::vector<int64_t> order;  // the indices of the groups above
};

struct Entry {
  std::string name;
  std::vector<int64_t> order;
  uint32_t checksum = 0;
  Tensor tensor;
};

class Walk {
 public:
  Walk(H5File& file, const LoadOptions& options)
      : file_(file), want_(options.want), budget_{file.limits().max_total_bytes, file.size()} {}

  absl::StatusOr<StateDict> Run() {
    todo_.push_back({"", file_.root(), 0, {}});
    while (!todo_.empty()) {
      const Todo next = std::move(todo_.back());
      todo_.pop_back();
      bool may_be_left_out = false;
      const absl::Status status = Read(next, &may_be_left_out);
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat(std::string(status.message()), " (at /", next.path, ")",
                                         may_be_left_out && absl::IsUnimplemented(status)
                                             ? "; LoadOptions::want can leave this dataset out"
                                             : ""));
      }
    }
    return Finish();
  }

 private:
  // `may_be_left_out`: whether LoadOptions::want is asked before what an error is about.
  absl::Status Read(const Todo& at, bool* may_be_left_out) {
    if (!seen_.insert(at.address).second) {
      return file_.DamagedAt(at.address, "link", "the object has another name already");
    }
    FIRN_ASSIGN_OR_RETURN(const H5Object object, ReadH5Object(file_, at.address));
    *may_be_left_out = !object.is_group();
    if (*may_be_left_out && want_ && !want_(H5Name(at.path))) {
      partial_ = true;
      return absl::OkStatus();
    }
    FIRN_RETURN_IF_ERROR(CheckAttributesAreInside(object));
    FIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> index,
                          FindH5Attribute(file_, object, "index"));
    if (!object.is_group()) return AddDataset(at, index, object);
    if (at.depth == 0) {
      FIRN_ASSIGN_OR_RETURN(file_checksum_, FindH5Attribute(file_, object, kChecksumAttribute));
    }
    return AddMembers(at, index, object);
  }

  // More than eight attributes may be kept in a heap, which is not read.
  absl::Status CheckAttributesAreInside(const H5Object& object) const {
    const H5Message* info = object.Find(H5Message::kAttributeInfo);
    if (info == nullptr) return absl::OkStatus();
    H5Cursor c = info->cursor();
    c.Skip(1);
    if ((c.Uint(1) & 1) != 0) c.Skip(2);
    const uint64_t heap = c.Uint(8);
    FIRN_RETURN_IF_ERROR(file_.Check(c, "attribute info"));
    return heap == kH5Undefined ? absl::OkStatus() : file_.Refused("attributes in a heap");
  }

  absl::Status AddMembers(const Todo& at, const std::optional<int64_t>& index,
                          const H5Object& group) {
    if (at.depth >= file_.limits().max_depth) {
      return ResourceExhausted(file_.file().name(), ": groups are nested more than the ",
                               file_.limits().max_depth, " levels allowed");
    }
    FIRN_ASSIGN_OR_RETURN(const std::vector<H5Link> links, ListH5Group(file_, group));
    std::vector<int64_t> order = at.order;
    if (index.has_value()) order.push_back(*index);
    for (const H5Link& link : links) {
      std::string path = at.path.empty() ? link.name : absl::StrCat(at.path, "/", link.name);
      if (path.size() > static_cast<size_t>(file_.limits().max_name_bytes)) {
        return ResourceExhausted(file_.file().name(), ": a name has more than the ",
                                 file_.limits().max_name_bytes, " bytes allowed");
      }
      todo_.push_back({std::move(path), link.address, at.depth + 1, order});
    }
    if (static_cast<int64_t>(todo_.size() + entries_.size()) > file_.limits().max_tensors) {
      return ResourceExhausted(file_.file().name(), ": holds more than the ",
                               file_.limits().max_tensors, " tensors allowed");
    }
    return absl::OkStatus();
  }

  absl::Status AddDataset(const Todo& at, const std::optional<int64_t>& index,
                          const H5Object& object) {
    Entry entry;
    entry.name = H5Name(at.path);
    entry.order = at.order;
    entry.order.push_back(index.value_or(std::numeric_limits<int64_t>::max()));
    FIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> need_grad,
                          FindH5Attribute(file_, object, "need_grad"));
    FIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> checksum,
                          FindH5Attribute(file_, object, kChecksumAttribute));
    FIRN_ASSIGN_OR_RETURN(entry.tensor, ReadH5Dataset(file_, object, &budget_));
    const bool wants_gradient = need_grad.value_or(0) != 0;
    entry.checksum = EntryChecksum(entry.name, index.value_or(-1), wants_gradient, entry.tensor);
    if (checksum.has_value() && *checksum != int64_t{entry.checksum}) {
      return DataLoss(file_.file().name(),
                      ": the dataset does not have the checksum it was "
                      "written with");
    }
    if (wants_gradient && IsFloating(entry.tensor.dtype())) entry.tensor.SetRequiresGrad();
    entries_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  absl::StatusOr<StateDict> Finish() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.order, a.name) < std::tie(b.order, b.name);
    });
    std::vector<uint32_t> checksums;
    for (const Entry& e : entries_) checksums.push_back(e.checksum);
    if (!partial_ && file_checksum_.has_value() &&
        *file_checksum_ != int64_t{FileChecksum(checksums)}) {
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

  H5File& file_;
  const std::function<bool(std::string_view)>& want_;
  bool partial_ = false;  // whether an entry was left out, so that the file's checksum says nothing
  H5Budget budget_;
  std::vector<Todo> todo_;
  std::set<uint64_t> seen_;
  std::vector<Entry> entries_;
  std::optional<int64_t> file_checksum_;
};

}  // namespace

absl::StatusOr<StateDict> ReadH5(const RandomAccess& file, const LoadOptions& options) {
  FIRN_ASSIGN_OR_RETURN(H5File opened, H5File::Open(file, options.limits));
  return Walk(opened, options).Run();
}

}  // namespace firn::io::internal
