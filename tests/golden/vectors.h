#ifndef FIRN_TESTS_GOLDEN_VECTORS_H_
#define FIRN_TESTS_GOLDEN_VECTORS_H_

// Reads the golden vectors of this folder; README.md has the format. Test code only.

#include <string>
#include <vector>

#include "firn/tensor/tensor.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {

// The cases of tests/golden/<file>, "optim/adam.txt". Ends the test program when the file is not
// there or not as the README says.
std::vector<GoldenCase> ReadGolden(const std::string& file);

// The names, without ".txt", of the files of tests/golden/<folder>, sorted.
std::vector<std::string> GoldenFiles(const std::string& folder);

// "" if every element of `got` is within rtol |want| + atol of `want`, else where one is not. NaN
// equals NaN.
std::string Compare(const Tensor& got, const Tensor& want, double rtol = 1e-5, double atol = 1e-6);

}  // namespace firn::testing

#endif  // FIRN_TESTS_GOLDEN_VECTORS_H_
