// Names are looked up one after the other: there are few.
#include "firn/io/data/sample.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "sample";

[[noreturn]] void RaiseNumber(size_t names, size_t tensors) {
  RaiseStatus(
      InvalidArgument("expected a name for each of ", tensors, " tensors, got ", names, " names"),
      kWho);
}

std::string DefaultName(int64_t i) {
  return i == 0 ? "input" : i == 1 ? "target" : absl::StrCat(i);
}

}  // namespace

Sample Sample::Named(NamedTensors tensors) {
  std::vector<std::string> names;
  std::vector<Tensor> all;
  for (auto& [name, tensor] : tensors) {
    if (name.empty()) RaiseStatus(InvalidArgument("a name is empty"), kWho);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      RaiseStatus(InvalidArgument("two tensors are called ", name), kWho);
    }
    names.push_back(name);
    all.push_back(std::move(tensor));
  }
  return Named(std::make_shared<const std::vector<std::string>>(std::move(names)), std::move(all));
}

Sample Sample::Named(SampleNames names, std::vector<Tensor> tensors) {
  if (tensors.empty()) RaiseStatus(InvalidArgument("there is no tensor"), kWho);
  if (names != nullptr && names->size() != tensors.size()) {
    RaiseNumber(names->size(), tensors.size());
  }
  Sample out{std::move(tensors[0]), {}, {}, std::move(names)};
  if (tensors.size() > 1) out.target = std::move(tensors[1]);
  if (tensors.size() > 2) {
    out.more.assign(std::make_move_iterator(tensors.begin() + 2),
                    std::make_move_iterator(tensors.end()));
  }
  return out;
}

int64_t Sample::size() const {
  const bool one = more.empty() && !target.defined() && (names == nullptr || names->size() == 1);
  const size_t tensors = one ? 1 : 2 + more.size();
  if (names != nullptr && names->size() != tensors) RaiseNumber(names->size(), tensors);
  return static_cast<int64_t>(tensors);
}

std::vector<std::string> Sample::variables() const {
  const int64_t n = size();
  if (names != nullptr) return *names;
  std::vector<std::string> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(DefaultName(i));
  return all;
}

int64_t Sample::PlaceOf(std::string_view name) const {
  const int64_t n = size();
  if (names != nullptr) return std::find(names->begin(), names->end(), name) - names->begin();
  int64_t i = 0;
  while (i < n && name != DefaultName(i)) ++i;
  return i;
}

bool Sample::Has(std::string_view name) const { return PlaceOf(name) < size(); }

Tensor* Sample::Find(int64_t i) const {
  const int64_t n = size();
  if (i < 0 || i >= n) {
    RaiseStatus(OutOfRange("tensor ", i, " is outside [0, ", n, ")"), kWho);
  }
  return const_cast<Tensor*>(&At(i));
}

Tensor* Sample::Find(std::string_view name) const {
  const int64_t i = PlaceOf(name);
  if (i == size()) {
    RaiseStatus(
        NotFound("expected a tensor called ", name, ", got ", absl::StrJoin(variables(), ", ")),
        kWho);
  }
  return const_cast<Tensor*>(&At(i));
}

void Sample::CheckSize(size_t wanted) const {
  const auto n = static_cast<size_t>(size());
  if (n == wanted) return;
  RaiseStatus(InvalidArgument("expected ", wanted, " tensors, as many as there are names for them",
                              ", got ", n, ": ", absl::StrJoin(variables(), ", ")),
              kWho);
}

}  // namespace firn::io
