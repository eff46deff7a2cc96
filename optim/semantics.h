#ifndef FIRN_OPTIM_SEMANTICS_H_
#define FIRN_OPTIM_SEMANTICS_H_

#include "firn/device/enum_words.h"

namespace firn::optim {

// Which formula an optimizer uses if PyTorch and NNabla differ, so that a training which began
// there can go on here. The options' comments tell the differences.
enum class Semantics { kPyTorch, kNNabla };
constexpr auto WordsOf(Semantics) {
  return inner::EnumWords<Semantics>(
      {{Semantics::kPyTorch, "pytorch"}, {Semantics::kNNabla, "nnabla"}});
}

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SEMANTICS_H_
