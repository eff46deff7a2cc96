#ifndef FIRN_OPTIM_SEMANTICS_H_
#define FIRN_OPTIM_SEMANTICS_H_

namespace firn::optim {

// Whose formula an optimizer follows where PyTorch and NNabla differ, so that training which began
// there goes on here. The options' comments say what differs.
enum class Semantics { kPyTorch, kNNabla };

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SEMANTICS_H_
