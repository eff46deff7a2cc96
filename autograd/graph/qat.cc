// Recording and rounding find the same places in the same graph (internal/qat_places.h). Capturing
// a recorder runs it once, on zeros: states are set to their beginnings afterwards.

#include "firn/autograd/graph/qat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/internal/qat_places.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
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
using inner::internal::ChangeAtPlaces;
using inner::internal::QatPlace;
using inner::internal::QatPlacesOf;

// --- Recording -----------------------------------------------------------------------------------

struct RangeState {
  Tensor low, high, batches;
};

void Follow(const Tensor& x, const QatPlace& place, const RangeRecorder& r, const RangeState& s) {
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

Device DeviceAt(const Graph& graph, const QatPlace& p) {
  const Instr& instr = graph.instrs[p.at];
  return graph.value(p.input ? instr.in[*p.input] : instr.out[0]).spec.device;
}

absl::StatusOr<StateDict> Record(Graph& graph, const QatOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<QatPlace> places, QatPlacesOf(graph, options));
  StateDict state;
  for (const QatPlace& p : places) {
    const Device device = DeviceAt(graph, p);
    const Shape shape = p.channels == 0 ? Shape({}) : Shape({p.channels});
    state.Insert(p.name + ".low", Zeros(shape, DType::kF32, device));
    state.Insert(p.name + ".high", Zeros(shape, DType::kF32, device));
    state.Insert(p.name + ".batches", Zeros({}, DType::kI64, device));
  }
  FIRN_RETURN_IF_ERROR(ChangeAtPlaces(graph, places, [&](const QatPlace& p, const Tensor& x) {
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

Levels LevelsOf(const QatPlace& p, const QatOptions& o) {
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

absl::StatusOr<const Tensor*> RangeOf(const StateDict& ranges, const QatPlace& p,
                                      const char* what) {
  const Tensor* found = ranges.Find(absl::StrCat(p.name, ".", what));
  FIRN_RETURN_IF(found == nullptr, NotFound("expected a range '", p.name, ".", what, "'"));
  const int64_t numbers = p.channels == 0 || what == std::string_view("batches") ? 1 : p.channels;
  FIRN_RETURN_IF(found->num_elements() != numbers,
                 InvalidArgument("expected '", p.name, ".", what, "' to have ", numbers,
                                 " elements, got ", found->spec().ToString()));
  return found;
}

// Scales and zero points of a place into `state`.
absl::Status AddGrid(const Graph& graph, const QatPlace& p, const StateDict& ranges,
                     const QatOptions& o, StateDict& state) {
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
  state.Insert(p.name + ".scale", FromVector(scales, shape).To(DeviceAt(graph, p)));
  state.Insert(p.name + ".zero_point", FromVector(zeros, shape).To(DeviceAt(graph, p)));
  return absl::OkStatus();
}

absl::StatusOr<StateDict> Round(Graph& graph, const StateDict& ranges, const QatOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<QatPlace> places, QatPlacesOf(graph, options));
  StateDict state;
  for (const QatPlace& p : places) FIRN_RETURN_IF_ERROR(AddGrid(graph, p, ranges, options, state));
  FIRN_RETURN_IF_ERROR(ChangeAtPlaces(graph, places, [&](const QatPlace& p, const Tensor& x) {
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
