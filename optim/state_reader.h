#ifndef FIRN_OPTIM_STATE_READER_H_
#define FIRN_OPTIM_STATE_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::optim {

// Takes entries out of a state dict and counts what is missing, what does not fit and what is left
// over, so that one error names it all before anything is changed.
class StateReader {
 public:
  explicit StateReader(const StateDict& state) : state_(state) {}

  // Undefined when absent.
  Tensor Take(const std::string& name);
  // The same, and a problem.
  Tensor Need(const std::string& name);
  // All elements of an entry of `count` numbers; zeros, and a problem, when there is none.
  std::vector<double> NeedNumbers(const std::string& name, size_t count);
  double NeedNumber(const std::string& name, double otherwise = 0);
  // One that is whole and not negative.
  int64_t NeedCount(const std::string& name);
  void Problem(std::string text) { problems_.push_back(std::move(text)); }

  // Throws kInvalidArgument on problems, or when something was not taken. `whose`: of the error.
  void Finish(const char* whose);

 private:
  const StateDict& state_;
  OrderedMap<bool> used_;
  std::vector<std::string> problems_;
};

// Entries that it reads.
Tensor StateNumber(double value);
Tensor StateCount(int64_t value);

}  // namespace firn::optim

#endif  // FIRN_OPTIM_STATE_READER_H_
