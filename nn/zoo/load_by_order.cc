// Both networks are captured and their uses of parameters compared one by one. Batch norms in
// training mode write their running statistics, so the file's network runs with copies of its
// buffers and the module in evaluation mode. A new state dict takes the elements, and the module
// loads it, which is all or nothing.
#include "firn/nn/zoo/load_by_order.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/evaluation.h"
#include "firn/device/status_macros.h"
#include "firn/nn/eval_scope.h"
#include "firn/nn/zoo/parameter_uses.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

constexpr char kWho[] = "load by order";

[[noreturn]] void Refuse(const std::string& why) { RaiseStatus(InvalidArgument(why), kWho); }

NetworkUses UsesOf(CaptureFn fn, absl::Span<const Tensor> inputs, const StateDict& names) {
  const Captured captured = Capture(fn, inputs);
  absl::StatusOr<Graph> graph = ToEvaluation(captured.graph);
  if (!graph.ok()) RaiseStatus(graph.status(), kWho);
  return ParameterUsesOf(*graph, names);
}

NetworkUses UsesOf(const firn::Network& file, absl::Span<const Tensor> inputs) {
  StateDict copies;
  std::vector<Tensor> parameters;
  for (const auto& [name, tensor] : file.parameters()) {
    copies.Insert(name, Clone(Contiguous(tensor)));
    parameters.push_back(copies[name]);
  }
  return UsesOf([&](absl::Span<const Tensor> in) { return file.Call(in, parameters); }, inputs,
                copies);
}

NetworkUses UsesOf(nn::Layer& net, const Tensor& input) {
  const nn::EvalScope eval(net);
  net(input);  // layers learn the sizes of their inputs
  const StateDict names = net.state_dict();
  return UsesOf([&](absl::Span<const Tensor> in) { return TensorList{net(in[0])}; }, {&input, 1},
                names);
}

std::vector<int64_t> WithoutOnes(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != 1) sizes.push_back(shape[i]);
  }
  return sizes;
}

// NNabla's [1, c, 1, 1] fits [c]. Where ranks agree, each size counts: kernels of [o, i, 1, 3] and
// [o, i, 3, 1] are not the same.
bool SameSizes(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() ? a == b : WithoutOnes(a) == WithoutOnes(b);
}

std::string Listed(const std::vector<std::string>& sources) {
  return absl::StrJoin(sources, " and ");
}

std::string Both(const std::string& what, const std::string& theirs, const std::string& ours) {
  return absl::StrCat(what, ": ", theirs, " in the file, ", ours, " in the module");
}

// The first attribute or constant that differs between two uses of one form.
std::optional<std::string> DifferentNumbers(const ParameterUse& file, const ParameterUse& net) {
  for (size_t i = 0; i < std::min(file.attributes.size(), net.attributes.size()); ++i) {
    const auto& [name, theirs] = file.attributes[i];
    const std::string& ours = net.attributes[i].second;
    if (theirs != ours) return Both(name, theirs, ours);
  }
  for (size_t i = 0; i < file.constants.size(); ++i) {
    const std::string &theirs = file.constants[i], &ours = net.constants[i];
    if (theirs.empty() || ours.empty() || theirs == ours) continue;
    return Both(absl::StrCat("constant ", i + 1, " of ", file.form), theirs, ours);
  }
  return std::nullopt;
}

// Why two uses are not the same step of one network; nothing if they are.
std::optional<std::string> Difference(const ParameterUse& file, const ParameterUse& net) {
  if (file.form != net.form) return absl::StrCat(file.form, " and ", net.form);
  for (size_t i = 0; i < file.parameters.size(); ++i) {
    const Shape &theirs = file.parameters[i].spec.shape, &ours = net.parameters[i].spec.shape;
    if (!SameSizes(theirs, ours)) {
      return absl::StrCat("the shapes ", theirs.ToString(), " and ", ours.ToString());
    }
  }
  if (const std::optional<std::string> numbers = DifferentNumbers(file, net)) return numbers;
  if (!SameSizes(file.result, net.result)) {
    return absl::StrCat("results of the shapes ", file.result.ToString(), " and ",
                        net.result.ToString());
  }
  if (file.sources == net.sources) return std::nullopt;
  return absl::StrCat("what they read, by steps (0: the input): ", Listed(file.sources),
                      " in the file, ", Listed(net.sources), " in the module");
}

void ExpectSame(const std::vector<ParameterUse>& file, const std::vector<ParameterUse>& net) {
  for (size_t i = 0; i < std::max(file.size(), net.size()); ++i) {
    const std::string step = absl::StrCat("step ", i + 1, " with parameters is ");
    if (i >= file.size()) Refuse(absl::StrCat(step, net[i].ToString(), "; the file has no more"));
    if (i >= net.size()) {
      Refuse(absl::StrCat(step, file[i].ToString(), " in the file; the module has no more"));
    }
    if (const std::optional<std::string> difference = Difference(file[i], net[i])) {
      Refuse(absl::StrCat(step, file[i].ToString(), " in the file, ", net[i].ToString(),
                          " in the module; they differ in ", *difference));
    }
  }
}

// The steps that `sources` speak of, with their parameters.
std::string StepsIn(const std::vector<std::string>& sources,
                    const std::vector<ParameterUse>& uses) {
  std::map<size_t, std::string> steps;
  for (const std::string& source : sources) {
    for (const absl::string_view word : absl::StrSplit(source, absl::ByAnyChar("(), ["))) {
      size_t step = 0;
      if (absl::SimpleAtoi(word, &step) && step > 0 && step <= uses.size()) {
        steps.emplace(step, absl::StrCat(step, " is ", uses[step - 1].ToString()));
      }
    }
  }
  std::vector<std::string> texts;
  for (auto& [step, text] : steps) texts.push_back(std::move(text));
  return absl::StrJoin(texts, ", ");
}

// The file may go on from the module's result: to probabilities, or with labels to a loss.
void ExpectSameResults(const NetworkUses& file, const NetworkUses& net, bool labels) {
  const std::vector<std::string>& ours = net.results.sources;
  if (ours.size() == 1) {
    if (labels && file.values.contains(ours[0])) return;
    if (file.results.sources == std::vector{absl::StrCat("softmax(", ours[0], ")")}) return;
  }
  if (const std::optional<std::string> difference = Difference(file.results, net.results)) {
    Refuse(absl::StrCat("the results are not made alike; they differ in ", *difference,
                        "; in the file ", StepsIn(file.results.sources, file.uses),
                        "; in the module ", StepsIn(ours, net.uses)));
  }
}

// A tensor as an operation reads it, all of it and nothing beside it. `whole` is contiguous.
Tensor ViewOf(const Tensor& whole, const ParameterRead& read, const char* where) {
  const int64_t count = whole.num_elements();
  const inner::OffsetRange reach = inner::ReachOf(read.spec.shape, inner::StridesOf(read.spec));
  if (read.spec.dtype != whole.dtype() || read.spec.num_elements() != count || read.begin != 0 ||
      reach.low != 0 || reach.high != std::max<int64_t>(count - 1, 0)) {
    Refuse(absl::StrCat(where, " reads ", read.spec.ToString(), " of ", read.name, " ",
                        whole.shape().ToString(), ", which is not all of it"));
  }
  return inner::WrapStorage(whole.impl()->storage, whole.impl()->data, read.spec);
}

// The module's new elements, filled while uses are gone through.
class Filling {
 public:
  Filling(const StateDict& file, const StateDict& net) : file_(file), net_(net) {}

  void Take(const ParameterRead& file, const ParameterRead& net) {
    const auto [ours, fresh] = ours_.try_emplace(file.name, net.name);
    if (!fresh && ours->second == net.name) return;
    const auto [theirs, first] = theirs_.try_emplace(net.name, file.name);
    if (!fresh || !first) {
      Refuse(absl::StrCat(file.name, " of the file is ", net.name, " of the module, and also ",
                          fresh ? theirs->second : file.name, " is ",
                          fresh ? net.name : ours->second));
    }
    const Tensor target = Clone(Contiguous(net_[net.name].Detach()));
    const Tensor from = ViewOf(Contiguous(file_[file.name].Detach()), file, "the file");
    const Tensor to = ViewOf(target, net, "the module");
    Assign(to, Cast(Reshape(Contiguous(from), to.shape()).To(to.device()), to.dtype()));
    state_.Insert(net.name, target);
    pairs_.emplace_back(file.name, net.name);
  }

  void ExpectAll() const {
    std::vector<std::string> left, open;
    for (const auto& [name, tensor] : file_) {
      if (!ours_.contains(name)) left.push_back(name);
    }
    for (const auto& [name, tensor] : net_) {
      if (!theirs_.contains(name) && IsFloating(tensor.dtype())) open.push_back(name);
    }
    if (!left.empty()) Refuse("the file does not use " + absl::StrJoin(left, ", "));
    if (!open.empty()) Refuse("the module does not use " + absl::StrJoin(open, ", "));
  }

  const StateDict& state() const { return state_; }
  LoadedByOrder TakePairs() { return std::move(pairs_); }

 private:
  const StateDict &file_, net_;
  std::map<std::string, std::string> ours_, theirs_;  // by the file's names, by the module's
  StateDict state_;
  LoadedByOrder pairs_;
};

}  // namespace

LoadedByOrder LoadByOrder(nn::Layer& net, const firn::Network& file,
                          absl::Span<const Tensor> inputs) {
  if (inputs.empty()) Refuse("there must be an input");
  const NoGradScope no_grad;
  const NetworkUses file_uses = UsesOf(file, inputs), net_uses = UsesOf(net, inputs[0]);
  const std::vector<ParameterUse>&theirs = file_uses.uses, &ours = net_uses.uses;
  ExpectSame(theirs, ours);
  ExpectSameResults(file_uses, net_uses, inputs.size() > 1);
  const StateDict state = net.state_dict();
  Filling filling(file.parameters(), state);
  for (size_t i = 0; i < ours.size(); ++i) {
    for (size_t p = 0; p < ours[i].parameters.size(); ++p) {
      filling.Take(theirs[i].parameters[p], ours[i].parameters[p]);
    }
  }
  filling.ExpectAll();
  (void)net.LoadStateDict(filling.state(), {.strict = false, .source = kWho});
  return filling.TakePairs();
}

LoadedByOrder LoadByOrder(nn::Layer& net, const firn::Network& file, const Tensor& input) {
  return LoadByOrder(net, file, absl::Span<const Tensor>(&input, 1));
}

}  // namespace firn::zoo
