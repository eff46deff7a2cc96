// A list of objects still to visit, from the root group on. For each that was visited its kind is
// kept: a dataset that is met again has one more name; a group that is met again is gone through
// once more, unless it is one of those above. This work is counted as metadata, so that a file
// which names groups within groups many times over ends in an error. Full paths are counted
// separately, since many short names in a group with a long name may add up to more than the file.
// Soft links wait until all else was visited.
#include "firn/io/hdf5/internal/h5_walk.h"

#include <unordered_map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_checksum.h"
#include "firn/io/hdf5/internal/h5_group.h"
#include "firn/io/hdf5/internal/h5_heap.h"
#include "firn/io/hdf5/internal/h5_links.h"
#include "firn/io/hdf5/internal/h5_message.h"
#include "firn/io/hdf5/internal/h5_names.h"

namespace firn::io::internal {
namespace {

constexpr size_t kNone = ~size_t{0};

struct Todo {
  std::string path;  // "conv1/W", no leading slash; "" is the root
  uint64_t address = 0;
  int depth = 0;
  std::vector<int64_t> order;  // the indices of the groups above
  size_t above = kNone;        // the group that it is in
};
struct SoftTodo {
  Todo todo;
  std::string target;
};

class Walk {
 public:
  Walk(H5File& file, const std::function<bool(std::string_view)>& want,
       absl::FunctionRef<absl::Status(const H5Found&)> take)
      : file_(file),
        want_(want),
        take_(take),
        links_(file),
        names_left_(file.limits().max_metadata_bytes) {}

  absl::StatusOr<H5Walked> Run() {
    todo_.push_back({"", file_.root(), 0, {}});
    while (!todo_.empty() || !soft_.empty()) {
      bool may_be_left_out = false;
      absl::Status status;
      Todo next;
      if (!todo_.empty()) {
        next = std::move(todo_.back());
        todo_.pop_back();
        status = Visit(next, &may_be_left_out);
      } else {
        next = std::move(soft_.back().todo);
        const std::string target = std::move(soft_.back().target);
        soft_.pop_back();
        status = Follow(next, target, &may_be_left_out);
      }
      if (!status.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat(std::string(status.message()), " (at ", H5Place(next.path), ")",
                         may_be_left_out && absl::IsUnimplemented(status)
                             ? "; LoadOptions::want can leave this dataset out"
                             : ""));
      }
    }
    return walked_;
  }

 private:
  // What is known of an object that was visited.
  struct Known {
    enum Kind : uint8_t { kGroup, kType, kDataset } kind;
    bool taken = false;
    std::optional<int64_t> index = {};
    size_t number = 0;  // of the call that took it
  };
  struct Group {
    uint64_t address;
    size_t above;
  };

  bool Wants(const Todo& at) const { return !want_ || want_(H5Name(at.path)); }

  absl::Status Follow(const Todo& link, const std::string& target, bool* may_be_left_out) {
    *may_be_left_out = true;
    absl::StatusOr<uint64_t> address = links_.Resolve(groups_[link.above].address, target);
    if (!address.ok()) {
      // The link leads nowhere, but its name is not wanted.
      if (absl::IsUnimplemented(address.status()) && want_ && !Wants(link)) {
        walked_.partial = true;
        return absl::OkStatus();
      }
      return address.status();
    }
    todo_.push_back(link);
    todo_.back().address = *address;
    return absl::OkStatus();
  }

  // `may_be_left_out`: whether an error concerns a dataset that LoadOptions::want could leave out.
  absl::Status Visit(const Todo& at, bool* may_be_left_out) {
    const auto known = known_.find(at.address);
    if (known != known_.end()) {
      FIRN_RETURN_IF_ERROR(file_.ChargeMetadata(at.path.size()));
      if (known->second.kind == Known::kType) return absl::OkStatus();
      if (known->second.kind == Known::kDataset) {
        *may_be_left_out = true;
        if (!Wants(at)) {
          walked_.partial = true;
          return absl::OkStatus();
        }
        if (known->second.taken) {
          ++taken_;
          return take_({H5Name(at.path), at.order, known->second.index, nullptr,
                        known->second.number, at.address, at.path});
        }
      }
    }
    FIRN_ASSIGN_OR_RETURN(H5Object object, ReadH5Object(file_, at.address));
    if (object.is_type()) {
      known_[at.address] = {Known::kType};
      return absl::OkStatus();
    }
    *may_be_left_out = !object.is_group();
    Known& now = known_[at.address] = {object.is_group() ? Known::kGroup : Known::kDataset};
    if (*may_be_left_out && !Wants(at)) {
      walked_.partial = true;
      return absl::OkStatus();
    }
    FIRN_RETURN_IF_ERROR(FetchAttributes(&object));
    FIRN_ASSIGN_OR_RETURN(now.index, FindH5Attribute(file_, object, "index"));
    if (!object.is_group()) {
      now.taken = true;
      now.number = static_cast<size_t>(taken_++);
      return take_(
          {H5Name(at.path), at.order, now.index, &object, now.number, at.address, at.path});
    }
    if (at.depth == 0) {
      FIRN_ASSIGN_OR_RETURN(walked_.file_checksum,
                            FindH5Attribute(file_, object, kChecksumAttribute));
    }
    for (size_t g = at.above; g != kNone; g = groups_[g].above) {
      if (groups_[g].address == at.address) {
        return file_.Refused("a link to a group above it, a cycle");
      }
    }
    return AddMembers(at, now.index, object);
  }

  // More than eight attributes may be kept in a heap: version, flags, with the first of these 2
  // bytes, the addresses of the heap and of the index by name. Attributes that are not needed are
  // not read, whatever their size and kind.
  absl::Status FetchAttributes(H5Object* object) {
    const H5Message* info = object->Find(H5Message::kAttributeInfo);
    if (info == nullptr) return absl::OkStatus();
    H5Cursor c = info->cursor();
    c.Skip(1);
    if ((c.Uint(1) & 1) != 0) c.Skip(2);
    const uint64_t heap = c.Uint(8), index = c.Uint(8);
    FIRN_RETURN_IF_ERROR(file_.Check(c, "attribute info"));
    if (heap == kH5Undefined) return absl::OkStatus();
    constexpr std::string_view kNames[] = {"index", "need_grad", kChecksumAttribute};
    const auto keep = [&](H5Cursor attribute) {
      H5Message m;
      m.type = H5Message::kAttribute;
      m.offset = attribute.offset();
      m.body = object->Keep(std::string(attribute.Bytes(attribute.left())));
      object->messages.push_back(std::move(m));
      return absl::OkStatus();
    };
    return ForEachHeapObject(file_, heap, index, H5HeapIndex::kAttributes, kNames, keep);
  }

  absl::Status AddMembers(const Todo& at, const std::optional<int64_t>& index,
                          const H5Object& group) {
    if (at.depth >= file_.limits().max_depth) {
      return ResourceExhausted(file_.file().name(), ": groups are nested more than the ",
                               file_.limits().max_depth, " levels allowed (limits.max_depth)");
    }
    FIRN_ASSIGN_OR_RETURN(std::vector<H5Link> links, ListH5Group(file_, group));
    std::vector<int64_t> order = at.order;
    if (index.has_value()) order.push_back(*index);
    const size_t here = groups_.size();
    groups_.push_back({at.address, at.above});
    for (const H5Link& link : links) {
      std::string path = at.path.empty() ? link.name : absl::StrCat(at.path, "/", link.name);
      if (path.size() > static_cast<size_t>(file_.limits().max_name_bytes)) {
        return ResourceExhausted(file_.file().name(), ": a name has more than the ",
                                 file_.limits().max_name_bytes,
                                 " bytes allowed (limits.max_name_bytes)");
      }
      names_left_ -= static_cast<int64_t>(path.size());
      if (names_left_ < 0) {
        return ResourceExhausted(file_.file().name(), ": all names have more than the ",
                                 file_.limits().max_metadata_bytes,
                                 " bytes allowed (limits.max_metadata_bytes)");
      }
      Todo todo{std::move(path), link.address, at.depth + 1, order, here};
      if (link.is_soft) {
        soft_.push_back({std::move(todo), link.path});
      } else {
        todo_.push_back(std::move(todo));
      }
    }
    links_.Add(at.address, std::move(links));
    const auto left = static_cast<int64_t>(todo_.size() + soft_.size());
    if (left + taken_ > file_.limits().max_tensors) {
      return ResourceExhausted(file_.file().name(), ": holds more than the ",
                               file_.limits().max_tensors, " tensors allowed (limits.max_tensors)");
    }
    return absl::OkStatus();
  }

  H5File& file_;
  const std::function<bool(std::string_view)>& want_;
  const absl::FunctionRef<absl::Status(const H5Found&)> take_;
  H5Links links_;
  std::vector<Todo> todo_;
  std::vector<SoftTodo> soft_;
  std::vector<Group> groups_;  // groups that were gone through
  std::unordered_map<uint64_t, Known> known_;
  int64_t taken_ = 0;
  int64_t names_left_;  // bytes of those that were listed
  H5Walked walked_;
};

}  // namespace

std::string H5Place(std::string_view path) {
  return absl::StrCat("/", absl::Utf8SafeCHexEscape(std::string(path)));
}

absl::StatusOr<H5Walked> WalkH5(H5File& file, const std::function<bool(std::string_view)>& want,
                                absl::FunctionRef<absl::Status(const H5Found&)> take) {
  return Walk(file, want, take).Run();
}

}  // namespace firn::io::internal
