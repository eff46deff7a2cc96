// Lists longer than a tensor's dimensions are refused when made, since there is no room to keep
// them until an operation can say which of them it lacks.

#include "firn/tensor/dim_list.h"

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {

DimList::DimList(absl::Span<const int64_t> dims) {
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    RaiseStatus(InvalidArgument("a tensor has at most ", kMaxRank, " dimensions, the list {",
                                absl::StrJoin(dims, ", "), "} names ", dims.size()),
                "dims");
  }
  for (int64_t dim : dims) push_back(dim);
}

}  // namespace firn
