#include "tools/firn/graph_source.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/network/definition.h"
#include "firn/autograd/network/network.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

using inner::internal::JsonString;

// The format that reads networks from it, if one does.
const io::Format* NetworkFormat(const std::string& path) {
  const io::Format* const format = io::FormatOfFile(path);
  return format != nullptr && format->read_network ? format : nullptr;
}

std::map<std::string, int64_t> ParseDims(const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> dims;
  for (const std::string& text : texts) {
    const size_t sign = text.rfind('=');
    int64_t size = 0;
    if (sign == std::string::npos || !absl::SimpleAtoi(text.substr(sign + 1), &size) || size < 0) {
      throw UsageError(absl::StrCat("--dim is ", text, ": expected NAME=SIZE"));
    }
    if (!dims.emplace(text.substr(0, sign), size).second) {
      throw UsageError(absl::StrCat("--dim says twice what ", text.substr(0, sign), " is"));
    }
  }
  return dims;
}

// Gives every size of the inputs that the file leaves open.
class Sizes {
 public:
  explicit Sizes(const GraphSource& source) : source_(source), dims_(ParseDims(source.dims)) {}

  TensorList Inputs(const Network& network) {
    TensorList inputs;
    for (const autograd::NetworkPort& port : network.inputs()) inputs.push_back(Input(port));
    if (!open_.empty()) {
      RaiseStatus(InvalidArgument(source_.path, " leaves sizes open: say them by ",
                                  absl::StrJoin(open_, ", ")),
                  "sizes");
    }
    for (const auto& [name, size] : dims_) {
      if (!used_.contains(name)) {
        throw UsageError(
            absl::StrCat("--dim ", name, ": ", source_.path, " leaves no such size open"));
      }
    }
    if (source_.batch != 0 && !batch_used_) {
      throw UsageError(absl::StrCat("--batch is ", source_.batch, ": ", source_.path,
                                    " has other batches, or none"));
    }
    return inputs;
  }

 private:
  Tensor Input(const autograd::NetworkPort& port) {
    if (!port.dims.has_value()) {
      RaiseStatus(InvalidArgument(source_.path, ": input ", JsonString(port.name),
                                  ": expected one with a number of dimensions, got one of any"),
                  "sizes");
    }
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < port.dims->size(); ++i) sizes.push_back(SizeOf(port, i));
    return Zeros(Shape(sizes), port.dtype.value_or(DType::kF32));
  }

  int64_t SizeOf(const autograd::NetworkPort& port, size_t i) {
    const autograd::NetworkDim& dim = (*port.dims)[i];
    if (dim.size.has_value()) {
      if (i == 0 && *dim.size == source_.batch) batch_used_ = true;
      return *dim.size;
    }
    const std::string name = dim.symbol.empty() ? absl::StrCat(port.name, ".", i) : dim.symbol;
    if (const auto found = dims_.find(name); found != dims_.end()) {
      used_.insert(name);
      return found->second;
    }
    if (i > 0) {
      open_.insert(absl::StrCat("--dim ", name, "=SIZE"));
      return 1;
    }
    batch_used_ = true;
    return source_.batch == 0 ? 1 : source_.batch;
  }

  const GraphSource& source_;
  const std::map<std::string, int64_t> dims_;
  std::set<std::string> used_, open_;
  bool batch_used_ = false;
};

io::GraphFile CaptureNetwork(const GraphSource& source, const io::Format& format,
                             const io::LoadLimits& limits) {
  const Network network = format.read_network(
      source.path, {.limits = limits, .batch = source.batch, .name = source.network});
  const TensorList inputs = Sizes(source).Inputs(network);
  const NoGradScope no_grad;
  Captured captured = InNameOf(source.path, [&] {
    return Capture([&](absl::Span<const Tensor> in) { return network.Call(in); }, inputs);
  });
  io::GraphFile file{
      .graph = std::move(captured.graph), .states = network.parameters(), .info = {}};
  if (format.read_info) file.info = format.read_info(source.path, limits, file.graph);
  return file;
}

void RequireNoSizes(const GraphSource& source) {
  if (source.batch == 0 && source.dims.empty() && source.network.empty()) return;
  throw UsageError(absl::StrCat(
      source.path, " has one network, whose sizes it says: --batch, --dim and --network are for ",
      "networks of other frameworks"));
}

}  // namespace

void AddGraphSizes(CLI::App& app, GraphSource& source) {
  app.add_option("--batch", source.batch,
                 "the batch size, if another framework's file leaves it open (default: 1)")
      ->check(CLI::PositiveNumber);
  app.add_option("--dim", source.dims, "NAME=SIZE: another size that such a file leaves open")
      ->allow_extra_args(false);
  app.add_option("--network", source.network,
                 "the network or executor to use, if the file has several (default: the first)");
}

void AddGraphSource(CLI::App& app, GraphSource& source) {
  app.add_option("GRAPH", source.path,
                 "a file of io::SaveGraph or firn train, an .onnx, or NNabla's .nnp")
      ->required();
  AddGraphSizes(app, source);
}

bool IsNetworkFile(const std::string& path) { return NetworkFormat(path) != nullptr; }

io::GraphFile ReadGraph(const GraphSource& source, const io::LoadLimits& limits) {
  if (const io::Format* const format = NetworkFormat(source.path)) {
    return CaptureNetwork(source, *format, limits);
  }
  io::RefuseForeign(source.path, "graph");
  RequireNoSizes(source);
  return io::ReadGraph(source.path, {.limits = limits});
}

StaticGraph LoadGraph(const GraphSource& source, io::GraphInfo* info) {
  io::GraphFile file = ReadGraph(source);
  if (info != nullptr) *info = std::move(file.info);
  return InNameOf(source.path, [&] {
    return io::ValueOrRaise(
        StaticGraph::Compile(
            std::move(file.graph),
            {.max_arena_bytes = io::LoadLimits().max_total_bytes, .constant_states = true}),
        "graph");
  });
}

}  // namespace firn::cli
