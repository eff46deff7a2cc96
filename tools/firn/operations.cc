// firn operations, firn completion.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/inner.h"
#include "firn/device/text_table.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

// Abseil before 2023 does not take std::string_view.
std::string Str(std::string_view text) { return std::string(text); }

std::string DTypesOf(const ArgDecl& a) {
  if (a.same_dtype_as.empty()) return DTypeNames(a.dtypes);
  const char* const width = a.wide ? ", f32 for halves" : a.or_wide ? ", or f32 for halves" : "";
  return absl::StrCat("as ", Str(a.same_dtype_as), width);
}

nlohmann::json JsonOf(const ArgDecl& a) {
  return {{"name", a.name},
          {"dtypes", DTypesOf(a)},
          {"optional", a.optional},
          {"changed_in_place", a.inout},
          {"repeated", a.variadic}};
}

std::string LineOf(const ArgDecl& a) {
  return absl::StrCat("  ", Str(a.name), a.variadic ? " ..." : "", ": ", DTypesOf(a),
                      a.optional ? ", optional" : "", a.inout ? ", changed in place" : "", "\n");
}

// The attributes and their defaults; for an enum also its words.
class OptionLister final : public AttrVisitor {
 public:
  void Field(const char* name, int64_t& v) override { Add(name, absl::StrCat(v), v); }
  void Field(const char* name, double& v) override { Add(name, absl::StrCat(v), v); }
  void Field(const char* name, bool& v) override { Add(name, v ? "true" : "false", v); }
  void Field(const char* name, std::string& v) override {
    Add(name, absl::StrCat("\"", v, "\""), v);
  }
  void Field(const char* name, std::vector<int64_t>& v) override {
    Add(name, absl::StrCat("[", absl::StrJoin(v, ", "), "]"), v);
  }

  std::string text;
  nlohmann::json json = nlohmann::json::array();

 private:
  void Enumerator(const char* name, int64_t& v, const WordList& words) override {
    const std::string word = words.WordFor(v);
    Add(name, absl::StrCat(word, " (of ", words.Text(), ")"), word);
    for (const EnumWord& w : words) json.back()["words"].push_back(w.word);
  }
  void Add(const char* name, const std::string& shown, const nlohmann::json& value) {
    absl::StrAppend(&text, "  ", name, ": ", shown, "\n");
    json.push_back({{"name", name}, {"default", value}});
  }
};

OptionLister OptionsOf(const OpDef& op) {
  OptionLister options;
  Attrs defaults = DefaultAttrs(op.attrs);
  if (op.attrs != nullptr) op.attrs->visit(defaults.mutable_data(), options);
  return options;
}

int Describe(Terminal& terminal, const std::string& name) {
  const OpDef* const op = FindOp(name);
  if (op == nullptr) {
    RaiseIfError(WhyNoOp(name), "operations");
    return 1;
  }
  nlohmann::json inputs = nlohmann::json::array(), outputs = nlohmann::json::array();
  std::string text = absl::StrCat(Str(op->name), "\n", Str(op->doc), "\n\ninputs\n");
  for (const ArgDecl& a : op->inputs) {
    inputs.push_back(JsonOf(a));
    text += LineOf(a);
  }
  text += "outputs\n";
  for (const ArgDecl& a : op->outputs) {
    outputs.push_back({{"name", a.name}});
    absl::StrAppend(&text, "  ", Str(a.name), "\n");
  }
  const OptionLister options = OptionsOf(*op);
  if (!options.text.empty()) absl::StrAppend(&text, "options\n", options.text);
  absl::StrAppend(&text, op->is_view ? "a view" : "computed",
                  op->grad != nullptr ? ", differentiable\n" : ", without gradient\n");
  terminal.Print(text, {{"name", op->name},
                        {"doc", op->doc},
                        {"inputs", inputs},
                        {"outputs", outputs},
                        {"options", options.json},
                        {"view", op->is_view},
                        {"differentiable", op->grad != nullptr}});
  return 0;
}

}  // namespace

FIRN_COMMAND(operations, "Lists all operations, or the arguments, results and options of one") {
  auto name = std::make_shared<std::string>();
  app.add_option("NAME", *name, "an operation, such as conv2d");
  app.footer(
      "docs/operations.md has the functions that call them. Example:\n"
      "  firn operations conv2d");
  return [name](Terminal& terminal) {
    if (!name->empty()) return Describe(terminal, *name);
    std::vector<std::vector<std::string>> lines;
    nlohmann::json names = nlohmann::json::array();
    for (const OpDef* op : AllOps()) {
      names.push_back(op->name);
      lines.push_back({std::string(op->name), std::string(op->doc)});
    }
    terminal.Print(inner::internal::AlignedText(lines, 2), names);
    return 0;
  };
}

FIRN_COMMAND(completion, "Prints completions for bash and zsh") {
  app.footer(
      "Examples, for a line of .bashrc or .zshrc:\n"
      "  source <(firn completion)\n"
      "  autoload -U bashcompinit && bashcompinit && source <(firn completion)");
  return [](Terminal& terminal) {
    std::string words, groups;
    std::map<std::string, std::string> inside;  // words of a group by its name
    for (const Command& c : Commands()) {
      const size_t blank = c.name.find(' ');
      std::string& list = blank == std::string::npos ? words : inside[c.name.substr(0, blank)];
      absl::StrAppend(&list, list.empty() ? "" : " ", c.name.substr(blank + 1));
    }
    for (const auto& [group, list] : inside) {
      absl::StrAppend(&groups, "  if [[ ${COMP_WORDS[1]} == ", group, " ]]; then\n",
                      "    depth=2\n", "    ((COMP_CWORD == 2)) && words='", list, "'\n", "  fi\n");
    }
    const std::string script = absl::StrCat(
        "_firn() {\n"
        "  local depth=1 words=\n"
        "  ((COMP_CWORD == 1)) && words='",
        words, "'\n", groups,
        "  if [[ $words ]]; then\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
        "  elif [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then\n"
        "    COMPREPLY=($(compgen -W \"$(\"$1\" \"${COMP_WORDS[@]:1:depth}\" --help 2>/dev/null |"
        " grep -oE -- '--[a-z-]+')\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
        "  else\n"
        "    COMPREPLY=($(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
        "  fi\n"
        "}\n"
        "complete -F _firn firn\n");
    terminal.Print(script, {{"bash", script}});
    return 0;
  };
}

}  // namespace firn::cli
