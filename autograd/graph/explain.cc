// The text of StaticGraph::Explain, a section after the other:
//
//   operations: 96 captured, 90 run
//   dead_code: 4
//     mul at net.bn1
//   memory: 1228800 bytes, at least 1228800 are needed, by conv2d at net.conv1
//     819200 made by tanh at net.act
//   cuda graph: no, it does not run on a CUDA device
//   inputs: 2, 16640 bytes
//     %0 f32 [64, 1, 8, 8] on cpu: conv2d at net.conv1

#include "firn/autograd/graph/explain.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/tensor/graph_traits.h"

namespace firn {
namespace {

bool IsReorder(const Instr& instr) { return TraitsOf(*instr.op).reorders; }

// Operations that compute; views only name elements that exist already.
size_t CountComputing(const Graph& graph) {
  size_t count = 0;
  for (const Instr& instr : graph.instrs) count += instr.op->is_view ? 0 : 1;
  return count;
}

void AddReport(const PassReport& report, std::string* text) {
  if (report.changes == 0) return;
  absl::StrAppend(text, report.pass, ": ", report.changes, "\n");
  for (const std::string& line : report.what) absl::StrAppend(text, "  ", line, "\n");
}

// What a graph takes from outside, of one kind (inputs, states or constants). Where one operation,
// such as an optimizer's step, is the first to take many of them, only some are listed.
class Section {
 public:
  Section(const char* title, Buffer::Kind kind) : title_(title), kind_(kind) {}

  void AddTo(const Graph& graph, const Uses& uses, std::string* text) const {
    int64_t count = 0, bytes = 0;
    std::string lines;
    std::map<std::string, int64_t> by_user;
    std::vector<bool> seen(graph.buffers.size(), false), named(graph.values.size(), false);
    for (ValueId input : graph.inputs) named[static_cast<size_t>(input)] = true;
    for (size_t i = 0; i < graph.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const Value& v = graph.values[i];
      if (graph.buffer_of(id).kind != kind_ || !(named[i] || v.bound.defined())) continue;
      ++count;
      const auto buffer = static_cast<size_t>(v.buffer);
      if (!seen[buffer]) bytes += graph.buffers[buffer].bytes;
      seen[buffer] = true;
      const std::string user = UserOf(graph, uses, id);
      if (++by_user[user] > kListed) continue;
      absl::StrAppend(&lines, "  %", id, " ", v.spec.ToString(),
                      uses.writers(v.buffer).empty() ? "" : ", written", user, "\n");
    }
    if (count == 0) return;
    absl::StrAppend(text, title_, ": ", count, ", ", bytes, " bytes\n", lines);
    for (const auto& [user, number] : by_user) {
      if (number > kListed) absl::StrAppend(text, "  and ", number - kListed, " more", user, "\n");
    }
  }

 private:
  static std::string UserOf(const Graph& graph, const Uses& uses, ValueId id) {
    if (!uses.readers(id).empty()) {
      return absl::StrCat(": ", Describe(graph.instrs[uses.readers(id).front()]));
    }
    const size_t maker = uses.maker(id);
    return maker == Uses::kNone ? "" : absl::StrCat(": made by ", Describe(graph.instrs[maker]));
  }

  static constexpr int64_t kListed = 6;
  const char* title_;
  Buffer::Kind kind_;
};

void AddMemory(const Explanation& what, std::string* text) {
  absl::StrAppend(text, "memory: ", what.memory.arena_bytes, " bytes, at least ",
                  what.memory.lower_bound_bytes, " are needed");
  const auto& instrs = what.lowered.instrs;
  const auto step = static_cast<size_t>(what.memory.peak_step);
  if (step < instrs.size()) absl::StrAppend(text, ", by ", Describe(instrs[step]));
  absl::StrAppend(text, "\n");
  constexpr size_t kListedUses = 8;
  int64_t rest = 0;
  for (size_t i = 0; i < what.peak.size(); ++i) {
    const MemoryUse& use = what.peak[i];
    rest += i < kListedUses ? 0 : use.bytes;
    if (i >= kListedUses) continue;
    absl::StrAppend(text, "  ", use.bytes, use.workspace ? " workspace of " : " made by ",
                    Describe(instrs[use.instr]), "\n");
  }
  if (rest != 0) {
    absl::StrAppend(text, "  ", rest, " in ", what.peak.size() - kListedUses, " more\n");
  }
}

}  // namespace

PassReport ReportReorders(const Graph& graph, const Graph& lowered) {
  std::vector<bool> known(lowered.values.size(), false);
  for (const Instr& instr : graph.instrs) {
    if (IsReorder(instr)) known[static_cast<size_t>(instr.out[0])] = true;
  }
  PassReport report{.pass = "reorders"};
  for (const Instr& instr : lowered.instrs) {
    if (!IsReorder(instr) || known[static_cast<size_t>(instr.out[0])]) continue;
    report.Add(absl::StrCat(lowered.value(instr.in[0]).spec.ToString(), " to ",
                            lowered.value(instr.out[0]).spec.ToString(), ": ", Describe(instr)));
  }
  return report;
}

PassReport ReportSideStream(const Graph& lowered, const StreamPlan* streams) {
  PassReport report{.pass = "side_stream"};
  for (size_t at = 0; streams != nullptr && at < lowered.instrs.size(); ++at) {
    if (streams->aside[at]) report.Add(Describe(lowered.instrs[at]));
  }
  return report;
}

std::string Explain(const Explanation& what) {
  std::string text = absl::StrCat("operations: ", CountComputing(what.captured), " captured, ",
                                  CountComputing(what.lowered), " run\n");
  absl::StrAppend(&text, "branches and loops: as in the captured run, whatever inputs are\n");
  for (const PassReport& report : what.reports) AddReport(report, &text);
  AddMemory(what, &text);
  absl::StrAppend(&text, "cuda graph: ",
                  what.not_recorded.empty() ? "from the second run with the same memory on"
                                            : "no, " + what.not_recorded,
                  "\n");
  const Uses uses(what.lowered);
  Section("inputs", Buffer::Kind::kInput).AddTo(what.lowered, uses, &text);
  Section("states", Buffer::Kind::kState).AddTo(what.lowered, uses, &text);
  Section("constants", Buffer::Kind::kConstant).AddTo(what.lowered, uses, &text);
  for (const std::string& warning : what.lowered.warnings) {
    absl::StrAppend(&text, "warning: ", warning, "\n");
  }
  return text;
}

}  // namespace firn
