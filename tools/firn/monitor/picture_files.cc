#include "tools/firn/monitor/picture_files.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <tuple>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/io/image/image.h"
#include "firn/io/image/image_status.h"
#include "firn/io/random_access.h"

namespace firn::cli {
namespace {

constexpr size_t kMostRows = 200;

std::string EndOf(std::string_view name) {
  std::string end(name.substr(std::min(name.rfind('.'), name.size())));
  for (char& c : end) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return end;
}

bool IsSvgName(std::string_view name) { return EndOf(name) == ".svg"; }

// The number at the front of `text`, which loses it; -1 without one.
int64_t TakeNumber(std::string_view* text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0) return -1;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

}  // namespace

std::string FolderOf(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

bool IsPictureName(std::string_view file_name) {
  static const std::set<std::string> ends = {".png", ".jpg", ".jpeg", ".gif",  ".bmp",
                                             ".pgm", ".ppm", ".tif",  ".tiff", ".svg"};
  return ends.contains(EndOf(file_name));
}

absl::StatusOr<std::shared_ptr<const Picture>> CheckPicture(std::string bytes,
                                                            const std::string& caption, bool svg,
                                                            const MonitorLimits& limits) {
  auto picture = std::make_shared<Picture>();
  picture->caption = caption;
  if (svg) {
    picture->type = "image/svg+xml";
    picture->bytes = std::move(bytes);
    return picture;
  }
  io::DecodeImageOptions options;
  options.limits.max_pixels = limits.max_picture_pixels;
  FIRN_ASSIGN_OR_RETURN(const Tensor pixels, io::TryParseImage(bytes, caption, options));
  const bool png = bytes.starts_with("\x89PNG"), jpeg = bytes.starts_with("\xff\xd8\xff");
  picture->type = jpeg ? "image/jpeg" : "image/png";
  picture->bytes = png || jpeg ? std::move(bytes) : io::EncodePng(pixels);
  return picture;
}

bool PictureFile::operator<(const PictureFile& other) const {
  return std::tuple(-index, place, path) < std::tuple(-other.index, other.place, other.path);
}

PictureFile MakePictureFile(const std::string& path, int64_t changed, int64_t bytes) {
  PictureFile file{.path = path, .changed = changed, .bytes = bytes};
  const std::string stem = std::filesystem::path(path).stem().string();
  std::string_view rest = stem;
  const int64_t index = TakeNumber(&rest);
  int64_t place = 0;
  if (rest.starts_with('-')) {
    rest.remove_prefix(1);
    place = TakeNumber(&rest);
  }
  if (index >= 0 && place >= 0 && rest.empty()) {
    file.index = index;
    file.place = place;
  }
  return file;
}

void PictureShelf::Add(const PictureFile& file) {
  const std::string folder = FolderOf(file.path);
  if (!rows_.contains(folder) && rows_.size() == kMostRows) {
    refused_ = true;
    return;
  }
  Row& row = rows_[folder];
  ++row.count;
  row.newest.insert(file);
  if (static_cast<int64_t>(row.newest.size()) > limits_.max_pictures) {
    row.newest.erase(std::prev(row.newest.end()));
  }
}

absl::StatusOr<std::shared_ptr<const Picture>> PictureShelf::Load(const std::string& folder,
                                                                  const PictureFile& file) {
  const auto found = loaded_.find(file.path);
  if (found != loaded_.end() && found->second.changed == file.changed &&
      found->second.bytes == file.bytes) {
    return found->second.picture;
  }
  const auto load = [&]() -> absl::StatusOr<std::shared_ptr<const Picture>> {
    FIRN_ASSIGN_OR_RETURN(const auto source,
                          io::RandomAccess::Open(folder + "/" + file.path, io::Links::kRefuse));
    FIRN_RETURN_IF(source->size() > limits_.max_picture_bytes,
                   ResourceExhausted(file.path, ": a picture of ", source->size(),
                                     " bytes (want at most ", limits_.max_picture_bytes, ")"));
    std::string bytes(static_cast<size_t>(source->size()), '\0');
    FIRN_RETURN_IF_ERROR(source->ReadAt(0, bytes.data(), source->size(), "picture"));
    return CheckPicture(std::move(bytes), std::filesystem::path(file.path).filename().string(),
                        IsSvgName(file.path), limits_);
  };
  Loaded loaded{file.changed, file.bytes, load()};
  return loaded_.insert_or_assign(file.path, std::move(loaded)).first->second.picture;
}

bool PictureShelf::Changed() {
  std::vector<PictureFile> now;
  for (const auto& [name, row] : rows_) now.insert(now.end(), row.newest.begin(), row.newest.end());
  const bool same =
      std::equal(now.begin(), now.end(), before_.begin(), before_.end(),
                 [](const PictureFile& a, const PictureFile& b) {
                   return a.path == b.path && a.changed == b.changed && a.bytes == b.bytes;
                 });
  if (same) return false;
  std::set<std::string> paths;
  for (const PictureFile& file : now) paths.insert(file.path);
  std::erase_if(loaded_, [&](const auto& one) { return !paths.contains(one.first); });
  before_ = std::move(now);
  return true;
}

}  // namespace firn::cli
