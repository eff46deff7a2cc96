#ifndef FIRN_TESTS_GOLDEN_ARGUMENTS_H_
#define FIRN_TESTS_GOLDEN_ARGUMENTS_H_

// The arguments of a golden case (README.md). Test code only.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "device/inner.h"
#include "tensor/attrs.h"
#include "tensor/tensor.h"
#include "tests/golden/vectors.h"

namespace firn::testing {

// What a case gives, under the names of the C++ signature. Remembers what was asked for, so that an
// option which a call overlooks is found.
class GoldenArgs {
 public:
  // Copies the inputs; those whose gradient the case holds are leaves.
  explicit GoldenArgs(const GoldenCase& golden);

  // The input, or the attribute as a number as in `x + 2`; undefined when the case gives neither.
  Tensor operator[](const std::string& name);
  // name.0, name.1, ...
  std::vector<Tensor> List(const std::string& name);
  bool Has(const std::string& attr) const { return case_.Has(attr); }
  double Number(const std::string& attr, double otherwise);
  int64_t Int(const std::string& attr, int64_t otherwise);
  bool Flag(const std::string& attr, bool otherwise);
  std::vector<int64_t> Ints(const std::string& attr, std::vector<int64_t> otherwise = {});
  std::string Text(const std::string& attr);  // "" without
  // An attribute that may be a word for an enumerator ("mean").
  int64_t Enumerator(const std::string& attr, int64_t otherwise);

  // As it was passed, without counting as asked for.
  const std::map<std::string, Tensor>& inputs() const { return inputs_; }
  std::vector<std::string> Unused() const;

 private:
  const GoldenCase& case_;
  std::map<std::string, Tensor> inputs_;
  std::set<std::string> used_;
};

// Sets those fields of an attributes struct that the case gives.
void SetAttrs(GoldenArgs& args, const AttrsType* type, void* attrs);

template <class T>
T AttrsFrom(GoldenArgs& args) {
  T attrs;
  SetAttrs(args, AttrsOf<T>(), &attrs);
  return attrs;
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_GOLDEN_ARGUMENTS_H_
