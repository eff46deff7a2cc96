// channel_affine: a per-channel scale and shift in the tensor's own layout; batch normalisation
// with fixed statistics, and biases of operations that have none.
//
// channel_sum: one pass over the tensor in its own layout; each image's sums are added in double.

#include "firn/tensor/ops/conv/channels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/device/simd_sums.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cpu/channel_rows.h"
#include "firn/tensor/kernels/cpu/channels.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

using In = ChannelAffineIn;

absl::Status InferChannelAffine(InferContext& c) {
  for (int i : {In::kScale, In::kShift}) {
    FIRN_RETURN_IF(c.has(i) && c.shape(i)[0] != c.shape(In::kX)[1],
                   InvalidArgument(i == In::kScale ? "scale " : "shift ", c.shape(i).ToString(),
                                   " does not fit the channels of x ", c.shape(In::kX).ToString()));
  }
  c.set_out_like(0, In::kX);
  return absl::OkStatus();
}

// The number of elements of a half type that are converted at once, in whole chunks of lanes.
constexpr int64_t kStrip = 8 * cpu::kLanes;

// x * scale + shift for runs of a tensor.
template <class T, class Number>
struct Affine {
  using Acc = AccumulatorOf<T>;

  cpu::ChannelView v;
  const T* x;
  const Number *scale, *shift;
  T* y;

  // Runs [begin, end). Runs of half types are converted several at once, or in strips.
  void operator()(int64_t begin, int64_t end) const {
    if constexpr (sizeof(T) != 2) {
      for (int64_t r = begin; r < end; ++r) Scale(r, x + r * v.run, v.run, y + r * v.run);
    } else if (v.run > kStrip) {
      for (int64_t r = begin; r < end; ++r) {
        for (int64_t at = 0; at < v.run; at += kStrip) {
          ScaleHalf(r, 1, r * v.run + at, std::min(kStrip, v.run - at));
        }
      }
    } else {
      const int64_t at_once = kStrip / std::max<int64_t>(1, v.run);
      for (int64_t r = begin; r < end; r += at_once) {
        ScaleHalf(r, std::min(at_once, end - r), r * v.run, v.run);
      }
    }
  }

 private:
  // n elements of each of some runs, which lie side by side from `at` on.
  void ScaleHalf(int64_t r, int64_t runs, int64_t at, int64_t n) const {
    float strip[kStrip];
    cpu::ToFloats(x + at, runs * n, strip);
    for (int64_t i = 0; i < runs; ++i) Scale(r + i, strip + i * n, n, strip + i * n);
    cpu::FromFloats(strip, runs * n, y + at);
  }
  // Some of run r, from a first lane on; may be done in place.
  void Scale(int64_t r, const Acc* from, int64_t n, Acc* to) const {
    const int64_t group = r % v.groups;
    if (v.block == 1) {
      const Acc a = scale == nullptr ? Acc{1} : static_cast<Acc>(scale[group]);
      const Acc b = shift == nullptr ? Acc{0} : static_cast<Acc>(shift[group]);
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = 0; i < n; ++i) to[i] = from[i] * a + b;
      return;
    }
    Acc a[cpu::kLanes], b[cpu::kLanes];
    cpu::SpreadLanes(scale, group, v.block, Acc{1}, a);
    cpu::SpreadLanes(shift, group, v.block, Acc{0}, b);
    cpu::ForEachLane(n, [&](int64_t i, int64_t j) { to[i] = from[i] * a[j] + b[j]; });
  }
};

// The same where channels lie side by side.
template <class Acc>
void ScaleRows(KernelContext& k, const cpu::ChannelRows& v) {
  const cpu::RowsIn<Acc> x(k, In::kX), scale(k, In::kScale), shift(k, In::kShift);
  const cpu::RowsOut<Acc> y(k, 0);
  v.ForEachTile([&](const cpu::RowTile& tile) {
    alignas(64) Acc a[cpu::ChannelRows::kWidth], b[cpu::ChannelRows::kWidth];
    std::fill_n(a, cpu::ChannelRows::kWidth, Acc{1});
    std::fill_n(b, cpu::ChannelRows::kWidth, Acc{0});
    if (scale.given()) scale.Load(tile.first, tile.width, a);
    if (shift.given()) shift.Load(tile.first, tile.width, b);
    const Acc* const numbers[] = {a, b};
    cpu::PieceReader<Acc> from(x);
    v.ForEachPiece(tile, [&](const cpu::LanePiece& piece) {
      const Acc* const at = from.Read(piece);
      cpu::WritePiece(piece, numbers, y, [&](int64_t i, const auto& lanes, int64_t j) {
        return at[i] * lanes[0][j] + lanes[1][j];
      });
    });
  });
}

// Calls f(TypeTag<Acc>(), rows) if the channels of `x` lie side by side.
template <class F>
bool VisitRows(const TensorSpec& x, const F& f) {
  if (!cpu::ChannelRows::Has(x)) return false;
  cpu::VisitComputed(x.dtype, [&](auto tag) { f(tag, cpu::ChannelRows(x)); });
  return true;
}

absl::Status RunChannelAffine(KernelContext& k) {
  const bool done = VisitRows(
      k.in_spec(In::kX), [&]<class Acc>(TypeTag<Acc>, const auto& v) { ScaleRows<Acc>(k, v); });
  if (done) return absl::OkStatus();
  const cpu::ChannelView v = cpu::ViewChannels(k.in_spec(In::kX));
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, v.run));
  VisitFloat(k.in_spec(In::kX).dtype, [&]<class T>(TypeTag<T>) {
    VisitOrWide<T>(k.dtype_of_first({In::kScale, In::kShift, In::kX}),
                   [&]<class Number>(TypeTag<Number>) {
                     const Affine<T, Number> affine{v, k.in<T>(In::kX), k.in<Number>(In::kScale),
                                                    k.in<Number>(In::kShift), k.out<T>()};
                     ParallelFor(v.batch * v.groups, grain, affine);
                   });
  });
  return absl::OkStatus();
}

void GradChannelAffine(GradContext& g) {
  const Tensor& dy = g.grad_output();
  if (g.needs(In::kX)) g.set_grad_input(In::kX, ChannelAffine(dy, g.input(In::kScale), {}));
  if (g.needs(In::kScale)) {
    const DType dtype = g.input_spec(In::kScale).dtype;
    g.set_grad_input(In::kScale, ChannelSum(Mul(Cast(dy, dtype), Cast(g.input(In::kX), dtype))));
  }
  if (g.needs(In::kShift)) {
    g.set_grad_input(In::kShift, ChannelSum(Cast(dy, g.input_spec(In::kShift).dtype)));
  }
}

constexpr GraphTraits kAffineTraits = {
    .channel_map =
        ChannelMap{.x = In::kX, .weight = In::kScale, .bias = In::kShift, .scales_alone = true},
};

FIRN_REGISTER_OP(channel_affine) {
  const ArgDecl per_channel = {.name = "scale",
                               .same_dtype_as = "x",
                               .or_wide = true,
                               .min_rank = 1,
                               .max_rank = 1,
                               .optional = true};
  ArgDecl shift = per_channel;
  shift.name = "shift";
  return {
      .doc = "x * scale + shift with one number per channel.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2}, per_channel, shift},
      .outputs = {{.name = "y"}},
      .infer = InferChannelAffine,
      .grad = GradChannelAffine,
      .saves = {Saved::Input(In::kX), Saved::Input(In::kScale)},
      .may_reuse = {{0, In::kX}},
      .kernels = {{.name = "loop", .layouts = cpu::ChannelOrLastLayouts, .run = RunChannelAffine}},
      .graph = &kAffineTraits,
  };
}

absl::Status InferChannelSum(InferContext& c) {
  c.set_out(0, c.dtype(0), Shape({c.shape(0)[1]}));
  return absl::OkStatus();
}

// Adds up the lanes of each channel, in halves; the sums are the first `block`.
template <class Acc>
FIRN_ALWAYS_INLINE void FoldLanes(int64_t block, Acc* lanes) {
  const auto halve = [&](auto to) {
    if (block > to) return;
    for (int64_t j = 0; j < to; ++j) lanes[j] += lanes[j + to];
  };
  static_assert(cpu::kLanes == 32);
  halve(std::integral_constant<int64_t, 16>());
  halve(std::integral_constant<int64_t, 8>());
  halve(std::integral_constant<int64_t, 4>());
  halve(std::integral_constant<int64_t, 2>());
  halve(std::integral_constant<int64_t, 1>());
}

// Sums of the channels of adjacent groups, whose runs lie one behind the other in each image.
template <class T>
class SumOfGroups {
 public:
  // The numbers of elements of a half type and of channels that are converted at once.
  static constexpr int64_t kAtOnce = 1024, kChannels = 64;

  SumOfGroups(const cpu::ChannelView& v, const T* x) : v_(v), x_(x) {}

  // Requires: the groups have at most kChannels channels together.
  void operator()(int64_t first, int64_t groups, T* out) {
    std::fill_n(sums_, groups * v_.block, 0.0);
    const int64_t at_once = std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, v_.run));
    for (int64_t n = 0; n < v_.batch; ++n) {
      for (int64_t g = 0; g < groups; g += at_once) {
        AddRuns(x_ + v_.offset(n, first + g), std::min(at_once, groups - g), sums_ + g * v_.block);
      }
    }
    for (int64_t i = 0; i < groups * v_.block; ++i) out[i] = ConvertTo<T>(sums_[i]);
  }

 private:
  using Acc = AccumulatorOf<T>;

  void AddRuns(const T* run, int64_t runs, double* sums) {
    const int64_t n = v_.run;
    if (runs == 1) {
      alignas(64) Acc lanes[cpu::kLanes] = {};
      for (int64_t at = 0; at < n; at += kAtOnce) {
        const int64_t some = std::min(kAtOnce, n - at);
        AddTo(lanes, cpu::ViewAs<T, Acc>(run + at, some, strip_), some);
      }
      return Fold(lanes, sums);
    }
    const Acc* const from = cpu::ViewAs<T, Acc>(run, runs * n, strip_);
    int64_t r = 0;
    for (; v_.block == 1 && r + kSimdLanes<Acc> <= runs; r += kSimdLanes<Acc>) {
      AddRows(from + r * n, n, sums + r);
    }
    for (; r < runs; ++r) {
      alignas(64) Acc lanes[cpu::kLanes] = {};
      AddTo(lanes, from + r * n, n);
      Fold(lanes, sums + r * v_.block);
    }
  }
  // Like the above, for runs that are one channel each and as many as a vector has lanes.
  static void AddRows(const Acc* from, int64_t n, double* sums) {
    constexpr int64_t kRows = kSimdLanes<Acc>;
    Vec<Acc> rows[kRows];
    for (int64_t r = 0; r < kRows; ++r) rows[r] = FoldedRow(from + r * n, n);
    const Vec<Acc> totals = inner::internal::SumOfLanes<Acc>(rows);
    for (int64_t r = 0; r < kRows; ++r) sums[r] += static_cast<double>(totals[r]);
  }
  // The lanes of a run, folded to be one vector.
  static FIRN_ALWAYS_INLINE Vec<Acc> FoldedRow(const Acc* from, int64_t n) {
    constexpr int64_t kStep = kSimdLanes<Acc>;
    Vec<Acc> parts[cpu::kLanes / kStep] = {};
    const auto add = [&](const Acc* some) __attribute__((always_inline)) {
      for (int64_t p = 0; p < cpu::kLanes / kStep; ++p) {
        Vec<Acc> v;
        std::memcpy(&v, some + p * kStep, sizeof(v));
        parts[p] += v;
      }
    };
    int64_t i = 0;
    for (; i + cpu::kLanes <= n; i += cpu::kLanes) add(from + i);
    if (i < n) {
      alignas(64) Acc rest[cpu::kLanes] = {};
      std::copy(from + i, from + n, rest);
      add(rest);
    }
    for (int64_t half = cpu::kLanes / kStep / 2; half > 0; half /= 2) {
      for (int64_t p = 0; p < half; ++p) parts[p] += parts[p + half];
    }
    return parts[0];
  }
  static FIRN_ALWAYS_INLINE void AddTo(Acc (&lanes)[cpu::kLanes], const Acc* from, int64_t n) {
    Acc own[cpu::kLanes];  // a local copy, whose address nothing else has
    std::copy_n(lanes, cpu::kLanes, own);
    cpu::ForEachLane(n, [&](int64_t i, int64_t j) { own[j] += from[i]; });
    std::copy_n(own, cpu::kLanes, lanes);
  }
  FIRN_ALWAYS_INLINE void Fold(Acc (&lanes)[cpu::kLanes], double* sums) const {
    FoldLanes(v_.block, lanes);
    for (int64_t b = 0; b < v_.block; ++b) sums[b] += static_cast<double>(lanes[b]);
  }

  const cpu::ChannelView v_;
  const T* const x_;
  double sums_[kChannels];
  alignas(64) Acc strip_[kAtOnce];
};

// The same where channels lie side by side.
template <class Acc>
void SumRows(KernelContext& k, const cpu::ChannelRows& v) {
  const cpu::RowScratch<Acc, 0> scratch(v, k.workspace<void>());
  const cpu::RowsIn<Acc> x(k, 0);
  v.ForEachTile([&](const cpu::RowTile& tile) {
    constexpr Acc kNone[cpu::ChannelRows::kWidth] = {};
    cpu::PieceReader<Acc> from(x);
    cpu::TileSums<Acc> sums(tile.width);
    v.ForEachPiece(tile, [&](const cpu::LanePiece& piece) {
      const Acc* const at = from.Read(piece);
      sums.Add(piece, kNone, [&](int64_t i, Acc none) { return std::pair(at[i], none); });
    });
    scratch.Keep(tile, sums);
  });
  const cpu::RowsOut<Acc> out(k, 0);
  scratch.ForEachChannel([&](int64_t c, double sum, double /*of nothing*/) {
    const Acc rounded = static_cast<Acc>(sum);
    out.Store(c, 1, &rounded);
  });
}

size_t ChannelSumWorkspace(const KernelQuery& q) {
  size_t bytes = 0;
  VisitRows(q.in(0), [&]<class Acc>(TypeTag<Acc>, const auto& v) {
    bytes = cpu::RowScratch<Acc, 0>::Bytes(v);
  });
  return bytes;
}

absl::Status RunChannelSum(KernelContext& k) {
  const bool done =
      VisitRows(k.in_spec(0), [&]<class Acc>(TypeTag<Acc>, const auto& v) { SumRows<Acc>(k, v); });
  if (done) return absl::OkStatus();
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const cpu::ChannelView v = cpu::ViewChannels(k.in_spec(0));
    const int64_t most = SumOfGroups<T>::kChannels / v.block;
    ParallelFor(v.groups, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, v.batch * v.run)),
                [&](int64_t begin, int64_t end) {
                  SumOfGroups<T> sum(v, k.in<T>(0));
                  for (int64_t g = begin; g < end; g += most) {
                    sum(g, std::min(most, end - g), k.out<T>() + g * v.block);
                  }
                });
  });
  return absl::OkStatus();
}

void GradChannelSum(GradContext& g) {
  const Shape& x = g.input_shape(0);
  Dims dims(x.rank(), 1);
  dims[1] = x[1];
  g.set_grad_input(0, Expand(Reshape(g.grad_output(), dims.span()), x));
}

constexpr GraphTraits kSumTraits = {.sums_channels = [](AttrsRef, const Shape&) { return true; }};

FIRN_REGISTER_OP(channel_sum) {
  return {
      .doc = "The sum over every dimension but the second.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2}},
      .outputs = {{.name = "sum"}},
      .infer = InferChannelSum,
      .grad = GradChannelSum,
      .kernels = {{.name = "loop",
                   .workspace = ChannelSumWorkspace,
                   .layouts = cpu::ChannelOrLastLayouts,
                   .run = RunChannelSum}},
      .graph = &kSumTraits,
  };
}

}  // namespace

Tensor ChannelAffine(const Tensor& x, const Tensor& scale, const Tensor& shift) {
  return Apply1(TheOp<"channel_affine">(), {x, scale, shift});
}

Tensor inner::ChannelSum(const Tensor& x) { return Apply1(TheOp<"channel_sum">(), {x}); }

}  // namespace firn
