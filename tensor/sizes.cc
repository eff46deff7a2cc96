// The parts of Sizes that build texts.

#include "firn/tensor/sizes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {

Sizes::Sizes(absl::Span<const int64_t> numbers) {
  if (numbers.size() > kMost) {
    RaiseStatus(InvalidArgument(numbers.size(), " numbers, want 1 to ", kMost), "Sizes");
  }
  std::copy(numbers.begin(), numbers.end(), numbers_);
  count_ = static_cast<int32_t>(numbers.size());
}

std::string Sizes::ToString() const {
  if (count_ == 1) return absl::StrCat(numbers_[0]);
  return absl::StrCat("(", absl::StrJoin(span(), ", "), ")");
}

}  // namespace firn
