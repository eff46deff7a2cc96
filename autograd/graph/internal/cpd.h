#ifndef FIRN_AUTOGRAD_GRAPH_INTERNAL_CPD_H_
#define FIRN_AUTOGRAD_GRAPH_INTERNAL_CPD_H_

#include <array>
#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn::inner::internal {

struct Cpd {
  std::array<Tensor, 3> factors;  // [i, rank], [j, rank], [k, rank]
  double error = 0;               // norm of what is left, relative to the tensor's
};

// The canonical polyadic decomposition of a tensor [i, j, k] of f64 by alternating least squares
// (Harshman, 1970; Kolda and Bader, 2009): x[i, j, k] ~ sum over r of the factors' products. It
// ends after `iterations`, or when one makes the error smaller by less than `tolerance`. Columns of
// the last two factors have norm 1. `seed` decides the factors that it begins with.
Cpd DecomposeThreeWays(const Tensor& x, int64_t rank, int64_t iterations, double tolerance,
                       uint64_t seed);

}  // namespace firn::inner::internal

#endif  // FIRN_AUTOGRAD_GRAPH_INTERNAL_CPD_H_
