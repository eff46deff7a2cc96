// One pass over the operations says of each value whether it depends on inputs, and how it is made
// of inputs and earlier uses; of others, how they are made of parameters. A value in the memory of
// a parameter is that parameter, seen by a view.
#include "firn/nn/zoo/parameter_uses.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/visit.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"

namespace firn::zoo {
namespace {

// What is known of a value.
struct Known {
  std::string source = "";                     // of data: "tanh(2)"
  std::string form = "c";                      // of other values
  std::vector<ParameterRead> parameters = {};  // in `form`
  std::vector<std::string> constants = {};     // in `form`, like ParameterUse's
  bool data() const { return !source.empty(); }
};

// A step's arguments, gone through.
struct Arguments {
  std::vector<std::string> forms;    // "x" for data
  std::vector<std::string> sources;  // forms, with the source in place of "x"
  std::vector<std::string> data;     // sources of data
  std::vector<ParameterRead> parameters;
  std::vector<std::string> constants;
};

template <class T>
void Append(const std::vector<T>& more, std::vector<T>* to) {
  to->insert(to->end(), more.begin(), more.end());
}

// Takes those attributes that say what a layer computes and that sizes need not show.
class LayerAttributes final : public inner::AttrVisitor {
 public:
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override { Add(name, absl::StrCat(v)); }
  // Files keep numbers in f32.
  void Field(const char* name, double& v) override {
    Add(name, absl::StrCat(static_cast<float>(v)));
  }
  void Field(const char*, bool&) override {}
  void Field(const char*, std::string&) override {}
  // One number for all dimensions is as good as that number for each.
  void Field(const char* name, std::vector<int64_t>& v) override {
    const bool same = std::adjacent_find(v.begin(), v.end(), std::not_equal_to<>()) == v.end();
    Add(name, absl::StrJoin(same && !v.empty() ? std::vector{v[0]} : v, "x"));
  }
  std::vector<std::pair<std::string, std::string>> found;

 private:
  void Add(const char* name, std::string text) {
    constexpr std::string_view kNames[] = {"stride", "padding", "dilation", "groups", "eps"};
    if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) {
      found.emplace_back(name, std::move(text));
    }
  }
};

std::string Call(const std::string& name, const std::vector<std::string>& arguments) {
  return absl::StrCat(name, "(", absl::StrJoin(arguments, ", "), ")");
}

// A source that is too long to print is cut and numbered by a hash: values that are used twice at
// each of many steps would double it each time.
std::string Bounded(std::string source) {
  constexpr size_t kLongest = 200, kKept = 40;
  if (source.size() <= kLongest) return source;
  return absl::StrCat(source.substr(0, kKept), "...#", absl::Hex(std::hash<std::string>()(source)));
}

class Walk {
 public:
  Walk(const Graph& graph, const StateDict& names)
      : graph_(graph), known_(graph.values.size()), values_in_(graph.buffers.size()) {
    for (size_t v = 0; v < graph.values.size(); ++v) {
      values_in_[static_cast<size_t>(graph.values[v].buffer)].push_back(v);
    }
    for (const ValueId id : graph.inputs) known_[At(id)] = {.source = "0"};
    for (size_t i = 1; i < graph.inputs.size(); ++i) {
      known_[At(graph.inputs[i])].source = absl::StrCat("input", i + 1);
    }
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
    Arguments arguments;
    for (const ValueId id : operation.instr->in) Join(id, &arguments);
    Known result = {};
    if (arguments.data.empty()) {
      if (!arguments.parameters.empty()) {
        result.form = IsView(operation) ? arguments.forms[0] : FormOf(operation, arguments);
        result.parameters = std::move(arguments.parameters);
        result.constants = std::move(arguments.constants);
      }
    } else if (!arguments.parameters.empty()) {
      network_.uses.push_back(UseOf(operation, arguments));
      result = {.source = absl::StrCat(network_.uses.size())};
    } else {
      result.source = SourceOf(operation, std::move(arguments.sources));
    }
    Set(*operation.instr, result);
  }

  NetworkUses Finish() {
    Arguments arguments;
    for (const ValueId id : graph_.outputs) Join(id, &arguments);
    network_.results = {.operation = "the result",
                        .form = Call("results", arguments.forms),
                        .parameters = std::move(arguments.parameters),
                        .constants = std::move(arguments.constants),
                        .sources = std::move(arguments.data)};
    if (!graph_.outputs.empty())
      network_.results.result = graph_.value(graph_.outputs[0]).spec.shape;
    for (const Known& known : known_) {
      if (known.data()) network_.values.insert(known.source);
    }
    return std::move(network_);
  }

 private:
  static size_t At(ValueId id) { return static_cast<size_t>(id); }

  // Whether the result has the elements of the first argument, all of them.
  bool OnlyMoves(const OpView& operation) const {
    constexpr std::string_view kMoves[] = {"cast",    "clone",     "contiguous", "copy",
                                           "expand",  "identity",  "permute",    "reorder",
                                           "reshape", "to_device", "transpose"};
    const auto& [in, out] = std::pair(operation.instr->in, operation.instr->out);
    if (in.empty() || out.size() != 1 || in[0] == kNoValue || out[0] == kNoValue) return false;
    if (std::find(std::begin(kMoves), std::end(kMoves), operation.name) != std::end(kMoves)) {
      return in.size() == 1;
    }
    return operation.instr->op->is_view &&
           graph_.value(in[0]).spec.num_elements() == graph_.value(out[0]).spec.num_elements();
  }

  // What is used twice at each of some steps doubles the formula each time.
  static std::string FormOf(const OpView& operation, const Arguments& arguments) {
    constexpr size_t kLongest = 100'000;
    std::string form = Call(std::string(operation.name), arguments.forms);
    if (form.size() > kLongest) {
      RaiseStatus(ResourceExhausted("the argument that a ", operation.name, " makes of ",
                                    arguments.parameters.size(),
                                    " reads of parameters is a formula of more than ", kLongest,
                                    " characters"),
                  "zoo::ParameterUsesOf");
    }
    return form;
  }

  // How an operation without parameters makes its result. A view of a part says which.
  std::string SourceOf(const OpView& operation, std::vector<std::string> arguments) const {
    if (OnlyMoves(operation)) return arguments[0];
    if (operation.name == "add" || operation.name == "mul") {
      std::sort(arguments.begin(), arguments.end());  // each is one operand, as a whole
    }
    std::string name(operation.name);
    if (name == "linear" && arguments.back() == "-") {  // a product with a transposition, at once
      name = "matmul";
      arguments.pop_back();
    }
    if (operation.instr->op->is_view && IsView(operation)) {
      const Value &whole = graph_.value(operation.instr->in[0]),
                  &part = graph_.value(operation.instr->out[0]);
      absl::StrAppend(&name, "[", part.offset - whole.offset, "]");
    }
    return Bounded(Call(name, arguments));
  }

  // Notes the results, and what an operation wrote in place.
  void Set(const Instr& instr, const Known& result) {
    for (size_t i = 0; i < instr.out.size(); ++i) {
      if (instr.out[i] == kNoValue) continue;
      Known& known = known_[At(instr.out[i])] = result;
      if (i > 0 && known.data()) absl::StrAppend(&known.source, "[", i, "]");
    }
    for (size_t i = 0; instr.op->any_inout && result.data() && i < instr.in.size(); ++i) {
      if (instr.in[i] == kNoValue || !instr.op->writes(i)) continue;
      const inner::BufferId written = graph_.value(instr.in[i]).buffer;
      for (const size_t v : values_in_[static_cast<size_t>(written)]) known_[v] = result;
    }
  }

  // Whether the result lies in the memory of the first argument.
  bool IsView(const OpView& operation) const {
    const auto& [in, out] = std::pair(operation.instr->in, operation.instr->out);
    return !in.empty() && !out.empty() && in[0] != kNoValue && out[0] != kNoValue &&
           graph_.value(in[0]).buffer == graph_.value(out[0]).buffer;
  }

  // Adds an argument to those of a step.
  void Join(ValueId id, Arguments* to) const {
    const auto add = [&](std::string form) {
      to->forms.push_back(form);
      to->sources.push_back(std::move(form));
    };
    if (id == kNoValue) return add("-");
    const Value& value = graph_.value(id);
    if (const auto named = parameter_of_.find(value.buffer); named != parameter_of_.end()) {
      const auto& [name, begin] = named->second;
      to->parameters.push_back({name, value.offset - begin, value.spec});
      return add("#");
    }
    const Known& known = known_[At(id)];
    if (!known.data()) {
      Append(known.parameters, &to->parameters);
      if (known.parameters.empty()) {
        to->constants.push_back(NumberOf(value));
      } else {
        Append(known.constants, &to->constants);
      }
      return add(known.form);
    }
    to->forms.push_back("x");
    to->sources.push_back(known.source);
    to->data.push_back(known.source);
  }

  // The number of a constant of one element, "" of others.
  std::string NumberOf(const Value& value) const {
    const bool constant =
        graph_.buffers[static_cast<size_t>(value.buffer)].kind == Buffer::Kind::kConstant;
    if (!constant || !value.bound.defined() || value.bound.num_elements() != 1) return "";
    if (!IsFloating(value.spec.dtype)) return "";
    return absl::StrCat(static_cast<float>(value.bound.Item()));
  }

  ParameterUse UseOf(const OpView& operation, Arguments& arguments) const {
    LayerAttributes attributes;
    const inner::AttrsRef all = operation.instr->attrs.ref();
    // Visit takes what a reader could write to; this one only reads.
    if (all.type() != nullptr) all.type()->visit(const_cast<void*>(all.data()), attributes);
    ParameterUse use = {.operation = std::string(operation.name),
                        .form = FormOf(operation, arguments),
                        .parameters = std::move(arguments.parameters),
                        .constants = std::move(arguments.constants),
                        .attributes = std::move(attributes.found),
                        .sources = std::move(arguments.data)};
    if (!operation.instr->out.empty())
      use.result = graph_.value(operation.instr->out[0]).spec.shape;
    return use;
  }

  const Graph& graph_;
  std::vector<Known> known_;
  std::vector<std::vector<size_t>> values_in_;  // by buffer
  // By buffer, with the offset of the parameter's first element.
  std::map<inner::BufferId, std::pair<std::string, int64_t>> parameter_of_;
  NetworkUses network_;
};

}  // namespace

std::string ParameterUse::ToString() const {
  std::vector<std::string> reads;  // a batch norm reads some of its parameters twice
  for (const ParameterRead& p : parameters) {
    std::string text = absl::StrCat(p.name, " ", p.spec.shape.ToString());
    if (std::find(reads.begin(), reads.end(), text) == reads.end())
      reads.push_back(std::move(text));
  }
  if (reads.empty()) return operation;
  return absl::StrCat(operation, " of ", absl::StrJoin(reads, ", "));
}

NetworkUses ParameterUsesOf(const Graph& graph, const StateDict& names) {
  Walk walk(graph, names);
  VisitOperations(graph, [&](const OpView& operation) { walk.Take(operation); });
  return walk.Finish();
}

}  // namespace firn::zoo
