#ifndef FIRN_NN_SIZES_H_
#define FIRN_NN_SIZES_H_

// Helpers for layers with parameters: checks of options, and PyTorch's initial values.

#include <cstdint>
#include <initializer_list>

#include "firn/nn/init.h"
#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn::nn {

struct SizeOption {
  const char* name;
  int64_t value;
  bool may_be_deferred = false;
};
// Throws unless every size is positive, or 0 where it may be deferred.
void CheckSizes(const char* layer, std::initializer_list<SizeOption> sizes);

// Throws unless low <= value <= high, which may be infinite.
void CheckRange(const char* where, const char* name, double value, double low, double high);

// `value` with a number for each of `dims` dimensions. Throws when there are others.
Sizes SpatialSizes(const char* layer, const char* name, const Sizes& value, int dims);
// Throws unless `value` is not empty and each number is `low` or more.
void CheckSpatial(const char* where, const char* name, const Sizes& value, int64_t low);
int64_t Smallest(const Sizes& sizes);

// Throws unless `groups` divides the channels (deferred ones divide).
void CheckGroups(const char* layer, int64_t in, int64_t out, int64_t groups);

// x.size(dim), from which a layer learns a deferred size. Throws when x is undefined or has no such
// dimension.
int64_t SizeOfInput(const char* layer, const Tensor& x, int64_t dim);

// t.size(dim) of a parameter whose size was left to the first input, if it is known by now; else
// `otherwise`.
int64_t KnownSize(const Tensor& t, int64_t dim, int64_t otherwise);

// Uniform within 1 / sqrt(fan_in): PyTorch's start of linear and convolutional layers.
init::Initializer FanInUniform(int64_t fan_in);

inline const init::Initializer& Or(const init::Initializer& given,
                                   const init::Initializer& standard) {
  return given ? given : standard;
}

}  // namespace firn::nn

#endif  // FIRN_NN_SIZES_H_
