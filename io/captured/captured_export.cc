#include "firn/io/captured/captured_export.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

absl::StatusOr<std::vector<std::string>> NamesOfAll(
    const char* what, size_t count, const std::vector<std::string>& wishes,
    const std::function<std::string(const std::string&)>& unique) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    const bool named = i < wishes.size() && !wishes[i].empty();
    const std::string wish = named ? wishes[i] : absl::StrCat(what, ".", i);
    names.push_back(unique(wish));
    FIRN_RETURN_IF(named && names.back() != wish,
                   InvalidArgument(what, " ", i, ": the name ", wish, " is taken"));
  }
  return names;
}

absl::StatusOr<std::vector<CapturedState>> StatesOf(const Graph& graph,
                                                    const CapturedNames& names) {
  const std::vector<bool> written = WrittenBuffers(graph);
  std::set<BufferId> seen;
  std::vector<CapturedState> states;
  for (size_t at = 0; at < graph.values.size(); ++at) {
    const auto id = static_cast<ValueId>(at);
    const Value& value = graph.values[at];
    const Buffer::Kind kind = graph.buffer_of(id).kind;
    const bool state = kind == Buffer::Kind::kState;
    if (!state && kind != Buffer::Kind::kConstant) continue;
    FIRN_RETURN_IF_ERROR(CheckCaptured(value));
    std::string name = state ? names.NameOf(value.bound) : "";
    if (state && name.empty()) name = absl::StrCat("state.", seen.size());
    const bool first = seen.insert(value.buffer).second;
    states.push_back(
        {id, state, std::move(name), state && first && written[static_cast<size_t>(value.buffer)]});
  }
  return states;
}

absl::Status WriteAll(const Graph& graph, const std::string& where,
                      const std::function<void(const Instr&, const CapturedBatchNorm*)>& write,
                      const std::vector<std::string>& refused) {
  const std::map<size_t, CapturedBatchNorm> norms = FindBatchNorms(graph);
  for (size_t i = 0; i < graph.instrs.size(); ++i) {
    const auto norm = norms.find(i);
    write(graph.instrs[i], norm == norms.end() ? nullptr : &norm->second);
  }
  const std::string all = absl::StrJoin(refused, "; ");
  FIRN_RETURN_IF(!refused.empty(),
                 Unimplemented(refused.size(), " operations have no form in ", where, ": ", all));
  return absl::OkStatus();
}

}  // namespace firn::io::internal
