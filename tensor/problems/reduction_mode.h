#ifndef FIRN_TENSOR_PROBLEMS_REDUCTION_MODE_H_
#define FIRN_TENSOR_PROBLEMS_REDUCTION_MODE_H_

#include <cstdint>
#include <type_traits>

#include "firn/device/enum_words.h"
#include "firn/device/status_fwd.h"

namespace firn {

class Shape;

// How a loss reduces the losses of its elements.
enum class Reduction : int8_t {
  kNone,       // gives them all
  kMean,       // their mean; weighted where there are class weights
  kSum,        // their sum
  kBatchMean,  // their sum divided by the size of dimension 0; KlDiv only
};
constexpr auto WordsOf(Reduction) {
  return inner::EnumWords<Reduction>({{Reduction::kNone, "none"},
                                      {Reduction::kMean, "mean"},
                                      {Reduction::kSum, "sum"},
                                      {Reduction::kBatchMean, "batchmean"}});
}

namespace inner {
// An error unless it is none, mean or sum; and thrown, naming `where`.
absl::Status CheckReduction(Reduction reduction);
void CheckLossReduction(Reduction reduction, const char* where);

// The attributes of a loss without options of its own.
struct LossAttrs {
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
  }
  // Checks like those of all options of losses: throws, naming `where`, on what is wrong whatever
  // the inputs are.
  void Check(const char* where) const { CheckLossReduction(reduction, where); }
};

// The divisor of a reduced loss over elements of this shape.
double LossDivisor(const Shape& elements, Reduction reduction);

// A reduction by itself, and not {}, which is a struct of options.
template <class R>
concept OnlyReduction = std::is_same_v<R, Reduction>;
}  // namespace inner

// Options of a loss that has no others: MseLoss(x, y, {.reduction = Reduction::kSum}).
using LossOptions = inner::LossAttrs;

}  // namespace firn

#endif  // FIRN_TENSOR_PROBLEMS_REDUCTION_MODE_H_
