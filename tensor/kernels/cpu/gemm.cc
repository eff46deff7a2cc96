// Matrix products.
//
// A product is brought into a form that a library multiplies: every operand has a stride of 1 in
// one direction and the compute type, else it is copied to workspace (in its own order, so that
// reading and writing are both sequential). Then C is cut into one piece a thread, and each thread
// multiplies its piece alone: the partition depends on the shape and the number of threads only, no
// thread waits for another one's packing, and for half types the shape alone decides how k is split
// into parts, which are added in order. So results are reproducible. f32 goes to oneDNN: on 64 x
// 8192 x 1024 its single-thread kernel does 76 to 83 GFLOP/s in all transpositions where Eigen's
// does 45 to 55 (AMD Milan, AVX2); or to tiles, where the processor has AMX (gemm_tiles.h). The
// half types take the same ways: bf16 as it is where the processor multiplies it (GFLOP/s of one
// Zen 5 core on 512 x 512 x 512: 490, f32 250; with AMX 1400, also by primitives: onednn_matmul.h),
// else as f32. f64 is multiplied in Firn's own panels (gemm_packed.h), or with few rows or columns
// by Eigen, in tiles so small that Eigen packs them on the stack. Small products and products of a
// column and a row, for which a call of a library takes longer than the work, are Firn's own loops,
// and so are those of few rows with operands that lie along the inner direction (gemm_dots.h).

#include "firn/tensor/kernels/cpu/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "firn/device/check.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/gemm_colliding.h"
#include "firn/tensor/kernels/cpu/gemm_copy.h"
#include "firn/tensor/kernels/cpu/gemm_dots.h"
#include "firn/tensor/kernels/cpu/gemm_eigen.h"
#include "firn/tensor/kernels/cpu/gemm_packed.h"
#include "firn/tensor/kernels/cpu/gemm_pieces.h"
#include "firn/tensor/kernels/cpu/gemm_small.h"
#include "firn/tensor/kernels/cpu/gemm_tiles.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/kernels/cpu/onednn_matmul.h"
#include "firn/tensor/strided_copy.h"

namespace firn::cpu {
namespace {

// Elements of both operands of a half type that are converted at once, to stay in cache.
constexpr int64_t kConverted = 1 << 18;
// For products with fewer columns or rows than kFew: the size from which several threads pay.
constexpr int64_t kConvertedOfFew = 1 << 20, kFew = 16;
// For products by primitives. With so many rows two threads may each read all of B. With as many
// columns as well, reordering A costs little beside the product, and with an inner direction no
// longer than this the primitives are faster even so.
constexpr int64_t kManyRows = 256, kManyColumns = 1024, kShort = 512;

// Converts rows of a half type, `step` apart, to f32 and back.
template <class T>
void WidenRows(const T* from, int64_t step, int64_t rows, int64_t n, float* to) {
  if (step == n) return ToFloats(from, rows * n, to);
  for (int64_t i = 0; i < rows; ++i) ToFloats(from + i * step, n, to + i * n);
}
template <class T>
void RoundRows(const float* from, int64_t rows, int64_t n, T* to, int64_t step) {
  if (step == n) return FromFloats(from, rows * n, to);
  for (int64_t i = 0; i < rows; ++i) FromFloats(from + i * n, n, to + i * step);
}

// Computes one piece of C on the calling thread.
template <class T>
void MultiplyPiece(const GemmShape& s, const T* a, const T* b, float* c, bool accumulate) {
  if (IsDots<T>(s)) return MultiplyDots(s, a, b, c, accumulate);
  MultiplyOneDnn(s, a, b, c, accumulate);
}

void MultiplyPiece(const GemmShape& s, const double* a, const double* b, double* c,
                   bool accumulate) {
  if (IsPacked(s)) return MultiplyPacked(s, a, b, c, accumulate);
  MultiplyEigen(s, a, b, c, accumulate);
}

// Multiplies integers of any strides, a strip of a row of C at a time. Sums are unsigned, so that
// they wrap.
template <class T>
requires std::is_integral_v<T>
void MultiplyPiece(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate) {
  constexpr int64_t kStrip = 64;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; j += kStrip) {
      const int64_t n = std::min(kStrip, s.n - j);
      T* out = c + i * s.c_row + j;
      uint64_t sum[kStrip] = {};
      for (int64_t l = 0; accumulate && l < n; ++l) sum[l] = static_cast<uint64_t>(out[l]);
      for (int64_t p = 0; p < s.k; ++p) {
        const uint64_t x = static_cast<uint64_t>(a[i * s.a.row + p * s.a.col]);
        const T* y = b + p * s.b.row + j * s.b.col;
        for (int64_t l = 0; l < n; ++l) sum[l] += x * static_cast<uint64_t>(y[l * s.b.col]);
      }
      for (int64_t l = 0; l < n; ++l) out[l] = static_cast<T>(sum[l]);
    }
  }
}

template <class T, class Result>
void MultiplyParallel(const GemmShape& s, const T* a, const T* b, Result* c, bool accumulate) {
  ForEachPiece(s, [&](const GemmShape& part, int64_t i, int64_t j) {
    MultiplyPiece(part, a + i * s.a.row, b + j * s.b.col, c + i * s.c_row + j, accumulate);
  });
}

// Computes a piece of C of a half type in f32, some rows at a time, which are rounded before they
// leave the cache: with few products for each element, writing and reading all of them in f32 takes
// several times as long as the products.
template <class Factor, class T>
void MultiplyRounded(const GemmShape& s, const Factor* a, const Factor* b, T* c, bool accumulate,
                     float* wide) {
  constexpr int64_t kLong = 128, kLeast = 64, kWide = 1 << 17;
  const int64_t rows = s.k >= kLong ? s.m : std::max(kLeast, kWide / s.n);
  GemmShape part = s;
  part.c_row = s.n;
  for (int64_t i = 0; i < s.m; i += rows) {
    part.m = std::min(rows, s.m - i);
    if (accumulate) WidenRows(c + i * s.c_row, s.c_row, part.m, s.n, wide);
    MultiplyPiece(part, a + i * s.a.row, b, wide, accumulate);
    RoundRows(wide, part.m, s.n, c + i * s.c_row, s.c_row);
  }
}

// Sets C to 0 where there is nothing to sum.
template <class T>
void FillZero(const GemmShape& s, T* c) {
  for (int64_t i = 0; i < s.m; ++i) std::fill_n(c + i * s.c_row, s.n, T{});
}

// Which operands of a product are copied to lie by rows although a library could read them in
// place.
struct Turned {
  bool a = false, b = false;
};

// oneDNN takes 2.7 times as long where both operands lie by columns (64 x 8192 x 1024, Zen 5), so
// the smaller one is transposed, unless the product is small. Its primitives for bf16 take long
// matrices only by rows, so that each thread can have some of the rows. Requires: canonical
// strides.
Turned TurnedOf(DType dtype, const GemmShape& s) {
  if (s.a.col == 1 || !InPlace(s.a, s.m, s.k)) return {};
  if (dtype == DType::kBF16) {
    GemmShape by_rows = s;
    by_rows.a = {s.k, 1};
    return {.a = s.m >= kManyRows && s.n >= kManyColumns && s.k <= kShort && HasPrimitive(by_rows)};
  }
  const bool by_columns =
      s.b.col != 1 && InPlace(s.b, s.k, s.n) && std::min({s.m, s.n, s.k}) >= kFew;
  if (dtype != DType::kF32 || !by_columns || s.flops() < kParallelFlops) return {};
  return {.a = s.m <= s.n, .b = s.m > s.n};
}

// Which operands are copied because their lines collide; none if one is transposed. Requires:
// canonical strides.
Copied CopiedOf(DType dtype, const GemmShape& s) {
  const Turned turned = TurnedOf(dtype, s);
  return turned.a || turned.b ? Copied() : CollidingOf(dtype, s);
}

// Whether f32 is multiplied by the processor's tiles, each number as the sum of three bfloat16.
// Packing the operands into tiles must cost little beside the product: from these sizes on it was
// faster than oneDNN's f32.
constexpr TileParts kAllOfAFloat = {3, 3};
constexpr int64_t kLeastByTiles = 96;
constexpr double kFlopsByTiles = 1e7;

// Requires: canonical strides.
bool IsByTiles(DType dtype, const GemmShape& s) {
  return dtype == DType::kF32 && std::min({s.m, s.n, s.k}) >= kLeastByTiles &&
         s.flops() >= kFlopsByTiles && InPlace(s.a, s.m, s.k) && InPlace(s.b, s.k, s.n) &&
         HasTileProducts();
}

// Hands out the workspace in aligned pieces.
class Scratch {
 public:
  explicit Scratch(void* base) : next_(static_cast<char*>(base)) {}
  template <class T>
  T* Take(const MatrixStrides& s, int64_t rows, int64_t cols) {
    char* p = next_;
    next_ += CopyBytes(sizeof(T), s, rows, cols);
    return reinterpret_cast<T*>(p);
  }

 private:
  char* next_;
};

// The operand in a layout that the library reads; changes `strides` when it is copied.
template <class Compute, class T>
const Compute* Prepare(const T* x, int64_t rows, int64_t cols, bool turn, bool copied,
                       MatrixStrides* strides, Scratch* scratch) {
  if constexpr (std::is_same_v<T, Compute>) {
    if (!turn && !copied && InPlace(*strides, rows, cols)) return x;
  }
  const MatrixStrides of_copy = OfCopy(*strides, sizeof(Compute), rows, cols, turn);
  Compute* copy = scratch->Take<Compute>(of_copy, rows, cols);
  if (turn) {
    inner::internal::CopyStrided({{rows, strides->row, of_copy.row}, {cols, strides->col, 1}},
                                 sizeof(T), x, copy);
  } else {
    CopyMatrix(x, *strides, rows, cols, copy, std::max(of_copy.row, of_copy.col));
  }
  *strides = Canonical(of_copy, rows, cols);
  return copy;
}

// Whether operands are converted to f32.
bool Converts(DType dtype) {
  return dtype == DType::kF16 || (dtype == DType::kBF16 && !MultipliesBf16());
}

// The largest part of a product that is converted and multiplied at once: some of the inner
// direction, so much that reading and writing C each time costs little beside it, or, where C is
// about a vector, some of the longer operand.
GemmShape PartOf(DType dtype, const GemmShape& s) {
  GemmShape part = s;
  if (!Converts(dtype) || s.m == 0 || s.n == 0 || s.k == 0) return part;
  if (std::min(s.m, s.n) < kFew) {
    int64_t& longer = s.m > s.n ? part.m : part.n;
    longer = std::min(longer, std::max(kFew, kConvertedOfFew / s.k));
  } else {
    part.k = std::min(s.k, std::max<int64_t>(256, kConverted / (s.m + s.n)));
  }
  return part;
}

// The operands of a product in the form that pieces of it take: in type Factor, and with the
// strides in `s`.
template <class Factor>
struct Operands {
  const Factor *a, *b;
};
template <class Factor, class T>
Operands<Factor> PrepareBoth(GemmShape* s, const T* a, const T* b, void* workspace) {
  s->a = Canonical(s->a, s->m, s->k);
  s->b = Canonical(s->b, s->k, s->n);
  const Turned turned = TurnedOf(DTypeOf<T>(), *s);
  Scratch scratch(workspace);
  const Factor* ready = Prepare<Factor>(a, s->m, s->k, turned.a, false, &s->a, &scratch);
  return {ready, Prepare<Factor>(b, s->k, s->n, turned.b, false, &s->b, &scratch)};
}

// Multiplies parts of which copies are made, where they are needed. Parts of A are copied once, and
// those of B once for each part of A's rows.
void MultiplyCopied(const GemmShape& s, const Copied& copied, const float* a, const float* b,
                    float* c, bool accumulate, void* workspace) {
  const GemmShape most = PartOfCopied(s, copied);
  GemmShape part = s;
  for (int64_t i = 0; i < s.m; i += most.m) {
    part.m = std::min(most.m, s.m - i);
    for (int64_t p = 0; p < s.k; p += most.k) {
      part.k = std::min(most.k, s.k - p);
      part.a = Canonical(s.a, part.m, part.k);
      Scratch scratch(workspace);
      const float* const left = Prepare<float>(a + i * s.a.row + p * s.a.col, part.m, part.k, false,
                                               copied.a, &part.a, &scratch);
      for (int64_t j = 0; j < s.n; j += most.n) {
        part.n = std::min(most.n, s.n - j);
        part.b = Canonical(s.b, part.k, part.n);
        Scratch rest = scratch;
        const float* const right = Prepare<float>(b + p * s.b.row + j * s.b.col, part.k, part.n,
                                                  false, copied.b, &part.b, &rest);
        MultiplyParallel(part, left, right, c + i * s.c_row + j, accumulate || p > 0);
      }
    }
  }
}

// The result is f32 where T is a half type.
template <class Factor, class T, class Result>
void MultiplyAs(GemmShape s, const T* a, const T* b, Result* c, bool accumulate, void* workspace) {
  if constexpr (std::is_same_v<T, float>) {
    if (workspace != nullptr && IsByTiles(DType::kF32, s)) {
      return GemmByTiles(s, kAllOfAFloat, a, b, c, accumulate, workspace);
    }
    s.a = Canonical(s.a, s.m, s.k);
    s.b = Canonical(s.b, s.k, s.n);
    const Copied copied = CopiedOf(DType::kF32, s);
    const bool can_copy = workspace != nullptr || (!copied.a && !copied.b);
    if (copied.any() && can_copy) {
      return MultiplyCopied(s, copied, a, b, c, accumulate, workspace);
    }
  }
  const auto of = PrepareBoth<Factor>(&s, a, b, workspace);
  MultiplyParallel(s, of.a, of.b, c, accumulate);
}

// A product that PartOf cuts into several parts.
template <class T>
void GemmInParts(const GemmShape& s, const GemmShape& most, const T* a, const T* b, T* c,
                 bool accumulate, float* wide, void* rest) {
  if (accumulate) CopyMatrix(c, {s.c_row, 1}, s.m, s.n, wide, s.n);
  GemmShape part = s;
  part.c_row = s.n;
  for (int64_t i = 0; i < s.m; i += most.m) {
    for (int64_t j = 0; j < s.n; j += most.n) {
      for (int64_t p = 0; p < s.k; p += most.k) {
        part.m = std::min(most.m, s.m - i);
        part.n = std::min(most.n, s.n - j);
        part.k = std::min(most.k, s.k - p);
        MultiplyAs<float>(part, a + i * s.a.row + p * s.a.col, b + p * s.b.row + j * s.b.col,
                          wide + i * s.n + j, accumulate || p > 0, rest);
      }
    }
  }
  ParallelFor(s.m, LineGrain(s.n), [&](int64_t begin, int64_t end) {
    RoundRows(wide + begin * s.n, end - begin, s.n, c + begin * s.c_row, s.c_row);
  });
}

// Requires: Factor is f32 if products of T are converted.
template <class Factor, class T>
void GemmOfHalf(GemmShape s, const T* a, const T* b, T* c, bool accumulate, void* workspace) {
  float* const wide = static_cast<float*>(workspace);
  void* const rest = static_cast<char*>(workspace) + CopyBytes(sizeof(float), s.m, s.n);
  const GemmShape most = PartOf(DTypeOf<T>(), s);
  if constexpr (std::is_same_v<Factor, float>) {
    if (most.m < s.m || most.n < s.n || most.k < s.k) {
      return GemmInParts(s, most, a, b, c, accumulate, wide, rest);
    }
  }
  const auto of = PrepareBoth<Factor>(&s, a, b, rest);
  const bool primitive = std::is_same_v<Factor, BFloat16> && s.a.col == 1 && HasPrimitive(s);
  const Grid grid = primitive ? PlanRows(s, kManyRows / 2) : PlanGrid(s);
  ForEachPiece(s, grid, [&](const GemmShape& part, int64_t i, int64_t j) {
    if constexpr (std::is_same_v<Factor, BFloat16>) {
      if (MultiplyPrimitive(part, of.a + i * s.a.row, of.b + j * s.b.col, c + i * s.c_row + j,
                            accumulate)) {
        return;
      }
    }
    MultiplyRounded(part, of.a + i * s.a.row, of.b + j * s.b.col, c + i * s.c_row + j, accumulate,
                    wide + i * s.n + j * part.m);
  });
}

}  // namespace

size_t GemmWorkspace(DType dtype, const GemmShape& shape) {
  if (IsIntegral(dtype)) return 0;
  const bool half = SizeOf(dtype) == 2, convert = Converts(dtype);
  GemmShape part = PartOf(dtype, shape);
  const int64_t size = convert ? SizeOf(DType::kF32) : SizeOf(dtype);
  part.a = Canonical(shape.a, part.m, part.k);
  part.b = Canonical(shape.b, part.k, part.n);
  if (IsByTiles(dtype, part)) return GemmByTilesWorkspace(part, kAllOfAFloat);
  const Turned turned = TurnedOf(dtype, part);
  const Copied copied = CopiedOf(dtype, part);
  if (copied.any()) part = PartOfCopied(part, copied);
  const bool copy_a = convert || turned.a || copied.a || !InPlace(part.a, part.m, part.k);
  const bool copy_b = convert || turned.b || copied.b || !InPlace(part.b, part.k, part.n);
  size_t bytes = 0;
  if (copy_a) bytes += MostCopyBytes(size, part.a, part.m, part.k, turned.a);
  if (copy_b) bytes += MostCopyBytes(size, part.b, part.k, part.n, turned.b);
  if (half) bytes += CopyBytes(SizeOf(DType::kF32), shape.m, shape.n);
  return bytes;
}

template <class T>
void Gemm(const GemmShape& shape, const T* a, const T* b, T* c, bool accumulate, void* workspace) {
  if (shape.m == 0 || shape.n == 0) return;
  GemmShape s = shape;
  if (s.m == 1) s.c_row = std::max(s.c_row, s.n);
  if (s.k == 0) {
    if (!accumulate) FillZero(s, c);
  } else if constexpr (std::is_integral_v<T>) {
    MultiplyParallel(s, a, b, c, accumulate);
  } else if (s.k == 1) {
    MultiplyOuter(s, a, b, c, accumulate);
  } else if (IsSmall(s)) {
    MultiplySmall(s, a, b, c, accumulate);
  } else if constexpr (!kIsHalf<T>) {
    MultiplyAs<T>(s, a, b, c, accumulate, workspace);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    Converts(DType::kBF16) ? GemmOfHalf<float>(s, a, b, c, accumulate, workspace)
                           : GemmOfHalf<BFloat16>(s, a, b, c, accumulate, workspace);
  } else {
    GemmOfHalf<float>(s, a, b, c, accumulate, workspace);
  }
}

template void Gemm(const GemmShape&, const float*, const float*, float*, bool, void*);
template void Gemm(const GemmShape&, const double*, const double*, double*, bool, void*);
template void Gemm(const GemmShape&, const Half*, const Half*, Half*, bool, void*);
template void Gemm(const GemmShape&, const BFloat16*, const BFloat16*, BFloat16*, bool, void*);
template void Gemm(const GemmShape&, const int8_t*, const int8_t*, int8_t*, bool, void*);
template void Gemm(const GemmShape&, const uint8_t*, const uint8_t*, uint8_t*, bool, void*);
template void Gemm(const GemmShape&, const int32_t*, const int32_t*, int32_t*, bool, void*);
template void Gemm(const GemmShape&, const int64_t*, const int64_t*, int64_t*, bool, void*);

}  // namespace firn::cpu
