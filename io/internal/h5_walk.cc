// A list of objects still to visit, from the root group on. An object that is met twice is refused:
// it would be a cycle, or one dataset read many times over.
#include "firn/io/internal/h5_walk.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/h5_checksum.h"
#include "firn/io/internal/h5_group.h"
#include "firn/io/internal/h5_message.h"
#include "firn/io/internal/h5_names.h"

namespace firn::io::internal {
namespace {

struct Todo {
  std::string path;  // "conv1/W", no leading slash; "" is the root
  uint64_t address = 0;
  int depth = 0;
  std::vector<int64_t> order;  // the indices of the groups above
};

class Walk {
 public:
  Walk(H5File& file, const std::function<bool(std::string_view)>& want,
       absl::FunctionRef<absl::Status(const H5Found&)> take)
      : file_(file), want_(want), take_(take) {}

  absl::StatusOr<H5Walked> Run() {
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
    return walked_;
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
      walked_.partial = true;
      return absl::OkStatus();
    }
    FIRN_RETURN_IF_ERROR(CheckAttributesAreInside(object));
    FIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> index,
                          FindH5Attribute(file_, object, "index"));
    if (!object.is_group()) {
      ++taken_;
      return take_({H5Name(at.path), at.order, index, object});
    }
    if (at.depth == 0) {
      FIRN_ASSIGN_OR_RETURN(walked_.file_checksum,
                            FindH5Attribute(file_, object, kChecksumAttribute));
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
    if (static_cast<int64_t>(todo_.size()) + taken_ > file_.limits().max_tensors) {
      return ResourceExhausted(file_.file().name(), ": holds more than the ",
                               file_.limits().max_tensors, " tensors allowed");
    }
    return absl::OkStatus();
  }

  H5File& file_;
  const std::function<bool(std::string_view)>& want_;
  const absl::FunctionRef<absl::Status(const H5Found&)> take_;
  std::vector<Todo> todo_;
  std::set<uint64_t> seen_;
  int64_t taken_ = 0;
  H5Walked walked_;
};

}  // namespace

absl::StatusOr<H5Walked> WalkH5(H5File& file, const std::function<bool(std::string_view)>& want,
                                absl::FunctionRef<absl::Status(const H5Found&)> take) {
  return Walk(file, want, take).Run();
}

}  // namespace firn::io::internal
