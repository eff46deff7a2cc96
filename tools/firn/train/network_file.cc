// The inputs and outputs that a file declares are compared with the data before anything is
// trained.
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

std::string Count(size_t n, const char* what) {
  return n == 1 ? absl::StrCat("one ", what) : absl::StrCat(n, " ", what, "s");
}

template <class... What>
[[noreturn]] void Refuse(const std::string& path, const What&... what) {
  RaiseStatus(InvalidArgument(path, what...), "model");
}

// "", or the name of one of several ports.
std::string NameOf(const std::vector<NetworkPort>& ports, size_t i) {
  return ports.size() == 1 ? "" : absl::StrCat(" as ", ports[i].name);
}

void CheckPorts(const std::string& path, const Network& network, const std::vector<Shape>& inputs,
                const std::vector<Shape>& outputs) {
  const auto &in = network.inputs(), &out = network.outputs();
  if (in.size() != inputs.size() || out.size() != outputs.size()) {
    Refuse(path, ": expected a network of ", Count(inputs.size(), "input"), " and ",
           Count(outputs.size(), "output"), ", got ", in.size(), " and ", out.size());
  }
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].dims.has_value()) continue;
    const std::vector<NetworkDim>& dims = *in[i].dims;
    if (dims.empty() || dims.front().size.has_value()) {
      Refuse(path, ": expected a network that takes batches of any size, got one that takes ",
             DimsText(dims), NameOf(in, i));
    }
    if (!Fits(dims, inputs[i])) {
      Refuse(path, " takes batches ", DimsText(dims), NameOf(in, i), ", a sample is ",
             inputs[i].ToString());
    }
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].dims.has_value() && !Fits(*out[i].dims, outputs[i])) {
      Refuse(
          path, " gives ", DimsText(*out[i].dims), NameOf(out, i), ", the data want ",
          outputs[i].rank() == 1 ? absl::StrCat(outputs[i][0], " numbers") : outputs[i].ToString(),
          " for a sample");
    }
  }
}

}  // namespace

NetworkFile ParseNetworkFile(const Config& config) {
  return {config.Path(config.RequiredText("path")), config.Text("network", "")};
}

Network ReadNetworkFile(const NetworkFile& file, const std::vector<Shape>& inputs,
                        const std::vector<Shape>& outputs) {
  io::RefuseForeign(file.path, "model");
  const io::Format* const format = io::FormatOfFile(file.path);
  if (format == nullptr || !format->read_network) {
    Refuse(file.path, ": expected a file of a network, such as .onnx or .nnp");
  }
  Network network =
      format->read_network(file.path, {.limits = {}, .batch = io::kAnyBatch, .name = file.network});
  CheckPorts(file.path, network, inputs, outputs);
  return network;
}

ModelMaker MakerOf(const NetworkFile& file) {
  return [file](const Shape& sample, const Shape& result) {
    const Network network = ReadNetworkFile(file, {sample}, {result});
    const DType dtype = network.inputs()[0].dtype.value_or(DType::kF32);
    if (dtype != DType::kF32) {
      Refuse(file.path, ": expected a network that takes f32, got one that takes ",
             DTypeName(dtype));
    }
    auto net = std::make_unique<nn::GraphModule>(network);
    net->SetName("net");
    return std::unique_ptr<nn::Layer>(std::move(net));
  };
}

}  // namespace firn::cli
