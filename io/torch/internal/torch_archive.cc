#include "firn/io/torch/internal/torch_archive.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/torch/internal/pickle.h"
#include "firn/io/torch/internal/torch_tensors.h"
#include "firn/io/zip/internal/zip.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

class Archive final : public TorchFile {
 public:
  static absl::StatusOr<Archive> Open(const RandomAccess& file, const LoadLimits& limits) {
    FIRN_ASSIGN_OR_RETURN(ZipReader zip, ZipReader::Open(file, limits));
    Archive archive(file, std::move(zip));
    FIRN_RETURN_IF_ERROR(archive.FindRoot());
    return archive;
  }

  const std::string& name() const override { return file_->name(); }
  bool big_endian() const override { return big_endian_; }

  absl::StatusOr<int64_t> BytesOf(const std::string& key) const override {
    FIRN_ASSIGN_OR_RETURN(const ZipMember* const member, Find("data/" + key));
    return member->size;
  }
  absl::Status Read(const std::string& key, char* out) const override {
    FIRN_ASSIGN_OR_RETURN(const ZipMember* const member, Find("data/" + key));
    return zip_.ReadInto(*member, out);
  }

  absl::StatusOr<std::string> ReadPickled(const LoadLimits& limits) const {
    FIRN_ASSIGN_OR_RETURN(const ZipMember* const member, Find("data.pkl"));
    FIRN_RETURN_IF(
        member->size > limits.max_metadata_bytes,
        ResourceExhausted(name(), ": a pickle of more than the ", limits.max_metadata_bytes,
                          " bytes allowed (limits.max_metadata_bytes)"));
    return zip_.Read(*member);
  }

 private:
  Archive(const RandomAccess& file, ZipReader zip) : file_(&file), zip_(std::move(zip)) {
    for (const ZipMember& member : zip_.members()) members_.emplace(member.name, &member);
  }

  absl::StatusOr<const ZipMember*> Find(const std::string& path) const {
    const auto found = members_.find(root_ + path);
    FIRN_RETURN_IF(found == members_.end(), DataLoss(name(), ": expected a member ",
                                                     JsonString(root_ + path), ", got none"));
    return found->second;
  }

  absl::StatusOr<std::string> Word(const char* path) const {
    FIRN_ASSIGN_OR_RETURN(const ZipMember* const member, Find(path));
    FIRN_RETURN_IF(member->size > 8, DataLoss(name(), ": ", path, ": expected a word"));
    return zip_.Read(*member);
  }

  // All members lie below one folder, whose name is that of the file when it was written.
  absl::Status FindRoot() {
    for (const ZipMember& member : zip_.members()) {
      const size_t slash = member.name.find('/');
      FIRN_RETURN_IF(slash == std::string::npos || slash == 0,
                     DataLoss(name(), ": member ", JsonString(member.name),
                              ": expected it in a folder: not a file of torch.save"));
      const std::string root = member.name.substr(0, slash + 1);
      FIRN_RETURN_IF(!root_.empty() && root != root_,
                     DataLoss(name(), ": expected all members in the folder ", JsonString(root_),
                              ", got one in ", JsonString(root)));
      root_ = root;
    }
    for (const char* program : {"constants.pkl", "archive_format"}) {
      FIRN_RETURN_IF(members_.contains(root_ + program),
                     Unimplemented(name(), ": ", program[0] == 'c' ? "TorchScript" : "torch.export",
                                   " programs are not read; save a state dict with torch.save"));
    }
    FIRN_ASSIGN_OR_RETURN(const std::string version, Word("version"));
    FIRN_RETURN_IF(version.empty() || version.find_first_not_of("0123456789\n") != version.npos,
                   DataLoss(name(), ": version: expected a number, got ", JsonString(version)));
    const auto order = members_.find(root_ + "byteorder");
    if (order == members_.end()) return absl::OkStatus();  // as before 2.1
    FIRN_ASSIGN_OR_RETURN(const std::string word, Word("byteorder"));
    FIRN_RETURN_IF(word != "little" && word != "big",
                   DataLoss(name(), ": byteorder: expected little or big, got ", JsonString(word)));
    big_endian_ = word == "big";
    return absl::OkStatus();
  }

  const RandomAccess* file_;
  ZipReader zip_;
  absl::flat_hash_map<std::string, const ZipMember*> members_;
  std::string root_;
  bool big_endian_ = false;
};

}  // namespace

absl::StatusOr<StateDict> ReadTorchArchive(const RandomAccess& file, const TorchOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const Archive archive, Archive::Open(file, options.load.limits));
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, archive.ReadPickled(options.load.limits));
  absl::StatusOr<Pickle> pickle = ReadPickle(bytes, options.load.limits);
  FIRN_RETURN_IF(
      !pickle.ok(),
      absl::Status(pickle.status().code(),
                   absl::StrCat(file.name(), "(data.pkl): ", pickle.status().message())));
  FIRN_RETURN_IF(pickle->end != bytes.size(),
                 DataLoss(file.name(), "(data.pkl): offset ", pickle->end,
                          ": expected the end, got ", bytes.size() - pickle->end, " bytes more"));
  return TorchTensors(*pickle, archive, options);
}

}  // namespace firn::io::internal
