// Messages by hand, of TensorFlow's event.proto, summary.proto and graph.proto. Scalars, histograms
// and images are written in the older style (simple_value, histo, image), which every reader
// understands; text exists in the newer one only (a string tensor with the plugin's name).
#include "firn/io/monitors/event_writer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/image.h"
#include "firn/io/monitors/internal/append_file.h"
#include "firn/io/monitors/internal/pictures.h"
#include "firn/io/monitors/monitor.h"
#include "firn/io/monitors/tfrecord.h"
#include "firn/io/wire/internal/wire.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

using internal::WireWriter;

constexpr char kWho[] = "event writer";
constexpr int kBuckets = 30;

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "localhost";
  std::string host = name;
  std::replace(host.begin(), host.end(), '/', '-');
  return host;
}

// A file of a name that no other writer uses.
absl::StatusOr<internal::AppendFile> Create(const std::string& folder, const std::string& suffix,
                                            double seconds) {
  static std::atomic<int> counter = 0;
  for (int attempts = 0; attempts < 100; ++attempts) {
    const std::string path =
        absl::StrFormat("%s/events.out.tfevents.%010d.%s.%d.%d%s", folder,
                        static_cast<int64_t>(seconds), HostName(), getpid(), counter++, suffix);
    absl::StatusOr<internal::AppendFile> file =
        internal::AppendFile::Open(path, internal::AppendFile::Mode::kCreateNew);
    if (!absl::IsAlreadyExists(file.status())) return file;
  }
  return Unavailable("cannot find a name for an event file in ", folder);
}

// HistogramProto.
WireWriter Histogram(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  double least = 0, largest = 0, sum = 0, squares = 0;
  if (!values.empty()) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    least = *low;
    largest = *high;
  }
  const double half_width = largest / 2 - least / 2;  // in halves, so that it cannot overflow
  const int n = half_width > 0 ? kBuckets : 1;
  std::vector<double> limits, counts(static_cast<size_t>(n));
  for (int i = 1; i < n; ++i) {
    const double part = half_width * (static_cast<double>(i) / n);
    limits.push_back(least + part + part);
  }
  limits.push_back(largest);
  for (double v : values) {
    sum += v;
    squares += v * v;
    const double part = half_width > 0 ? (v / 2 - least / 2) / half_width * n : 0;
    ++counts[static_cast<size_t>(std::clamp(static_cast<int>(part), 0, n - 1))];
  }
  WireWriter histogram;
  histogram.Double(1, least).Double(2, largest).Double(3, static_cast<double>(values.size()));
  histogram.Double(4, sum).Double(5, squares).PackedDoubles(6, limits).PackedDoubles(7, counts);
  return histogram;
}

// NodeDef; the shapes are an attribute that TensorBoard writes at the edges.
WireWriter Node(const EventGraphNode& node) {
  WireWriter message;
  message.Bytes(1, node.name).Bytes(2, node.op);
  for (const std::string& input : node.inputs) message.Bytes(3, input);
  message.Bytes(4, node.device);
  if (node.output_shapes.empty()) return message;
  WireWriter list;
  for (const std::vector<int64_t>& sizes : node.output_shapes) {
    WireWriter shape;
    for (int64_t size : sizes) shape.Message(2, WireWriter().Integer(1, size));
    list.Message(7, shape);
  }
  WireWriter entry;
  entry.Bytes(1, "_output_shapes").Message(2, WireWriter().Message(1, list));
  return message.Message(5, entry);
}

}  // namespace

struct EventWriter::Impl {
  internal::AppendFile file;
  std::function<double()> clock;
  bool has_graph = false;

  double Now() const {
    if (clock) return clock();
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  // An Event with what `field` of the oneof is.
  void Write(int64_t step, int field, std::string_view bytes) {
    WireWriter event;
    event.Double(1, Now()).Integer(2, step).Bytes(field, bytes);
    RaiseIfError(file.Append(RecordOf(event.bytes())), kWho);
  }
  // An Event with a Summary of one Value.
  void WriteValue(const std::string& tag, int64_t step, WireWriter value) {
    if (tag.empty()) RaiseStatus(InvalidArgument("the tag is empty"), kWho);
    value.Bytes(1, tag);
    Write(step, 5, WireWriter().Message(1, value).bytes());
  }
};

EventWriter::EventWriter(const std::string& folder, const EventWriterOptions& options)
    : impl_(new Impl{{}, options.clock}) {
  const std::string path = Monitor(folder).save_path();
  if (options.suffix.find('/') != std::string::npos) {
    RaiseStatus(InvalidArgument("the suffix ", options.suffix, " has a slash in it"), kWho);
  }
  absl::StatusOr<internal::AppendFile> file = Create(path, options.suffix, impl_->Now());
  RaiseIfError(file.status(), kWho);
  impl_->file = *std::move(file);
  impl_->Write(0, 3, "brain.Event:2");
  // SessionLog with the status START.
  if (options.purge_step.has_value()) {
    impl_->Write(*options.purge_step, 7, WireWriter().Integer(1, 1).bytes());
  }
}
EventWriter::~EventWriter() = default;
EventWriter::EventWriter(EventWriter&&) noexcept = default;
EventWriter& EventWriter::operator=(EventWriter&&) noexcept = default;

const std::string& EventWriter::path() const { return impl_->file.path(); }

void EventWriter::AddScalar(const std::string& tag, double value, int64_t step) {
  impl_->WriteValue(tag, step, WireWriter().Float(2, static_cast<float>(value)));
}

void EventWriter::AddHistogram(const std::string& tag, const Tensor& values, int64_t step) {
  impl_->WriteValue(tag, step, WireWriter().Message(5, Histogram(values.ToVector<double>())));
}

void EventWriter::AddImage(const std::string& tag, const Tensor& image, int64_t step) {
  const int64_t channels = image.rank() == 3 ? image.size(0) : 1;
  const bool bytes = image.dtype() == DType::kU8;
  if ((image.rank() != 2 && image.rank() != 3) || (channels != 1 && channels != 3) ||
      (!bytes && !IsFloating(image.dtype()))) {
    RaiseStatus(
        InvalidArgument("an image is ", image.shape().ToString(), " ", DTypeName(image.dtype()),
                        " (want [H, W] or [1 or 3, H, W], u8 or floating)"),
        kWho);
  }
  const Tensor one = image.rank() == 2 ? Unsqueeze(image.Detach(), 0) : image.Detach();
  const auto scale = [bytes](const Tensor& x) { return bytes ? x / 255 : x; };
  const Tensor picture = internal::PicturesOf(one, 1, scale, kWho).front();
  WireWriter message;
  message.Integer(1, picture.size(1)).Integer(2, picture.size(2)).Integer(3, picture.size(0));
  message.Bytes(4, EncodePng(picture));
  impl_->WriteValue(tag, step, WireWriter().Message(4, message));
}

void EventWriter::AddText(const std::string& tag, const std::string& text, int64_t step) {
  constexpr int kStringType = 7;
  WireWriter tensor;
  tensor.Integer(1, kStringType).Message(2, WireWriter().Message(2, WireWriter().Integer(1, 1)));
  tensor.Bytes(8, text);
  const WireWriter metadata = WireWriter().Message(1, WireWriter().Bytes(1, "text"));
  impl_->WriteValue(tag.empty() ? tag : tag + "/text_summary", step,
                    WireWriter().Message(8, tensor).Message(9, metadata));
}

void EventWriter::AddGraph(const std::vector<EventGraphNode>& nodes) {
  if (impl_->has_graph) RaiseStatus(FailedPrecondition("the file has a graph already"), kWho);
  std::set<std::string> names;
  WireWriter graph;
  for (const EventGraphNode& node : nodes) {
    if (node.name.empty() || !names.insert(node.name).second) {
      RaiseStatus(
          InvalidArgument("the name of a node, \"", node.name, "\", is empty or stands twice"),
          kWho);
    }
    graph.Message(1, Node(node));
  }
  graph.Message(4, WireWriter().Integer(1, 22));  // versions.producer, as torch writes it
  impl_->Write(0, 4, graph.bytes());
  impl_->has_graph = true;
}

}  // namespace firn::io
