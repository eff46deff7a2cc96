#ifndef FIRN_NN_PARAMETRIZATIONS_H_
#define FIRN_NN_PARAMETRIZATIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/nn/parametrize.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

// Weights made of others, for any parameter of any layer: parametrize::Register(layer, "weight",
// parametrize::SpectralNorm()). They are the functions of the same name, which say what they
// compute and refuse.
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

// --- Orthonormal rows or columns ----------------------------------------------------------------

// What makes an orthogonal matrix of a skew-symmetric A, or of any matrix.
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

// Matrices, the last two dimensions of the weight, whose columns are orthonormal, or, of wide ones,
// whose rows are (PyTorch's parametrizations.orthogonal; Lezcano-Casado & Martinez-Rubio, 2019).
// The weight is base Q, in which Q is the map of what is learnt: of the strict lower triangle of
// the original, the rest of which changes nothing, but for the signs on its diagonal, by which
// kHouseholder multiplies columns. Buffer: base, as many rows and columns as the larger size of the
// weight, orthogonal. The first value is the weight if it is orthogonal, else the Q, with R's
// diagonal positive, of its QR decomposition; SetValue does the same. The original starts at -I.
//
// f32 and f64, on the CPU alone, as Solve. kMatrixExp takes 15 products of matrices and a Solve at
// each call, the last 8 of which each may double what rounding took from orthogonality; where the
// sizes in a row of A add up to more than about 1300 it is no longer the exponential.
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
