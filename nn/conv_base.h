#ifndef FIRN_NN_CONV_BASE_H_
#define FIRN_NN_CONV_BASE_H_

#include <cstdint>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/tensor/sizes.h"

namespace firn::nn {

// The common base of the convolution layers of any rank and direction: weight and bias, which start
// as PyTorch's do, uniform within 1 / sqrt(fan_in). The layers are called with In....
template <class... In>
class ConvBaseOf : public LayerOf<In...> {
 public:
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }  // undefined without
  // Input channels; kDeferred while they are not known.
  int64_t in() const;

  struct Plan {
    const char* layer;  // "nn::Conv2d", for errors
    int64_t in, out;    // channels
    Sizes kernel;       // a number for each dimension
    int64_t groups;
    bool bias;
    bool transposed =
        false;  // the weight is [in, out / groups, kernel], else [out, in / groups, kernel]
    init::Initializer weight_init, bias_init;
  };

 protected:
  // Throws when a size is not positive or groups does not divide the channels.
  explicit ConvBaseOf(Plan plan);

  // Takes a deferred number of input channels from x.
  void BuildFor(const Tensor& x) {
    if (this->Pends(weight_, bias_)) [[unlikely]]
      Build(x);
  }

 private:
  std::vector<int64_t> WeightSizes(int64_t in) const;
  void Build(const Tensor& x);
  void BuildWith(int64_t in);

  const Plan plan_;
  Tensor& weight_;
  Tensor& bias_;
};
using ConvBase = ConvBaseOf<Tensor>;

extern template class ConvBaseOf<Tensor>;
extern template class ConvBaseOf<Tensor, Tensor, Tensor>;

}  // namespace firn::nn

#endif  // FIRN_NN_CONV_BASE_H_
