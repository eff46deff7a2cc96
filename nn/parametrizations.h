#ifndef FIRN_NN_PARAMETRIZATIONS_H_
#define FIRN_NN_PARAMETRIZATIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/nn/parametrize.h"
#include "firn/tensor/ops/quantize/levels.h"
#include "firn/tensor/ops/quantize/prune.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

// Weights made of others, for any parameter of any layer: parametrize::Register(layer, "weight",
// parametrize::SpectralNorm()). They use the functions of the same names, whose comments give
// formulas and errors.
namespace firn::nn::parametrize {

// Direction and length (firn::WeightNorm; Salimans & Kingma, 2016).
// original0: the lengths, of the weight's rank with sizes 1 but for `dim`; 0-d without one
// original1: the direction, which starts as the weight
struct WeightNorm {
  std::optional<int64_t> dim = 0;  // PyTorch's -1 is none here
  double eps = 0;                  // below the root: NNabla's is 1e-12

  Tensor Forward(const Tensor& length, const Tensor& direction) const;
  std::array<Tensor, 2> RightInverse(const Tensor& weight) const;
  template <class V>
  void Visit(V& v) {
    v.Always("dim", dim);
    v.Field("eps", eps);
  }
};

// The weight divided by its largest singular value, as a matrix (firn::SpectralNorm; Miyato et al.,
// 2018), or a vector by its length. Buffers _u and _v, which start from random ones after 15
// iterations, and go on in training by `iterations` at each call.
struct SpectralNorm {
  int64_t dim = 0;  // the rows: 1 for transposed convolutions, where PyTorch has that by itself
  int64_t iterations = 1;
  double eps = 1e-12;

  Tensor Forward(const Tensor& weight, const State& state) const;
  std::vector<NamedTensor> Buffers(const Tensor& weight) const;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("iterations", iterations);
    v.Field("eps", eps);
  }
};

// Mean 0 and variance 1 over all dimensions but `dim` (firn::Standardize; Qiao et al., 2019).
struct WeightStandardization {
  int64_t dim = 0;
  double eps = 1e-5;

  Tensor Forward(const Tensor& weight) const;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("eps", eps);
  }
};

// Sets small weights to zero. `fixed`: they are chosen once, from the weight at the start, as in
// PyTorch's prune.l1_unstructured: the smallest, round(rate * size) of them, for which a buffer
// `mask` is false; they are not trained. (PyTorch saves weight_orig and weight_mask, which have
// other names than its parametrizations.) Otherwise each call chooses among all weights, and all
// get gradients (firn::MagnitudePrune).
struct MagnitudePrune {
  double rate = 0.9;
  bool fixed = false;

  Tensor Forward(const Tensor& weight, const State& state) const;
  std::vector<NamedTensor> Buffers(const Tensor& weight) const;
  template <class V>
  void Visit(V& v) {
    v.Always("rate", rate);
    v.Field("fixed", fixed);
  }
};

// --- Few levels: the learnt tensor is floating, and gets the gradient ---------------------------

// Signs, with a scale or without (firn::Binarize).
struct Binarize {
  double zero_to = 1;                     // the value for 0
  std::optional<int64_t> scale_dim = {};  // each index of this dimension has its own scale

  Tensor Forward(const Tensor& weight) const;
  template <class V>
  void Visit(V& v) {
    v.Field("zero_to", zero_to);
    v.Field("scale_dim", scale_dim);
  }
};

// Powers of two in the place of more and more weights: of the free ones half at the calls in
// training that `iterations` counts, all at the last (firn::InqQuantize). Buffers: fixed, bool of
// the weight's shape, and step, the calls in training so far.
struct Inq {
  int64_t num_bits = 4;
  std::vector<int64_t> iterations = {};  // ascending
  InqSelection selection = InqSelection::kLargestAbs;

  Tensor Forward(const Tensor& weight, const State& state) const;
  std::vector<NamedTensor> Buffers(const Tensor& weight) const;
  template <class V>
  void Visit(V& v) {
    v.Field("num_bits", num_bits);
    v.Field("iterations", iterations);
    v.Field("selection", selection);
  }
};

// Multiples of a step (firn::FixedPointQuantize): FixedPoint{{.n = 4}}.
struct FixedPoint {
  FixedPointOptions options = {};

  Tensor Forward(const Tensor& weight) const { return FixedPointQuantize(weight, options); }
  template <class V>
  void Visit(V& v) {
    options.Visit(v);
  }
};

// Powers of two (firn::Pow2Quantize): Pow2{{.n = 4, .m = 0}}.
struct Pow2 {
  Pow2Options options = {};

  Tensor Forward(const Tensor& weight) const { return Pow2Quantize(weight, options); }
  template <class V>
  void Visit(V& v) {
    options.Visit(v);
  }
};

// --- Orthonormal rows or columns ----------------------------------------------------------------

// Maps to orthogonal matrices, from a skew-symmetric A or from any matrix.
enum class OrthogonalMap : uint8_t {
  kByShape,      // kMatrixExp for square matrices, else kHouseholder: PyTorch's default
  kMatrixExp,    // exp(A)
  kCayley,       // (I - A / 2)^-1 (I + A / 2)
  kHouseholder,  // H_1 ... H_k, the reflections about the columns of a unit lower trapezoid
};

constexpr auto WordsOf(OrthogonalMap) {
  return inner::EnumWords<OrthogonalMap>({{OrthogonalMap::kByShape, "by_shape"},
                                          {OrthogonalMap::kMatrixExp, "matrix_exp"},
                                          {OrthogonalMap::kCayley, "cayley"},
                                          {OrthogonalMap::kHouseholder, "householder"}});
}

// Matrices, the last two dimensions of the weight, whose columns are orthonormal (for wide matrices
// the rows) (PyTorch's parametrizations.orthogonal; Lezcano-Casado & Martinez-Rubio, 2019). The
// weight is base Q, where Q is the map of the learnt original. Only its strict lower triangle
// matters, and with kHouseholder the signs on its diagonal, by which columns are multiplied.
// Buffer: base, as many rows and columns as the larger size of the weight, orthogonal. The first
// value is the weight if it is orthogonal, else the Q, with R's diagonal positive, of its QR
// decomposition; SetValue does the same. The original starts at -I.
//
// f32 and f64, as Solve. kMatrixExp takes 15 products of matrices and a Solve at each call, and
// each of the last 8 products may double the error of orthogonality by rounding. If the absolute
// values in a row of A add up to more than about 1300, the result is no longer the exponential.
// PyTorch's use_trivialization=false is not offered.
struct Orthogonal {
  OrthogonalMap map = OrthogonalMap::kByShape;

  Tensor Forward(const Tensor& x, const State& state) const;
  Tensor RightInverse(const Tensor& weight, const State& state) const;
  std::vector<NamedTensor> Buffers(const Tensor& weight) const;
  template <class V>
  void Visit(V& v) {
    v.Field("map", map);
  }
};

}  // namespace firn::nn::parametrize

#endif  // FIRN_NN_PARAMETRIZATIONS_H_
