#ifndef FIRN_IO_MONITORS_EVENT_WRITER_H_
#define FIRN_IO_MONITORS_EVENT_WRITER_H_

// Event files that TensorBoard shows: `tensorboard --logdir results`.
//
//   io::EventWriter events("results");
//   events.AddScalar("loss/train", loss, step);

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io {

struct EventWriterOptions {
  std::string suffix = {};  // of the file's name
  // For a run that goes on: the first step that it adds. TensorBoard then leaves out this step and
  // later ones of earlier files in the folder.
  std::optional<int64_t> purge_step = {};
  std::function<double()> clock = {};  // seconds since 1970; for tests
};

// A node of a graph as TensorBoard draws it.
struct EventGraphNode {
  std::string name;                      // slashes make groups: "encoder/conv1"
  std::string op = {};                   // its operation: "conv2d"
  std::vector<std::string> inputs = {};  // names of nodes
  std::vector<std::vector<int64_t>> output_shapes = {};
  std::string device = {};
};

// One file of events, `<folder>/events.out.tfevents.<seconds>.<host>.<process>.<number><suffix>`,
// always a new one; TensorBoard puts those of a folder together. Each call writes its record at
// once, so a killed process loses none; readers leave out a partial last one.
// Each Add... throws kInvalidArgument for what it cannot write, kResourceExhausted for a full disk,
// kNotFound when the file was removed; the file is then as before. Thread-compatible.
class EventWriter {
 public:
  // Makes the folder if need be. Throws firn::Error, naming the path.
  explicit EventWriter(const std::string& folder, const EventWriterOptions& options = {});
  ~EventWriter();
  EventWriter(EventWriter&&) noexcept;
  EventWriter& operator=(EventWriter&&) noexcept;

  const std::string& path() const;

  // A number, kept as f32; NaN and infinite ones are written as they are.
  void AddScalar(const std::string& tag, double value, int64_t step);
  // The only element of a tensor.
  void AddScalar(const std::string& tag, const Tensor& value, int64_t step) {
    AddScalar(tag, value.Item<double>(), step);
  }
  // The distribution of a tensor's elements: their counts in 30 equal parts of the range from the
  // least to the largest. NaN and infinite elements are left out.
  void AddHistogram(const std::string& tag, const Tensor& values, int64_t step);
  // An image [H, W] or [C, H, W] of 1 (grey) or 3 (RGB) channels: u8, or a floating type, clamped
  // to 0 to 1. It is kept as a PNG.
  void AddImage(const std::string& tag, const Tensor& image, int64_t step);
  // Text in UTF-8, which TensorBoard reads as Markdown.
  void AddText(const std::string& tag, const std::string& text, int64_t step);
  // The graph of the run; one a file. Names must be different and not empty.
  void AddGraph(const std::vector<EventGraphNode>& nodes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_EVENT_WRITER_H_
