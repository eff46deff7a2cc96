// The programs of the last few kinds of calls, found by what they were bound to.

#include "firn/autograd/network/network.h"

#include <algorithm>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/network/definition.h"
#include "firn/autograd/network/program.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {

using autograd::NetworkDim;
using autograd::NetworkPort;

namespace {

constexpr size_t kMostPrograms = 8;

std::vector<int64_t> KeyOf(absl::Span<const Tensor> inputs, absl::Span<const Tensor> parameters) {
  std::vector<int64_t> key;
  for (absl::Span<const Tensor> tensors : {inputs, parameters}) {
    for (const Tensor& t : tensors) {
      const TensorSpec& s = t.spec();
      key.push_back(static_cast<int64_t>(s.dtype) | static_cast<int64_t>(s.device.type) << 8 |
                    int64_t{s.device.index} << 16 | int64_t{s.shape.rank()} << 32);
      key.insert(key.end(), s.shape.begin(), s.shape.end());
    }
  }
  return key;
}

// Sizes of symbols so far.
using Symbols = absl::flat_hash_map<std::string, int64_t>;

bool Fits(const NetworkPort& port, const TensorSpec& spec, Symbols* symbols) {
  if (port.dtype && *port.dtype != spec.dtype) return false;
  if (!port.dims) return true;
  if (port.dims->size() != static_cast<size_t>(spec.shape.rank())) return false;
  for (size_t i = 0; i < port.dims->size(); ++i) {
    const NetworkDim& dim = (*port.dims)[i];
    const int64_t size = spec.shape[static_cast<int64_t>(i)];
    if (dim.size && *dim.size != size) return false;
    if (dim.size || dim.symbol.empty()) continue;
    if (symbols->try_emplace(dim.symbol, size).first->second != size) return false;
  }
  return true;
}

}  // namespace

class Network::Programs {
 public:
  // The program for these inputs, of which `key` says the specs; bound now if there is none. A call
  // on another thread does not wait for that.
  std::shared_ptr<const autograd::Program> Get(std::vector<int64_t> key,
                                               absl::Span<const Tensor> in,
                                               absl::FunctionRef<autograd::Program()> bind) {
    if (auto found = Find(key, in)) return found;
    const auto program = std::make_shared<const autograd::Program>(bind());
    const std::lock_guard<std::mutex> lock(mutex_);
    // Another thread may have bound the same meanwhile: the newer one takes its place.
    const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.key == key && entry.program->elements.empty() && program->elements.empty();
    });
    if (same != entries_.end()) {
      entries_.erase(same);
    } else if (entries_.size() == kMostPrograms) {
      entries_.pop_back();
    }
    entries_.insert(entries_.begin(), Entry{std::move(key), program});
    return program;
  }

 private:
  struct Entry {
    std::vector<int64_t> key;
    std::shared_ptr<const autograd::Program> program;
  };

  std::shared_ptr<const autograd::Program> Find(const std::vector<int64_t>& key,
                                                absl::Span<const Tensor> in) {
    absl::InlinedVector<std::shared_ptr<const autograd::Program>, kMostPrograms> alike;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const Entry& entry : entries_) {
        if (entry.key == key) alike.push_back(entry.program);
      }
    }
    // Looking at elements may wait for a device; other threads must not wait for that, so the lock
    // is not held.
    const auto found = std::find_if(alike.begin(), alike.end(),
                                    [&](const auto& program) { return program->HoldsFor(in); });
    if (found == alike.end()) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const Entry& entry) { return entry.program == *found; });
    if (at != entries_.end()) std::rotate(entries_.begin(), at, at + 1);
    return *found;
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;  // the one used last first
};

Network::Network(std::shared_ptr<const autograd::NetworkDefinition> definition,
                 StateDict parameters)
    : definition_(std::move(definition)),
      parameters_(std::move(parameters)),
      programs_(std::make_shared<Programs>()) {
  const auto& names = definition_->parameters;
  bool same = names.size() == parameters_.size();
  for (size_t i = 0; same && i < names.size(); ++i) {
    same = names[i].first == (parameters_.begin() + static_cast<ptrdiff_t>(i))->first;
  }
  if (!same) RaiseStatus(InvalidArgument("parameters are not those of the definition"), "network");
}

const autograd::NetworkDefinition& Network::definition() const {
  if (definition_ == nullptr) RaiseStatus(FailedPrecondition("it is empty"), "network");
  return *definition_;
}

const std::vector<NetworkPort>& Network::inputs() const { return definition().inputs; }

const std::vector<NetworkPort>& Network::outputs() const { return definition().outputs; }

const std::vector<std::string>& Network::buffers() const { return definition().buffers; }

void Network::Check(absl::Span<const Tensor> in) const {
  const std::vector<NetworkPort>& ports = inputs();
  if (in.size() != ports.size()) {
    RaiseStatus(
        InvalidArgument(definition_->source, " takes ", ports.size(), " inputs, got ", in.size()),
        "network");
  }
  Symbols symbols;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined()) {
      RaiseStatus(InvalidArgument(definition_->source, ": input \"", ports[i].name,
                                  "\" is an undefined tensor"),
                  "network");
    }
    if (!Fits(ports[i], in[i].spec(), &symbols)) {
      std::string text =
          absl::StrCat(definition_->source, ": input \"", ports[i].name, "\" is expected to be ",
                       ports[i].Type(), ", got ", in[i].spec().ToString());
      for (const auto& [symbol, size] : symbols) absl::StrAppend(&text, ", ", symbol, " = ", size);
      RaiseStatus(InvalidArgument(text), "network");
    }
  }
}

TensorList Network::Call(absl::Span<const Tensor> in) const {
  std::vector<Tensor> parameters;
  for (const auto& entry : parameters_) parameters.push_back(entry.second);
  return Call(in, parameters);
}

Network Network::Bare() const {
  Network bare;
  bare.definition_ = definition_;
  bare.programs_ = std::make_shared<Programs>();
  return bare;
}

TensorList Network::Call(absl::Span<const Tensor> in, absl::Span<const Tensor> parameters) const {
  Check(in);
  if (parameters.size() != definition_->parameters.size()) {
    RaiseStatus(InvalidArgument(definition_->source, " has ", definition_->parameters.size(),
                                " parameters, got ", parameters.size()),
                "network");
  }
  const auto program = programs_->Get(KeyOf(in, parameters), in,
                                      [&] { return autograd::Bind(definition_, in, parameters); });
  return program->Run(in, parameters);
}

Tensor Network::CallForOne(absl::Span<const Tensor> in) const {
  TensorList results = Call(in);
  if (results.size() != 1) {
    RaiseStatus(
        FailedPrecondition(definition_->source, " has ", results.size(), " outputs; use Call"),
        "network");
  }
  return std::move(results[0]);
}

}  // namespace firn
