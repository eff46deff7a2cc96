// Operations are replaced from the last to the first, so that the positions of earlier ones stay.

#include "firn/autograd/graph/internal/qat_places.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/internal/weights.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/graph_traits.h"

namespace firn::inner::internal {
namespace {

bool Among(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status Check(const Graph& graph, const QatOptions& o) {
  for (const RangeRecorder* r : {&o.inputs, &o.weights}) {
    FIRN_RETURN_IF(!(r->decay >= 0 && r->decay < 1),
                   InvalidArgument("decay must lie in [0, 1), got ", r->decay));
  }
  FIRN_RETURN_IF(o.bits < 2 || o.bits > 8,
                 InvalidArgument("bits must lie in [2, 8], got ", o.bits));
  for (const Instr& instr : graph.instrs) {
    FIRN_RETURN_IF(instr.phase != Phase::kForward || !graph.gradients.empty(),
                   FailedPrecondition("expected a graph without a backward pass, got ",
                                      PlaceOf(instr), " in one"));
  }
  return absl::OkStatus();
}

bool IsProduct(const Instr& instr) {
  const auto& map = TraitsOf(*instr.op).channel_map;
  return map && !map->scales_alone;
}

// By operation: whether one of these names comes before it (behind it), on whose results its
// arguments depend; by buffers, so that what is written through views counts.
std::vector<bool> HasBefore(const Graph& graph, const std::vector<std::string>& names,
                            bool backwards) {
  std::vector<bool> has(graph.instrs.size(), false), from_one(graph.buffers.size(), false);
  const auto of = [&](ValueId id) { return static_cast<size_t>(graph.value(id).buffer); };
  for (size_t step = 0; step < has.size(); ++step) {
    const size_t i = backwards ? has.size() - 1 - step : step;
    const Instr& instr = graph.instrs[i];
    for (const ValueId id : backwards ? instr.out : instr.in) {
      if (id != kNoValue && from_one[of(id)]) has[i] = true;
    }
    if (!has[i] && !Among(names, instr.op->name)) continue;
    for (const ValueId id : backwards ? instr.in : instr.out) {
      if (id != kNoValue) from_one[of(id)] = true;
    }
  }
  return has;
}

std::vector<size_t> OperationsOf(const Graph& graph, const QatOptions& o) {
  const std::vector<bool> before = HasBefore(graph, o.skip_first, false),
                          behind = HasBefore(graph, o.skip_last, true);
  std::vector<size_t> chosen;
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    const Instr& instr = graph.instrs[at];
    const std::string_view name = instr.op->name;
    if (o.operations.empty() ? !IsProduct(instr) : !Among(o.operations, name)) continue;
    if (!o.keep.empty() && LiesIn(instr.module_path(), o.keep)) continue;
    if (Among(o.skip_first, name) && !before[at]) continue;
    if (Among(o.skip_last, name) && !behind[at]) continue;
    chosen.push_back(at);
  }
  return chosen;
}

class Places {
 public:
  Places(const Graph& graph, const QatOptions& options)
      : graph_(graph), options_(options), uses_(graph) {
    for (const size_t at : OperationsOf(graph, options)) Add(at);
  }
  std::vector<QatPlace> Take() { return std::move(places_); }

 private:
  void Add(size_t at) {
    const Instr& instr = graph_.instrs[at];
    const auto& map = TraitsOf(*instr.op).channel_map;
    const std::string prefix(instr.path == nullptr ? instr.op->name : instr.module_path());
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] == kNoValue || instr.op->writes(i)) continue;
      if ((map && i == map->bias) || instr.op->input(i).name == "bias") continue;
      const Value& value = graph_.value(instr.in[i]);
      const bool weight = value.bound.defined() && !uses_.changed(value.buffer);
      const bool channels = weight && options_.per_channel && map && i == map->weight;
      Add({at, i, weight, channels ? value.spec.shape[0] : 0, {}}, value, prefix,
          weight ? "weight" : "input");
    }
    if (!options_.results || instr.out.empty()) return;
    Add({at, {}, false, 0, {}}, graph_.value(instr.out[0]), prefix, "output");
  }
  void Add(QatPlace place, const Value& value, const std::string& prefix, const char* what) {
    if (!IsFloating(value.spec.dtype) || value.spec.num_elements() == 0) return;
    place.name = absl::StrCat(prefix, ".", what);
    for (int again = 2; !names_.insert(place.name).second; ++again) {
      place.name = absl::StrCat(prefix, ".", what, again);
    }
    places_.push_back(std::move(place));
  }

  const Graph& graph_;
  const QatOptions& options_;
  const Uses uses_;
  absl::flat_hash_set<std::string> names_;
  std::vector<QatPlace> places_;
};

}  // namespace

absl::StatusOr<std::vector<QatPlace>> QatPlacesOf(const Graph& graph, const QatOptions& options) {
  FIRN_RETURN_IF_ERROR(Check(graph, options));
  std::vector<QatPlace> places = Places(graph, options).Take();
  FIRN_RETURN_IF(places.empty(),
                 InvalidArgument("expected an operation to quantize, got none",
                                 options.operations.empty() ? " that is convolution or linear" : "",
                                 " and is not to be kept"));
  return places;
}

absl::Status ChangeAtPlaces(Graph& graph, absl::Span<const QatPlace> places, PlaceChange change) {
  for (size_t end = places.size(), begin; end > 0; end = begin) {
    begin = end - 1;
    while (begin > 0 && places[begin - 1].at == places[begin].at) --begin;
    const absl::Span<const QatPlace> here = places.subspan(begin, end - begin);
    const Instr instr = graph.instrs[here[0].at];
    FIRN_RETURN_IF_ERROR(ReplaceOperation(graph, here[0].at, [&](absl::Span<const Tensor> in) {
      std::vector<Tensor> given(in.begin(), in.end());
      for (const QatPlace& p : here) {
        if (p.input) given[*p.input] = change(p, in[*p.input]);
      }
      const std::vector<TensorRef> refs(given.begin(), given.end());
      TensorList results = Apply(*instr.op, refs, instr.attrs.ref());
      for (const QatPlace& p : here) {
        if (!p.input) results[0] = change(p, results[0]);
      }
      return results;
    }));
  }
  return absl::OkStatus();
}
}  // namespace firn::inner::internal
