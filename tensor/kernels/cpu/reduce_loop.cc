// A reduction becomes calls of a reducer's loops, on elements that lie side by side.
//
// By rows, a task is a result, or a block of its elements: runs along the last reduced dimension,
// short ones many at a time, in pieces that are combined in pairs. Results of few elements are
// computed many at a time: where their runs lie at equal distances, they are transposed and rows of
// them combined, so that all vectors are full. By columns, a task is a strip of results and a block
// of their elements, which are walked row by row. Where there are several blocks their partial
// results lie in the workspace, and are combined in pairs as well.
//
// Elements with gaps between them, and elements of another type than that of a loop of several
// passes, are fetched into a tile, a piece (of several runs) at a time; for strips, as many columns
// as fit beside each other for a group of rows.

#include "firn/tensor/kernels/cpu/reduce_loop.h"

#include <algorithm>
#include <cstring>

#include "firn/device/check.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/tiles.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {
namespace {

using internal::kColumns, internal::kLeaf, internal::kReduceGrain, internal::kRowGroup,
    internal::Odometer;

constexpr int64_t kMostRows = 256;                // given to a loop at once
constexpr int64_t kTurnedBytes = 4 * kSimdBytes;  // runs of fewer are transposed
constexpr int64_t kTurnedResults = 128;
constexpr int64_t kMostPieces = 64;       // of a block, see ByRows::Block
constexpr int64_t kMostAccBytes = 32;     // of one Acc
constexpr int64_t kTileBytes = 16384;     // half of a first-level cache, or less
constexpr int64_t kFinishedAtOnce = 256;  // results

// Pieces acc[0], acc[stride], ... of `width` results each are combined into the first: in pairs,
// pairs of pairs and so on.
void CombinePieces(const ReduceLoop& loop, const void* reducer, char* acc, int64_t pieces,
                   int64_t stride, int64_t width) {
  const int64_t bytes = stride * loop.acc_size;
  for (int64_t step = 1; step < pieces; step *= 2) {
    for (int64_t i = 0; i + step < pieces; i += 2 * step) {
      loop.combine(reducer, acc + i * bytes, acc + (i + step) * bytes, width);
    }
  }
}

// The elements that the loops read: those in memory, or tiles of them.
class Source {
 public:
  // Elements are `step` apart; `loop` is their dtype in the loops.
  Source(DType dtype, const void* in, int64_t step, DType loop)
      : in_(static_cast<const char*>(in)),
        size_(SizeOf(dtype)),
        step_(step),
        tile_elements_(kTileBytes / SizeOf(loop)),
        dtype_(dtype),
        loop_(loop) {}

  bool converted() const { return dtype_ != loop_; }
  int64_t size() const { return size_; }
  int64_t step() const { return step_; }
  int64_t tile_elements() const { return tile_elements_; }
  const char* At(int64_t offset) const { return in_ + offset * size_; }
  int64_t Bytes(int64_t elements) const { return elements * step_ * size_; }
  void Fetch(const void* const* rows, int64_t num_rows, int64_t n, void* tile) const {
    Fetcher(dtype_, loop_)(rows, num_rows, n, step_, tile);
  }

 private:
  const char* in_;
  int64_t size_, step_, tile_elements_;
  DType dtype_, loop_;
};

class ByRows {
 public:
  ByRows(const ReduceLoop& loop, const void* reducer, const ReducePlan& p, DType dtype,
         const void* in)
      : loop_(loop),
        reducer_(reducer),
        p_(p),
        last_(p.reduced_sizes.rank - 1),
        length_(last_ < 0 ? 1 : p.reduced_sizes[last_]),
        source_(dtype, in, last_ < 0 ? 1 : p.reduced_strides[last_], loop.along_in) {
    const int64_t runs = p.reduced / length_;
    tiled_ = source_.converted() || source_.step() != 1 || (loop.whole && runs > 1);
    leaf_ = tiled_ ? source_.tile_elements() : kLeaf;
    short_ = p.reduced <= leaf_ && runs <= kMostRows;
    turned_ = runs == 1 && source_.step() == 1 && length_ > 1 &&
              length_ * SizeOf(loop.along_in) < kTurnedBytes && p.kept_sizes.rank == 1;
  }

  // Tasks [begin, end): block after block, all results of each.
  void Run(int64_t begin, int64_t end, StoreReduced store) const {
    if (turned_ && end - begin > 1) return Turned(begin, end, store);
    if (short_) return Short(begin, end, store);
    Odometer result(p_.kept_sizes, p_.kept_strides, p_.kept_sizes.rank, begin % p_.kept);
    for (int64_t i = begin; i < end; ++i, result.Next()) {
      const int64_t from = i / p_.kept * p_.block;
      Block(result.offset(), from, std::min(from + p_.block, p_.reduced), i, store);
    }
  }

 private:
  // Many results at a time, whose elements lie side by side.
  FIRN_NOINLINE void Turned(int64_t begin, int64_t end, StoreReduced store) const {
    alignas(64) char acc[kTurnedResults * kMostAccBytes];
    const int64_t room = std::min(kTurnedResults, source_.tile_elements() / length_);
    const int64_t most = room < 16 ? room : room - room % 16;
    for (int64_t i = begin; i < end; i += most) {
      const int64_t results = std::min(most, end - i);
      TurnedTile(i, results, acc);
      store(i, acc, results);
    }
  }
  void TurnedTile(int64_t first, int64_t results, char* acc) const {
    alignas(64) char tile[kTileBytes], fetched[kTileBytes];
    const int64_t size = SizeOf(loop_.across_in);
    int64_t step = p_.kept_strides[0];
    const void* from = source_.At(first * step);
    const void* rows[kTurnedResults];
    if (source_.converted()) {
      for (int64_t j = 0; j < results; ++j) rows[j] = source_.At((first + j) * step);
      source_.Fetch(rows, results, length_, fetched);
      from = fetched;
      step = length_;
    }
    inner::internal::CopyTransposed(results, length_, size, from, step, tile, results);
    for (int64_t at = 0; at < length_; at += kRowGroup) {
      const int64_t n = std::min(kRowGroup, length_ - at);
      for (int64_t i = 0; i < n; ++i) rows[i] = tile + (at + i) * results * size;
      loop_.across(reducer_, rows, n, results, 1, at == 0, acc);
    }
  }

  // Many results at a time, of one block.
  void Short(int64_t begin, int64_t end, StoreReduced store) const {
    const int64_t runs = p_.reduced / length_;
    int64_t offset[kMostRows];
    Odometer run(p_.reduced_sizes, p_.reduced_strides, std::max(last_, 0), 0);
    for (int64_t q = 0; q < runs; ++q, run.Next()) offset[q] = run.offset() * source_.size();
    const int64_t most =
        std::min(kMostRows / runs, tiled_ ? source_.tile_elements() / p_.reduced : kMostRows);
    Odometer result(p_.kept_sizes, p_.kept_strides, p_.kept_sizes.rank, begin);
    const void* rows[kMostRows];
    alignas(64) char acc[kMostRows * kMostAccBytes];
    for (int64_t i = begin; i < end;) {
      const int64_t results = std::min(most, end - i);
      for (int64_t j = 0, at = 0; j < results; ++j, result.Next()) {
        const char* const first = source_.At(result.offset());
        for (int64_t q = 0; q < runs; ++q) rows[at++] = first + offset[q];
      }
      Along(rows, results, runs, length_, acc);
      store(i, acc, results);
      i += results;
    }
  }

  // The reduced elements [begin, end) of the result whose first element has the offset `first`.
  // There are at most kMostPieces pieces: except for the first and the last of the block and of a
  // run, each has more than half of leaf_, or kMostRows runs of two or more.
  void Block(int64_t first, int64_t begin, int64_t end, int64_t task, StoreReduced store) const {
    Odometer run(p_.reduced_sizes, p_.reduced_strides, std::max(last_, 0), begin / length_);
    const void* rows[kMostRows];
    alignas(64) char acc[kMostPieces * kMostAccBytes];
    int64_t pieces = 0, at = begin % length_;
    for (int64_t left = end - begin; left > 0; ++pieces) {
      int64_t runs = 1, n = std::min({leaf_, length_ - at, left});
      rows[0] = source_.At(first + run.offset()) + source_.Bytes(at);
      if (n == length_) runs = std::min({kMostRows, leaf_ / length_, left / length_});
      for (int64_t q = 1; q < runs; ++q) {
        run.Next();
        rows[q] = source_.At(first + run.offset());
      }
      Along(rows, 1, runs, n, acc + pieces * loop_.acc_size);
      left -= runs * n;
      at = runs == 1 ? at + n : length_;
      if (at == length_) {
        at = 0;
        run.Next();
      }
    }
    CombinePieces(loop_, reducer_, acc, pieces, 1, 1);
    store(task, acc, 1);
  }

  void Along(const void* const* rows, int64_t results, int64_t runs, int64_t n, void* acc) const {
    if (tiled_) return AlongTile(rows, results, runs, n, acc);
    loop_.along(reducer_, rows, results, runs, n, acc);
  }
  FIRN_NOINLINE void AlongTile(const void* const* rows, int64_t results, int64_t runs, int64_t n,
                               void* acc) const {
    alignas(64) char tile[kTileBytes];
    source_.Fetch(rows, results * runs, n, tile);
    const void* whole[kMostRows];
    for (int64_t j = 0; j < results; ++j) whole[j] = tile + j * runs * n * SizeOf(loop_.along_in);
    loop_.along(reducer_, whole, results, 1, runs * n, acc);
  }

  const ReduceLoop& loop_;
  const void* reducer_;
  const ReducePlan& p_;
  int last_;
  int64_t length_;
  Source source_;
  bool tiled_, short_, turned_;
  int64_t leaf_;
};

class ByColumns {
 public:
  ByColumns(const ReduceLoop& loop, const void* reducer, const ReducePlan& p, DType dtype,
            const void* in)
      : loop_(loop),
        reducer_(reducer),
        p_(p),
        strips_((p.last_kept() - 1) / kColumns + 1),
        outer_(p.kept / p.last_kept()),
        source_(dtype, in, p.kept_strides[p.kept_strides.rank - 1], loop.across_in),
        tiled_(source_.converted() || (loop.whole && source_.step() != 1)) {}

  // Block after block, all strips of each.
  int64_t tasks() const { return p_.blocks * outer_ * strips_; }
  int64_t grain() const { return std::max<int64_t>(1, kReduceGrain / (p_.block * Width(0))); }

  void Run(int64_t begin, int64_t end, StoreReduced store) const {
    alignas(64) char acc[kColumns * kMostAccBytes];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t strip = task % strips_, at = task / strips_ % outer_;
      const int64_t block = task / (strips_ * outer_), from = block * p_.block;
      const Odometer base(p_.kept_sizes, p_.kept_strides, p_.kept_sizes.rank - 1, at);
      const char* const first = source_.At(base.offset()) + source_.Bytes(strip * kColumns);
      Strip(first, Width(strip), from, std::min(from + p_.block, p_.reduced), acc);
      store(block * p_.kept + at * p_.last_kept() + strip * kColumns, acc, Width(strip));
    }
  }

 private:
  int64_t Width(int64_t strip) const {
    return std::min(kColumns, p_.last_kept() - strip * kColumns);
  }

  // `cols` results from the reduced elements [begin, end).
  void Strip(const char* in, int64_t cols, int64_t begin, int64_t end, char* acc) const {
    Odometer row(p_.reduced_sizes, p_.reduced_strides, p_.reduced_sizes.rank, begin);
    const void* rows[kRowGroup];
    for (int64_t at = begin; at < end; at += kRowGroup) {
      const int64_t n = std::min(kRowGroup, end - at);
      for (int64_t i = 0; i < n; ++i, row.Next()) rows[i] = in + source_.size() * row.offset();
      if (tiled_) {
        AcrossTiles(rows, n, cols, at == begin, acc);
      } else {
        loop_.across(reducer_, rows, n, cols, source_.step(), at == begin, acc);
      }
    }
  }
  // Loops of several passes want all rows at once, others whole rows, as many as a tile holds;
  // these rows are combined before they are combined with the others.
  FIRN_NOINLINE void AcrossTiles(const void* const* rows, int64_t num_rows, int64_t cols,
                                 bool first, char* acc) const {
    if (loop_.whole) return AcrossTile(rows, num_rows, cols, first, acc);
    alignas(64) char later[kColumns * kMostAccBytes];
    char* const group = first ? acc : later;
    const int64_t at_once = std::clamp<int64_t>(source_.tile_elements() / cols, 1, num_rows);
    for (int64_t i = 0; i < num_rows; i += at_once) {
      AcrossTile(rows + i, std::min(at_once, num_rows - i), cols, i == 0, group);
    }
    if (!first) loop_.combine(reducer_, acc, group, cols);
  }
  void AcrossTile(const void* const* rows, int64_t num_rows, int64_t cols, bool first,
                  char* acc) const {
    alignas(64) char tile[kTileBytes];
    const void *from[kRowGroup], *to[kRowGroup];
    const int64_t most = source_.tile_elements() / num_rows;
    for (int64_t c = 0; c < cols; c += most) {
      const int64_t n = std::min(most, cols - c);
      for (int64_t i = 0; i < num_rows; ++i) {
        from[i] = static_cast<const char*>(rows[i]) + source_.Bytes(c);
        to[i] = tile + i * n * SizeOf(loop_.across_in);
      }
      source_.Fetch(from, num_rows, n, tile);
      loop_.across(reducer_, to, num_rows, n, 1, first, acc + c * loop_.acc_size);
    }
  }

  const ReduceLoop& loop_;
  const void* reducer_;
  const ReducePlan& p_;
  int64_t strips_, outer_;
  Source source_;
  bool tiled_;
};

// Results over no elements.
void StoreNothing(const ReduceLoop& loop, const void* reducer, int64_t results,
                  StoreReduced store) {
  alignas(64) char acc[kMostRows * kMostAccBytes];
  loop.clear(reducer, kMostRows, acc);
  for (int64_t j = 0; j < results; j += kMostRows) {
    store(j, acc, std::min(kMostRows, results - j));
  }
}

// Whether there is one result, of elements that lie side by side and are no more than a leaf.
bool OneRun(const ReducePlan& p) {
  return p.kept == 1 && p.reduced > 0 && p.reduced <= kLeaf &&
         (p.reduced == 1 || (p.reduced_sizes.rank == 1 && p.reduced_strides[0] == 1));
}

// All tasks; the results of block b come b * p.kept later.
void RunTasks(const ReduceLoop& loop, const void* reducer, const ReducePlan& p, DType dtype,
              const void* in, StoreReduced store) {
  if (p.columns) {
    const ByColumns by(loop, reducer, p, dtype, in);
    ParallelFor(by.tasks(), by.grain(),
                [&](int64_t begin, int64_t end) { by.Run(begin, end, store); });
  } else {
    const ByRows by(loop, reducer, p, dtype, in);
    ParallelFor(p.blocks * p.kept, std::max<int64_t>(1, kReduceGrain / p.block),
                [&](int64_t begin, int64_t end) { by.Run(begin, end, store); });
  }
}

}  // namespace

void ReduceWith(const ReduceLoop& loop, const void* reducer, const ReducePlan& p, DType dtype,
                const void* in, void* workspace, StoreReduced store) {
  FIRN_DCHECK(loop.acc_size <= kMostAccBytes);
  if (OneRun(p) && dtype == loop.along_in) {  // the usual sum of a small tensor
    alignas(64) char acc[kMostAccBytes];
    loop.along(reducer, &in, 1, 1, p.reduced, acc);
    return store(0, acc, 1);
  }
  if (p.reduced == 0) return StoreNothing(loop, reducer, p.kept, store);
  if (p.kept == 0) return;
  if (p.blocks == 1) return RunTasks(loop, reducer, p, dtype, in, store);
  char* const partial = static_cast<char*>(workspace);
  RunTasks(loop, reducer, p, dtype, in, [&](int64_t i, const void* acc, int64_t n) {
    std::memcpy(partial + i * loop.acc_size, acc, static_cast<size_t>(n * loop.acc_size));
  });
  ParallelFor(p.kept, std::max<int64_t>(1, kReduceGrain / p.blocks),
              [&](int64_t begin, int64_t end) {
                char* const first = partial + begin * loop.acc_size;
                CombinePieces(loop, reducer, first, p.blocks, p.kept, end - begin);
                store(begin, first, end - begin);
              });
}

void Reduce(KernelContext& k, absl::Span<const int64_t> dims, const ReduceLoop& loop,
            const void* reducer, DType dtype) {
  const ReducePlan p = PlanReduction(k.in_spec(0), dims);
  const DType out = k.out_spec().dtype;
  const auto store = [&](int64_t j, const void* from, int64_t n) {
    char* const to = k.out<char>() + j * SizeOf(out);
    // Only results of half types are computed in another type.
    if (!IsHalf(out)) return loop.finish(reducer, from, n, p.reduced, to);
    float tile[kFinishedAtOnce];
    for (int64_t i = 0; i < n; i += kFinishedAtOnce) {
      const int64_t some = std::min(kFinishedAtOnce, n - i);
      loop.finish(reducer, static_cast<const char*>(from) + i * loop.acc_size, some, p.reduced,
                  tile);
      FromFloats(tile, some, out, to + i * SizeOf(out));
    }
  };
  ReduceWith(loop, reducer, p, dtype, k.in<void>(0), k.workspace(), store);
}

}  // namespace firn::cpu
