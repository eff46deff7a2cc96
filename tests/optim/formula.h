#ifndef FIRN_TESTS_OPTIM_FORMULA_H_
#define FIRN_TESTS_OPTIM_FORMULA_H_

// What a formula of tests/optim/formulas.h is made of.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "firn/tensor/attrs.h"
#include "firn/tensor/samples.h"
#include "firn/tensor/shape.h"

namespace firn::optim {

// A parameter of kRows x kColumns with its gradient and its state, in the order of state_names.
struct Moved {
  static constexpr size_t kRows = 3, kColumns = 4, kSize = kRows * kColumns;
  using Matrix = std::array<double, kSize>;
  Matrix x = {}, grad = {};
  std::array<Matrix, 3> state = {};
};

// The sum of a function over all elements.
template <class F>
double SumOf(const Moved::Matrix& m, F f) {
  double sum = 0;
  for (const double v : m) sum += f(v);
  return sum;
}

// The reference of an operation. Samples are built anew whenever one asks for them, which takes
// time.
inline const testing::ReferenceFn& ReferenceOf(std::string_view op) {
  static auto* const references = new std::map<std::string, testing::ReferenceFn, std::less<>>();
  const auto found = references->find(op);
  if (found != references->end()) return found->second;
  return references->emplace(op, testing::SamplesOf(op)->reference).first->second;
}

// By the reference of the operation, which is independent of its kernels. `given`: which states the
// call has.
inline void StepByReference(std::string_view op, inner::AttrsRef attrs, double lr, double t,
                            const std::vector<bool>& given, Moved& m) {
  using testing::RefTensor;
  const Shape shape({Moved::kRows, Moved::kColumns});
  const auto ref = [&](const Moved::Matrix& from) {
    RefTensor to(shape);
    to.values.assign(from.begin(), from.end());
    return to;
  };
  RefTensor none;
  none.defined_ = false;
  std::vector<RefTensor> in = {RefTensor(Shape(), lr), none, ref(m.x), ref(m.grad)};
  for (size_t s = 0; s < given.size(); ++s) in.push_back(given[s] ? ref(m.state[s]) : none);
  in.push_back(RefTensor(Shape(), t - 1));
  const std::vector<RefTensor> out = ReferenceOf(op)(in, attrs);
  const auto take = [](const RefTensor& from, Moved::Matrix* to) {
    std::copy(from.values.begin(), from.values.end(), to->begin());
  };
  take(out[0], &m.x);
  for (size_t s = 0, at = 1; s < given.size(); ++s) {
    if (given[s]) take(out[at++], &m.state[s]);
  }
}

// Formula<Class>: kName; Bases(): options that are tried as they are and with each one changed; and
// Step(options, lr, t, moved), the step number t, counted from 1. kWithout: an option that the
// class has and does not use.
template <class Optimizer>
struct Formula;

struct UsesAllOptions {
  static constexpr std::string_view kWithout = "";
};

}  // namespace firn::optim

#endif  // FIRN_TESTS_OPTIM_FORMULA_H_
