// A call becomes rows: the fewest runs in which every operand steps by one stride (LoopPlan). Rows
// whose elements lie as the functor's loop wants them are passed to it directly. Others go through
// tiles in the first-level cache: an input's elements are gathered, transposed, converted or
// repeated into a tile, and half results are rounded from one. The remainder of a row that takes
// whole blocks goes through tiles, too.

#include "firn/tensor/kernels/cpu/elementwise.h"

#include <algorithm>
#include <cstring>

#include "firn/device/non_temporal_copy.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/tiles.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {
namespace {

constexpr int kMostInputs = kMaxOperands - 1;
constexpr int64_t kTile = 512;  // elements: with 8 bytes each, five operands fill 20 KiB

// The rows of one call.
class Rows {
 public:
  // The inputs' `steps` within a row.
  Rows(const RowLoop& loop, const void* functor, const int64_t* steps)
      : loop_(loop), functor_(functor), half_out_(loop.converts && IsHalf(loop.out)) {
    out_size_ = SizeOf(loop.out);
    for (int i = 0; i < loop.inputs; ++i) {
      steps_[i] = steps[i];
      sizes_[i] = SizeOf(loop.in[i]);
      if (steps[i] != 0) moving_ |= 1u << i;
    }
    takes_still_ = (loop.takes >> moving_ & 1u) != 0;
    given_ = takes_still_ ? moving_ : (1u << loop.inputs) - 1u;
    for (int i = 0; i < loop.inputs; ++i) {
      const bool as_it_is = steps[i] == 1 || (steps[i] == 0 && takes_still_);
      const bool converted = loop.converts && IsHalf(loop.in[i]);
      const bool fetched = !as_it_is || converted;
      if (fetched) fetched_ |= 1u << i;
      if (!fetched && loop.block == 1) continue;
      fetch_[i] = Fetcher(loop.in[i], converted ? DType::kF32 : loop.in[i]);
    }
    direct_ = fetched_ == 0 && !half_out_;
  }

  void Run(char* out, const char* const* in, int64_t n) const {
    if (!direct_) return RunTiles(out, in, n);
    const int64_t rest = loop_.block == 1 ? 0 : n % loop_.block, whole = n - rest;
    if (whole > 0) [[likely]] {
      loop_.run(functor_, out, reinterpret_cast<const void* const*>(in), moving_, whole);
    }
    if (rest == 0) return;
    const char* from[kMostInputs];
    for (int i = 0; i < loop_.inputs; ++i) from[i] = in[i] + whole * StepBytes(i);
    RunTiles(out + whole * out_size_, from, rest);
  }

  int64_t StepBytes(int i) const { return steps_[i] * sizes_[i]; }
  int64_t out_size() const { return out_size_; }

 private:
  void RunTiles(char* out, const char* const* in, int64_t n) const {
    alignas(64) char tiles[kMostInputs + 1][kTile * 8];
    const void* from[kMostInputs];
    for (int i = 0; i < loop_.inputs; ++i) {
      if ((moving_ >> i & 1u) == 0) FetchStill(i, in[i], std::min(n, kTile), tiles[i], &from[i]);
    }
    for (int64_t at = 0; at < n; at += kTile) {
      const int64_t count = std::min(n - at, kTile), whole = RoundUp(count, loop_.block);
      for (int i = 0; i < loop_.inputs; ++i) {
        if ((moving_ >> i & 1u) == 0) continue;
        from[i] = in[i] + at * StepBytes(i);
        if ((fetched_ >> i & 1u) == 0 && whole == count) continue;
        fetch_[i](&from[i], 1, count, steps_[i], tiles[i]);
        std::fill_n(tiles[i] + count * sizes_[i], (whole - count) * sizes_[i], char{0});
        from[i] = tiles[i];
      }
      char* const to = out + at * out_size_;
      char* const tile = tiles[kMostInputs];
      loop_.run(functor_, half_out_ || whole > count ? tile : to, from, given_, whole);
      if (half_out_) {
        FromFloats(reinterpret_cast<const float*>(tile), count, loop_.out, to);
      } else if (whole > count) {
        std::copy_n(tile, count * out_size_, to);
      }
    }
  }

  // An input with one element for all, stored once or `n` times.
  void FetchStill(int i, const char* in, int64_t n, char* tile, const void** from) const {
    *from = in;
    if ((fetched_ >> i & 1u) == 0) return;
    fetch_[i](from, 1, takes_still_ ? 1 : RoundUp(n, loop_.block), 0, tile);
    *from = tile;
  }

  const RowLoop& loop_;
  const void* functor_;
  unsigned moving_ = 0, fetched_ = 0;  // a bit for each input
  unsigned given_;                     // `moving` as the row gets it
  bool half_out_, direct_, takes_still_;
  int64_t out_size_;
  int64_t steps_[kMostInputs], sizes_[kMostInputs];
  FetchFn fetch_[kMostInputs];  // for fetched inputs; for all if the row takes blocks
};

// All operands are dense in one layout: a single row, cut among the threads.
void RunFlat(const Rows& rows, KernelContext& k, int inputs, int64_t n) {
  const char* in[kMostInputs];
  for (int i = 0; i < inputs; ++i) in[i] = k.in<char>(i);
  char* const out = k.out<char>();
  if (n <= kElementGrain) {
    if (n > 0) rows.Run(out, in, n);
    return;
  }
  ParallelFor(n, kElementGrain, [&](int64_t begin, int64_t end) {
    const char* from[kMostInputs];
    for (int i = 0; i < inputs; ++i) from[i] = in[i] + begin * rows.StepBytes(i);
    rows.Run(out + begin * rows.out_size(), from, end - begin);
  });
}

bool AllAlike(const KernelContext& k, int inputs) {
  if (k.alike()) return true;
  for (int i = 0; i < inputs; ++i) {
    if (!SameDenseLayout(k.out_spec(), k.in_spec(i))) return false;
  }
  return true;
}

// Blocks of an input whose rows lie across those of the result, such as a transposed matrix. A
// block is as high as a line of the cache has elements of the narrowest such input, so that each
// line is read once and whole, and so wide that a tile takes kAcrossBytes at most. Blocks that are
// computed as single rows are narrow: lines of columns that are powers of two apart share few
// places of a cache, and fewer are on their way at a time.
constexpr int64_t kAcrossBytes = 16384, kNarrowBytes = 4096, kFewestCols = 16;
constexpr int64_t kAcrossBand = 256;  // rows that one thread walks down

// Whether a row's elements lie apart in operand o, while those of neighbouring rows along
// dimension d lie side by side.
bool LiesAcross(const LoopPlan& p, int o, int d) {
  const int64_t step = p.strides[o][p.rank - 1];
  return step != 0 && step != 1 && p.strides[o][d] == 1;
}

// A dimension in which some input lies across, or -1. Fewer than some rows do not pay.
int DimAcross(const LoopPlan& p, int inputs) {
  for (int d = p.rank - 2; d >= 0; --d) {
    for (int o = 1; o <= inputs; ++o) {
      if (p.sizes[d] >= 4 && LiesAcross(p, o, d)) return d;
    }
  }
  return -1;
}

// The walk over strips: so many columns of kAcrossBand rows along dimension d.
LoopPlan StripsOf(const LoopPlan& p, int d, int64_t cols) {
  LoopPlan strips;
  strips.operands = p.operands;
  strips.rank = 0;
  const auto add = [&](int dim, int64_t size, int64_t step) {
    strips.sizes[strips.rank] = size;
    for (int o = 0; o < p.operands; ++o) {
      strips.strides[o][strips.rank] = p.strides[o][dim] * step;
    }
    ++strips.rank;
  };
  for (int i = 0; i < p.rank - 1; ++i) {
    if (i != d) add(i, p.sizes[i], 1);
  }
  add(p.rank - 1, (p.inner() - 1) / cols + 1, cols);
  add(d, (p.sizes[d] - 1) / kAcrossBand + 1, kAcrossBand);
  ++strips.rank;  // the inner walk
  return strips;
}

// How a call whose operands lie across is cut.
struct Blocks {
  int64_t high, cols;
  bool whole = true;  // a block is a single row, and is computed beside the result
};
Blocks BlocksOf(const RowLoop& loop, const LoopPlan& p, int d) {
  Blocks b;
  int64_t widest = SizeOf(loop.out), narrowest = SizeOf(DType::kF64);
  for (int i = 0; i < loop.inputs; ++i) {
    const bool across = LiesAcross(p, i + 1, d);
    if (across) {
      widest = std::max(widest, SizeOf(loop.in[i]));
      narrowest = std::min(narrowest, SizeOf(loop.in[i]));
    }
    b.whole &= across || (p.strides[i + 1][p.rank - 1] == 0 && p.strides[i + 1][d] == 0);
  }
  b.high = kCacheLineBytes / narrowest;
  b.cols = std::max(kFewestCols, (b.whole ? kNarrowBytes : kAcrossBytes) / (b.high * widest));
  return b;
}

// Inputs that lie across are transposed, block by block, before rows read them.
void RunAcross(KernelContext& k, const RowLoop& loop, const void* functor, const LoopPlan& p,
               int d) {
  int64_t steps[kMostInputs];
  for (int i = 0; i < loop.inputs; ++i) {
    steps[i] = LiesAcross(p, i + 1, d) ? 1 : p.strides[i + 1][p.rank - 1];
  }
  const Rows rows(loop, functor, steps);
  const Blocks b = BlocksOf(loop, p, d);
  const LoopPlan strips = StripsOf(p, d, b.cols);
  const int64_t bands = strips.sizes[strips.rank - 2], blocks = strips.sizes[strips.rank - 3];
  const bool non_temporal =
      b.whole && k.out_spec().num_elements() * rows.out_size() >= kNonTemporalBytes;
  const auto run = [&](int64_t strip, const int64_t* offset) {
    alignas(64) char tiles[kMostInputs + 1][kAcrossBytes];
    const int64_t down = std::min(kAcrossBand, p.sizes[d] - strip % bands * kAcrossBand);
    const int64_t left = p.inner() - strip / bands % blocks * b.cols;
    const int64_t cols = std::min(b.cols, left);
    for (int64_t first = 0; first < down; first += b.high) {
      const int64_t count = std::min(b.high, down - first);
      const char* from[kMostInputs];
      int64_t row_bytes[kMostInputs];
      for (int i = 0; i < loop.inputs; ++i) {
        const int64_t size = SizeOf(loop.in[i]), step = p.strides[i + 1][d];
        from[i] = k.in<char>(i) + (offset[i + 1] + first * step) * size;
        row_bytes[i] = step * size;
        if (!LiesAcross(p, i + 1, d)) continue;
        const int64_t apart = p.strides[i + 1][p.rank - 1];
        PrefetchRows(from[i] + count * size, apart * size, cols, count * size);
        inner::internal::CopyTransposed(cols, count, size, from[i], apart, tiles[i], cols);
        from[i] = tiles[i];
        row_bytes[i] = cols * size;
      }
      const auto out_row = [&](int64_t row) {
        return k.out<char>() + (offset[0] + row * p.strides[0][d]) * rows.out_size();
      };
      if (b.whole) {
        char* const results = tiles[kMostInputs];
        const int64_t bytes = cols * rows.out_size();
        rows.Run(results, from, count * cols);
        for (int64_t row = 0; row < count; ++row) {
          if (non_temporal) {
            NonTemporalCopy(out_row(first + row), results + row * bytes, bytes);
          } else {
            std::memcpy(out_row(first + row), results + row * bytes, static_cast<size_t>(bytes));
          }
        }
        continue;
      }
      for (int64_t row = first; row < first + count; ++row) {
        rows.Run(out_row(row), from, cols);
        for (int i = 0; i < loop.inputs; ++i) from[i] += row_bytes[i];
      }
    }
  };
  const int64_t grain = kElementGrain / (std::min(kAcrossBand, p.sizes[d]) * b.cols) + 1;
  ParallelFor(strips.rows(), grain, [&](int64_t begin, int64_t end) {
    int64_t strip = begin;
    ForEachRow(strips, begin, end, [&](const int64_t* offset) { run(strip++, offset); });
    if (non_temporal) FinishNonTemporal();
  });
}

}  // namespace

void RunRows(KernelContext& k, const RowLoop& loop, const void* functor) {
  if (AllAlike(k, loop.inputs)) [[likely]] {  // no plan needed
    static constexpr int64_t kOnes[kMostInputs] = {1, 1, 1, 1};
    return RunFlat(Rows(loop, functor, kOnes), k, loop.inputs, k.out_spec().num_elements());
  }
  const TensorSpec* specs[kMaxOperands] = {&k.out_spec()};
  for (int i = 0; i < loop.inputs; ++i) specs[i + 1] = &k.in_spec(i);
  const LoopPlan p = PlanLoop(k.out_spec().shape,
                              absl::MakeConstSpan(specs, static_cast<size_t>(loop.inputs) + 1));
  const int across = DimAcross(p, loop.inputs);
  if (across >= 0) return RunAcross(k, loop, functor, p, across);
  int64_t steps[kMostInputs];
  for (int i = 0; i < loop.inputs; ++i) steps[i] = p.strides[i + 1][p.rank - 1];
  const Rows rows(loop, functor, steps);
  const int64_t n = p.inner();
  if (p.rank == 1) return RunFlat(rows, k, loop.inputs, n);
  const char* base[kMostInputs];
  int64_t sizes[kMostInputs];
  for (int i = 0; i < loop.inputs; ++i) {
    base[i] = k.in<char>(i);
    sizes[i] = SizeOf(loop.in[i]);
  }
  char* const out = k.out<char>();
  ParallelFor(p.rows(), std::max<int64_t>(1, kElementGrain / n), [&](int64_t begin, int64_t end) {
    ForEachRow(p, begin, end, [&](const int64_t* offset) {
      const char* from[kMostInputs];
      for (int i = 0; i < loop.inputs; ++i) from[i] = base[i] + offset[i + 1] * sizes[i];
      rows.Run(out + offset[0] * rows.out_size(), from, n);
    });
  });
}

}  // namespace firn::cpu
