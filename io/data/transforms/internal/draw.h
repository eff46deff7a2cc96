#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_DRAW_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_DRAW_H_

// Single random numbers for transforms. Each draw takes one counter of the generator (of normal
// numbers one for two), so that a later draw does not depend on how an earlier one was used.

#include <cstdint>

#include "firn/io/data/transforms/transform.h"
#include "firn/tensor/rng.h"

namespace firn::io::internal {

// In [low, high), low where they are equal.
double Uniform(RandomGenerator& random, const Interval& interval);
// 0 to n - 1. Requires: n >= 1.
int64_t Below(RandomGenerator& random, int64_t n);
// True with probability p; draws nothing if p is 0 or 1.
bool Chance(RandomGenerator& random, double p);
// Fills out[0] to out[n - 1] with standard normal numbers.
void Normals(RandomGenerator& random, int64_t n, float* out);
// From the beta distribution of (alpha, alpha). Requires: alpha > 0.
double SymmetricBeta(RandomGenerator& random, double alpha);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_DRAW_H_
