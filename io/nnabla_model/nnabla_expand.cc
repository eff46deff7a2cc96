// Loops as ProtoNetwork.expand_loop_control of NNabla's core/graph_def.py unrolls them. A copy's
// index counts the last loop of its list fastest. All copies are counted before the first is made;
// then variables are made before functions, since an input's name depends on which names exist.
#include "firn/io/nnabla_model/nnabla_expand.h"

#include <algorithm>
#include <queue>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla_model/internal/nnabla_loops.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/value_or_raise.h"

namespace firn::io::nnabla {
namespace {

using firn::inner::internal::JsonString;
using internal::NnablaLoops;

class Expansion {
 public:
  Expansion(const Network& from, const ExpandOptions& options)
      : from_(from), options_(options), loops_(from) {}

  absl::StatusOr<Network> Run() {
    FIRN_RETURN_IF_ERROR(loops_.Check(options_));
    to_ = {.name = from_.name,
           .batch_size = batch(),
           .repeat_info = {},
           .variables = {},
           .functions = {}};
    for (const Variable& variable : from_.variables) FIRN_RETURN_IF_ERROR(AddVariable(variable));
    for (size_t i = 0; i < from_.functions.size(); ++i) {
      FIRN_RETURN_IF_ERROR(AddFunctions(i));
    }
    FIRN_RETURN_IF_ERROR(Sort());
    return std::move(to_);
  }

 private:
  using Index = NnablaLoops::Index;

  int64_t batch() const { return options_.batch_size > 0 ? options_.batch_size : from_.batch_size; }
  bool open() const { return options_.batch_size == kOpenBatch; }

  std::string At(size_t i) const { return internal::NnablaPlace(from_, i); }

  static std::string Suffix(const std::vector<std::string>& loops, const Index& index,
                            size_t count) {
    std::string suffix;
    for (size_t i = 0; i < count; ++i) suffix += NnablaLoops::Step(loops[i], index[i]);
    return suffix;
  }

  absl::Status AddVariable(const Variable& variable) {
    const std::string at = internal::NnablaPlace(from_, variable);
    std::vector<int64_t> shape = variable.shape;
    const bool any = !shape.empty() && shape[0] == -1 && variable.type != "Parameter";
    if (any && !open()) {
      FIRN_RETURN_IF(batch() < 1, InvalidArgument(at,
                                                  ", shape: its first size is the batch: expected "
                                                  "a batch_size of the network or "
                                                  "ExpandOptions.batch_size, got neither"));
      shape[0] = batch();
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t size = shape[d];
      FIRN_RETURN_IF(size < 0 && !(any && open() && d == 0),
                     InvalidArgument(at, ", shape: expected sizes of at least 0, got ", size));
    }
    Index index(variable.repeat_id.size(), 0);
    do {
      std::string name = variable.name;
      for (size_t i = 0; i < index.size(); ++i) {
        const std::string& loop = variable.repeat_id[i];
        const std::string brace = absl::StrCat("{", loop, "}");
        if (name.find(brace) != std::string::npos) {
          name = absl::StrReplaceAll(name, {{brace, absl::StrCat("[", index[i], "]")}});
        } else {
          name += NnablaLoops::Step(loop, index[i]);
        }
      }
      FIRN_RETURN_IF(!places_.emplace(name, to_.variables.size()).second,
                     InvalidArgument(at, ": expected a name of its own for each copy, got ",
                                     JsonString(name), " twice"));
      to_.variables.push_back({.name = std::move(name),
                               .type = variable.type,
                               .repeat_id = {},
                               .shape = shape,
                               .initializer = variable.initializer});
    } while (loops_.Advance(variable.repeat_id, &index));
    return absl::OkStatus();
  }

  bool Exists(const std::string& name) const { return places_.contains(name); }

  // The first of these names that exists, else the last.
  std::string FirstOf(std::vector<std::string> names) const {
    for (std::string& name : names) {
      if (Exists(name)) return std::move(name);
    }
    return std::move(names.back());
  }

  absl::Status AddFunctions(size_t i) {
    const Function& function = from_.functions[i];
    Index index(function.repeat_id.size(), 0);
    do {
      if (function.type == "RecurrentInput" && index.back() > 0) continue;
      Function copy = CopyOf(function, index);
      for (const auto& [field, names] :
           {std::pair("input", &copy.input), std::pair("output", &copy.output)}) {
        for (const std::string& name : *names) {
          FIRN_RETURN_IF(!Exists(name), InvalidArgument(At(i), ", ", field,
                                                        ": expected a variable of the network, "
                                                        "got ",
                                                        JsonString(name)));
        }
      }
      FIRN_RETURN_IF_ERROR(SetBatch(&copy, At(i)));
      for (const std::string& name : copy.output) {
        const size_t place = places_.at(name);
        FIRN_RETURN_IF(to_.variables[place].type == "Parameter",
                       InvalidArgument(At(i), ", output: expected a Buffer, got the Parameter ",
                                       JsonString(name)));
        FIRN_RETURN_IF(!makers_.emplace(place, to_.functions.size()).second,
                       InvalidArgument(At(i),
                                       ", output: expected a variable of no other function, "
                                       "got ",
                                       JsonString(name)));
      }
      sources_.push_back(i);
      to_.functions.push_back(std::move(copy));
    } while (loops_.Advance(function.repeat_id, &index));
    return absl::OkStatus();
  }

  Function CopyOf(const Function& function, const Index& index) const {
    const std::vector<std::string>& loops = function.repeat_id;
    const std::string all = Suffix(loops, index, index.size());
    const std::string outer = Suffix(loops, index, index.empty() ? 0 : index.size() - 1);
    Function copy{.name = function.name + all,
                  .type = function.type,
                  .repeat_id = {},
                  .context = function.context,
                  .input = {},
                  .output = {},
                  .repeat_param = {},
                  .recurrent_param = {},
                  .arguments = function.arguments};
    const auto identity = [&] {
      copy.name = "$EC$/" + copy.name;
      copy.type = "Identity";
      copy.arguments.clear();
    };
    const auto along = [&](const char* type) {
      copy.type = type;
      copy.arguments = {{"axis", function.recurrent_param->axis}};
    };
    const std::vector<std::string>& in = function.input;
    for (const std::string& name : function.output) {
      copy.output.push_back(FirstOf({name + all, name}));
    }
    if (function.type == "RepeatStart" || function.type == "Delay") {
      const size_t first = function.type == "Delay" ? 1 : 0;
      copy.input = {index.back() == 0 ? FirstOf({in[first], in[first] + outer})
                                      : in[1 - first] + outer +
                                            NnablaLoops::Step(loops.back(), index.back() - 1)};
      identity();
    } else if (function.type == "RepeatEnd") {
      const std::string& id = function.repeat_param->repeat_id;
      copy.input = {in[0] + all + NnablaLoops::Step(id, loops_.Times(id) - 1)};
      identity();
    } else if (function.type == "RecurrentOutput") {
      const RecurrentParameter& loop = *function.recurrent_param;
      for (int64_t step = 0; step < loop.length; ++step) {
        copy.input.push_back(in[0] + all + NnablaLoops::Step(loop.repeat_id, step));
      }
      along("Stack");
    } else if (function.type == "RecurrentInput") {
      copy.name = function.name + outer;
      copy.input = {FirstOf({in[0], in[0] + outer})};
      copy.output.clear();
      for (int64_t step = 0; step < loops_.Times(loops.back()); ++step) {
        copy.output.push_back(function.output[0] + outer + NnablaLoops::Step(loops.back(), step));
      }
      along("Split");
    } else {
      for (std::string name : in) {
        for (size_t i = 0; i < index.size(); ++i) {
          name = absl::StrReplaceAll(
              name, {{absl::StrCat("{", loops[i], "}"), absl::StrCat("[", index[i], "]")}});
        }
        copy.input.push_back(FirstOf({name, name + all, name + outer}));
      }
    }
    return copy;
  }

  absl::Status SetBatch(Function* function, const std::string& at) const {
    if (open()) return absl::OkStatus();
    for (Argument& argument : function->arguments) {
      auto* const shape = std::get_if<std::vector<int64_t>>(&argument.value);
      if (argument.name != "shape" || shape == nullptr || shape->empty() || shape->front() != -1) {
        continue;
      }
      FIRN_RETURN_IF(batch() < 1,
                     InvalidArgument(at,
                                     ", shape: its first size is the batch: expected a "
                                     "batch_size of the network or ExpandOptions.batch_size, "
                                     "got neither"));
      shape->front() = batch();
    }
    return absl::OkStatus();
  }

  // Sorts functions: the next one is the first in the file whose inputs exist already.
  absl::Status Sort() {
    const size_t count = to_.functions.size();
    std::vector<std::vector<size_t>> users(count);
    std::vector<size_t> waits(count, 0);
    for (size_t i = 0; i < count; ++i) {
      for (const std::string& name : to_.functions[i].input) {
        const auto maker = makers_.find(places_.at(name));
        if (maker == makers_.end()) continue;
        users[maker->second].push_back(i);
        ++waits[i];
      }
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < count; ++i) {
      if (waits[i] == 0) ready.push(i);
    }
    std::vector<Function> sorted;
    while (!ready.empty()) {
      const size_t i = ready.top();
      ready.pop();
      sorted.push_back(std::move(to_.functions[i]));
      for (const size_t user : users[i]) {
        if (--waits[user] == 0) ready.push(user);
      }
    }
    if (sorted.size() != count) {
      const size_t i = static_cast<size_t>(
          std::find_if(waits.begin(), waits.end(), [](size_t n) { return n > 0; }) - waits.begin());
      return InvalidArgument(At(sources_[i]),
                             ": expected inputs that do not depend on its outputs, "
                             "got a cycle that it is in or behind");
    }
    to_.functions = std::move(sorted);
    return absl::OkStatus();
  }

  const Network& from_;
  const ExpandOptions& options_;
  NnablaLoops loops_;
  Network to_;
  absl::flat_hash_map<std::string, size_t> places_;  // of variables in to_
  absl::flat_hash_map<size_t, size_t> makers_;       // of these the functions
  std::vector<size_t> sources_;                      // of functions those in from_
};

}  // namespace

absl::StatusOr<Network> TryExpand(const Network& network, const ExpandOptions& options) {
  return Expansion(network, options).Run();
}

Network Expand(const Network& network, const ExpandOptions& options) {
  return io::ValueOrRaise(TryExpand(network, options), "nnabla::Expand");
}

}  // namespace firn::io::nnabla
