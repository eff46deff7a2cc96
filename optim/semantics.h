#ifndef FIRN_OPTIM_SEMANTICS_H_
#define FIRN_OPTIM_SEMANTICS_H_

#include "firn/device/enum_words.h"

namespace firn::optim {

// Whose formula an optimizer follows where PyTorch and NNabla differ, so that training which began
// there goes on here. The options' comments say what differs.
enum class Semantics { kPyTorch, kNNabla };
constexpr auto WordsOf(Semantics) {
  return inner::EnumWords<Semantics>(
      {{Semantics::kPyTorch, "pytorch"}, {Semantics::kNNabla, "nnabla"}});
}

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SEMANTICS_H_
