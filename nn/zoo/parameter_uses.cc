// One pass over the operations says of each value whether it depends on inputs, and if not, how it
// is made of parameters. A value in the memory of a parameter is that parameter, seen by a view.
#include "firn/nn/zoo/parameter_uses.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/visit.h"

namespace firn::zoo {
namespace {

// What is known of a value.
struct Known {
  bool data = false;
  std::vector<size_t> sources = {};            // of data
  std::string form = "c";                      // of other values
  std::vector<ParameterRead> parameters = {};  // in `form`
};

void AppendNew(const std::vector<size_t>& more, std::vector<size_t>* to) {
  for (const size_t source : more) {
    if (std::find(to->begin(), to->end(), source) == to->end()) to->push_back(source);
  }
}

class Walk {
 public:
  Walk(const Graph& graph, const StateDict& names) : graph_(graph), known_(graph.values.size()) {
    for (const ValueId id : graph.inputs) known_[At(id)] = {.data = true, .sources = {0}};
    std::map<const char*, const std::string*> name_of;
    for (const auto& [name, tensor] : names) {
      name_of.emplace(static_cast<const char*>(tensor.impl()->data), &name);
    }
    for (const Value& value : graph.values) {
      if (!value.bound.defined()) continue;
      const auto named = name_of.find(static_cast<const char*>(value.bound.impl()->data));
      if (named == name_of.end()) continue;
      parameter_of_.emplace(value.buffer, std::pair(*named->second, value.offset));
    }
  }

  void Take(const OpView& operation) {
    Known result;
    std::vector<std::string> forms;
    for (const ValueId id : operation.instr->in) forms.push_back(Join(id, &result));
    if (operation.name == "add" || operation.name == "mul") {
      std::sort(result.sources.begin(), result.sources.end());
    }
    if (result.data && !result.parameters.empty()) {
      uses_.push_back(UseOf(operation, forms, &result));
      result = {.data = true, .sources = {uses_.size()}};
    } else if (!result.data && !result.parameters.empty() && !IsView(operation)) {
      result.form = Call(operation, forms);
    } else if (!result.data && !result.parameters.empty()) {
      result.form = forms[0];
    }
    for (const ValueId id : operation.instr->out) {
      if (id != kNoValue) known_[At(id)] = result;
    }
  }

  std::vector<ParameterUse> TakeUses() { return std::move(uses_); }

 private:
  static size_t At(ValueId id) { return static_cast<size_t>(id); }
  static std::string Call(const OpView& operation, const std::vector<std::string>& arguments) {
    return absl::StrCat(std::string(operation.name), "(", absl::StrJoin(arguments, ", "), ")");
  }

  // Whether the result lies in the memory of the first argument.
  bool IsView(const OpView& operation) const {
    const auto& [in, out] = std::pair(operation.instr->in, operation.instr->out);
    return !in.empty() && !out.empty() && in[0] != kNoValue && out[0] != kNoValue &&
           graph_.value(in[0]).buffer == graph_.value(out[0]).buffer;
  }

  // Adds an argument to what is known of a result. Returns its form.
  std::string Join(ValueId id, Known* result) const {
    if (id == kNoValue) return "-";
    const Value& value = graph_.value(id);
    if (const auto named = parameter_of_.find(value.buffer); named != parameter_of_.end()) {
      const auto& [name, begin] = named->second;
      result->parameters.push_back({name, value.offset - begin, value.spec});
      return "#";
    }
    const Known& known = known_[At(id)];
    if (known.data) {
      result->data = true;
      AppendNew(known.sources, &result->sources);
      return "x";
    }
    result->parameters.insert(result->parameters.end(), known.parameters.begin(),
                              known.parameters.end());
    return known.form;
  }

  ParameterUse UseOf(const OpView& operation, const std::vector<std::string>& forms,
                     Known* known) const {
    ParameterUse use = {.operation = std::string(operation.name),
                        .form = Call(operation, forms),
                        .parameters = std::move(known->parameters),
                        .sources = std::move(known->sources)};
    if (!operation.instr->out.empty())
      use.result = graph_.value(operation.instr->out[0]).spec.shape;
    return use;
  }

  const Graph& graph_;
  std::vector<Known> known_;
  // By buffer, with the offset of the parameter's first element.
  std::map<inner::BufferId, std::pair<std::string, int64_t>> parameter_of_;
  std::vector<ParameterUse> uses_;
};

}  // namespace

std::string ParameterUse::ToString() const {
  std::vector<std::string> reads;  // a batch norm reads some of its parameters twice
  for (const ParameterRead& p : parameters) {
    std::string text = absl::StrCat(p.name, " ", p.spec.shape.ToString());
    if (std::find(reads.begin(), reads.end(), text) == reads.end())
      reads.push_back(std::move(text));
  }
  return absl::StrCat(operation, " of ", absl::StrJoin(reads, ", "));
}

std::vector<ParameterUse> ParameterUsesOf(const Graph& graph, const StateDict& names) {
  Walk walk(graph, names);
  VisitOperations(graph, [&](const OpView& operation) { walk.Take(operation); });
  return walk.TakeUses();
}

}  // namespace firn::zoo
