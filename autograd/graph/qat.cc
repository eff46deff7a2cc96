// Places are the arguments of operations that have ranges, in the order of operations: recording
// and rounding find the same ones in the same graph, and call them by the same names. Operations
// are replaced from the last on, so that positions before keep. Capturing a recorder runs it once,
// on zeros: states are set to their beginnings afterwards.

#include "firn/autograd/graph/qat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/internal/weights.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

using inner::internal::LiesIn;
using inner::internal::PlaceOf;

// An argument of an operation, or its result.
struct Place {
  size_t at = 0;
  std::optional<size_t> input = {};  // nothing: result 0
  bool weight = false;
  int64_t channels = 0;  // of ranges; 0: one for all
  std::string name;      // "net.conv1.input"
};

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
  std::vector<Place> Take() { return std::move(places_); }

 private:
  void Add(size_t at) {
    const Instr& instr = graph_.instrs[at];
    const auto& map = TraitsOf(*instr.op).channel_map;
    const std::string prefix(instr.path == nullptr ? instr.op->name : instr.module_path());
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] == kNoValue || instr.op->writes(i) || (map && i == map->bias)) continue;
      const Value& value = graph_.value(instr.in[i]);
      const bool weight = value.bound.defined() && !uses_.changed(value.buffer);
      const bool channels = weight && options_.per_channel && map && i == map->weight;
      Add({at, i, weight, channels ? value.spec.shape[0] : 0, {}}, value, prefix,
          weight ? "weight" : "input");
    }
    if (!options_.results || instr.out.empty()) return;
    Add({at, {}, false, 0, {}}, graph_.value(instr.out[0]), prefix, "output");
  }
  void Add(Place place, const Value& value, const std::string& prefix, const char* what) {
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
  std::vector<Place> places_;
};

absl::StatusOr<std::vector<Place>> PlacesOf(const Graph& graph, const QatOptions& options) {
  FIRN_RETURN_IF_ERROR(Check(graph, options));
  std::vector<Place> places = Places(graph, options).Take();
  FIRN_RETURN_IF(places.empty(),
                 InvalidArgument("expected an operation to quantize, got none",
                                 options.operations.empty() ? " that is convolution or linear" : "",
                                 " and is not to be kept"));
  return places;
}

using Change = absl::FunctionRef<Tensor(const Place& place, const Tensor& x)>;

// Has operations read (or give) what `change` makes of it.
absl::Status ChangeAt(Graph& graph, absl::Span<const Place> places, Change change) {
  for (size_t end = places.size(), begin; end > 0; end = begin) {
    begin = end - 1;
    while (begin > 0 && places[begin - 1].at == places[begin].at) --begin;
    const absl::Span<const Place> here = places.subspan(begin, end - begin);
    const Instr instr = graph.instrs[here[0].at];
    FIRN_RETURN_IF_ERROR(ReplaceOperation(graph, here[0].at, [&](absl::Span<const Tensor> in) {
      std::vector<Tensor> given(in.begin(), in.end());
      for (const Place& p : here) {
        if (p.input) given[*p.input] = change(p, in[*p.input]);
      }
      const std::vector<TensorRef> refs(given.begin(), given.end());
      TensorList results = Apply(*instr.op, refs, instr.attrs.ref());
      for (const Place& p : here) {
        if (!p.input) results[0] = change(p, results[0]);
      }
      return results;
    }));
  }
  return absl::OkStatus();
}

// --- Recording -----------------------------------------------------------------------------------

struct RangeState {
  Tensor low, high, batches;
};

void Follow(const Tensor& x, const Place& place, const RangeRecorder& r, const RangeState& s) {
  const NoGradScope no_grad;
  const Tensor wide = Cast(x, DType::kF32);
  const auto reduced = [&](Tensor (*reduce)(const Tensor&, const DimList&, inner::Flag),
                           const Tensor& t) {
    return place.channels == 0 ? reduce(t, {}, false)
                               : reduce(Reshape(t, {place.channels, -1}), {1}, false);
  };
  const Tensor first = Eq(s.batches, 0);
  const auto move = [&](const Tensor& range, const Tensor& seen, bool up) {
    const Tensor next = r.decay > 0 ? Add(Mul(range, r.decay), Mul(seen, 1 - r.decay))
                        : up        ? Maximum(range, seen)
                                    : Minimum(range, seen);
    Assign(range, Where(first, seen, next));
  };
  const Tensor magnitudes = r.extremes == Extremes::kMagnitude ? Abs(wide) : wide;
  const Tensor most = reduced(Amax, magnitudes);
  move(s.high, most, true);
  if (r.extremes == Extremes::kMinMax) move(s.low, reduced(Amin, wide), false);
  if (r.extremes == Extremes::kMagnitude) move(s.low, Neg(most), false);
  Accumulate(s.batches, OnesLike(s.batches));
}

absl::StatusOr<StateDict> Record(Graph& graph, const QatOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<Place> places, PlacesOf(graph, options));
  StateDict state;
  for (const Place& p : places) {
    const Instr& instr = graph.instrs[p.at];
    const Device device = graph.value(p.input ? instr.in[*p.input] : instr.out[0]).spec.device;
    const Shape shape = p.channels == 0 ? Shape({}) : Shape({p.channels});
    state.Insert(p.name + ".low", Zeros(shape, DType::kF32, device));
    state.Insert(p.name + ".high", Zeros(shape, DType::kF32, device));
    state.Insert(p.name + ".batches", Zeros({}, DType::kI64, device));
  }
  FIRN_RETURN_IF_ERROR(ChangeAt(graph, places, [&](const Place& p, const Tensor& x) {
    Follow(x, p, p.weight ? options.weights : options.inputs,
           {state[p.name + ".low"], state[p.name + ".high"], state[p.name + ".batches"]});
    return x;
  }));
  for (auto [name, tensor] : state) tensor.Fill(0);
  return state;
}

// --- Rounding ------------------------------------------------------------------------------------

struct Levels {
  int64_t least, most;
};

Levels LevelsOf(const Place& p, const QatOptions& o) {
  const bool sign = p.weight || o.symmetric;
  const int64_t half = int64_t{1} << (o.bits - 1), narrow = p.weight || o.narrow_range ? 1 : 0;
  return sign ? Levels{narrow - half, half - 1} : Levels{narrow, 2 * half - 1};
}

double Rounded(double scale, PowerOfTwoScale to) {
  if (to == PowerOfTwoScale::kNo) return scale;
  const double power = std::log2(scale);
  return std::exp2(to == PowerOfTwoScale::kUp     ? std::ceil(power)
                   : to == PowerOfTwoScale::kDown ? std::floor(power)
                                                  : std::nearbyint(power));
}

absl::StatusOr<const Tensor*> RangeOf(const StateDict& ranges, const Place& p, const char* what) {
  const Tensor* found = ranges.Find(absl::StrCat(p.name, ".", what));
  FIRN_RETURN_IF(found == nullptr, NotFound("expected a range '", p.name, ".", what, "'"));
  const int64_t numbers = p.channels == 0 || what == std::string_view("batches") ? 1 : p.channels;
  FIRN_RETURN_IF(found->num_elements() != numbers,
                 InvalidArgument("expected '", p.name, ".", what, "' to have ", numbers,
                                 " elements, got ", found->spec().ToString()));
  return found;
}

// Scales and zero points of a place into `state`.
absl::Status AddGrid(const Place& p, const StateDict& ranges, const QatOptions& o,
                     StateDict& state) {
  FIRN_ASSIGN_OR_RETURN(const Tensor* low, RangeOf(ranges, p, "low"));
  FIRN_ASSIGN_OR_RETURN(const Tensor* high, RangeOf(ranges, p, "high"));
  FIRN_ASSIGN_OR_RETURN(const Tensor* batches, RangeOf(ranges, p, "batches"));
  FIRN_RETURN_IF(batches->Item<double>() == 0,
                 FailedPrecondition("the range '", p.name, "' has seen no batch"));
  const std::vector<double> lows = low->ToVector<double>(), highs = high->ToVector<double>();
  const Levels levels = LevelsOf(p, o);
  std::vector<float> scales;
  std::vector<int32_t> zeros;
  for (size_t c = 0; c < lows.size(); ++c) {
    FIRN_RETURN_IF(!std::isfinite(lows[c]) || !std::isfinite(highs[c]),
                   FailedPrecondition("expected the range '", p.name, "' to be finite, got [",
                                      lows[c], ", ", highs[c], "]"));
    const double from = std::min(lows[c], 0.0), to = std::max(highs[c], 0.0);
    const bool sign = levels.least < 0;
    const double span = sign ? std::max(-from, to) / static_cast<double>(levels.most)
                             : (to - from) / static_cast<double>(levels.most - levels.least);
    const double least = std::numeric_limits<float>::min();
    const double scale = span == 0 ? 1 : std::max(Rounded(span, o.power_of_two), least);
    scales.push_back(static_cast<float>(scale));
    const double zero = std::nearbyint(-from / scale) + static_cast<double>(levels.least);
    zeros.push_back(
        sign ? 0 : static_cast<int32_t>(std::min<double>(zero, static_cast<double>(levels.most))));
  }
  const Shape shape = p.channels == 0 ? Shape({}) : Shape({p.channels});
  state.Insert(p.name + ".scale", FromVector(scales, shape).To(low->device()));
  state.Insert(p.name + ".zero_point", FromVector(zeros, shape).To(low->device()));
  return absl::OkStatus();
}

absl::StatusOr<StateDict> Round(Graph& graph, const StateDict& ranges, const QatOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<Place> places, PlacesOf(graph, options));
  StateDict state;
  for (const Place& p : places) FIRN_RETURN_IF_ERROR(AddGrid(p, ranges, options, state));
  FIRN_RETURN_IF_ERROR(ChangeAt(graph, places, [&](const Place& p, const Tensor& x) {
    const Levels levels = LevelsOf(p, options);
    const Tensor &scale = state[p.name + ".scale"], &zero = state[p.name + ".zero_point"];
    return p.channels == 0 ? FakeQuantize(x, scale, zero, levels.least, levels.most)
                           : FakeQuantize(x, scale, zero, levels.least, levels.most, 0);
  }));
  return state;
}

StateDict TakeIfRight(absl::StatusOr<StateDict> state, Graph next, Graph& graph, const char* who) {
  RaiseIfError(state.status(), who);
  graph = std::move(next);
  return *std::move(state);
}

}  // namespace

StateDict RecordRanges(Graph& graph, const QatOptions& options) {
  const NoGradScope no_grad;
  Graph next = graph;
  absl::StatusOr<StateDict> state = Record(next, options);
  return TakeIfRight(std::move(state), std::move(next), graph, "RecordRanges");
}

StateDict FakeQuantizeByRanges(Graph& graph, const StateDict& ranges, const QatOptions& options) {
  const NoGradScope no_grad;
  Graph next = graph;
  absl::StatusOr<StateDict> state = Round(next, ranges, options);
  return TakeIfRight(std::move(state), std::move(next), graph, "FakeQuantizeByRanges");
}

}  // namespace firn
