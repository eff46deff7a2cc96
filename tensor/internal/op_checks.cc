// Each rule returns what is wrong, or nothing; the first text is the reason for the refusal.

#include "firn/tensor/internal/op_checks.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/infer.h"

namespace firn::inner::internal {
namespace {

// Abseil before 2023 does not take std::string_view.
std::string Str(std::string_view text) { return std::string(text); }

std::string WrongName(const OpDef& op, std::string_view stem) {
  if (op.name == stem) return "";
  return absl::StrCat("its name (OpDef::name) is ", Str(op.name), ", FIRN_REGISTER_OP says ",
                      Str(stem));
}

std::string WrongDTypeReference(const OpDef& op, size_t i) {
  const ArgDecl& decl = op.inputs[i];
  if (decl.same_dtype_as.empty()) return "";
  // Repetitions of one variadic input may have one dtype among themselves.
  const size_t end = decl.variadic ? i + 1 : i;
  for (size_t j = 0; j < end; ++j) {
    if (op.inputs[j].name == decl.same_dtype_as) return "";
  }
  return absl::StrCat("input ", Str(decl.name), " has the dtype of ", Str(decl.same_dtype_as),
                      ", which is no input before it");
}

std::string WrongInputs(const OpDef& op) {
  bool variadic = false;
  size_t cycle = 0;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const ArgDecl& decl = op.inputs[i];
    if (decl.name.empty()) return absl::StrCat("input ", i, " has no name");
    for (size_t j = 0; j < i; ++j) {
      if (op.inputs[j].name == decl.name) return absl::StrCat("two inputs are ", Str(decl.name));
    }
    if (variadic && !decl.variadic) {
      return absl::StrCat("input ", Str(decl.name), " comes after a variadic one");
    }
    variadic = decl.variadic;
    cycle += variadic ? 1u : 0u;
    if (std::string wrong = WrongDTypeReference(op, i); !wrong.empty()) return wrong;
  }
  // Saved values are found by one position, see autograd/tape/op_node.cc.
  return cycle > 1 && op.grad != nullptr
             ? "its variadic inputs come in groups, for which there can be no gradient rule"
             : "";
}

bool GivesOneResult(InferFn infer) {
  return infer == InferLikeInput || infer == InferBroadcast || infer == InferPredicate;
}

std::string WrongOutputs(const OpDef& op) {
  const size_t count = op.outputs.size();
  if (count > kMaxOutputs) {
    return absl::StrCat("it has ", count, " results, at most ", kMaxOutputs, " are possible");
  }
  for (size_t i = 0; i < count; ++i) {
    if (op.outputs[i].name.empty()) return absl::StrCat("result ", i, " has no name");
  }
  if (op.infer == nullptr) return "it has no shape rule (OpDef::infer)";
  if (!GivesOneResult(op.infer)) return "";
  if (count != 1) return absl::StrCat("its shape rule gives one result, it declares ", count);
  if (op.inputs.empty()) return "its shape rule wants an input, it declares none";
  return op.inputs[0].optional ? absl::StrCat("its shape rule wants input ", Str(op.inputs[0].name),
                                              ", an optional one")
                               : "";
}

std::string FirstOf(const std::vector<std::string>& wrong) {
  const auto first =
      std::find_if(wrong.begin(), wrong.end(), [](const auto& w) { return !w.empty(); });
  return first == wrong.end() ? "" : *first;
}

std::string OutOfRange(const char* what, int index, const char* kind, size_t count) {
  if (index >= 0 && static_cast<size_t>(index) < count) return "";
  return absl::StrCat(what, " speaks of ", kind, " ", index, " of ", count);
}

std::string WrongPositions(const OpDef& op) {
  const size_t inputs = op.inputs.size(), outputs = op.outputs.size();
  std::vector<std::string> wrong;
  for (const Saved& s : op.saves) {
    const bool input = s.kind == Saved::kInput;
    wrong.push_back(
        OutOfRange("saves", s.index, input ? "input" : "result", input ? inputs : outputs));
  }
  for (const Reuse& r : op.may_reuse) {
    wrong.push_back(OutOfRange("may_reuse", r.output, "result", outputs));
    wrong.push_back(OutOfRange("may_reuse", r.input, "input", inputs));
  }
  for (int i : op.index_inputs) {
    wrong.push_back(OutOfRange("index_inputs", i, "input", inputs));
  }
  if (op.index_inputs.empty() != (op.index_bounds == nullptr)) {
    wrong.push_back("index_inputs and index_bounds are given together or not at all");
  }
  return FirstOf(wrong);
}

// Positions that traits speak of.
std::string WrongTraits(const OpDef& op) {
  const GraphTraits& t = TraitsOf(op);
  std::vector<std::string> wrong;
  const auto input = [&](const char* what, size_t at) {
    wrong.push_back(OutOfRange(what, static_cast<int>(at), "input", op.inputs.size()));
  };
  const auto result = [&](const char* what, size_t at) {
    wrong.push_back(OutOfRange(what, static_cast<int>(at), "result", op.outputs.size()));
  };
  if (t.channel_map) {
    for (size_t at : {t.channel_map->x, t.channel_map->weight, t.channel_map->bias}) {
      input("channel_map", at);
    }
  }
  if (t.centring) {
    input("centring", t.centring->x);
    input("centring", t.centring->running_mean);
    result("centring", t.centring->mean);
  }
  if (t.centring_gradient) {
    input("centring_gradient", t.centring_gradient->x);
    input("centring_gradient", t.centring_gradient->mean);
    result("centring_gradient", t.centring_gradient->dx);
  }
  if (t.integer_sums != nullptr && !t.channel_map) {
    wrong.push_back("it has integer_sums and no channel_map");
  }
  if (t.rounded_range != nullptr) input("rounded_range", 2);
  if (t.adds_to) input("adds_to", *t.adds_to);
  if (t.packing) input("packing", t.packing->input);
  for (const ArgDecl& decl : op.inputs) {
    if (!t.cheap_again || !decl.inout || decl.optional) continue;
    wrong.push_back(absl::StrCat("it is cheap_again but cannot do without input ", Str(decl.name),
                                 ", which it writes into"));
  }
  return FirstOf(wrong);
}

std::string WrongView(const OpDef& op) {
  if (!op.is_view) return "";
  if (!op.kernels.empty()) return "it is a view and has kernels";
  return op.inputs.empty() || op.outputs.size() != 1
             ? absl::StrCat("a view has an input and one result, it has ", op.inputs.size(),
                            " and ", op.outputs.size())
             : "";
}

// Traits that would let passes drop a call, merge it or repeat it.
std::string WrongCollective(const OpDef& op) {
  if (!op.collective) return "";
  if (op.is_view) return "it is collective and a view";
  if (op.elementwise) return "it is collective and elementwise";
  return op.graph == nullptr ? "" : "it is collective and has traits (OpDef::graph)";
}

}  // namespace

std::string WhatIsWrong(absl::Span<const Kernel> kernels) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].name.empty()) return absl::StrCat("kernel ", i, " has no name (Kernel::name)");
    if (kernels[i].run == nullptr) {
      return absl::StrCat("kernel ", Str(kernels[i].name), " has no function (Kernel::run)");
    }
    const bool parts = kernels[i].supports != nullptr || kernels[i].workspace != nullptr ||
                       kernels[i].layouts != nullptr;
    if (kernels[i].prepare != nullptr && parts) {
      return absl::StrCat(
          "kernel ", Str(kernels[i].name),
          " answers twice: Kernel::prepare stands for supports, workspace and layouts");
    }
  }
  return "";
}

std::string WhatIsWrong(const OpDef& op, std::string_view stem) {
  const std::string wrong[] = {WrongName(op, stem), WrongInputs(op),         WrongOutputs(op),
                               WrongPositions(op),  WhatIsWrong(op.kernels), WrongView(op),
                               WrongTraits(op),     WrongCollective(op)};
  const auto* first = std::find_if(std::begin(wrong), std::end(wrong),
                                   [](const std::string& w) { return !w.empty(); });
  return first == std::end(wrong) ? "" : *first;
}

}  // namespace firn::inner::internal
