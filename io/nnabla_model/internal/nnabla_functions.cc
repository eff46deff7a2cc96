// Reads the tables of nnabla_table.cc.
#include "firn/io/nnabla_model/internal/nnabla_functions.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

NnablaKind::Argument ArgumentOf(const std::string& word) {
  const size_t colon = word.find(':');
  NnablaKind::Argument argument{.name = word.substr(0, colon), .zero = {}};
  switch (word[colon + 1]) {
    case 'b':
      argument.zero = false;
      break;
    case 'i':
      argument.zero = int64_t{0};
      break;
    case 'f':
      argument.zero = 0.0f;
      break;
    case 'd':
      argument.zero = 0.0;
      break;
    case 's':
      argument.zero = std::string();
      break;
    case 'F':
      argument.zero = std::vector<float>();
      break;
    case 'S':
      argument.is_shape = true;
      [[fallthrough]];
    case 'I':
      argument.zero = std::vector<int64_t>();
      break;
    default:
      argument.is_nothing = true;
      break;  // 'C', a Communicator
  }
  return argument;
}

std::vector<NnablaKind> Parse(std::string_view table, int number) {
  std::vector<NnablaKind> kinds;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (line.empty()) continue;
    if (line[0] != ' ') {
      NnablaKind& kind = kinds.emplace_back();
      words >> kind.type >> word;
      kind.number = number++;
      kind.field = word + "_param";
    }
    while (words >> word) {
      if (word == "-") {
        kinds.back().field.clear();
      } else {
        kinds.back().arguments.push_back(ArgumentOf(word));
      }
    }
  }
  return kinds;
}

}  // namespace

const std::vector<NnablaKind>& NnablaFunctions() {
  static const auto& kinds = *new std::vector<NnablaKind>(Parse(NnablaFunctionTable(), 1001));
  return kinds;
}

const std::vector<NnablaKind>& NnablaSolvers() {
  static const auto& kinds = *new std::vector<NnablaKind>(Parse(NnablaSolverTable(), 100));
  return kinds;
}

const NnablaKind* FindKind(const std::vector<NnablaKind>& kinds, std::string_view type) {
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const NnablaKind& kind) { return kind.type == type; });
  return found == kinds.end() ? nullptr : &*found;
}

absl::Status CompleteArguments(const NnablaKind& kind, std::vector<nnabla::Argument>* arguments) {
  absl::flat_hash_map<std::string_view, size_t> given;
  for (size_t i = 0; i < arguments->size(); ++i) {
    FIRN_RETURN_IF(
        !given.emplace((*arguments)[i].name, i).second,
        InvalidArgument(kind.type, ": argument ", (*arguments)[i].name, " is there twice"));
  }
  std::vector<nnabla::Argument> all;
  size_t found = 0;
  for (const NnablaKind::Argument& wanted : kind.arguments) {
    if (wanted.is_nothing) continue;
    const auto i = given.find(wanted.name);
    if (i == given.end()) {
      all.push_back({wanted.name, wanted.zero});
      continue;
    }
    const nnabla::Argument& argument = (*arguments)[i->second];
    FIRN_RETURN_IF(
        argument.value.index() != wanted.zero.index(),
        InvalidArgument(kind.type, ": argument ", wanted.name, ": expected a value of the type ",
                        wanted.zero.index(), " of nnabla::Value, got ", argument.value.index()));
    all.push_back(argument);
    ++found;
  }
  for (const nnabla::Argument& argument : *arguments) {
    FIRN_RETURN_IF(found != given.size() &&
                       std::none_of(all.begin(), all.end(),
                                    [&](const auto& a) { return a.name == argument.name; }),
                   InvalidArgument(kind.type, " has no argument ",
                                   firn::inner::internal::JsonString(argument.name)));
  }
  *arguments = std::move(all);
  return absl::OkStatus();
}

}  // namespace firn::io::internal
