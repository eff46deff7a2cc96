// Batch normalisation and its gradient: group by group where a group of channels can stay in cache
// for both passes, and over tiles of rows where channels lie side by side. Where squares leave the
// range of their type, the channel's statistics are computed again from scaled numbers.

#include "firn/tensor/kernels/cpu/batch_norm_kernels.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "firn/tensor/kernels/cpu/channel_groups.h"
#include "firn/tensor/kernels/cpu/channel_rows.h"
#include "firn/tensor/kernels/cpu/channel_statistics.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/kernels/fused_activation.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn::cpu {
namespace {

using In = BatchNormIn;
using Out = BatchNormOut;
using GradIn = BatchNormGradIn;
using GradOut = BatchNormGradOut;

// Element c of optional input i.
template <class Acc>
double ChannelNumber(const KernelContext& k, int i, int64_t c, double missing) {
  return k.has(i) ? static_cast<double>(RowsIn<Acc>(k, i)[c]) : missing;
}

// --- Forward -------------------------------------------------------------------------------------

template <class Acc>
void GroupStatistics(const ChannelGroups& v, PieceReader<Acc>& x, int64_t g, double eps,
                     ChannelStatistics* of) {
  Acc first[kLanes] = {}, shift[kLanes];
  x.rows().Load(g * v.run, v.block, first);
  SpreadLanes(first, 0, v.block, Acc{0}, shift);
  ChannelSums<Acc> sums(v.block);
  v.ForEachPiece(g, [&](const LanePiece& piece) {
    const Acc* const from = x.Read(piece);
    sums.Add(piece, [&](int64_t i, int64_t j) {
      const Acc d = from[i] - shift[j];
      return std::pair(d, d * d);
    });
  });
  for (int64_t b = 0; b < v.block; ++b) {
    of[b] = ChannelStatistics(static_cast<double>(v.per_channel()), static_cast<double>(first[b]),
                              sums.first(b), sums.second(b));
    of[b].Rescale<Acc>(eps, [&](const auto& f) {
      v.ForEachPiece(g, [&](const LanePiece& piece) {
        const Acc* const from = x.Read(piece);
        piece.ForEachInOrder([&](int64_t i, int64_t j) {
          if ((j & (v.block - 1)) == b) f(static_cast<double>(from[i]));
        });
      });
    });
  }
}

// f((x - mean) scale + shift) with the numbers of lane j, in this order.
template <FusedActivation kActivation, class Acc>
FIRN_ALWAYS_INLINE Acc Normalized(Acc x, const Acc (&lanes)[3][kLanes], int64_t j) {
  return Activate<kActivation>((x - lanes[0][j]) * lanes[1][j] + lanes[2][j]);
}

// Moves element c of inout input i, if it is given.
template <class Acc>
void MoveTowards(KernelContext& k, int i, int64_t c, double batch, double momentum) {
  if (!k.has(i)) return;
  const double old = static_cast<double>(RowsIn<Acc>(k, i)[c]);
  const Acc moved = static_cast<Acc>((1 - momentum) * old + momentum * batch);
  RowsOut<Acc>(k.in_spec(i).dtype, k.inout<void>(i)).Store(c, 1, &moved);
}

// Writes the statistics of channel c, and returns the numbers that normalise it.
template <class Acc>
void TakeStatistics(KernelContext& k, int64_t c, const ChannelStatistics& of, Acc* mean, Acc* scale,
                    Acc* shift) {
  const BatchNormAttrs& a = k.attrs<BatchNormAttrs>();
  const double invstd = of.InverseDeviation(a.eps);
  *mean = static_cast<Acc>(of.mean);
  *scale = static_cast<Acc>(ChannelNumber<Acc>(k, In::kWeight, c, 1) * invstd);
  *shift = static_cast<Acc>(ChannelNumber<Acc>(k, In::kBias, c, 0));
  k.out<Acc>(Out::kMean)[c] = *mean;
  k.out<Acc>(Out::kInvstd)[c] = static_cast<Acc>(invstd);
  MoveTowards<Acc>(k, In::kRunningMean, c, of.mean, a.momentum);
  MoveTowards<Acc>(k, In::kRunningVar, c, of.var * of.count / (of.count - 1) / of.unit / of.unit,
                   a.momentum);
}

template <FusedActivation kActivation, class Acc>
void NormalizeGroup(KernelContext& k, const ChannelGroups& v, int64_t g) {
  ChannelStatistics statistics[kLanes];
  PieceReader<Acc> x({k, In::kX});
  GroupStatistics(v, x, g, k.attrs<BatchNormAttrs>().eps, statistics);
  Acc mean[kLanes], scale[kLanes], shift[kLanes];
  for (int64_t b = 0; b < v.block; ++b) {
    TakeStatistics(k, g * v.block + b, statistics[b], mean + b, scale + b, shift + b);
  }
  Acc lanes[3][kLanes];
  SpreadLanes(mean, 0, v.block, Acc{0}, lanes[0]);
  SpreadLanes(scale, 0, v.block, Acc{0}, lanes[1]);
  SpreadLanes(shift, 0, v.block, Acc{0}, lanes[2]);
  const RowsOut<Acc> y(k, Out::kY);
  alignas(64) Acc results[kLanePiece];
  v.ForEachPiece(g, [&](const LanePiece& piece) {
    const Acc* const from = x.Read(piece);
    Acc* const to = piece.Room(y, results);
    piece.ForEach(
        [&](int64_t i, int64_t j) { to[i] = Normalized<kActivation>(from[i], lanes, j); });
    piece.Write(y, to);
  });
}

template <class Acc>
using ForwardScratch = RowScratch<Acc, 3>;

template <FusedActivation kActivation, class Acc>
void NormalizeRows(KernelContext& k, const ChannelRows& v) {
  const ForwardScratch<Acc> scratch(v, k.workspace<void>());
  Acc *const mean = scratch.Numbers(0), *const scale = scratch.Numbers(1),
             *const shift = scratch.Numbers(2);
  const RowsIn<Acc> x(k, In::kX);
  const double eps = k.attrs<BatchNormAttrs>().eps;
  v.ForEachTile([&](const RowTile& tile) {
    PieceReader<Acc> from(x);
    // Sums differences to a channel's first value, like GroupStatistics.
    Acc first[ChannelRows::kWidth] = {};
    x.Load(tile.first, tile.width, first);
    TileSums<Acc> sums(tile.width);
    v.ForEachPiece(tile, [&](const LanePiece& piece) {
      const Acc* const at = from.Read(piece);
      sums.Add(piece, first, [&](int64_t i, Acc of_channel) {
        const Acc d = at[i] - of_channel;
        return std::pair(d, d * d);
      });
    });
    scratch.Keep(tile, sums);
  });
  scratch.ForEachChannel([&](int64_t c, double sum, double squares) {
    ChannelStatistics of(static_cast<double>(v.rows), static_cast<double>(x[c]), sum, squares);
    of.Rescale<Acc>(eps, [&](const auto& f) {
      for (int64_t r = 0; r < v.rows; ++r) f(static_cast<double>(x[r * v.channels + c]));
    });
    TakeStatistics(k, c, of, mean + c, scale + c, shift + c);
  });
  const RowsOut<Acc> y(k, Out::kY);
  v.ForEachTile([&](const RowTile& tile) {
    PieceReader<Acc> from(x);
    const Acc* const numbers[] = {mean + tile.first, scale + tile.first, shift + tile.first};
    v.ForEachPiece(tile, [&](const LanePiece& piece) {
      const Acc* const at = from.Read(piece);
      WritePiece(piece, numbers, y, [&](int64_t i, const auto& lanes, int64_t j) {
        return Normalized<kActivation>(at[i], lanes, j);
      });
    });
  });
}

// Calls f(activation, TypeTag<Acc>()).
template <class F>
void VisitCall(const KernelContext& k, const F& f) {
  VisitComputed(k.in_spec(0).dtype, [&](auto tag) {
    VisitActivation(k.attrs<BatchNormAttrs>().activation,
                    [&](auto activation) { f(activation, tag); });
  });
}

absl::Status Run(KernelContext& k) {
  VisitCall(k, [&]<class Acc>(auto activation, TypeTag<Acc>) {
    const TensorSpec& x = k.in_spec(In::kX);
    if (ChannelRows::Has(x)) return NormalizeRows<activation(), Acc>(k, ChannelRows(x));
    const ChannelGroups v(x);
    ForEachGroup(v, [&](int64_t g) { NormalizeGroup<activation(), Acc>(k, v, g); });
  });
  return absl::OkStatus();
}

// --- Backward ------------------------------------------------------------------------------------

// dz of n elements: the gradient behind the activation, whose results are y; null without
// activation.
template <FusedActivation kActivation, class Acc>
FIRN_ALWAYS_INLINE Acc FlowAt(const Acc* dy, const Acc* y, int64_t i) {
  return ActivationGrad<kActivation>(dy[i], kActivation == FusedActivation::kNone ? Acc{0} : y[i]);
}

// Pieces of dy, x and, if it is given, y.
template <class Acc>
class GradPieces {
 public:
  GradPieces(const RowsIn<Acc>& dy_rows, const RowsIn<Acc>& x_rows, const RowsIn<Acc>& y_rows)
      : dy_(dy_rows), x_(x_rows), y_(y_rows) {}
  void Go(const LanePiece& piece) {
    dy = dy_.Read(piece);
    x = x_.Read(piece);
    if (y_.given()) y = y_.Read(piece);
  }
  const Acc *dy = nullptr, *x = nullptr, *y = nullptr;

 private:
  PieceReader<Acc> dy_, x_, y_;
};

// dx = a dz + b (x - mean) + c with the numbers mean, a, b and c of lane j.
template <class Acc>
FIRN_ALWAYS_INLINE Acc Gradient(Acc dz, Acc x, const Acc (&lanes)[4][kLanes], int64_t j) {
  return lanes[1][j] * dz + lanes[2][j] * (x - lanes[0][j]) + lanes[3][j];
}

// The same where b is outside the range of Acc: d ((x - mean) invstd) instead of b (x - mean).
template <class Acc>
FIRN_ALWAYS_INLINE Acc FarGradient(Acc dz, Acc x, const Acc (&lanes)[5][kLanes], int64_t j) {
  return lanes[1][j] * dz + lanes[2][j] * ((x - lanes[0][j]) * lanes[4][j]) + lanes[3][j];
}

// Writes the gradients of channel c and sets the factors for dx. Returns whether b is in the range
// of Acc.
template <class Acc>
bool TakeGradients(KernelContext& k, int64_t channel, const GradSums& sums, Acc* a, Acc* b, Acc* c,
                   Acc* d) {
  const double invstd = static_cast<double>(k.in<Acc>(GradIn::kInvstd)[channel]);
  const double scale = ChannelNumber<Acc>(k, GradIn::kWeight, channel, 1) * invstd;
  const double mean = sums.dz_xhat / sums.count;
  *a = static_cast<Acc>(scale);
  *b = static_cast<Acc>(-scale * mean * invstd);
  *c = static_cast<Acc>(-scale * (sums.dz / sums.count));
  *d = static_cast<Acc>(-scale * mean);
  const Acc to_weight = static_cast<Acc>(sums.dz_xhat), to_bias = static_cast<Acc>(sums.dz);
  RowsOut<Acc>(k, GradOut::kDweight).Store(channel, 1, &to_weight);
  RowsOut<Acc>(k, GradOut::kDbias).Store(channel, 1, &to_bias);
  using Limits = std::numeric_limits<Acc>;
  return (std::abs(*b) >= Limits::min() && std::abs(*b) <= Limits::max()) || *d == 0;
}

template <FusedActivation kActivation, class Acc>
void GroupGradient(KernelContext& k, const ChannelGroups& v, int64_t g) {
  Acc lanes[4][kLanes], far_lanes[5][kLanes];
  SpreadLanes(k.in<Acc>(GradIn::kMean) + g * v.block, 0, v.block, Acc{0}, lanes[0]);
  GradPieces<Acc> p({k, GradIn::kDy}, {k, GradIn::kX}, {k, GradIn::kY});
  ChannelSums<Acc> sums(v.block);
  v.ForEachPiece(g, [&](const LanePiece& piece) {
    p.Go(piece);
    const Acc *const dy = p.dy, *const x = p.x, *const y = p.y;
    sums.Add(piece, [&](int64_t i, int64_t j) {
      const Acc dz = FlowAt<kActivation>(dy, y, i);
      return std::pair(dz, dz * (x[i] - lanes[0][j]));
    });
  });
  Acc a[kLanes], b[kLanes], c[kLanes], d[kLanes];
  bool held = true;
  for (int64_t i = 0; i < v.block; ++i) {
    const int64_t channel = g * v.block + i;
    const auto for_each = [&](const auto& f) {
      v.ForEachPiece(g, [&](const LanePiece& piece) {
        p.Go(piece);
        piece.ForEachInOrder([&](int64_t e, int64_t j) {
          if ((j & (v.block - 1)) != i) return;
          f(static_cast<double>(FlowAt<kActivation>(p.dy, p.y, e)), static_cast<double>(p.x[e]));
        });
      });
    };
    const auto of = GradSumsOf<Acc>(v.per_channel(), sums.first(i), sums.second(i),
                                    k.in<Acc>(GradIn::kMean)[channel],
                                    k.in<Acc>(GradIn::kInvstd)[channel], for_each);
    held &= TakeGradients(k, channel, of, a + i, b + i, c + i, d + i);
  }
  SpreadLanes(a, 0, v.block, Acc{0}, lanes[1]);
  SpreadLanes(b, 0, v.block, Acc{0}, lanes[2]);
  SpreadLanes(c, 0, v.block, Acc{0}, lanes[3]);
  const RowsOut<Acc> dx(k, GradOut::kDx);
  alignas(64) Acc results[kLanePiece];
  const auto write = [&](const auto& gradient) {
    v.ForEachPiece(g, [&](const LanePiece& piece) {
      p.Go(piece);
      const Acc *const dy = p.dy, *const x = p.x, *const y = p.y;
      Acc* const to = piece.Room(dx, results);
      piece.ForEach(
          [&](int64_t i, int64_t j) { to[i] = gradient(FlowAt<kActivation>(dy, y, i), x[i], j); });
      piece.Write(dx, to);
    });
  };
  if (held) [[likely]] {
    return write([&](Acc dz, Acc x, int64_t j) { return Gradient(dz, x, lanes, j); });
  }
  std::copy_n(lanes[0], 4 * kLanes, far_lanes[0]);
  SpreadLanes(d, 0, v.block, Acc{0}, far_lanes[2]);
  SpreadLanes(k.in<Acc>(GradIn::kInvstd) + g * v.block, 0, v.block, Acc{0}, far_lanes[4]);
  write([&](Acc dz, Acc x, int64_t j) { return FarGradient(dz, x, far_lanes, j); });
}

template <class Acc>
using BackwardScratch = RowScratch<Acc, 6>;

template <FusedActivation kActivation, class Acc>
void RowsGradient(KernelContext& k, const ChannelRows& v) {
  const BackwardScratch<Acc> scratch(v, k.workspace<void>());
  Acc *const mean = scratch.Numbers(0), *const a = scratch.Numbers(1),
             *const b = scratch.Numbers(2), *const c = scratch.Numbers(3),
             *const d = scratch.Numbers(4), *const invstd = scratch.Numbers(5);
  std::copy_n(k.in<Acc>(GradIn::kMean), v.channels, mean);
  std::fill(mean + v.channels, mean + v.padded(), Acc{0});
  const auto pieces = [&] {
    return GradPieces<Acc>({k, GradIn::kDy}, {k, GradIn::kX}, {k, GradIn::kY});
  };
  v.ForEachTile([&](const RowTile& tile) {
    GradPieces<Acc> p = pieces();
    TileSums<Acc> sums(tile.width);
    v.ForEachPiece(tile, [&](const LanePiece& piece) {
      p.Go(piece);
      const Acc *const dy = p.dy, *const x = p.x, *const y = p.y;
      sums.Add(piece, mean + tile.first, [&](int64_t i, Acc of_channel) {
        const Acc dz = FlowAt<kActivation>(dy, y, i);
        return std::pair(dz, dz * (x[i] - of_channel));
      });
    });
    scratch.Keep(tile, sums);
  });
  std::atomic<bool> held = true;
  scratch.ForEachChannel([&](int64_t i, double sum_dz, double sum_dz_x) {
    invstd[i] = k.in<Acc>(GradIn::kInvstd)[i];
    const auto for_each = [&](const auto& f) {
      const RowsIn<Acc> dy(k, GradIn::kDy), x(k, GradIn::kX), y(k, GradIn::kY);
      for (int64_t at = i; at < v.rows * v.channels; at += v.channels) {
        const Acc flow = dy[at], result = y.given() ? y[at] : Acc{0};
        f(static_cast<double>(ActivationGrad<kActivation>(flow, result)),
          static_cast<double>(x[at]));
      }
    };
    const auto of = GradSumsOf<Acc>(v.rows, sum_dz, sum_dz_x, mean[i], invstd[i], for_each);
    if (!TakeGradients(k, i, of, a + i, b + i, c + i, d + i)) {
      held.store(false, std::memory_order_relaxed);
    }
  });
  const RowsOut<Acc> dx(k, GradOut::kDx);
  const auto write = [&](const RowTile& tile, const auto& numbers, const auto& gradient) {
    GradPieces<Acc> p = pieces();
    v.ForEachPiece(tile, [&](const LanePiece& piece) {
      p.Go(piece);
      const Acc *const dy = p.dy, *const x = p.x, *const y = p.y;
      WritePiece(piece, numbers, dx, [&](int64_t i, const auto& lanes, int64_t j) {
        return gradient(FlowAt<kActivation>(dy, y, i), x[i], lanes, j);
      });
    });
  };
  v.ForEachTile([&](const RowTile& tile) {
    const int64_t at = tile.first;
    if (held) [[likely]] {
      const Acc* const numbers[] = {mean + at, a + at, b + at, c + at};
      return write(tile, numbers, [](Acc dz, Acc x, const auto& lanes, int64_t j) {
        return Gradient(dz, x, lanes, j);
      });
    }
    const Acc* const numbers[] = {mean + at, a + at, d + at, c + at, invstd + at};
    write(tile, numbers,
          [](Acc dz, Acc x, const auto& lanes, int64_t j) { return FarGradient(dz, x, lanes, j); });
  });
}

absl::Status RunGrad(KernelContext& k) {
  VisitCall(k, [&]<class Acc>(auto activation, TypeTag<Acc>) {
    const TensorSpec& x = k.in_spec(GradIn::kX);
    if (ChannelRows::Has(x)) return RowsGradient<activation(), Acc>(k, ChannelRows(x));
    const ChannelGroups v(x);
    ForEachGroup(v, [&](int64_t g) { GroupGradient<activation(), Acc>(k, v, g); });
  });
  return absl::OkStatus();
}

// The bytes that Scratch<Acc> takes for input `x`.
template <template <class> class Scratch>
size_t Workspace(const TensorSpec& x) {
  if (!ChannelRows::Has(x)) return 0;
  return VisitComputed(
      x.dtype, [&]<class Acc>(TypeTag<Acc>) { return Scratch<Acc>::Bytes(ChannelRows(x)); });
}

}  // namespace

Kernel BatchNormKernel() {
  return {.name = "loop",
          .workspace = [](const KernelQuery& q) { return Workspace<ForwardScratch>(q.in(In::kX)); },
          .layouts = ChannelOrLastLayouts,
          .run = Run};
}

Kernel BatchNormGradKernel() {
  return {.name = "loop",
          .workspace =
              [](const KernelQuery& q) { return Workspace<BackwardScratch>(q.in(GradIn::kX)); },
          .layouts = ChannelOrLastLayouts,
          .run = RunGrad};
}

}  // namespace firn::cpu
