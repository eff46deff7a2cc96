// A Fourier transform is linear in each line, so a product with its matrix computes it, for every
// norm, in every format that has products of matrices. The matrix is Firn's own transform of the
// unit vectors.
#include "firn/io/captured/captured_transforms.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "firn/tensor/op.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kLongest = 1024;

FftNorm NormOf(const CapturedCall& call) {
  const firn::inner::WordList words = firn::inner::kWordsOf<FftNorm>;
  return static_cast<FftNorm>(words.Find(call.Word("norm"))->value);
}

Tensor UnitVectors(int64_t count) { return Eye(count).To(DType::kF64); }

// Each row is a line of complex numbers of which one number is 1.
Tensor UnitPairs(int64_t count) { return Reshape(UnitVectors(2 * count), {2 * count, count, 2}); }

// A product with the matrix along a dimension of x.
CapturedTransform Along(const CapturedCall& call, int64_t dim, const Tensor& made, bool from_pairs,
                        bool to_pairs) {
  CapturedTransform t;
  const int64_t rows = made.size(0), columns = made.num_elements() / rows;
  t.matrix = Reshape(made, {rows, columns});
  const int lines = call.rank(0) - (from_pairs ? 1 : 0);
  t.to_end.resize(static_cast<size_t>(lines));
  std::iota(t.to_end.begin(), t.to_end.end(), 0);
  t.back = t.to_end;
  t.to_end.erase(t.to_end.begin() + dim);
  t.to_end.push_back(dim);
  t.back.erase(t.back.end() - 1);
  t.back.insert(t.back.begin() + dim, lines - 1);
  if (from_pairs) t.to_end.push_back(lines);
  if (to_pairs) t.back.push_back(lines);
  for (size_t d = 0; d + 1 < static_cast<size_t>(lines); ++d) {
    t.flat.push_back(call.sizes(0)[static_cast<size_t>(t.to_end[d])]);
  }
  t.made = t.flat;
  t.flat.push_back({rows, rows});
  const int64_t numbers = columns / (to_pairs ? 2 : 1);
  t.made.push_back({numbers, numbers});
  if (to_pairs) t.made.push_back({2, 2});
  return t;
}

}  // namespace

std::optional<CapturedTransform> TransformOf(CapturedCall& call) {
  const std::string_view name = call.instr().op->name;
  const bool real = name == "rfft", to_real = name == "irfft";
  if (!real && !to_real && name != "fft" && name != "ifft") return std::nullopt;
  const int64_t dim = call.Dim("dim", call.rank(0) - (real ? 0 : 1)), given = call.size(0, dim);
  const int64_t size = to_real ? call.Int("size") : given;
  if (std::max(given, size) > kLongest) {
    call.Refuse("of lines of more than 1024 numbers");
    return std::nullopt;
  }
  const FftNorm norm = NormOf(call);
  const Tensor made = real      ? Rfft(UnitVectors(size), {1}, norm)
                      : to_real ? Irfft(UnitPairs(given), size, {1}, norm)
                                : (name == "fft" ? Fft : Ifft)(UnitPairs(size), {1}, norm);
  return Along(call, dim, made, !real, !to_real);
}

}  // namespace firn::io::internal
