// Numbers travel as f64 and i64, which hold all dtypes that these functions take.
#include "firn/tensor/global_number.h"

#include <vector>

#include "firn/device/comm/communicator.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {
namespace {

constexpr char kWho[] = "of_all_ranks";

template <class T>
Tensor Reduced(const Tensor& x, comm::Communicator& ranks, comm::Element element,
               comm::Reduction reduction) {
  std::vector<T> numbers = x.ToVector<T>();
  RaiseIfError(
      ranks.AllReduce(numbers.data(), static_cast<int64_t>(numbers.size()), element, reduction),
      kWho);
  return Cast(FromVector(numbers, x.shape()), x.dtype()).To(x.device());
}

Tensor Reduce(const Tensor& x, comm::Communicator& ranks, comm::Reduction reduction) {
  if (ThisThread().capture != nullptr) {
    RaiseStatus(FailedPrecondition("cannot be captured: the runs of the graph would not ask the "
                                   "other ranks (want a GlobalNumber whose functions call "
                                   "operations)"),
                kWho);
  }
  const NoGradScope no_grad;
  return IsFloating(x.dtype()) ? Reduced<double>(x, ranks, comm::Element::kF64, reduction)
                               : Reduced<int64_t>(x, ranks, comm::Element::kI64, reduction);
}

}  // namespace

GlobalNumber OfAllRanks(comm::Communicator& ranks) {
  return {.sum = [&ranks](const Tensor& x) { return Reduce(x, ranks, comm::Reduction::kSum); },
          .largest = [&ranks](const Tensor& x) { return Reduce(x, ranks, comm::Reduction::kMax); }};
}

Tensor OnAnyRank(const Tensor& flag, const GlobalNumber& global) {
  if (!global) return flag;
  return Cast(global.largest(Cast(flag, DType::kF32)), DType::kBool);
}

}  // namespace firn
