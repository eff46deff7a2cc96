#ifndef FIRN_TESTS_GOLDEN_VECTORS_H_
#define FIRN_TESTS_GOLDEN_VECTORS_H_

// Reads the golden vectors of this folder; README.md has the format. Test code only.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensor/state_dict.h"
#include "tensor/tensor.h"

namespace firn::testing {

struct GoldenCase {
  std::string name;
  std::map<std::string, std::vector<std::string>> attrs;
  StateDict inputs, outputs, grads;
  std::map<int, Tensor> grad_outputs;

  // Attributes that were asked for by one of the functions below: one that no call looks at is a
  // case that tests something else than its name says.
  mutable std::set<std::string> asked;

  bool Has(const std::string& attr) const {
    asked.insert(attr);
    return attrs.count(attr) != 0;
  }
  double Number(const std::string& attr, double otherwise) const;
  int64_t Int(const std::string& attr, int64_t otherwise) const {
    return static_cast<int64_t>(Number(attr, static_cast<double>(otherwise)));
  }
  bool Flag(const std::string& attr, bool otherwise) const {
    return Number(attr, otherwise ? 1 : 0) != 0;
  }
  std::string Text(const std::string& attr, const std::string& otherwise) const;
  std::vector<int64_t> Ints(const std::string& attr, std::vector<int64_t> otherwise) const;
};

// The cases of tests/golden/<file>, "optim/adam.txt". Ends the test program when the file is not
// there or not as the README says.
std::vector<GoldenCase> ReadGolden(const std::string& file);

// The names, without ".txt", of the files of tests/golden/<folder>, sorted.
std::vector<std::string> GoldenFiles(const std::string& folder);

// "" when every element of `got` is within rtol |want| + atol of `want`, else where it is not. NaN
// equals NaN.
std::string Compare(const Tensor& got, const Tensor& want, double rtol = 1e-5, double atol = 1e-6);

}  // namespace firn::testing

#endif  // FIRN_TESTS_GOLDEN_VECTORS_H_
