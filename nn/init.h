#ifndef FIRN_NN_INIT_H_
#define FIRN_NN_INIT_H_

#include <functional>

#include "firn/tensor/tensor.h"

namespace firn::nn::init {

// Overwrites the elements of a floating tensor. A value, so that layers take one as an option:
//   Linear({.out = 10, .weight_init = init::Normal(0, 0.01)})
// and any tensor can be filled by calling it: init::Constant(1)(net.fc.weight()).
//
// Random ones draw from DefaultGenerator(), in f64 or f32 as the tensor's dtype asks, the same
// numbers whatever the number of threads.
using Initializer = std::function<void(Tensor&)>;

// fan_in is the number of inputs that each output element of a layer sees: for a weight
// [out, in, kernel...] it is in * kernel sizes; fan_out counts with out. Throws below rank 2.
struct Fans {
  double in, out;
};
Fans FansOf(const Shape& weight);

enum class Fan { kIn, kOut };

// By how much a nonlinearity shrinks a signal (PyTorch's torch.nn.init.calculate_gain).
inline constexpr double kLinearGain = 1;
inline constexpr double kTanhGain = 5.0 / 3;
inline constexpr double kReluGain = 1.4142135623730951;  // sqrt(2)
inline constexpr double kSeluGain = 0.75;
double LeakyReluGain(inner::Real negative_slope);

// The same number everywhere.
Initializer Constant(inner::Real value);
// Uniform on [low, high).
Initializer Uniform(inner::Real low, inner::Real high);
// Normal, of that mean and standard deviation.
Initializer Normal(inner::Real mean, inner::Real stddev);
// Normal, drawn again outside [low, high]; the bounds are absolute, as in PyTorch.
Initializer TruncatedNormal(inner::Real mean = 0, inner::Real stddev = 1, inner::Real low = -2,
                            inner::Real high = 2);

// Standard deviation gain * sqrt(2 / (fan_in + fan_out)): X. Glorot and Y. Bengio, "Understanding
// the difficulty of training deep feedforward neural networks", 2010.
Initializer XavierUniform(inner::Real gain = 1);
Initializer XavierNormal(inner::Real gain = 1);

struct KaimingOptions {
  double gain = kReluGain;
  Fan fan = Fan::kIn;
};
// Standard deviation gain / sqrt(fan): K. He et al., "Delving deep into rectifiers", 2015.
Initializer KaimingUniform(const KaimingOptions& options = {});
Initializer KaimingNormal(const KaimingOptions& options = {});

// The tensor seen as a matrix [size(0), rest] gets orthonormal rows or columns, whichever are
// fewer, times gain: A. Saxe et al., "Exact solutions to the nonlinear dynamics of learning", 2013.
Initializer Orthogonal(inner::Real gain = 1);

}  // namespace firn::nn::init

#endif  // FIRN_NN_INIT_H_
