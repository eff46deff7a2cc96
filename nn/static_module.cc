// A signature is two lists of words: one describes the call, one the network. The second is taken
// again after a capture, because a first forward gives pending parameters their elements.

#include "firn/nn/static_module.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <typeinfo>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/plan.h"
#include "firn/device/allocator.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/storage.h"

namespace firn::nn {
namespace {

// A capture takes as long as some ten small calls, and drops a graph. One useless capture in this
// many calls costs next to nothing.
constexpr int64_t kCallsForCapture = 1024;

// Calls f for each module of the tree.
template <class F>
void ForEachModule(const Module& root, F f) {
  absl::InlinedVector<const Module*, 32> open = {&root};
  while (!open.empty()) {
    const Module& m = *open.back();
    open.pop_back();
    f(m);
    for (size_t i = m.num_children(); i-- > 0;) open.push_back(&m.child(i));
  }
}

uint64_t Address(const void* p) { return reinterpret_cast<uintptr_t>(p); }

void AddSpec(const TensorSpec& spec, std::vector<uint64_t>* words) {
  words->push_back(static_cast<uint64_t>(spec.dtype) |
                   static_cast<uint64_t>(spec.device.type) << 8 |
                   static_cast<uint64_t>(static_cast<uint8_t>(spec.device.index)) << 16 |
                   static_cast<uint64_t>(spec.shape.rank()) << 24);
  for (int64_t size : spec.shape) words->push_back(static_cast<uint64_t>(size));
}

void AddLayout(const Layout& layout, std::vector<uint64_t>* words) {
  words->push_back(static_cast<uint64_t>(layout.channel_block) << 1 |
                   (layout.contiguous ? 1u : 0u));
  if (layout.contiguous || layout.blocked()) return;
  for (int64_t stride : layout.strides.span()) words->push_back(static_cast<uint64_t>(stride));
}

// "train", "eval", or how many modules are in which mode.
std::string ModesOf(const Module& network) {
  int64_t train = 0, all = 0;
  ForEachModule(network, [&](const Module& m) {
    train += m.training() ? 1 : 0;
    ++all;
  });
  if (train == all) return "train";
  return train == 0 ? "eval" : absl::StrCat(train, " of ", all, " modules in train");
}

// The storages of the states that a graph reads.
absl::flat_hash_set<const Storage*> StatesOf(const Graph& graph) {
  absl::flat_hash_set<const Storage*> states;
  for (const Value& v : graph.values) {
    const bool state = graph.buffers[static_cast<size_t>(v.buffer)].kind == Buffer::Kind::kState;
    if (state && v.bound.defined()) states.insert(v.bound.impl()->storage.get());
  }
  return states;
}

}  // namespace

StaticModule::StaticModule(Module& network, Function function, const StaticModuleOptions& options)
    : network_(&network),
      function_(std::make_unique<const Function>(std::move(function))),
      options_(options),
      credit_(kCallsForCapture * std::clamp<int64_t>(options.max_graphs, 1, int64_t{1} << 32)) {
  if (*function_ == nullptr) {
    RaiseStatus(InvalidArgument("the function is empty"), "static module");
  }
  if (options.max_graphs < 1) {
    RaiseStatus(InvalidArgument("max_graphs is ", options.max_graphs, " (want >= 1)"),
                "static module");
  }
}

// --- Signatures ---------------------------------------------------------------------------------

void StaticModule::DescribeCall(absl::Span<const Tensor> inputs, std::vector<uint64_t>* words) {
  words->clear();
  const Autocaster* const autocast = ThisThread().autocast;
  words->push_back((GradEnabled() ? 1u : 0u) | (WinogradAllowed() ? 2u : 0u));
  words->push_back(static_cast<uint64_t>(MatmulMath()) << 1 | static_cast<uint64_t>(ConvMath()));
  words->push_back(autocast == nullptr ? 0 : 1 + static_cast<uint64_t>(autocast->dtype()));
  for (const Tensor& t : inputs) AddSpec(t.spec(), words);
}

void StaticModule::DescribeNetwork(const Module& network, std::vector<uint64_t>* words) {
  words->clear();
  ForEachModule(network, [&](const Module& m) {
    words->push_back(Address(&m));
    words->push_back(Address(&typeid(m)));
    words->push_back(m.training() ? 1 : 0);
    m.ForEachOwnTensor([&](const Tensor& t) {
      words->push_back(Address(t.impl()));
      words->push_back(Address(t.impl()->data));
      words->push_back(t.requires_grad() ? 1 : 0);
      AddSpec(t.spec(), words);
      AddLayout(t.spec().layout, words);
    });
  });
}

std::string StaticModule::TextOf(absl::Span<const Tensor> inputs) const {
  std::string text;
  for (const Tensor& t : inputs) {
    const TensorSpec& s = t.spec();
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    TensorSpec::Contiguous(s.dtype, s.shape, s.device).ToString());
  }
  absl::StrAppend(&text, "; ", ModesOf(*network_), GradEnabled() ? ", grad" : ", no grad",
                  WinogradAllowed() ? "" : ", no Winograd");
  if (const Autocaster* autocast = ThisThread().autocast) {
    absl::StrAppend(&text, ", autocast to ", DTypeName(autocast->dtype()));
  }
  return text;
}

// --- Calls --------------------------------------------------------------------------------------

void StaticModule::Clear() { entries_.clear(); }

StaticModule StaticModule::Replica() const {
  CheckUsable();
  StaticModule replica(*network_, *function_, options_);
  replica.num_inputs_ = num_inputs_;
  for (const Entry& e : entries_) {
    try {
      replica.entries_.push_back({e.signature, e.text, e.tensors, e.graph.Replica(), 0});
    } catch (const Error& error) {
      if (error.code() != absl::StatusCode::kFailedPrecondition) throw;
    }
  }
  return replica;
}

void StaticModule::CheckUsable() const {
  if (function_ == nullptr) {
    RaiseStatus(FailedPrecondition("it is empty: it was moved from"), "static module");
  }
}

const StaticGraph& StaticModule::graph(size_t i) const {
  if (i >= entries_.size()) {
    RaiseStatus(OutOfRange("there is no graph ", i, ", only ", entries_.size()), "static module");
  }
  return entries_[i].graph;
}

void StaticModule::Check(absl::Span<const Tensor> inputs) const {
  if (num_inputs_ != 0 && inputs.size() != num_inputs_) {
    RaiseStatus(InvalidArgument("takes ", num_inputs_, num_inputs_ == 1 ? " input" : " inputs",
                                ", got ", inputs.size()),
                "static module");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    if (!t.defined()) {
      RaiseStatus(InvalidArgument("input ", i, " is an undefined tensor"), "static module");
    }
    if (GradEnabled() && t.requires_grad()) {
      RaiseStatus(FailedPrecondition("input ", i,
                                     " wants a gradient, which its result cannot give:"
                                     " detach it, open a NoGradScope, or call the network itself"),
                  "static module");
    }
  }
  if (ThisThread().capture != nullptr) {
    RaiseStatus(FailedPrecondition("a capture is running, which could not see the operations of a"
                                   " graph; call the network itself there"),
                "static module");
  }
}

bool StaticModule::Kept::moved() const { return tensor.impl()->data != data; }

bool StaticModule::Kept::outdated() const {
  return copied && tensor.impl()->storage->version() != version;
}

// Compiling has copied the tensors that were states in the captured graph and are not in the
// compiled one.
std::vector<StaticModule::Kept> StaticModule::Keep(const StaticGraph& graph) const {
  const auto captured = StatesOf(graph.captured()), read = StatesOf(graph.graph());
  std::vector<Kept> kept;
  ForEachModule(*network_, [&](const Module& m) {
    m.ForEachOwnTensor([&](const Tensor& t) {
      const Storage* const storage = t.impl()->storage.get();  // null: pending, or parametrized
      const bool copied = captured.contains(storage) && !read.contains(storage);
      kept.push_back({t, t.impl()->data, copied, copied ? storage->version() : 0});
    });
  });
  return kept;
}

bool StaticModule::Find() {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.signature == wanted_; });
  if (found == entries_.end()) return false;
  // A parameter may be the same tensor, but computed by a parametrization by now.
  const bool outdated =
      options_.compile.constant_states &&
      std::any_of(found->tensors.begin(), found->tensors.end(), std::mem_fn(&Kept::outdated));
  if (outdated || !found->graph.StandsAsCaptured()) {
    entries_.erase(found);
    ++dropped_;
    return false;
  }
  std::rotate(entries_.begin(), found, found + 1);
  return true;
}

TensorList StaticModule::Call(absl::Span<const Tensor> inputs) {
  CheckUsable();
  const PathScope scope(network_->path());
  Check(inputs);
  DescribeCall(inputs, &wanted_.call);
  DescribeNetwork(*network_, &wanted_.network);
  ++calls_;
  const auto most = kCallsForCapture * std::min<int64_t>(options_.max_graphs, int64_t{1} << 32);
  credit_ = std::min(credit_ + 1, most);
  if (Find()) return Repeat(inputs);
  return Deserves() ? CaptureCall(inputs) : OrdinaryCall(inputs);
}

Tensor StaticModule::CallForOne(absl::Span<const Tensor> inputs) {
  TensorList results = Call(inputs);
  if (results.size() != 1) {
    RaiseStatus(FailedPrecondition("has ", results.size(), " results; use Call"), "static module");
  }
  return std::move(results[0]);
}

TensorList StaticModule::Repeat(absl::Span<const Tensor> inputs) {
  Entry& entry = entries_.front();
  ++hits_;
  ++entry.hits;
  entry.used = calls_;
  return entry.graph.Call(inputs);
}

TensorList StaticModule::CaptureCall(absl::Span<const Tensor> inputs) {
  ++misses_;
  Captured captured = Capture(*function_, inputs);
  absl::StatusOr<StaticGraph> graph =
      StaticGraph::Compile(std::move(captured.graph), options_.compile);
  RaiseIfError(graph.status(), "static module");
  DescribeNetwork(*network_, &wanted_.network);
  Entry entry{wanted_, TextOf(inputs), Keep(*graph), *std::move(graph), calls_};
  DropMoved();
  const auto most = static_cast<size_t>(options_.max_graphs) - 1;
  if (entries_.size() > most) {
    entries_.pop_back();
    ++dropped_;
    credit_ -= kCallsForCapture;
  }
  entries_.insert(entries_.begin(), std::move(entry));
  return std::move(captured.outputs);
}

// With more kinds of calls than graphs, each capture would drop a graph that another call needs
// next. So a call must come twice while the graph that it would replace is not used once: then it
// is the more frequent one. Among many rare calls this still happens by chance; credit limits the
// cost.
bool StaticModule::Deserves() {
  if (entries_.size() < static_cast<size_t>(options_.max_graphs)) return true;
  // Checking all tensors of all graphs would take longer than the call. The tensors of the graph
  // that would be replaced are enough, since graphs of one network move together.
  const std::vector<Kept>& tensors = entries_.back().tensors;
  if (std::any_of(tensors.begin(), tensors.end(), std::mem_fn(&Kept::moved))) {
    DropMoved();
    return true;
  }
  const uint64_t signature = absl::HashOf(wanted_.call, wanted_.network);
  const auto seen = std::find_if(passed_.begin(), passed_.end(),
                                 [&](const Passed& p) { return p.signature == signature; });
  const bool often = seen != passed_.end() && seen->call > entries_.back().used;
  if (seen != passed_.end()) passed_.erase(seen);
  if (often && credit_ >= kCallsForCapture) return true;
  if (passed_.size() == entries_.size()) passed_.erase(passed_.begin());
  passed_.push_back({signature, calls_});
  return false;
}

// Runs the network itself; results are like a graph's, in memory of their own and without history.
TensorList StaticModule::OrdinaryCall(absl::Span<const Tensor> inputs) {
  if (ordinary_++ == 0) {
    std::fprintf(stderr,
                 "firn: a StaticModule of %s meets more shapes than the %lld that it keeps graphs"
                 " of: calls with others run the network itself. Set max_graphs, or bring inputs to"
                 " fewer shapes\n",
                 network_->path().c_str(), static_cast<long long>(options_.max_graphs));
  }
  TensorList results = (*function_)(inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    Tensor& t = results[i];
    if (!t.defined()) {
      RaiseStatus(InvalidArgument("result ", i, " is an undefined tensor"), "static module");
    }
    t = t.Detach();
    const bool own = t.is_contiguous() && t.impl()->storage->use_count() == 1;
    if (!own) t = t.is_contiguous() ? Clone(t) : Contiguous(t);
  }
  return results;
}

// Drops graphs that no call can use again, because a tensor's elements lie elsewhere now.
void StaticModule::DropMoved() {
  const size_t before = entries_.size();
  std::erase_if(entries_, [](const Entry& e) {
    return std::any_of(e.tensors.begin(), e.tensors.end(), std::mem_fn(&Kept::moved));
  });
  dropped_ += static_cast<int64_t>(before - entries_.size());
}

std::string StaticModule::DebugString() const {
  if (function_ == nullptr) return "StaticModule that was moved from\n";
  std::string text = absl::StrCat("StaticModule of ", network_->path(), ": ", entries_.size(),
                                  " of at most ", options_.max_graphs, " graphs, ", hits_,
                                  " hits, ", misses_, " misses, ", dropped_, " dropped");
  if (ordinary_ != 0) absl::StrAppend(&text, ", ", ordinary_, " ordinary calls");
  text += "\n";
  std::vector<uint64_t> now;
  DescribeNetwork(*network_, &now);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    absl::StrAppend(&text, "  ", i, ": ", e.text, ": ", e.graph.graph().instrs.size(),
                    " operations, arena ", FormatBytes(e.graph.memory().arena_bytes), ", ", e.hits,
                    " hits", e.signature.network == now ? "" : " (the network has changed since)",
                    "\n");
    for (const std::string& warning : e.graph.captured().warnings) {
      absl::StrAppend(&text, "     warning: ", warning, "\n");
    }
  }
  return text;
}

}  // namespace firn::nn
