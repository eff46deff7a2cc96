#include "firn/io/monitors/monitor_image.h"

#include <filesystem>
#include <ostream>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/image.h"
#include "firn/io/monitors/internal/pictures.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "monitor image";

// Makes the folder of a monitor.
std::string FolderOf(const std::string& name, const Monitor& monitor,
                     const MonitorImageOptions& o) {
  if (o.interval < 1 || o.num_images < 1) {
    RaiseStatus(InvalidArgument(name, ": interval is ", o.interval, " and num_images ",
                                o.num_images, " (want >= 1)"),
                kWho);
  }
  return Monitor(monitor.PathOf(name, "")).save_path();
}

bool IsDue(int64_t index, int64_t interval) { return index == 0 || (index + 1) % interval == 0; }

void Say(std::ostream* verbose, const std::string& name, int64_t index, const std::string& what) {
  if (verbose == nullptr) return;
  *verbose << "iter=" << index << " {" << name << "} " << what << "\n" << std::flush;
}

}  // namespace

MonitorImage::MonitorImage(const std::string& name, const Monitor& monitor,
                           const MonitorImageOptions& options)
    : name_(name), folder_(FolderOf(name, monitor, options)), options_(options) {}

void MonitorImage::Add(int64_t index, const Tensor& images) {
  if (!IsDue(index, options_.interval)) return;
  const std::vector<Tensor> pictures =
      internal::PicturesOf(images, options_.num_images, options_.normalize, kWho);
  for (size_t j = 0; j < pictures.size(); ++j) {
    WriteImage(absl::StrFormat("%s/%06d-%03d.png", folder_, index, j), pictures[j]);
  }
  Say(options_.verbose, name_, index,
      absl::StrFormat("are written to %s/%06d-*.png", folder_, index));
}

MonitorImageTile::MonitorImageTile(const std::string& name, const Monitor& monitor,
                                   const MonitorImageOptions& options)
    : name_(name), folder_(FolderOf(name, monitor, options)), options_(options) {}

void MonitorImageTile::Add(int64_t index, const Tensor& images) {
  if (!IsDue(index, options_.interval)) return;
  const std::string path = absl::StrFormat("%s/%06d.png", folder_, index);
  WriteImage(path,
             internal::Tile(
                 internal::PicturesOf(images, options_.num_images, options_.normalize, kWho), 1));
  Say(options_.verbose, name_, index, "is written to " + path);
}

}  // namespace firn::io
