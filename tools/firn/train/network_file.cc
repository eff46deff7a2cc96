// What a file says of its input and output is compared with the data before anything is trained.
#include "tools/firn/train/network_file.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/network/definition.h"
#include "firn/autograd/network/network.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/nn/graph_module.h"
#include "firn/tensor/error.h"

namespace firn::cli {
namespace {

using autograd::NetworkDim;
using autograd::NetworkPort;

std::string DimsText(const std::vector<NetworkDim>& dims) {
  return absl::StrCat("[",
                      absl::StrJoin(dims, ", ",
                                    [](std::string* out, const NetworkDim& dim) {
                                      if (dim.size.has_value()) {
                                        absl::StrAppend(out, *dim.size);
                                      } else {
                                        out->append(dim.symbol.empty() ? "?" : dim.symbol);
                                      }
                                    }),
                      "]");
}

bool Fits(const std::vector<NetworkDim>& dims, const Shape& sample) {
  if (static_cast<int>(dims.size()) != sample.rank() + 1) return false;
  for (int d = 0; d < sample.rank(); ++d) {
    const std::optional<int64_t>& size = dims[static_cast<size_t>(d) + 1].size;
    if (size.has_value() && *size != sample[d]) return false;
  }
  return true;
}

Network Read(const std::string& path, const std::string& part) {
  io::RefuseForeign(path, "model");
  const io::Format* const format = io::FormatOfFile(path);
  const auto refuse = [&](const auto&... what) {
    RaiseStatus(InvalidArgument(path, ": ", what...), "model");
  };
  if (format == nullptr || !format->read_network) {
    refuse("expected a file of a network, such as .onnx or .nnp");
  }
  Network network =
      format->read_network(path, {.limits = {}, .batch = io::kAnyBatch, .name = part});
  if (network.inputs().size() != 1 || network.outputs().size() != 1) {
    refuse("expected a network of one input and one output, got ", network.inputs().size(), " and ",
           network.outputs().size());
  }
  const NetworkPort& in = network.inputs()[0];
  if (in.dtype.value_or(DType::kF32) != DType::kF32) {
    refuse("expected a network that takes f32, got one that takes ", DTypeName(*in.dtype));
  }
  if (in.dims.has_value() && (in.dims->empty() || in.dims->front().size.has_value())) {
    refuse("expected a network that takes batches of any size, got one that takes ",
           DimsText(*in.dims));
  }
  return network;
}

void CheckSizes(const std::string& path, const Network& network, const Shape& sample,
                int64_t outputs) {
  const NetworkPort &in = network.inputs()[0], &out = network.outputs()[0];
  if (in.dims.has_value() && !Fits(*in.dims, sample)) {
    RaiseStatus(InvalidArgument(path, " takes batches ", DimsText(*in.dims), ", a sample is ",
                                sample.ToString()),
                "model");
  }
  if (out.dims.has_value() && !Fits(*out.dims, Shape{outputs})) {
    RaiseStatus(InvalidArgument(path, " gives ", DimsText(*out.dims), ", the data want ", outputs,
                                " numbers for a sample"),
                "model");
  }
}

}  // namespace

ModelMaker ParseNetworkFile(const Config& config) {
  const std::string path = config.Path(config.RequiredText("path"));
  const std::string part = config.Text("network", "");
  return [path, part](const Shape& sample, int64_t outputs) {
    const Network network = Read(path, part);
    CheckSizes(path, network, sample, outputs);
    auto net = std::make_unique<nn::GraphModule>(network);
    net->SetName("net");
    return std::unique_ptr<nn::Layer>(std::move(net));
  };
}

}  // namespace firn::cli
