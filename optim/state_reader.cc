#include "firn/optim/state_reader.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::optim {

Tensor StateReader::Take(const std::string& name) {
  const Tensor* t = state_.Find(name);
  if (t == nullptr || !t->defined()) return {};
  used_.Set(name, true);
  return *t;
}

Tensor StateReader::Need(const std::string& name) {
  Tensor t = Take(name);
  if (!t.defined()) problems_.push_back(absl::StrCat("no ", name));
  return t;
}

std::vector<double> StateReader::NeedNumbers(const std::string& name, size_t count) {
  const Tensor t = Need(name);
  if (t.defined() && static_cast<size_t>(t.num_elements()) == count) {
    return Cast(t.To(Device::Cpu()), DType::kF64).ToVector<double>();
  }
  if (t.defined()) problems_.push_back(absl::StrCat(name, " is ", t.shape().ToString()));
  return std::vector<double>(count);
}

double StateReader::NeedNumber(const std::string& name, double otherwise) {
  const size_t problems = problems_.size();
  const double value = NeedNumbers(name, 1)[0];
  return problems_.size() == problems ? value : otherwise;
}

int64_t StateReader::NeedCount(const std::string& name) {
  const double value = NeedNumber(name);
  if (value >= 0 && value <= 0x1p53 && std::floor(value) == value) {
    return static_cast<int64_t>(value);
  }
  problems_.push_back(absl::StrCat(name, " is ", value));
  return 0;
}

void StateReader::Finish(const char* whose) {
  for (const auto& [name, tensor] : state_) {
    if (!used_.Contains(name)) problems_.push_back(absl::StrCat("unexpected ", name));
  }
  if (problems_.empty()) return;
  RaiseStatus(InvalidArgument("the state dict does not fit: ", absl::StrJoin(problems_, ", ")),
              whose);
}

Tensor StateNumber(double value) { return FromVector(std::vector<double>{value}, Shape()); }
Tensor StateCount(int64_t value) { return FromVector(std::vector<int64_t>{value}, Shape()); }

}  // namespace firn::optim
