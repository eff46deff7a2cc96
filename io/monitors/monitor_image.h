#ifndef FIRN_IO_MONITORS_MONITOR_IMAGE_H_
#define FIRN_IO_MONITORS_MONITOR_IMAGE_H_

// NNabla's image monitors: pictures of a training run as PNG files, in its names and layouts.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "firn/io/monitors/monitor.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

struct MonitorImageOptions {
  int64_t interval = 1000;          // >= 1
  int64_t num_images = 16;          // of a batch, >= 1
  std::ostream* verbose = nullptr;  // also gets a line for each writing
  // Makes numbers from 0 to 1 of f32 [n, channels, height, width]. Empty: the least element of all
  // becomes 0, the largest 1 (finite ones only; if all are equal, 0).
  std::function<Tensor(const Tensor&)> normalize = {};
};

// Each image in a file: <name>/<index, 6 digits>-<number in the batch, 3 digits>.png.
// Thread-compatible.
class MonitorImage {
 public:
  // Makes the folder. Throws firn::Error for options and names that make no sense, and when it
  // cannot be made.
  MonitorImage(const std::string& name, const Monitor& monitor,
               const MonitorImageOptions& options = {});
  // Images [N, ..., channels, height, width] of any type and device. Writes when index is 0 or
  // (index + 1) is a multiple of the interval. If there are more than three channels, the first
  // three stay; two channels get a third one of ones. Files are replaced whole or not at all.
  // Throws kInvalidArgument for other shapes, else what the system says, naming the path.
  void Add(int64_t index, const Tensor& images);

 private:
  std::string name_, folder_;
  MonitorImageOptions options_;
};

// The images of a batch as tiles of one picture, <name>/<index, 6 digits>.png: a square of tiles,
// each with a black line at its right and below it. Thread-compatible.
class MonitorImageTile {
 public:
  // Throws as MonitorImage.
  MonitorImageTile(const std::string& name, const Monitor& monitor,
                   const MonitorImageOptions& options = {});
  // Like MonitorImage::Add.
  void Add(int64_t index, const Tensor& images);

 private:
  std::string name_, folder_;
  MonitorImageOptions options_;
};

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_MONITOR_IMAGE_H_
