#ifndef FIRN_NN_PARAMETRIZATIONS_H_
#define FIRN_NN_PARAMETRIZATIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  std::string Describe() const;
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
  std::string Describe() const;
};

// Mean 0 and variance 1 over all dimensions but `dim` (firn::Standardize; Qiao et al., 2019).
struct WeightStandardization {
  int64_t dim = 0;
  double eps = 1e-5;

  Tensor Forward(const Tensor& weight) const;
  std::string Describe() const;
};

}  // namespace firn::nn::parametrize

#endif  // FIRN_NN_PARAMETRIZATIONS_H_
