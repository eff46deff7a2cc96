#include "firn/io/onnx/internal/onnx_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

using autograd::NetworkDim;
using autograd::NetworkPort;
using firn::inner::internal::JsonString;

}  // namespace

OnnxParts::OnnxParts(const OnnxModel& model, const OnnxImportOptions& options,
                     autograd::NetworkDefinition* definition)
    : model_(model),
      options_(options),
      definition_(definition),
      elements_(model.file, model.folder, options.limits) {}

NetworkPort OnnxParts::Port(const OnnxValueInfo& info, const char* what) {
  NetworkPort port;
  port.name = info.name;
  if (info.type.kind == OnnxType::Kind::kNone) return port;
  if (info.type.kind != OnnxType::Kind::kTensor) {
    NoteProblem(absl::StrCat(what, " of no tensor"),
                absl::StrCat(what, " ", JsonString(info.name), ", which is no tensor"));
    return port;
  }
  if (info.type.element != 0) {
    absl::StatusOr<DType> dtype = TryOnnxDType(info.type.element);
    if (dtype.ok()) {
      port.dtype = *dtype;
    } else {
      const std::string why(dtype.status().message());
      NoteProblem(absl::StrCat(what, why),
                  absl::StrCat(what, " ", JsonString(info.name), ": ", why));
    }
  }
  if (!info.type.shape) return port;
  port.dims.emplace();
  for (const OnnxDim& dim : *info.type.shape) {
    NetworkDim made{.size = dim.value, .symbol = dim.name};
    const auto chosen = std::find_if(options_.dims.begin(), options_.dims.end(),
                                     [&](const auto& named) { return named.first == dim.name; });
    if (!made.size && !dim.name.empty() && chosen != options_.dims.end()) {
      made.size = chosen->second;
    }
    port.dims->push_back(std::move(made));
  }
  return port;
}

absl::StatusOr<Tensor> OnnxParts::Read(const OnnxTensor& tensor, const std::string& what) {
  absl::StatusOr<Tensor> read = elements_.Read(tensor);
  if (read.status().code() != absl::StatusCode::kUnimplemented) return read;
  NoteProblem(absl::StrCat("elements of type ", tensor.type),
              absl::StrCat(what, ": ", read.status().message()));
  return Tensor();
}

void OnnxParts::NoteUse(int id, const OnnxOp* op, size_t input) {
  const auto is_in = [&](const std::vector<size_t>& list) {
    return std::find(list.begin(), list.end(), input) != list.end();
  };
  Uses& uses = uses_[id];
  if (op != nullptr && is_in(op->options.settings)) return;
  (op != nullptr && is_in(op->options.buffers) ? uses.buffer : uses.other) = true;
}

absl::Status OnnxParts::AddInitializers(absl::FunctionRef<int(const std::string& name)> find) {
  for (int id : definition_->body.outputs) uses_[id].other = true;
  for (const OnnxTensor& t : model_.graph.initializers) {
    const int id = find(t.name);
    const auto uses = uses_.find(id);
    if (uses == uses_.end()) continue;
    FIRN_ASSIGN_OR_RETURN(Tensor read, Read(t, absl::StrCat("initializer ", JsonString(t.name))));
    if (!read.defined()) continue;
    const bool learned = uses->second.other || uses->second.buffer;
    if (!learned || !IsFloating(read.dtype())) {
      definition_->constants.emplace_back(id, std::move(read));
      continue;
    }
    if (!uses->second.other) definition_->buffers.push_back(t.name);
    definition_->parameters.emplace_back(t.name, id);
    state_.Insert(t.name, std::move(read));
  }
  return absl::OkStatus();
}

absl::Status OnnxParts::Unsupported() const {
  if (problems_.empty()) return absl::OkStatus();
  return Unimplemented(model_.file, ": Firn does not have ", problems_.Text());
}

}  // namespace firn::io::internal
