// A path takes some 50 bytes, so that a million images fit where their pixels would not. Names are
// sorted by their bytes: the numbers of classes do not depend on the locale or the file system.
#include "firn/io/data/image_folder.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/images_below.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Raise(const absl::Status& status) { RaiseStatus(status, "image_folder"); }

void Check(const std::error_code& error, const std::string& path) {
  if (!error) return;
  const std::string text = absl::StrCat(path, ": ", error.message());
  Raise(error == std::errc::no_such_file_or_directory ? NotFound(text) : FailedPrecondition(text));
}

bool EndsInOneOf(std::string name, absl::Span<const std::string_view> ends) {
  absl::AsciiStrToLower(&name);
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return std::string_view(name).ends_with(end); });
}

bool IsImage(const std::string& name) {
  constexpr std::string_view kEnds[] = {".png", ".apng", ".jpg", ".jpeg", ".jpe", ".jfif",
                                        ".mpo", ".bmp",  ".dib", ".gif",  ".pbm", ".pgm",
                                        ".ppm", ".pnm",  ".tif", ".tiff"};
  return EndsInOneOf(name, kEnds);
}

// Endings of image formats that DecodeImage does not read, without those that have other meanings
// too.
bool IsUnreadImage(const std::string& name) {
  constexpr std::string_view kEnds[] = {
      ".webp", ".avif", ".heic", ".heif", ".jp2", ".j2k", ".jpf", ".jpx", ".jxl", ".jxr", ".ico",
      ".svg",  ".psd",  ".xcf",  ".tga",  ".dds", ".exr", ".pam", ".pfm", ".qoi", ".pcx", ".dng",
      ".cr2",  ".cr3",  ".nef",  ".arw",  ".orf", ".rw2", ".dcm", ".xpm", ".xbm", ".eps", ".fits"};
  return EndsInOneOf(name, kEnds);
}

// Names in a folder that do not begin with a dot, for which `want` holds, sorted.
template <class Want>
std::vector<std::string> Names(const std::string& folder, Want want) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  Check(error, folder);
  for (; it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.front() != '.' && want(*it, name)) names.push_back(name);
  }
  Check(error, folder);
  std::sort(names.begin(), names.end());
  return names;
}

bool IsFolder(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_directory(error) && !entry.is_symlink(error);
}

// Files that are images by their names, and not read.
struct Unread {
  std::set<std::string> first;  // by name, since file systems list in any order
  int64_t count = 0;

  void Add(std::string path) {
    constexpr size_t kNamed = 10;
    ++count;
    first.insert(std::move(path));
    if (first.size() > kNamed) first.erase(std::prev(first.end()));
  }
};

// Images below `folder`, by their paths from there.
std::vector<std::string> Images(const std::string& folder, Unread* unread) {
  std::vector<std::string> found =
      Names(folder, [&](const fs::directory_entry& entry, const std::string& name) {
        std::error_code error;
        const bool is_image = IsImage(name);
        if ((!is_image && !IsUnreadImage(name)) || !entry.is_regular_file(error)) return false;
        if (!is_image) unread->Add(absl::StrCat(folder, "/", name));
        return is_image;
      });
  const auto folders = Names(
      folder, [](const fs::directory_entry& entry, const std::string&) { return IsFolder(entry); });
  for (const std::string& inner : folders) {
    for (const std::string& name : Images(absl::StrCat(folder, "/", inner), unread)) {
      found.push_back(absl::StrCat(inner, "/", name));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void CheckUnread(const std::string& directory, const Unread& unread) {
  if (unread.count == 0) return;
  const auto named = static_cast<int64_t>(unread.first.size());
  Raise(Unimplemented(
      directory, ": ", unread.count, unread.count == 1 ? " image" : " images",
      " of formats that are not read (skip_unread leaves them out): ",
      absl::StrJoin(unread.first, ", "),
      unread.count > named ? absl::StrCat(" and ", unread.count - named, " more") : ""));
}

}  // namespace

std::vector<std::string> ImagesBelow(const std::string& folder) {
  Unread unread;
  std::vector<std::string> found = Images(folder, &unread);
  CheckUnread(folder, unread);
  return found;
}

ImageFolderDataset::ImageFolderDataset(const std::string& directory, ImageFolderOptions options)
    : directory_(directory), options_(std::move(options)) {
  // The folder itself may be a link, since people make subsets that way.
  classes_ = Names(directory_, [](const fs::directory_entry& entry, const std::string&) {
    std::error_code error;
    return entry.is_directory(error);
  });
  if (classes_.empty()) Raise(NotFound(directory_, ": expected a folder for each class, got none"));
  Unread unread;
  for (size_t k = 0; k < classes_.size(); ++k) {
    const std::vector<std::string> names =
        Images(absl::StrCat(directory_, "/", classes_[k]), &unread);
    if (names.empty()) {
      // If a class has only such files, they are the better reason for the error.
      if (!options_.skip_unread) CheckUnread(directory_, unread);
      Raise(NotFound(directory_, "/", classes_[k], ": expected images of this class, got none"));
    }
    for (const std::string& name : names) {
      names_ += name;
      name_ends_.push_back(static_cast<int64_t>(names_.size()));
    }
    class_ends_.push_back(size());
  }
  if (!options_.skip_unread) CheckUnread(directory_, unread);
  names_.shrink_to_fit();
  name_ends_.shrink_to_fit();
}

ImageFolderDataset::File ImageFolderDataset::At(int64_t i) const {
  internal::CheckIndex(i, size());
  const auto k = static_cast<size_t>(i);
  const int64_t begin = k == 0 ? 0 : name_ends_[k - 1];
  const std::string_view name = std::string_view(names_).substr(
      static_cast<size_t>(begin), static_cast<size_t>(name_ends_[k] - begin));
  const auto found = std::upper_bound(class_ends_.begin(), class_ends_.end(), i);
  return {name, found - class_ends_.begin()};
}

std::string ImageFolderDataset::path(int64_t i) const {
  const File file = At(i);
  return absl::StrCat(directory_, "/", classes_[static_cast<size_t>(file.label)], "/",
                      std::string(file.name));
}

Sample ImageFolderDataset::Get(int64_t i) const {
  Tensor image = ReadImage(path(i), options_.image);
  if (options_.transform) {
    try {
      image = options_.transform(std::move(image));
    } catch (const Error& e) {
      internal::RaiseNamed(path(i), e, "image_folder");
    } catch (const std::exception& e) {
      Raise(Internal(path(i), ": transform: ", e.what()));
    }
  }
  return {std::move(image), FromVector(std::vector<int64_t>{At(i).label}, {})};
}

std::shared_ptr<const ImageFolderDataset> ImageFolder(const std::string& directory,
                                                      ImageFolderOptions options) {
  return std::make_shared<const ImageFolderDataset>(directory, std::move(options));
}

}  // namespace firn::io
